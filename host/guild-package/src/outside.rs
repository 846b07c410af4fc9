//! Files outside the store: bundles, key records, seeds, staging folders. Each is opened once, without
//! following a link and without blocking on a pipe, and read with a limit.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::{Error, Result};

/// Opens the regular file at `path` for reading.
///
/// # Errors
/// [`Error::Io`], or [`Error::Usage`] if it is not a regular file.
pub fn open_regular(path: &Path) -> Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(Error::io("open", path))?;
    let metadata = file.metadata().map_err(Error::io("read", path))?;
    if !metadata.is_file() {
        let what = format!("{} is not a regular file", path.display());
        return Err(Error::usage(what, "Give the path of the file itself"));
    }
    Ok(file)
}

/// The bytes of `path`, at most `bytes_max`.
///
/// # Errors
/// As [`open_regular`], and [`Error::Usage`] if the file is larger.
pub fn read_limited(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    read_file_limited(&open_regular(path)?, path, bytes_max)
}

/// The bytes of an open file from its position on, at most `bytes_max`; `path` is for errors.
///
/// # Errors
/// [`Error::Io`], or [`Error::Usage`] if there are more.
pub fn read_file_limited(file: &File, path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(bytes_max + 1)
        .read_to_end(&mut bytes)
        .map_err(Error::io("read", path))?;
    if bytes.len() as u64 > bytes_max {
        let what = format!("{} is larger than {bytes_max} bytes", path.display());
        return Err(Error::usage(what, "Check that it is the right file"));
    }
    Ok(bytes)
}

/// Creates `path`, which must not exist, with these bytes, for everybody to read.
///
/// # Errors
/// As [`create_durable`].
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    create_durable(path, 0o644, |file| {
        file.write_all(bytes).map_err(Error::io("write", path))
    })
}

/// Creates `path` with `mode`, which must not exist, and makes the bytes and the name durable.
///
/// # Errors
/// [`Error::Io`]; the file is removed again if writing fails.
pub fn create_durable(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut File) -> Result<()>,
) -> Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .map_err(Error::io("create", path))?;
    let written = write(&mut file).and_then(|()| {
        file.flush().map_err(Error::io("write", path))?;
        file.sync_all().map_err(Error::io("sync", path))?;
        sync_parent(path)
    });
    if written.is_err() {
        // The first failure is the one to report.
        let _ = std::fs::remove_file(path);
    }
    written
}

fn sync_parent(path: &Path) -> Result<()> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let directory = File::open(parent).map_err(Error::io("open", parent))?;
    directory.sync_all().map_err(Error::io("sync", parent))
}
