//! From the words of the command line to a command that runs: configuration, parsing, and the answers
//! that clap gives itself.

use crate::args::{Cli, ColorWhen, definition};
use crate::config::{self, Origin, Surroundings, with_variables};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::version;
use clap::error::{ContextKind, ContextValue, ErrorKind};
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
        Err(error) => return refused(&error, json, &settings),
    };
    settings.read_flags(&matches);
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => crate::run(&cli, &settings),
        Err(error) => refused(&error, json, &settings),
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
fn refused(error: &clap::Error, json: bool, settings: &config::Settings) -> Exit {
    let origin = variable_of(error, settings);
    if !json {
        let _ = error.print();
        if let Some(variable) = origin {
            Output::new(false).say(format!("The value comes from the variable {variable}."));
        }
        return Exit::Usage;
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    // clap puts a blank line between what is wrong and what to do.
    let (message, hint) = text.split_once("\n\n").unwrap_or((text, ""));
    let message = match origin {
        Some(variable) => format!("{message} (from the variable {variable})"),
        None => message.to_owned(),
    };
    failed(
        Output::new(true),
        &Failure::new(Exit::Usage, message).hint(hint),
    )
}

/// The variable that gave the value that clap refuses, if it was one.
fn variable_of(error: &clap::Error, settings: &config::Settings) -> Option<String> {
    let (Some(ContextValue::String(option)), Some(ContextValue::String(value))) = (
        error.get(ContextKind::InvalidArg),
        error.get(ContextKind::InvalidValue),
    ) else {
        return None;
    };
    let name = option.strip_prefix("--")?.split([' ', '=']).next()?;
    let setting = settings.all().iter().find(|setting| {
        setting.option.name == name
            && setting.values.contains(value)
            && matches!(setting.origin, Origin::Variable { .. })
    })?;
    Some(setting.option.variable.clone())
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
