//! Reads one file against the definition.

use crate::config::definition::{Definition, Kind, SettableOption};
use crate::config::error::{ConfigError, Place};
use crate::config::layers::Layer;
use crate::config::variables::nearest;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Bytes that are read of a file at most.
const LIMIT_BYTES: u64 = 1 << 20;

/// A key of a file and what it sets.
#[derive(Debug)]
pub struct FileSetting {
    /// Index of the option in the definition.
    pub option: usize,
    /// Its values, as the command line would give them.
    pub values: Vec<String>,
    /// Where it stands.
    pub place: Place,
}

/// The bytes of a file as text; `None` where there is no such file and none was asked for.
pub fn read(path: &Path, layer: Layer) -> Result<Option<String>, ConfigError> {
    let io = |source| ConfigError::Read {
        path: path.to_owned(),
        source,
    };
    let file = match open(path, layer) {
        Ok(file) => file,
        Err(error) if layer != Layer::Named && is_absent(&error) => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    if layer != Layer::Named && !file.metadata().map_err(io)?.is_file() {
        return Err(ConfigError::NotAFile {
            path: path.to_owned(),
        });
    }
    let mut bytes = Vec::new();
    file.take(LIMIT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    if bytes.len() as u64 > LIMIT_BYTES {
        return Err(ConfigError::TooLarge {
            path: path.to_owned(),
            limit_bytes: LIMIT_BYTES,
        });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
            Err(ConfigError::Syntax {
                place: Place {
                    path: path.to_owned(),
                    line,
                },
                message: "not UTF-8".to_owned(),
            })
        }
    }
}

/// Opens a file without waiting. One that was found may be anything, a pipe that nobody writes to as well;
/// whoever names one may mean a pipe.
fn open(path: &Path, layer: Layer) -> std::io::Result<File> {
    let flags = match layer {
        Layer::Named => OFlags::empty(),
        _ => OFlags::NONBLOCK | OFlags::NOCTTY,
    };
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits() as i32);
    options.open(path)
}

/// No file, or something else than a folder on the way to it.
fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind as K;
    matches!(error.kind(), K::NotFound | K::NotADirectory)
}

/// The settings of a file's text, the ones of `[model]` before the others.
pub fn settings(
    definition: &Definition,
    path: &Path,
    layer: Layer,
    text: &str,
) -> Result<Vec<FileSetting>, ConfigError> {
    let mut reader = Reader {
        definition,
        path,
        layer,
        text,
        found: Vec::new(),
    };
    let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        place: reader.place(&error.span().unwrap_or_default()),
        message: error.message().to_owned(),
    })?;
    reader.table("", table.get_ref())?;
    let mut found = reader.found;
    // Stable: what a table says of one command wins over `[model]`, wherever either stands.
    found.sort_by_key(|(special, _)| *special);
    Ok(found.into_iter().map(|(_, setting)| setting).collect())
}

struct Reader<'a> {
    definition: &'a Definition,
    path: &'a Path,
    layer: Layer,
    text: &'a str,
    /// With whether the table is one command's own.
    found: Vec<(bool, FileSetting)>,
}

impl Reader<'_> {
    fn place(&self, span: &Range<usize>) -> Place {
        let before = self.text.as_bytes().get(..span.start).unwrap_or_default();
        Place {
            path: self.path.to_owned(),
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
        }
    }

    fn table(&mut self, table: &str, entries: &DeTable<'_>) -> Result<(), ConfigError> {
        let mut names = Vec::new();
        for (key, value) in entries {
            let place = self.place(&key.span());
            let title = dotted(table, key.get_ref());
            if let DeValue::Table(below) = value.get_ref() {
                self.sub_table(&title, below, place)?;
                continue;
            }
            let name = key.get_ref().replace('_', "-");
            if names.contains(&name) {
                return Err(ConfigError::Twice { place, key: title });
            }
            self.entry(table, &name, value, place, title)?;
            names.push(name);
        }
        Ok(())
    }

    fn sub_table(
        &mut self,
        title: &str,
        entries: &DeTable<'_>,
        place: Place,
    ) -> Result<(), ConfigError> {
        let tables = self.definition.tables();
        let below = format!("{title}.");
        if tables.iter().any(|t| t == title || t.starts_with(&below)) {
            return self.table(title, entries);
        }
        let suggestion = nearest(title, tables.iter().map(String::as_str));
        Err(ConfigError::UnknownKey {
            place,
            key: format!("[{title}]"),
            suggestion: suggestion.map(|table| format!("[{table}]")),
        })
    }

    fn entry(
        &mut self,
        table: &str,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        place: Place,
        key: String,
    ) -> Result<(), ConfigError> {
        let options = self.definition.find(table, name);
        if options.is_empty() {
            let suggestion = nearest(name, self.definition.keys(table).into_iter());
            return Err(ConfigError::UnknownKey {
                place,
                key,
                suggestion: suggestion.map(|name| dotted(table, &name)),
            });
        }
        for index in options {
            let option = &self.definition.options[index];
            let values = self.values(option, value.get_ref(), &place, &key)?;
            let special = option.tables().last().is_some_and(|own| own == table);
            let setting = FileSetting {
                option: index,
                values,
                place: place.clone(),
            };
            self.found.push((special, setting));
        }
        Ok(())
    }

    fn values(
        &self,
        option: &SettableOption,
        value: &DeValue<'_>,
        place: &Place,
        key: &str,
    ) -> Result<Vec<String>, ConfigError> {
        if let (Layer::Project, Some(reason)) = (self.layer, option.guarded) {
            return Err(ConfigError::Guarded {
                place: place.clone(),
                key: key.to_owned(),
                reason,
                variable: option.variable.clone(),
            });
        }
        let (values, expected) = match option.kind {
            Kind::Flag => (
                value.as_bool().map(|on| vec![on.to_string()]),
                "true or false",
            ),
            Kind::Count => (integer(value).map(|count| vec![count]), "a whole number"),
            Kind::One => (scalar(value).map(|one| vec![one]), "a text or a number"),
            Kind::Many => (list(value), "a list, a text or a number"),
        };
        let values = values.ok_or_else(|| ConfigError::WrongType {
            place: place.clone(),
            key: key.to_owned(),
            expected,
            found: value.type_str(),
        })?;
        match values.iter().find_map(|value| option.refuses(value)) {
            Some(message) => Err(ConfigError::Value {
                place: place.clone(),
                key: key.to_owned(),
                message,
            }),
            None if option.is_path => Ok(values.iter().map(|v| self.beside_the_file(v)).collect()),
            None => Ok(values),
        }
    }

    /// A path of the file as one that holds in any folder.
    fn beside_the_file(&self, value: &str) -> String {
        let folder = self.path.parent().map_or(PathBuf::new(), Path::to_owned);
        folder.join(value).to_string_lossy().into_owned()
    }
}

fn dotted(table: &str, key: &str) -> String {
    match table.is_empty() {
        true => key.to_owned(),
        false => format!("{table}.{key}"),
    }
}

fn integer(value: &DeValue<'_>) -> Option<String> {
    let integer = value.as_integer()?;
    let number = i128::from_str_radix(integer.as_str(), integer.radix()).ok()?;
    Some(number.to_string())
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(_) => integer(value),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

fn list(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::Array(array) => array.iter().map(|value| scalar(value.get_ref())).collect(),
        one => scalar(one).map(|one| vec![one]),
    }
}
