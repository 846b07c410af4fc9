//! The `GUILD_…` variables.

use crate::config::definition::{Definition, Kind, SettableOption};
use crate::config::error::ConfigError;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

/// What all of guild's variables start with.
const PREFIX: &str = "GUILD_";

/// The variable that the CPU package reads when it is loaded: one instruction set instead of the best one.
pub const CPU_ISA: &str = "GUILD_CPU_ISA";

/// A variable that belongs to no option.
#[derive(Clone, Copy, Debug)]
pub struct InternalVariable {
    /// The name; one that ends in `*` stands for every variable that begins so.
    pub name: &'static str,
    /// Who reads it.
    pub purpose: &'static str,
}

/// The variables that are known though no option has them.
pub const INTERNAL_VARIABLES: &[InternalVariable] = &[
    InternalVariable {
        name: CPU_ISA,
        purpose: "the CPU package: one instruction set instead of the best one",
    },
    InternalVariable {
        name: "GUILD_TEST_*",
        purpose: "guild's own tests: paths of large inputs, and whether snapshots are written anew",
    },
    InternalVariable {
        name: "GUILD_LOADER_TEST_CHILD",
        purpose: "a test of the loader that runs itself again",
    },
];

/// A variable that nothing reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVariable {
    /// The variable.
    pub name: String,
    /// The known one that is nearest, if any is near.
    pub suggestion: Option<String>,
}

/// The variable of an option: `GUILD_THREADS`, or with the command `GUILD_RUN_TEMP`.
pub fn name(command: &str, option: &str) -> String {
    let words = format!("{command} {option}");
    let words = words.trim().replace([' ', '-'], "_");
    format!("{PREFIX}{}", words.to_ascii_uppercase())
}

/// A variable's value; an empty one counts as unset.
pub fn value(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// What a variable's value means for an option.
pub fn values(option: &SettableOption, value: &OsStr) -> Result<Vec<String>, ConfigError> {
    let text = value.to_string_lossy().into_owned();
    let refused = |message: String| ConfigError::Variable {
        name: option.variable.clone(),
        value: text.clone(),
        message,
    };
    let values = match (option.kind, option.delimiter) {
        (Kind::Flag, _) if is_on(&text) => vec!["true".to_owned()],
        (Kind::Flag, _) if is_off(&text) => vec!["false".to_owned()],
        (Kind::Flag, _) => {
            return Err(refused(
                "a switch takes 1, true, yes, on or 0, false, no, off".to_owned(),
            ));
        }
        (Kind::Many, Some(delimiter)) => text.split(delimiter).map(str::to_owned).collect(),
        _ => vec![text.clone()],
    };
    // A path may have any bytes.
    let checked = values.iter().filter(|_| !option.is_path);
    match checked.into_iter().find_map(|value| option.refuses(value)) {
        Some(message) => Err(refused(message)),
        None => Ok(values),
    }
}

/// Whether a variable switches a flag on.
pub fn flag(name: &str) -> bool {
    value(name).is_some_and(|value| is_on(&value.to_string_lossy()))
}

/// Whether a text means on.
pub fn is_on(value: &str) -> bool {
    const ON: [&str; 6] = ["1", "true", "on", "yes", "y", "t"];
    ON.contains(&value.to_ascii_lowercase().as_str())
}

/// Whether a text means off.
fn is_off(value: &str) -> bool {
    const OFF: [&str; 6] = ["0", "false", "off", "no", "n", "f"];
    OFF.contains(&value.to_ascii_lowercase().as_str())
}

/// The variables of `names` that start like guild's and that nothing reads.
pub fn unknown(
    definition: &Definition,
    names: impl Iterator<Item = OsString>,
) -> Vec<UnknownVariable> {
    let known: BTreeSet<&str> = definition
        .options
        .iter()
        .map(|option| option.variable.as_str())
        .collect();
    let internal = |name: &str| {
        INTERNAL_VARIABLES
            .iter()
            .any(|variable| match variable.name.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == variable.name,
            })
    };
    let mut unknown: Vec<UnknownVariable> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.starts_with(PREFIX))
        .filter(|name| !known.contains(name.as_str()) && !internal(name))
        .map(|name| UnknownVariable {
            suggestion: nearest(&name, known.iter().copied()),
            name,
        })
        .collect();
    unknown.sort_by(|a, b| a.name.cmp(&b.name));
    unknown
}

/// How alike two words must be to be taken for each other, as clap has it.
const ALIKE: f64 = 0.7;

/// The word that is nearest to `word`, if one is near.
pub fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Option<String> {
    words
        .map(|other| (strsim::jaro(word, other), other))
        .filter(|(likeness, _)| *likeness > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, other)| other.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn unknown_variables_are_named_with_the_nearest_known_one() {
        let definition = Definition::of(&Cli::command());
        let names = [
            "GUILD_THREAD",
            "GUILD_THREADS",
            "GUILD_TEST_X",
            "PATH",
            "GUILD_CPU_ISA",
        ];
        let found = unknown(&definition, names.into_iter().map(OsString::from));
        let expected = UnknownVariable {
            name: "GUILD_THREAD".to_owned(),
            suggestion: Some("GUILD_THREADS".to_owned()),
        };
        assert_eq!(found, [expected]);
    }

    /// One variable means one thing, but for the options that all commands on a model have.
    #[test]
    fn no_two_options_have_the_same_variable() {
        let mut owners = std::collections::BTreeMap::new();
        for option in Definition::of(&Cli::command()).options {
            let owner = (option.name.clone(), option.of_model);
            let before = owners.insert(option.variable.clone(), owner.clone());
            let alike = before.is_none_or(|before| before == owner && option.of_model);
            assert!(alike, "{}", option.variable);
        }
    }
}
