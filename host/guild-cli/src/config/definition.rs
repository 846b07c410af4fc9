//! What can be set: the long options of the command line's definition.

use crate::args::{ModelArgs, PackageArgs, PassArgs};
use crate::config::{project, variables};
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Args, Command, Id};
use std::any::TypeId;
use std::path::PathBuf;

/// The option that names a configuration file; a file can't set it.
pub const CONFIG: &str = "config";
/// The option that switches files off; a file can't set it.
pub const NO_CONFIG: &str = "no-config";
/// The table of the options that every command on a model has.
const MODEL_TABLE: &str = "model";
/// Commands below this one work on the store and the trusted keys.
const STORE_COMMAND: &str = "kernel";

/// What a person agrees to each time, on the command line: set once in a variable or a file, these would switch a check
/// off where nobody looks (threat 38).
const AGREED_EACH_TIME: [&str; 6] = [
    "accept-new-publisher",
    "allow-downgrade",
    "i-understand",
    "no-passphrase",
    "since-gen",
    "test-identity",
];

/// What values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On or off.
    Flag,
    /// How often it stands on the command line.
    Count,
    /// One value.
    One,
    /// Any number of values.
    Many,
}

/// An option that variables and files can set.
#[derive(Clone, Debug)]
pub struct SettableOption {
    /// The command's words, such as `kernel install`; empty for an option of every command.
    pub command: String,
    /// The long name, without the dashes.
    pub name: String,
    /// clap's name of it.
    pub id: String,
    /// What values it takes.
    pub kind: Kind,
    /// The variable that sets it.
    pub variable: String,
    /// Its built-in values; none where it is unset.
    pub defaults: Vec<String>,
    /// What stands between several values in one word.
    pub delimiter: Option<char>,
    /// Whether its value is a path; one in a file is relative to the file's folder.
    pub is_path: bool,
    /// Why a project's file must not set it, if so.
    pub guarded: Option<&'static str>,
    /// Whether the table `[model]` sets it too.
    pub of_model: bool,
    /// Whether files can set it.
    pub in_files: bool,
    parser: ValueParser,
}

impl SettableOption {
    /// The tables of a file that can hold it; the more special one is last.
    #[must_use]
    pub fn tables(&self) -> Vec<String> {
        let own = self.command.replace(' ', ".");
        match self.of_model {
            true => vec![MODEL_TABLE.to_owned(), own],
            false => vec![own],
        }
    }

    /// Its name with the command's, as messages show it.
    #[must_use]
    pub fn title(&self) -> String {
        match self.command.is_empty() {
            true => self.name.clone(),
            false => format!("{}.{}", self.command.replace(' ', "."), self.name),
        }
    }

    /// Why clap would refuse `value`, if so.
    #[must_use]
    pub fn refuses(&self, value: &str) -> Option<String> {
        if self.kind == Kind::Flag {
            return None;
        }
        let argument = Arg::new("value")
            .long(self.name.clone())
            .action(ArgAction::Set)
            .value_parser(self.parser.clone());
        let command = Command::new("value")
            .no_binary_name(true)
            .disable_help_flag(true)
            .arg(argument);
        let error = command
            .try_get_matches_from([format!("--{}={value}", self.name)])
            .err()?
            .to_string();
        let first = error.lines().next().unwrap_or_default();
        Some(first.strip_prefix("error: ").unwrap_or(first).to_owned())
    }
}

/// Every option that can be set.
#[derive(Clone, Debug)]
pub struct Definition {
    /// In the order of the help texts.
    pub options: Vec<SettableOption>,
}

impl Definition {
    /// Reads the definition of a command line.
    #[must_use]
    pub fn of(command: &Command) -> Definition {
        let mut options = Vec::new();
        collect(command, "", &mut options);
        Definition { options }
    }

    /// The names of the tables that files can have.
    #[must_use]
    pub fn tables(&self) -> Vec<String> {
        let mut tables: Vec<String> = self
            .in_files()
            .flat_map(SettableOption::tables)
            .filter(|table| !table.is_empty())
            .collect();
        tables.sort();
        tables.dedup();
        tables
    }

    /// The options that a key of a table sets, by index; none where the key is unknown.
    #[must_use]
    pub fn find(&self, table: &str, name: &str) -> Vec<usize> {
        let sets = |option: &SettableOption| {
            option.in_files && option.name == name && option.tables().iter().any(|t| t == table)
        };
        let options = self.options.iter().enumerate();
        options
            .filter(|(_, option)| sets(option))
            .map(|(index, _)| index)
            .collect()
    }

    /// The keys that a table can have.
    #[must_use]
    pub fn keys(&self, table: &str) -> Vec<&str> {
        self.in_files()
            .filter(|option| option.tables().iter().any(|t| t == table))
            .map(|option| option.name.as_str())
            .collect()
    }

    fn in_files(&self) -> impl Iterator<Item = &SettableOption> {
        self.options.iter().filter(|option| option.in_files)
    }
}

/// The words of a command below another one.
pub fn join(path: &str, name: &str) -> String {
    match path.is_empty() {
        true => name.to_owned(),
        false => format!("{path} {name}"),
    }
}

fn collect(command: &Command, path: &str, options: &mut Vec<SettableOption>) {
    let mut model = members::<ModelArgs>(command);
    model.extend(members::<PassArgs>(command));
    let packages = members::<PackageArgs>(command);
    for argument in command.get_arguments() {
        let belongs = Belongs {
            to_model: model.contains(argument.get_id()),
            to_packages: packages.contains(argument.get_id()),
        };
        options.extend(settable(argument, path, belongs));
    }
    for below in command.get_subcommands() {
        collect(below, &join(path, below.get_name()), options);
    }
}

/// The arguments that a command has from the struct `A`, those of structs inside it too; none where it
/// hasn't `A`.
fn members<A: Args>(command: &Command) -> Vec<Id> {
    let group = A::group_id();
    let mut groups = command.get_groups();
    if !groups.any(|found| Some(found.get_id()) == group.as_ref()) {
        return Vec::new();
    }
    let alone = A::augment_args(Command::new("alone"));
    alone.get_arguments().map(|a| a.get_id().clone()).collect()
}

/// The groups that an argument is in.
#[derive(Clone, Copy)]
struct Belongs {
    to_model: bool,
    to_packages: bool,
}

fn settable(argument: &Arg, command: &str, belongs: Belongs) -> Option<SettableOption> {
    let name = argument.get_long()?.to_owned();
    if argument.is_hide_set() || AGREED_EACH_TIME.contains(&name.as_str()) {
        return None;
    }
    let many = argument.get_value_delimiter().is_some()
        || argument
            .get_num_args()
            .is_some_and(|range| range.max_values() > 1);
    let kind = match argument.get_action() {
        ArgAction::SetTrue | ArgAction::SetFalse => Kind::Flag,
        ArgAction::Count => Kind::Count,
        ArgAction::Append => Kind::Many,
        ArgAction::Set if many => Kind::Many,
        ArgAction::Set => Kind::One,
        // Help and version are questions, not settings.
        _ => return None,
    };
    let scope = if belongs.to_model { "" } else { command };
    let defaults = argument.get_default_values().iter();
    let defaults = defaults.map(|value| value.to_string_lossy().into_owned());
    let is_path = argument.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    Some(SettableOption {
        command: command.to_owned(),
        id: argument.get_id().to_string(),
        kind,
        variable: variables::name(scope, &name),
        defaults: match kind {
            Kind::Flag => vec![matches!(argument.get_action(), ArgAction::SetFalse).to_string()],
            Kind::Count => vec!["0".to_owned()],
            Kind::One | Kind::Many => defaults.collect(),
        },
        delimiter: argument.get_value_delimiter(),
        is_path,
        guarded: guarded(belongs, command, &name, is_path),
        of_model: belongs.to_model,
        in_files: ![CONFIG, NO_CONFIG].contains(&name.as_str()),
        parser: argument.get_value_parser().clone(),
        name,
    })
}

/// Why the file of a project, which anybody may have written, must not set an option; `None` for one that
/// is allowed by name.
fn guarded(belongs: Belongs, command: &str, name: &str, is_path: bool) -> Option<&'static str> {
    let table = if belongs.to_model {
        MODEL_TABLE
    } else {
        command
    };
    if command.split(' ').next() == Some(STORE_COMMAND) {
        Some("it changes the package store or the trusted keys")
    } else if belongs.to_packages {
        Some("it decides which packages run")
    } else if is_path {
        Some("it names a file or folder to read or write")
    } else if !project::may_set(table, name) {
        Some("it isn't among the settings for tuning that a project may make (docs/cli.md)")
    } else {
        None
    }
}
