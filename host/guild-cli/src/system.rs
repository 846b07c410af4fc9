//! What the system says about itself, read from `/proc` and `/sys`.
//!
//! All reading goes through [`SystemFiles`], so that tests show the rest any system they like.

pub mod cgroup;
pub mod cores;
pub mod memory;
pub mod mounts;

use std::path::{Path, PathBuf};

/// Bytes of a pseudo-file that are read at most.
const LIMIT_BYTES: u64 = 1 << 20;

/// The system's pseudo-files below a root folder.
#[derive(Clone, Debug)]
pub struct SystemFiles {
    root: PathBuf,
}

impl SystemFiles {
    /// This machine's.
    #[must_use]
    pub fn of_machine() -> SystemFiles {
        SystemFiles::below("/")
    }

    /// Those below another folder.
    pub fn below(root: impl Into<PathBuf>) -> SystemFiles {
        SystemFiles { root: root.into() }
    }

    /// A file's text without the last line break; `None` where it can't be read. `path` is below the
    /// root, also where it begins with `/`.
    #[must_use]
    pub fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        use std::io::Read;
        let file = std::fs::File::open(self.place(path)).ok()?;
        let mut bytes = Vec::new();
        file.take(LIMIT_BYTES).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// The names in a folder, in order.
    #[must_use]
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let entries = std::fs::read_dir(self.place(path)).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Whether a folder is there.
    #[must_use]
    pub fn has_folder(&self, path: impl AsRef<Path>) -> bool {
        self.place(path).is_dir()
    }

    fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

/// The numbers of a list such as `0-3,8`; `None` where it is no such list.
#[must_use]
pub fn number_list(text: &str) -> Option<Vec<usize>> {
    const LIMIT: usize = 65_536;
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last - first >= LIMIT || numbers.len() >= LIMIT {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_are_read_and_nonsense_is_not() {
        assert_eq!(number_list("0-3,8").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(number_list("5\n").unwrap(), [5]);
        assert!(number_list("").unwrap().is_empty());
        for wrong in ["a", "3-1", "0-99999999999", "1-", "-"] {
            assert!(number_list(wrong).is_none(), "{wrong}");
        }
    }
}
