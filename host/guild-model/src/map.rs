//! The memory map of a model file: the one place in this crate with unsafe code, and the one that knows the platform.
//!
//! The map is read-only and shared. What it cannot give is protection from other processes: a file that is written to
//! changes the bytes, and touching a page that a truncation removed raises a bus error. [`MappedFile::check_unchanged`]
//! compares length and modification time with those at opening, so that both become an error when it is called before a
//! pass. Keys and names are copied before they are checked, and the copied metadata is checked again on access, so no
//! string rests on bytes that may change; tensor data is plain bytes, of which any value is fine.

#![expect(unsafe_code, reason = "mapping a file is unsafe; see the SAFETY note")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use memmap2::Mmap;

use crate::error::{Damage, ModelError};

/// Files from this length on may lie in pages of 2 MiB. For a smaller one they save little, and would make more of it
/// resident than is used.
const HUGE_PAGES_FROM_BYTES: u64 = 256 << 20;

/// A read-only map of a whole file.
#[derive(Debug)]
pub(crate) struct MappedFile {
    path: PathBuf,
    file: File,
    map: Mmap,
    opened: Stamp,
}

/// What tells a changed file from the one that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified_ns: u64,
}

impl MappedFile {
    /// Opens and maps `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, ModelError> {
        let io = |action| {
            move |source| ModelError::Io {
                action,
                path: path.to_owned(),
                source,
            }
        };
        let regular = |metadata: std::fs::Metadata| match metadata.is_file() {
            true => Ok(metadata),
            false => Err(io("map")(std::io::Error::other("it is not a regular file"))),
        };
        // Opening a pipe would wait for a writer, so the kind is looked at before; the open file is what
        // counts.
        regular(std::fs::metadata(path).map_err(io("open"))?)?;
        let file = File::open(path).map_err(io("open"))?;
        let metadata = regular(file.metadata().map_err(io("examine"))?)?;
        let opened = Stamp::of(&metadata);
        // SAFETY: The duty is that nobody changes the bytes while slices of them live. This process never writes to a
        // model file, and the descriptor is read-only. Other processes are the user's duty (`docs/gguf.md`); what
        // they could break is narrowed by reading metadata from a checked copy, by treating tensor data as bytes without
        // meaning to Rust, and by `check_unchanged` before each pass.
        let map = unsafe { Mmap::map(&file) }.map_err(io("map"))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            map,
            opened,
        })
    }

    /// Where the file was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The whole file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Takes every page that was read so far out of this process's memory; what is read again is mapped again.
    pub(crate) fn release(&mut self) {
        #[cfg(unix)]
        // SAFETY: The duty is that no slice of the map is in use, which `&mut self` ensures. Nothing is lost: the map is
        // read-only, so its pages are the file's own.
        drop(unsafe {
            self.map
                .unchecked_advise(memmap2::UncheckedAdvice::DontNeed)
        });
    }

    /// Refuses a file whose length or modification time is not what it was at opening, or that the map is not as long
    /// as. One system call.
    pub(crate) fn check_unchanged(&self) -> Result<(), ModelError> {
        let metadata = self.file.metadata().map_err(|source| ModelError::Io {
            action: "examine",
            path: self.path.clone(),
            source,
        })?;
        if Stamp::of(&metadata) != self.opened || self.map.len() as u64 != self.opened.bytes {
            return Err(Damage::ChangedWhileOpen {
                opened_bytes: self.opened.bytes,
                now_bytes: metadata.len(),
            }
            .into());
        }
        Ok(())
    }

    /// Numbers that name this state of this file on this machine.
    pub(crate) const fn identity(&self) -> [u64; 4] {
        let Stamp {
            device,
            inode,
            bytes,
            modified_ns,
        } = self.opened;
        [device, inode, bytes, modified_ns]
    }

    /// Asks for pages of 2 MiB, or for small ones only, and says which. It is advice, so a refusal changes nothing.
    ///
    /// What the system has read already stays in the pages that it is in. What it reads from now on it reads in large
    /// ones: address translation then costs less, and the processor's own prefetching doesn't end every 4 KiB.
    pub(crate) fn ask_for_huge_pages(&self, on: bool) -> bool {
        let huge = on && self.opened.bytes >= HUGE_PAGES_FROM_BYTES;
        #[cfg(target_os = "linux")]
        drop(self.map.advise(match huge {
            true => memmap2::Advice::HugePage,
            false => memmap2::Advice::NoHugePage,
        }));
        huge
    }

    /// Reads `len` bytes from `offset` and maps their pages; false where the system can't, or won't in one call.
    pub(crate) fn populate(&self, offset: u64, len: u64) -> bool {
        #[cfg(target_os = "linux")]
        if let (Ok(offset), Ok(len)) = (usize::try_from(offset), usize::try_from(len)) {
            let advised = self
                .map
                .advise_range(memmap2::Advice::PopulateRead, offset, len);
            return advised.is_ok();
        }
        false
    }

    /// Asks for `len` bytes from `offset` to be read ahead. It is advice, so a refusal changes nothing.
    pub(crate) fn prefetch(&self, offset: u64, len: u64) {
        #[cfg(unix)]
        if let (Ok(offset), Ok(len)) = (usize::try_from(offset), usize::try_from(len)) {
            drop(
                self.map
                    .advise_range(memmap2::Advice::WillNeed, offset, len),
            );
        }
    }
}

impl Stamp {
    fn of(metadata: &std::fs::Metadata) -> Self {
        let (device, inode) = place(metadata);
        let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
        Self {
            device,
            inode,
            bytes: metadata.len(),
            modified_ns: nanoseconds(modified),
        }
    }
}

/// Nanoseconds since 1970; times before it count as 0, times after 2554 as the largest number.
fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(unix)]
fn place(metadata: &std::fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn place(_metadata: &std::fs::Metadata) -> (u64, u64) {
    (0, 0)
}
