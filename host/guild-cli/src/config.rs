//! Configuration: which values the options have where the command line doesn't say, and who said so.
//!
//! Everything is derived from the definition of the command line in [`crate::args`]. An option is set by
//! its flag, else its `GUILD_…` variable, else the file of `--config`, else the project's `guild.toml`,
//! else the user's file, else the system's file, else it keeps its default. Values from files become the
//! defaults of the definition that clap then parses with, so a command sees no difference.

mod definition;
mod error;
mod file;
mod layers;
mod project;
mod settings;
mod variables;

pub use definition::{Definition, Kind, SettableOption};
pub use error::{ConfigError, Place};
pub use layers::{ConfigFile, Layer, Surroundings};
pub use settings::{Origin, Setting, Settings};
pub use variables::{CPU_ISA, INTERNAL_VARIABLES, InternalVariable, UnknownVariable, nearest};

use clap::builder::{ArgPredicate, OsStr, Resettable, StyledStr};
use clap::{Command, Id};
use std::ffi::OsString;
use std::path::PathBuf;

/// The definition to parse with, and where its values come from.
#[derive(Debug)]
pub struct Prepared {
    /// The definition with variables and configured defaults.
    pub command: Command,
    /// Every option with its value and origin.
    pub settings: Settings,
}

/// Reads the configuration that holds for `arguments`, the program's name first, and puts it into
/// `command`.
///
/// What can't be used is left out and stands in [`Settings::faults`]: a file that can't be read, isn't
/// TOML, or sets what isn't there, or what it may not; a variable with a value that the command line would
/// refuse. Only what looks over the configuration itself may go on with it.
#[must_use]
pub fn prepare(command: Command, arguments: &[OsString], surroundings: &Surroundings) -> Prepared {
    let definition = Definition::of(&command);
    let files = match switched_off(arguments) {
        true => Vec::new(),
        false => layers::files(named_file(arguments), surroundings),
    };
    let mut settings = Settings::new(definition, files);
    settings.read_files();
    settings.read_variables();
    let command = apply(command, "", &settings);
    Prepared { command, settings }
}

/// The definition with its variables and no configured value: what help and the manual show.
#[must_use]
pub fn with_variables(command: Command) -> Command {
    let settings = Settings::new(Definition::of(&command), Vec::new());
    apply(command, "", &settings)
}

/// Reads the text of a configuration file and returns how many values it sets.
///
/// # Errors
/// The fault that [`prepare`] would find in a file with this text.
pub fn check_text(command: &Command, layer: Layer, text: &str) -> Result<usize, ConfigError> {
    let definition = Definition::of(command);
    file::settings(&definition, "guild.toml".as_ref(), layer, text).map(|found| found.len())
}

/// Names each option's variable in its help text, and gives it the default that a file or a variable
/// sets. A default doesn't count as given, so it can't conflict with what the command line says.
fn apply(command: Command, path: &str, settings: &Settings) -> Command {
    let conflicts = conflicts(&command);
    let command = command.mut_args(|argument| {
        let long = argument.get_long().map(str::to_owned);
        let Some(setting) = long.and_then(|long| settings.of(path, &long)) else {
            return argument;
        };
        let variable = &setting.option.variable;
        let named = |help: Option<&StyledStr>| {
            help.map(|help| StyledStr::from(format!("{help} [env: {variable}]")))
        };
        let (help, long_help) = (named(argument.get_help()), named(argument.get_long_help()));
        let mut argument = argument.env(Resettable::<OsStr>::Reset);
        if let Some(help) = help {
            argument = argument.help(help);
        }
        if let Some(long_help) = long_help {
            argument = argument.long_help(long_help);
        }
        match setting.origin {
            Origin::Default | Origin::Flag => argument,
            Origin::File { .. } | Origin::Variable { .. } => {
                let is_flag = setting.option.kind == Kind::Flag;
                let without = is_flag.then_some("false");
                let given: Vec<_> = others(argument.get_id(), &conflicts)
                    .map(|other| (other, ArgPredicate::IsPresent, without))
                    .collect();
                argument
                    .required(false)
                    .default_values(setting.given())
                    .default_value_ifs(given)
            }
        }
    });
    command.mut_subcommands(|below| {
        let path = definition::join(path, below.get_name());
        apply(below, &path, settings)
    })
}

/// The pairs of arguments of a command that exclude each other.
fn conflicts(command: &Command) -> Vec<(Id, Id)> {
    let own = command.get_arguments().filter(|a| !a.is_global_set());
    own.flat_map(|argument| {
        let others = command.get_arg_conflicts_with(argument).into_iter();
        others.map(move |other| (argument.get_id().clone(), other.get_id().clone()))
    })
    .collect()
}

/// The arguments that exclude `argument`: where one is given, a configured value of it doesn't count.
fn others(argument: &Id, conflicts: &[(Id, Id)]) -> impl Iterator<Item = Id> {
    conflicts.iter().filter_map(move |(a, b)| match argument {
        id if id == a => Some(b.clone()),
        id if id == b => Some(a.clone()),
        _ => None,
    })
}

/// The value that the command line gives the option `--NAME` of every command, before clap reads it.
#[must_use]
pub fn scan(arguments: &[OsString], name: &str) -> Option<OsString> {
    let flag = format!("--{name}");
    let assigned = format!("{flag}=");
    let mut words = arguments.iter().skip(1).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        if *word == *flag {
            return words.next().cloned();
        }
        if let Some(value) = word.to_str().and_then(|word| word.strip_prefix(&assigned)) {
            return Some(value.into());
        }
    }
    None
}

/// Whether the flag `--NAME` of every command is on, before clap reads it.
#[must_use]
pub fn scan_flag(arguments: &[OsString], name: &str) -> bool {
    let flag = format!("--{name}");
    let mut words = arguments.iter().skip(1).take_while(|word| *word != "--");
    words.any(|word| *word == *flag) || variables::flag(&variables::name("", name))
}

/// Whether a text switches a flag on.
#[must_use]
pub fn is_on(value: &str) -> bool {
    variables::is_on(value)
}

/// The file of `--config` or its variable.
fn named_file(arguments: &[OsString]) -> Option<PathBuf> {
    let variable = || variables::value(&variables::name("", definition::CONFIG));
    scan(arguments, definition::CONFIG)
        .or_else(variable)
        .map(PathBuf::from)
}

/// Whether no file is to be read.
fn switched_off(arguments: &[OsString]) -> bool {
    scan_flag(arguments, definition::NO_CONFIG)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;
    use proptest::prelude::*;

    proptest! {
        /// Anything is read or refused, and a refusal has a message.
        #[test]
        fn any_text_is_read_or_refused(text in "(\\[[a-z.]{0,9}\\]\n|[a-z._-]{0,9} = [0-9a-z\"'\\[{,.]{0,9}\n|\\PC){0,12}") {
            if let Err(error) = check_text(&Cli::command(), Layer::Project, &text) {
                prop_assert!(error.to_string().starts_with("guild.toml:"), "{error}");
            }
        }
    }

    #[test]
    fn words_after_two_dashes_are_no_options() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(
            scan(&words("guild --config a run"), "config"),
            Some("a".into())
        );
        assert_eq!(
            scan(&words("guild run --config=a"), "config"),
            Some("a".into())
        );
        assert_eq!(scan(&words("guild run -- --config a"), "config"), None);
    }
}
