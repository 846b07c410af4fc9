//! From a path to the files of one model: the path itself, a shard's siblings, or what a folder holds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::ModelError;

/// A shard's file name: `PREFIX-00002-of-00003.gguf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShardName {
    prefix: String,
    /// From 1.
    pub(super) number: u64,
    /// At least `number`.
    pub(super) count: u64,
}

impl ShardName {
    /// Reads a path's last part; `None` when it isn't a shard's name.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let stem = path.file_name()?.to_str()?.strip_suffix(".gguf")?;
        let (rest, count) = stem.rsplit_once("-of-")?;
        let (prefix, number) = rest.rsplit_once('-')?;
        let (number, count) = (five_digits(number)?, five_digits(count)?);
        (1..=count).contains(&number).then(|| Self {
            prefix: prefix.to_owned(),
            number,
            count,
        })
    }

    /// The file name of shard `number` (from 1) of the same set.
    pub(super) fn sibling(&self, number: u64) -> String {
        format!("{}-{number:05}-of-{:05}.gguf", self.prefix, self.count)
    }

    /// The set in a list for people.
    fn set(&self) -> String {
        format!("{}-*-of-{:05}.gguf", self.prefix, self.count)
    }
}

fn five_digits(text: &str) -> Option<u64> {
    let digits = text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The file to start from: `path`, or one file of the only model in the folder `path`.
///
/// # Errors
/// [`ModelError::Io`] for a folder that can't be read, [`ModelError::NoModel`], [`ModelError::SeveralModels`].
pub(super) fn entry_file(path: &Path) -> Result<PathBuf, ModelError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let io = |source| ModelError::Io {
        action: "look through",
        path: path.to_owned(),
        source,
    };
    let mut models = BTreeSet::new();
    let mut first = None;
    for entry in std::fs::read_dir(path).map_err(io)? {
        let file = entry.map_err(io)?.path();
        if file.extension().is_none_or(|extension| extension != "gguf") || !file.is_file() {
            continue;
        }
        models.insert(label(&file));
        first = first.into_iter().chain([file]).min();
    }
    match (first, models.len()) {
        (Some(file), 1) => Ok(file),
        (Some(_), _) => Err(ModelError::SeveralModels {
            folder: path.to_owned(),
            models: models.into_iter().collect(),
        }),
        (None, _) => Err(ModelError::NoModel {
            folder: path.to_owned(),
        }),
    }
}

/// What stands for a file's model in a list: a set's files have one label.
fn label(file: &Path) -> String {
    let name = || file.file_name().unwrap_or_default().to_string_lossy();
    ShardName::of(file).map_or_else(|| name().into_owned(), |shard| shard.set())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_names_are_read_and_made() {
        let name = ShardName::of(Path::new("/models/a-b-00002-of-00003.gguf")).unwrap();
        assert_eq!((name.number, name.count), (2, 3));
        assert_eq!(name.sibling(3), "a-b-00003-of-00003.gguf");
        for other in [
            "a.gguf",
            "a-00002-of-00003.bin",
            "a-2-of-3.gguf",
            "a-00000-of-00003.gguf",
            "a-00004-of-00003.gguf",
            "a-+0001-of-00003.gguf",
            "-of-.gguf",
        ] {
            assert_eq!(ShardName::of(Path::new(other)), None, "{other}");
        }
    }
}
