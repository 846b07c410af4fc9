//! From the words of the command line to a command that runs: configuration, parsing, and the answers
//! that clap gives itself.

use crate::args::{Cli, ColorWhen, definition};
use crate::commands::kernel_selftest;
use crate::config::{self, Surroundings};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, unwritten};
use crate::version;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{FromArgMatches, ValueEnum};
use guild_loader::probe;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// The command that looks over the configuration too.
const DOCTOR: &str = "doctor";

/// Runs the program; `arguments` starts with its name. Everything is printed when this returns.
pub fn start(arguments: &[OsString]) -> ExitCode {
    match arguments.get(1) {
        // Before anything is read: the trial run of a package gets no configuration and starts no thread.
        Some(word) if word == probe::COMMAND => {
            probe::serve(arguments.get(2..).unwrap_or_default()).into()
        }
        Some(word) if word == kernel_selftest::TRIAL => {
            let mut rest = arguments.to_vec();
            rest.remove(1);
            let served = kernel_selftest::serve(rest.get(1..).unwrap_or_default());
            served.unwrap_or_else(|| command(&rest)).into()
        }
        _ => command(arguments).into(),
    }
}

fn command(arguments: &[OsString]) -> Exit {
    let json = config::scan_flag(arguments, "json");
    let command = definition().color(colour_of_help(arguments));
    let prepared = config::prepare(command, arguments, &Surroundings::of_process());
    let mut settings = prepared.settings;
    let parsed = prepared.command.try_get_matches_from(arguments);
    let matches = match (parsed, settings.faults().first()) {
        // Help and the doctor are what somebody needs whose configuration is broken.
        (Err(answer), _) if !answer.use_stderr() => return answered(&answer, json),
        (Ok(matches), Some(_)) if matches.subcommand_name() == Some(DOCTOR) => matches,
        (_, Some(fault)) => return failed(Output::new(json), &fault.into()),
        (Ok(matches), None) => matches,
        (Err(error), None) => return refused(&with_commands(error, arguments), json),
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
    let written = answer.print().and_then(|()| std::io::stdout().flush());
    match written {
        Ok(()) => Exit::Ok,
        Err(error) => failed(Output::new(json), &unwritten(&error)),
    }
}

/// clap's refusal of a word that is no command, with the commands that there are where clap finds none alike.
fn with_commands(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let word = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => return error,
    };
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return error;
    }
    // The words before it that are commands lead to the one that has no such command.
    let definition = definition();
    let before = arguments
        .iter()
        .skip(1)
        .take_while(|other| **other != *word);
    let command = before.fold(&definition, |command, word| {
        command.find_subcommand(word).unwrap_or(command)
    });
    let names = command.get_subcommands();
    let names: Vec<_> = names.map(clap::Command::get_name).collect();
    let tip = format!("the commands here are {}", names.join(", "));
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![tip.into()]),
    );
    error
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
        &Failure::new(Exit::Usage, message).hint(hint.trim_start()),
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
