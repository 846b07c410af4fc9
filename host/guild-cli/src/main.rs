//! The `guild` command.
#![forbid(unsafe_code)]

use clap::Parser;
use guild_cli::args::Cli;
use guild_cli::exit::Exit;
use guild_cli::failure::Failure;
use guild_cli::output::Output;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => guild_cli::run(&cli).into(),
        // Help and version are answers, not failures; clap prints both kinds itself.
        Err(error) if !error.use_stderr() => {
            let _ = error.print();
            Exit::Ok.into()
        }
        // Whoever asked for JSON gets an object, though nothing else of the line could be read.
        Err(error) if std::env::args_os().any(|argument| argument == "--json") => {
            let text = error.to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
            // clap puts a blank line between what is wrong and what to do.
            let (message, hint) = text.split_once("\n\n").unwrap_or((text, ""));
            Output { json: true }.failure(&Failure::new(Exit::Usage, message).hint(hint));
            Exit::Usage.into()
        }
        Err(error) => {
            let _ = error.print();
            Exit::Usage.into()
        }
    }
}
