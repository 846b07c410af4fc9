//! From the words of the command line to a command that runs: configuration, parsing, and the answers
//! that clap gives itself.

use crate::args::{Cli, ColorWhen, definition};
use crate::config::{self, Surroundings, with_variables};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::version;
use clap::error::ErrorKind;
use clap::{FromArgMatches, ValueEnum};
use std::ffi::OsString;

/// Runs the program; `arguments` starts with its name. Everything is printed when this returns.
pub fn start(arguments: &[OsString]) -> Exit {
    let json = config::scan_flag(arguments, "json");
    let command = definition().color(colour_of_help(arguments));
    let prepared = config::prepare(command, arguments, &Surroundings::of_process());
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            // Help is what somebody needs whose configuration is broken.
            let asked = with_variables(definition().color(colour_of_help(arguments)))
                .try_get_matches_from(arguments);
            return match asked {
                Err(answer) if !answer.use_stderr() => answered(&answer, json),
                _ => failed(Output::new(json), &error.into()),
            };
        }
    };
    let mut settings = prepared.settings;
    let matches = match prepared.command.try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) if !error.use_stderr() => return answered(&error, json),
        Err(error) => return refused(&error, json),
    };
    settings.read_flags(&matches);
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => crate::run(&cli, &settings),
        Err(error) => refused(&error, json),
    }
}

/// Help and version are answers, not failures.
fn answered(answer: &clap::Error, json: bool) -> Exit {
    if json && answer.kind() == ErrorKind::DisplayVersion {
        return match Output::new(true).object(version::to_json()) {
            Ok(()) => Exit::Ok,
            Err(failure) => failed(Output::new(true), &failure),
        };
    }
    // A closed stdout has nobody left to tell.
    let _ = answer.print();
    Exit::Ok
}

/// What clap refuses. Whoever asked for JSON gets an object, though nothing else could be read.
fn refused(error: &clap::Error, json: bool) -> Exit {
    if !json {
        let _ = error.print();
        return Exit::Usage;
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    // clap puts a blank line between what is wrong and what to do.
    let (message, hint) = text.split_once("\n\n").unwrap_or((text, ""));
    failed(
        Output::new(true),
        &Failure::new(Exit::Usage, message).hint(hint),
    )
}

fn failed(output: Output, failure: &Failure) -> Exit {
    output.failure(failure);
    failure.exit
}

/// Help is printed before anything is parsed, so its colours are looked for by hand.
fn colour_of_help(arguments: &[OsString]) -> clap::ColorChoice {
    let value = config::scan(arguments, "color").or_else(|| std::env::var_os("GUILD_COLOR"));
    let when = value.and_then(|value| ColorWhen::from_str(&value.to_string_lossy(), true).ok());
    match when.unwrap_or_default() {
        ColorWhen::Auto => clap::ColorChoice::Auto,
        ColorWhen::Always => clap::ColorChoice::Always,
        ColorWhen::Never => clap::ColorChoice::Never,
    }
}
