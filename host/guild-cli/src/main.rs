//! The `guild` command.
#![forbid(unsafe_code)]

use clap::Parser;
use guild_cli::args::Cli;
use guild_cli::exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => guild_cli::run(&cli).into(),
        Err(error) => {
            // Help and version are answers, not failures; clap prints both kinds itself.
            let failed = error.use_stderr();
            let _ = error.print();
            if failed {
                Exit::Usage.into()
            } else {
                Exit::Ok.into()
            }
        }
    }
}
