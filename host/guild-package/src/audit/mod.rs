//! The audit log of refusals (`docs/package-format.md`, section 20): a folder beside the store with segments to which
//! records are only added. It is evidence and no state: no check reads it, and a command ends as it would without it.
//!
//! Each record names the hash of the one before. That shows damage, not forgery: whoever may write the folder can write
//! the whole log anew, and which record comes first after old segments were deleted is simply believed.

mod chain;
mod record;
mod refusal;
mod tally;

use std::io::{ErrorKind, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::limits::{AUDIT_RECORDS_MAX, AUDIT_SEGMENT_MAX_BYTES, AUDIT_SEGMENTS_MAX};
use crate::store::fs::{RealFs, StoreFs as _};
use crate::store::{Root, StorePath, WriterLock, check_root, make_root};

use chain::Chain;
use tally::Tally;

pub use chain::{Fault, FaultKind, Record, Verified};
pub use record::{Frame, Gap, RECORD_MAX_BYTES, Segment};
pub use refusal::{Attempt, Refusal, Refused, Subject, Unaccepted};
pub use tally::RATE_LIMITED;

/// How long an append waits for another one.
const LOCK_WAIT_MS: u64 = 2000;
/// How many of the newest records decide whether one more is written: with a clock that goes forward, more than there
/// can be within the time that counts.
const RECENT_MAX: usize = 2 * AUDIT_RECORDS_MAX;
/// The largest number that a segment's name has room for.
const NUMBER_MAX: u32 = 99_999_999;

/// The log in one folder.
#[derive(Debug)]
pub struct AuditLog {
    fs: Arc<RealFs>,
    root: Root,
}

/// What became of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It has a record, or the record that says that there are too many.
    Written,
    /// It is counted.
    Counted,
}

/// Where and after what the next record is written.
#[derive(Default)]
struct End {
    /// The newest segment, if there is one.
    number: Option<u32>,
    /// How many of its bytes stay: those up to the end of its last record.
    kept_bytes: u64,
    /// How many of them are whole: with the tally behind it.
    whole_bytes: u64,
    /// Whether bytes were lost there, so that it stays as it is.
    is_damaged: bool,
    /// The hash of the last record.
    previous: Option<Digest>,
    tally: Tally,
    /// The newest records, oldest first.
    recent: Vec<Refusal>,
}

impl AuditLog {
    /// Opens the log in the folder `dir`.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no such folder or it is a link; [`Error::StoreUnsafe`] if others may write to it.
    pub fn open(dir: &Path) -> Result<Self> {
        let fs = RealFs::open_root(dir).map_err(|error| match dir.is_symlink() {
            true => Error::io("open", dir)(is_a_link()),
            false => Error::io("open", dir)(error),
        })?;
        check_root(&fs, dir)?;
        let fs = Arc::new(fs);
        let root = Root {
            fs: fs.clone(),
            path: dir.to_owned(),
        };
        Ok(Self { fs, root })
    }

    /// As [`Self::open`]; makes the folder, which its owner alone may read, where there is none. Where those above it
    /// are missing too, everybody may read them if they are `shared`.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_or_make(dir: &Path, shared: bool) -> Result<Self> {
        match Self::open(dir) {
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                if let Some(above) = dir.parent().filter(|above| !above.exists()) {
                    make_root(above, shared)?;
                }
                make_root(dir, false)?;
                Self::open(dir)
            }
            other => other,
        }
    }

    /// Adds a record of `refusal`, or counts it where one like it was written less than a minute before, or too many
    /// were. What a cut-off append left is removed first. Segments that are damaged otherwise stay as they are, and a
    /// new one begins.
    ///
    /// # Errors
    /// [`Error::StoreLocked`] when another append takes too long, [`Error::Io`].
    pub fn append(&self, refusal: &Refusal) -> Result<Appended> {
        let _lock = WriterLock::take(&self.root, LOCK_WAIT_MS)?;
        let numbers = self.numbers()?;
        let mut end = self.end(&numbers)?;
        let admitted = end.tally.admit(&end.recent, refusal)?;
        let mut bytes = Vec::new();
        let mut previous = end.previous.unwrap_or(Digest::NONE);
        if let Some(admitted) = &admitted {
            bytes = record::encode(previous, &admitted.encode()?);
            let hash = bytes.last_chunk().copied();
            previous = Digest::from_bytes(hash.unwrap_or_default());
        }
        if let Some(tally) = end.tally.encode()? {
            bytes.extend(record::encode(previous, &tally));
        }
        self.write(&numbers, &end, &bytes, admitted.is_some())?;
        Ok(match admitted {
            Some(_) => Appended::Written,
            None => Appended::Counted,
        })
    }

    /// All records that are whole, oldest first.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn read(&self) -> Result<Vec<Record>> {
        Ok(self.read_and_verify()?.0)
    }

    /// Reads all and names whatever doesn't fit together.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn verify(&self) -> Result<Verified> {
        Ok(self.read_and_verify()?.1)
    }

    /// [`Self::read`] and [`Self::verify`] of one look.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn read_and_verify(&self) -> Result<(Vec<Record>, Verified)> {
        let mut chain = Chain::default();
        let numbers = self.numbers()?;
        for &number in &numbers {
            match self.segment(number)? {
                Content::Bytes(bytes) => chain.add(number, &Segment::parse(&bytes)),
                Content::Unreadable => chain.unreadable(number),
                // Deleted since it was listed, as the oldest.
                Content::Missing => {}
            }
        }
        Ok(chain.finish(numbers.len()))
    }

    /// The numbers of the segments, ascending.
    fn numbers(&self) -> Result<Vec<u32>> {
        let top = StorePath::root();
        let names = self.fs.list(&top).map_err(self.root.io("list", &top))?;
        let mut numbers: Vec<u32> = names
            .iter()
            .filter_map(|(name, _)| {
                let number = name.strip_suffix(".log")?.parse().ok()?;
                let is_its_name = StorePath::audit_segment(number).as_str() == name;
                is_its_name.then_some(number)
            })
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn segment(&self, number: u32) -> Result<Content> {
        let path = StorePath::audit_segment(number);
        match self.fs.read(&path, AUDIT_SEGMENT_MAX_BYTES) {
            Ok(bytes) => Ok(Content::Bytes(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Content::Missing),
            Err(error) if is_no_segment(&error) => Ok(Content::Unreadable),
            Err(error) => Err(self.root.io("read", &path)(error)),
        }
    }

    /// The end of the log, from its newest segments.
    fn end(&self, numbers: &[u32]) -> Result<End> {
        let mut end = End {
            number: numbers.last().copied(),
            ..End::default()
        };
        for (age, number) in numbers.iter().rev().enumerate() {
            match self.segment(*number)? {
                Content::Bytes(bytes) => end.take_in(&Segment::parse(&bytes), age == 0),
                Content::Unreadable | Content::Missing => end.is_damaged |= age == 0,
            }
            // Where the newest one has little in it, the one before says what was refused a moment ago.
            let is_enough = age > 0 || end.recent.len() == RECENT_MAX;
            if is_enough && end.previous.is_some() {
                break;
            }
        }
        Ok(end)
    }

    /// Puts `bytes` behind what stays of the newest segment, or into a new one. Whoever is killed on the way leaves the
    /// tally that was there, or what takes its place.
    fn write(&self, numbers: &[u32], end: &End, bytes: &[u8], durable: bool) -> Result<()> {
        let Some(number) = end.number else {
            return self.begin(numbers, 0, bytes);
        };
        if end.is_damaged {
            return self.begin(numbers, number.saturating_add(1), bytes);
        }
        let path = StorePath::audit_segment(number);
        let file = self.fs.open_to_write(&path);
        let mut file = file.map_err(self.root.io("open", &path))?;
        // What no record and no tally is was cut off.
        file.set_len(end.whole_bytes)
            .map_err(self.root.io("shorten", &path))?;
        if end.kept_bytes + bytes.len() as u64 > AUDIT_SEGMENT_MAX_BYTES {
            self.begin(numbers, number.saturating_add(1), bytes)?;
            let shortened = file.set_len(end.kept_bytes);
            return shortened.map_err(self.root.io("shorten", &path));
        }
        if end.kept_bytes < end.whole_bytes {
            return self.replace(&path, end.kept_bytes, bytes);
        }
        file.seek(SeekFrom::Start(end.kept_bytes))
            .and_then(|_| self.fs.write(&mut file, bytes))
            .and_then(|()| match durable {
                true => self.fs.sync_file(&file),
                false => Ok(()),
            })
            .map_err(self.root.io("write", &path))
    }

    /// Puts `bytes` in the place of the tally behind the first `kept_bytes` of a segment, at once.
    fn replace(&self, path: &StorePath, kept_bytes: u64, bytes: &[u8]) -> Result<()> {
        let read = self.fs.read(path, AUDIT_SEGMENT_MAX_BYTES);
        let mut whole = read.map_err(self.root.io("read", path))?;
        whole.truncate(usize::try_from(kept_bytes).unwrap_or(usize::MAX));
        whole.extend_from_slice(bytes);
        let next = StorePath::audit_successor();
        match self.fs.remove_file(&next) {
            // A killed command left it.
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(self.root.io("remove", &next)(error)),
        }
        self.create(&next, &whole)?;
        self.fs
            .rename_over(&next, path)
            .and_then(|()| self.fs.sync_dir(&StorePath::root()))
            .map_err(self.root.io("replace", path))
    }

    /// Writes a new file that its owner alone may read, also in a folder that others may.
    fn create(&self, path: &StorePath, bytes: &[u8]) -> Result<()> {
        let file = self.fs.create(path);
        let mut file = file.map_err(self.root.io("create", path))?;
        self.fs
            .set_mode(&file, 0o600)
            .and_then(|()| self.fs.write(&mut file, bytes))
            .and_then(|()| self.fs.sync_file(&file))
            .map_err(self.root.io("write", path))
    }

    /// Begins a segment, after deleting the oldest ones where there are as many as there may be.
    fn begin(&self, numbers: &[u32], number: u32, bytes: &[u8]) -> Result<()> {
        let path = StorePath::audit_segment(number);
        if number > NUMBER_MAX {
            return Err(self.root.corrupt(&path, "there is no number left for it"));
        }
        let too_many = (numbers.len() + 1).saturating_sub(AUDIT_SEGMENTS_MAX);
        for oldest in numbers.iter().take(too_many) {
            let oldest = StorePath::audit_segment(*oldest);
            self.fs
                .remove_file(&oldest)
                .map_err(self.root.io("remove", &oldest))?;
        }
        self.create(&path, bytes)?;
        self.fs
            .sync_dir(&StorePath::root())
            .map_err(self.root.io("write", &path))
    }
}

impl End {
    /// Adds what an older segment says to what the newer ones said.
    fn take_in(&mut self, segment: &Segment<'_>, is_newest: bool) {
        let mut records = segment.frames.as_slice();
        if let Some((last, before)) = records.split_last()
            && let Some(tally) = Tally::decode(last.body)
        {
            records = before;
            if is_newest {
                self.tally = tally;
                // It names the last record, also where that is damaged.
                self.previous = Some(last.previous);
            }
        }
        if is_newest {
            self.is_damaged = segment.is_damaged();
            self.kept_bytes = records.last().map_or(0, Frame::end) as u64;
            self.whole_bytes = segment.frames.last().map_or(0, Frame::end) as u64;
        }
        let last = records.last().map(|last| last.hash);
        self.previous = self.previous.or(last);
        let left = RECENT_MAX - self.recent.len();
        let oldest = records.len().saturating_sub(left);
        let older = records.iter().skip(oldest);
        let older = older.filter_map(|frame| Refusal::decode(frame.body).ok());
        self.recent = older.chain(self.recent.drain(..)).collect();
    }
}

/// A link could lead to somebody else's folder.
fn is_a_link() -> std::io::Error {
    let words = "it is a link, and none is followed there";
    std::io::Error::new(ErrorKind::NotADirectory, words)
}

/// What is found under a segment's name.
enum Content {
    Bytes(Vec<u8>),
    /// A link, a folder or the like, or more than a segment may hold.
    Unreadable,
    Missing,
}

fn is_no_segment(error: &std::io::Error) -> bool {
    let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
    is_link
        || matches!(
            error.kind(),
            ErrorKind::InvalidInput | ErrorKind::FileTooLarge | ErrorKind::IsADirectory
        )
}
