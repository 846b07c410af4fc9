//! Reads a bundle, and accepts it only if writing the same entries again would give the same bytes.
//!
//! Only four values of each central record are believed (name, CRC, size and, through contiguity, the
//! offset). Everything else is written anew from them and compared in place. The steps are those of
//! `docs/package-format.md`, section 3.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::bundle::layout::{
    self, CENTRAL_RECORD_BYTES, END_RECORD_BYTES, LOCAL_HEADER_BYTES, Record,
};
use crate::bundle::{ENVELOPE_NAME, MANIFEST_NAME};
use crate::crc32::Crc32;
use crate::digest::{Digest, Hasher};
use crate::error::{Error, Result};
use crate::limits::{
    BUNDLE_MAX_BYTES, BUNDLE_MAX_ENTRIES, COPY_CHUNK_BYTES, ENVELOPE_MAX_BYTES, MANIFEST_MAX_BYTES,
    PATH_MAX_BYTES,
};
use crate::name::ArtifactPath;

const BUNDLE: &str = "the bundle";

/// Bytes that can be read at any position: a file, or a slice in tests.
pub trait ReadAt {
    /// How many bytes there are.
    ///
    /// # Errors
    /// The operating system's reason.
    fn len_bytes(&self) -> io::Result<u64>;

    /// Fills `buffer` from `offset`.
    ///
    /// # Errors
    /// `UnexpectedEof` past the end, or the operating system's reason.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

/// A bundle in its one legal encoding, every byte of it read and hashed once.
#[derive(Debug)]
pub struct Bundle<S> {
    source: S,
    entries: Vec<BundleEntry>,
}

/// One entry of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleEntry {
    /// Its name.
    pub name: ArtifactPath,
    /// SHA-256 of its data.
    pub sha256: Digest,
    /// CRC-32 of its data.
    pub crc32: u32,
    /// Bytes of data.
    pub size: u64,
    /// Where the data begins in the file.
    pub data_offset: u64,
}

impl<S: ReadAt> Bundle<S> {
    /// Reads the whole of `source` once.
    ///
    /// # Errors
    /// [`Error::Unsigned`] if the last entry is not the envelope, [`Error::Malformed`] for any byte that
    /// the canonical writer would not have written, [`Error::Io`] if reading fails.
    pub fn parse(source: S) -> Result<Self> {
        let bytes = source.len_bytes().map_err(Error::io("read", BUNDLE))?;
        let directory = Directory::read(&source, bytes)?;
        let mut entries = Vec::new();
        let mut offset = 0;
        for claim in directory.claims {
            let entry = check_entry(&source, claim, offset, directory.offset)?;
            offset = entry.data_offset + entry.size;
            entries.push(entry);
        }
        // Step 3.6: the last entry ends where the directory begins.
        if offset != directory.offset {
            return Err(malformed(
                "there are bytes between the last entry and the directory",
            ));
        }
        check_directory(&source, &entries, offset, bytes)?;
        check_names(&entries)?;
        Ok(Self { source, entries })
    }

    /// The manifest's bytes.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails, [`Error::DigestMismatch`] if the file changed since [`Self::parse`].
    pub fn manifest(&self) -> Result<Vec<u8>> {
        self.small_entry(self.entries.first())
    }

    /// The envelope's bytes.
    ///
    /// # Errors
    /// As [`Self::manifest`].
    pub fn envelope(&self) -> Result<Vec<u8>> {
        self.small_entry(self.entries.last())
    }

    /// Every entry between manifest and envelope, ascending by name.
    pub fn artifacts(&self) -> &[BundleEntry] {
        match self.entries.as_slice() {
            [_, artifacts @ .., _] => artifacts,
            _ => &[],
        }
    }

    /// Hands the data of `entry` to `sink` in pieces.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails, or what `sink` returns.
    pub fn read_entry(
        &self,
        entry: &BundleEntry,
        sink: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        read_range(&self.source, entry.data_offset, entry.size, sink)
    }

    /// Manifest and envelope were capped by [`check_names`], so they fit into memory.
    fn small_entry(&self, entry: Option<&BundleEntry>) -> Result<Vec<u8>> {
        let entry = entry.ok_or_else(|| malformed("it has no entries"))?;
        let mut data = Vec::new();
        self.read_entry(entry, |piece| {
            data.extend_from_slice(piece);
            Ok(())
        })?;
        let found = Digest::of(&data);
        if found != entry.sha256 {
            return Err(Error::DigestMismatch {
                what: entry.name.to_string(),
                expected: entry.sha256,
                found,
                next: "The file changed while it was read; copy it elsewhere and try again",
            });
        }
        Ok(data)
    }
}

/// What the central directory claims, before any of it is checked against the rest of the file.
struct Directory {
    claims: Vec<Claim>,
    offset: u64,
}

/// The believed part of one central record.
struct Claim {
    name: ArtifactPath,
    crc32: u32,
    size: u32,
}

impl Directory {
    fn read(source: &impl ReadAt, file_bytes: u64) -> Result<Self> {
        // Step 3.1: size before anything else.
        if file_bytes > BUNDLE_MAX_BYTES {
            return Err(malformed(format!(
                "it is larger than {BUNDLE_MAX_BYTES} bytes"
            )));
        }
        let Some(end_offset) = file_bytes.checked_sub(END_RECORD_BYTES) else {
            return Err(malformed("it is too short to be a bundle"));
        };
        // Step 3.2: the end record is the last 22 bytes. It is compared as a whole in step 3.7.
        let mut end = [0; END_RECORD_BYTES as usize];
        read_at(source, &mut end, end_offset)?;
        if u32_at(&end, 0) != layout::END_MAGIC {
            return Err(not_ended(source)?);
        }
        let entries = usize::from(u16_at(&end, 10));
        let directory_bytes = u64::from(u32_at(&end, 12));
        let offset = u64::from(u32_at(&end, 16));
        if entries > BUNDLE_MAX_ENTRIES {
            return Err(malformed(format!(
                "it has more than {BUNDLE_MAX_ENTRIES} entries"
            )));
        }
        if offset.checked_add(directory_bytes) != Some(end_offset) {
            return Err(malformed(
                "the directory does not end at the end record, the last 22 bytes of the file",
            ));
        }
        // Step 3.3: the directory's size is bounded by the entry count before it is allocated.
        if directory_bytes > entries as u64 * (CENTRAL_RECORD_BYTES + PATH_MAX_BYTES as u64) {
            return Err(malformed("the directory is larger than its entries need"));
        }
        let mut directory = vec![0; directory_bytes as usize];
        read_at(source, &mut directory, offset)?;
        let claims = read_claims(&directory, entries)?;
        Ok(Self { claims, offset })
    }
}

/// Why a file without an end record is no bundle, in words for whoever got it.
fn not_ended(source: &impl ReadAt) -> Result<Error> {
    let mut start = [0; 4];
    read_at(source, &mut start, 0)?;
    Ok(malformed(match u32_at(&start, 0) == layout::LOCAL_MAGIC {
        true => "it is cut off, or something was added: its last 22 bytes are no end record",
        false => "it neither begins nor ends as a bundle does",
    }))
}

fn read_claims(mut directory: &[u8], entries: usize) -> Result<Vec<Claim>> {
    let short = || malformed("the directory is cut off");
    let mut claims = Vec::with_capacity(entries);
    for _ in 0..entries {
        let (record, rest) = directory
            .split_first_chunk::<{ CENTRAL_RECORD_BYTES as usize }>()
            .ok_or_else(short)?;
        let name_bytes = usize::from(u16_at(record, 28));
        let (name, rest) = rest.split_at_checked(name_bytes).ok_or_else(short)?;
        let name =
            std::str::from_utf8(name).map_err(|_| malformed("an entry name is not ASCII"))?;
        let name = name
            .parse()
            .map_err(|invalid| Error::invalid(BUNDLE, &invalid))?;
        if u32_at(record, 20) != u32_at(record, 24) {
            return Err(malformed("an entry is compressed"));
        }
        claims.push(Claim {
            name,
            crc32: u32_at(record, 16),
            size: u32_at(record, 24),
        });
        directory = rest;
    }
    Ok(claims)
}

/// Steps 3.4 and 3.5: the local header is the one we would write at this place, and the data fits before
/// the directory and has the claimed checksum.
fn check_entry(
    source: &impl ReadAt,
    claim: Claim,
    offset: u64,
    directory_offset: u64,
) -> Result<BundleEntry> {
    let name = &claim.name;
    let end = offset + LOCAL_HEADER_BYTES + name.as_str().len() as u64 + u64::from(claim.size);
    if end > directory_offset {
        return Err(malformed(format!(
            "entry {name} reaches into the directory"
        )));
    }
    let record = Record {
        name: name.as_str(),
        crc32: claim.crc32,
        size: claim.size,
        offset: offset_field(offset)?,
    };
    let expected = record.local_header();
    let mut header = vec![0; expected.len()];
    read_at(source, &mut header, offset)?;
    if header != expected {
        return Err(malformed(format!(
            "the local header of {name} is not the canonical one"
        )));
    }
    let data_offset = offset + expected.len() as u64;
    let mut hasher = Hasher::default();
    let mut crc = Crc32::default();
    read_range(source, data_offset, u64::from(claim.size), |piece| {
        hasher.update(piece);
        crc.update(piece);
        Ok(())
    })?;
    let (sha256, size) = hasher.finish();
    if crc.finish() != claim.crc32 {
        return Err(malformed(format!(
            "the data of {name} does not have its CRC-32"
        )));
    }
    Ok(BundleEntry {
        name: claim.name,
        sha256,
        crc32: claim.crc32,
        size,
        data_offset,
    })
}

/// Step 3.7: directory and end record are the ones we would write.
fn check_directory(
    source: &impl ReadAt,
    entries: &[BundleEntry],
    offset: u64,
    file_bytes: u64,
) -> Result<()> {
    let mut expected = Vec::new();
    for entry in entries {
        let header_bytes = LOCAL_HEADER_BYTES + entry.name.as_str().len() as u64;
        let record = Record {
            name: entry.name.as_str(),
            crc32: entry.crc32,
            size: offset_field(entry.size)?,
            offset: offset_field(entry.data_offset - header_bytes)?,
        };
        expected.extend(record.central_record());
    }
    let directory_bytes = offset_field(expected.len() as u64)?;
    expected.extend(layout::end_record(
        entries.len() as u16,
        directory_bytes,
        offset_field(offset)?,
    ));
    if offset + expected.len() as u64 != file_bytes {
        return Err(malformed(
            "the directory has another length than the canonical one",
        ));
    }
    let mut found = vec![0; expected.len()];
    read_at(source, &mut found, offset)?;
    if found != expected {
        return Err(malformed(
            "the directory or end record is not the canonical one",
        ));
    }
    Ok(())
}

/// Step 3.8: manifest first, envelope last, artifacts strictly ascending between them, and both texts
/// within their limits.
fn check_names(entries: &[BundleEntry]) -> Result<()> {
    let (first, artifacts, last) = match entries {
        [] => return Err(malformed("it has no entries")),
        [first, ..] if first.name.as_str() != MANIFEST_NAME => {
            return Err(malformed("the first entry is not manifest.json"));
        }
        [first, artifacts @ .., last] if last.name.as_str() == ENVELOPE_NAME => {
            (first, artifacts, last)
        }
        _ => {
            return Err(Error::Unsigned {
                detail: "the last entry is not signatures.json",
            });
        }
    };
    if first.size > MANIFEST_MAX_BYTES || last.size > ENVELOPE_MAX_BYTES {
        return Err(malformed("manifest.json or signatures.json is too large"));
    }
    let reserved =
        |entry: &BundleEntry| [MANIFEST_NAME, ENVELOPE_NAME].contains(&entry.name.as_str());
    if artifacts.iter().any(reserved) || !artifacts.is_sorted_by(|a, b| a.name < b.name) {
        return Err(malformed("entry names are not strictly ascending"));
    }
    Ok(())
}

fn read_range(
    source: &impl ReadAt,
    mut offset: u64,
    size: u64,
    mut sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut left = size;
    let mut buffer = vec![0; size.min(COPY_CHUNK_BYTES as u64) as usize];
    while left > 0 {
        let piece = left.min(buffer.len() as u64);
        let buffer = &mut buffer[..piece as usize];
        read_at(source, buffer, offset)?;
        sink(buffer)?;
        offset += piece;
        left -= piece;
    }
    Ok(())
}

/// SHA-256 of all of `source`, whatever it holds, if it is no larger than a bundle may be.
///
/// # Errors
/// [`Error::Malformed`] if it is, [`Error::Io`].
pub(crate) fn digest_of(source: &impl ReadAt) -> Result<Digest> {
    let size = source.len_bytes().map_err(Error::io("read", BUNDLE))?;
    if size > BUNDLE_MAX_BYTES {
        return Err(malformed(format!("it has {size} bytes")));
    }
    let mut hasher = Hasher::default();
    read_range(source, 0, size, |piece| {
        hasher.update(piece);
        Ok(())
    })?;
    Ok(hasher.finish().0)
}

fn read_at(source: &impl ReadAt, buffer: &mut [u8], offset: u64) -> Result<()> {
    source
        .read_exact_at(buffer, offset)
        .map_err(Error::io("read", BUNDLE))
}

fn malformed(detail: impl Into<String>) -> Error {
    Error::malformed(BUNDLE, detail)
}

/// Every position is below [`BUNDLE_MAX_BYTES`], so this only fails if that check is gone.
fn offset_field(offset: u64) -> Result<u32> {
    u32::try_from(offset).map_err(|_| malformed("an offset does not fit 32 bits"))
}

/// Little-endian field of a record of fixed length; `at` is a constant of the format.
fn u16_at<const N: usize>(record: &[u8; N], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

fn u32_at<const N: usize>(record: &[u8; N], at: usize) -> u32 {
    u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
}

impl ReadAt for File {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, buffer, offset)
    }
}

impl ReadAt for &[u8] {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let wanted = start.and_then(|start| self.get(start..)?.get(..buffer.len()));
        match wanted {
            Some(bytes) => {
                buffer.copy_from_slice(bytes);
                Ok(())
            }
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
