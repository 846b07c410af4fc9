//! Every option with its value and who set it.

use crate::config::definition::{Definition, Kind, SettableOption};
use crate::config::error::{ConfigError, Place};
use crate::config::file;
use crate::config::layers::{ConfigFile, Layer};
use crate::config::variables::{self, UnknownVariable};
use clap::ArgMatches;
use clap::parser::ValueSource;
use std::ffi::OsString;

/// Who set a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody: the built-in value, or none.
    Default,
    /// A configuration file.
    File {
        /// Whose file.
        layer: Layer,
        /// Where in it.
        place: Place,
    },
    /// The environment.
    Variable {
        /// The variable.
        name: String,
    },
    /// The command line.
    Flag,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File { place, .. } => place.fmt(f),
            Origin::Variable { name } => f.write_str(name),
            Origin::Flag => f.write_str("command line"),
        }
    }
}

/// An option's value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The option.
    pub option: SettableOption,
    /// Its values, as the command line would give them; none where it is unset.
    pub values: Vec<String>,
    /// Who set it.
    pub origin: Origin,
}

impl Setting {
    /// Its values for clap; a path from a variable as it is, whatever its bytes.
    #[must_use]
    pub fn given(&self) -> Vec<OsString> {
        match (&self.origin, self.option.is_path) {
            (Origin::Variable { name }, true) => variables::value(name).into_iter().collect(),
            _ => self.values.iter().map(OsString::from).collect(),
        }
    }
}

/// The values of all options.
#[derive(Debug)]
pub struct Settings {
    definition: Definition,
    settings: Vec<Setting>,
    files: Vec<ConfigFile>,
    faults: Vec<ConfigError>,
}

impl Settings {
    /// The built-in values, with the files that may change them.
    #[must_use]
    pub fn new(definition: Definition, files: Vec<ConfigFile>) -> Settings {
        let settings = definition.options.iter().map(|option| Setting {
            option: option.clone(),
            values: option.defaults.clone(),
            origin: Origin::Default,
        });
        Settings {
            settings: settings.collect(),
            definition,
            files,
            faults: Vec::new(),
        }
    }

    /// Reads the files, the weakest first. One that can't be used sets nothing and is a fault.
    pub fn read_files(&mut self) {
        for file in &mut self.files {
            let settings = file::read(&file.path, file.layer).and_then(|text| {
                text.map(|text| file::settings(&self.definition, &file.path, file.layer, &text))
                    .transpose()
            });
            let settings = match settings {
                Ok(Some(settings)) => settings,
                Ok(None) => continue,
                Err(fault) => {
                    self.faults.push(fault);
                    continue;
                }
            };
            for found in settings {
                let setting = &mut self.settings[found.option];
                setting.values = found.values;
                setting.origin = Origin::File {
                    layer: file.layer,
                    place: found.place,
                };
            }
            file.read = true;
        }
    }

    /// Reads the variables. One whose value the command line would refuse sets nothing and is a fault.
    pub fn read_variables(&mut self) {
        for setting in &mut self.settings {
            let name = &setting.option.variable;
            let Some(value) = variables::value(name) else {
                continue;
            };
            match variables::values(&setting.option, &value) {
                Ok(values) => {
                    setting.values = values;
                    setting.origin = Origin::Variable { name: name.clone() };
                }
                Err(fault) => self.faults.push(fault),
            }
        }
    }

    /// What couldn't be used, files before variables.
    #[must_use]
    pub fn faults(&self) -> &[ConfigError] {
        &self.faults
    }

    /// Notes what the command line says of the options that every command has.
    pub fn read_flags(&mut self, matches: &ArgMatches) {
        let global = |setting: &&mut Setting| setting.option.command.is_empty();
        for setting in self.settings.iter_mut().filter(global) {
            let id = setting.option.id.as_str();
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let raw = matches.get_raw(id).into_iter().flatten();
            setting.values = match setting.option.kind {
                Kind::Flag => vec!["true".to_owned()],
                Kind::Count => vec![matches.get_count(id).to_string()],
                Kind::One | Kind::Many => raw
                    .map(|value| value.to_string_lossy().into_owned())
                    .collect(),
            };
            setting.origin = Origin::Flag;
        }
    }

    /// An option's setting, by command and long name.
    #[must_use]
    pub fn of(&self, command: &str, name: &str) -> Option<&Setting> {
        self.settings
            .iter()
            .find(|setting| setting.option.command == command && setting.option.name == name)
    }

    /// All of them, in the order of the help texts.
    #[must_use]
    pub fn all(&self) -> &[Setting] {
        &self.settings
    }

    /// The files that were looked for, the weakest first.
    #[must_use]
    pub fn files(&self) -> &[ConfigFile] {
        &self.files
    }

    /// Variables that start like guild's and that nothing reads.
    #[must_use]
    pub fn unknown_variables(&self) -> Vec<UnknownVariable> {
        variables::unknown(&self.definition, std::env::vars_os().map(|(name, _)| name))
    }
}
