//! From the words of the command line to a command that runs: configuration, parsing, and the answers
//! that clap gives itself.

use crate::args::{Cli, ColorWhen, definition};
use crate::commands::kernel_selftest;
use crate::config::{self, Surroundings};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, unwritten};
use crate::version;
use clap::error::{ContextKind, ErrorKind};
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
        (Err(error), None) => return refused(&error, arguments, json),
    };
    settings.read_flags(&matches);
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => {
            let (words, _) = command_words(arguments);
            crate::run(&cli, &settings, &help_of(&words))
        }
        Err(error) => refused(&error, arguments, json),
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

/// The words of the command that is meant, such as `kernel install`; empty where none is.
fn command_words(arguments: &[OsString]) -> (Vec<String>, clap::Command) {
    let mut words = Vec::new();
    let mut command = definition();
    for argument in arguments.iter().skip(1) {
        let below = command.find_subcommand(argument).cloned();
        if let Some(below) = below {
            words.push(below.get_name().to_owned());
            command = below;
        }
    }
    (words, command)
}

/// What clap refuses, as any other failure.
fn refused(error: &clap::Error, arguments: &[OsString], json: bool) -> Exit {
    let (words, command) = command_words(arguments);
    let help = help_of(&words);
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        if !json {
            let _ = error.print();
            return Exit::Usage;
        }
        let failure = Failure::new(Exit::Usage, "a command is missing").hint(help);
        return failed(Output::new(true), &failure);
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    // clap puts a blank line between what is wrong and what to do.
    let mut paragraphs = text.split("\n\n");
    let message = one_line(paragraphs.next().unwrap_or_default());
    let mut hints: Vec<String> = paragraphs.filter_map(advice).collect();
    // Where clap finds no command alike, those that there are.
    let unknown = error.get(ContextKind::InvalidSubcommand).is_some();
    if unknown && error.get(ContextKind::SuggestedSubcommand).is_none() {
        let names = command.get_subcommands().map(clap::Command::get_name);
        let names: Vec<_> = names.collect();
        hints.push(format!("the commands here are {}", names.join(", ")));
    }
    hints.push(help);
    let failure = Failure::new(Exit::Usage, message).hint(hints.join("; "));
    failed(Output::new(json), &failure)
}

/// Where the options of a command are explained.
fn help_of(words: &[String]) -> String {
    let words = [&["guild".to_owned(), "help".to_owned()], words].concat();
    format!("`{}` says what it takes", words.join(" "))
}

/// A list that clap puts below a line, behind it.
fn one_line(paragraph: &str) -> String {
    let mut lines = paragraph.lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.collect();
    match rest.is_empty() {
        true => first.to_owned(),
        false => format!("{first} {}", rest.join(", ")),
    }
}

/// What one of clap's later paragraphs says to do, if anything.
fn advice(paragraph: &str) -> Option<String> {
    let tips: Vec<&str> = paragraph
        .lines()
        .filter_map(|line| line.trim().strip_prefix("tip: "))
        .collect();
    match (
        tips.is_empty(),
        paragraph.lines().next()?.strip_prefix("Usage: "),
    ) {
        (false, _) => Some(tips.join("; ")),
        (true, Some(usage)) => Some(format!("usage: {usage}")),
        (true, None) => None,
    }
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
