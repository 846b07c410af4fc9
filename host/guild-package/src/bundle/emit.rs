//! Writes a bundle. The caller gives the entries in order; the order is checked, not repaired.

use std::io::{self, Write};

use crate::bundle::layout::{self, Record};
use crate::bundle::{ENVELOPE_NAME, MANIFEST_NAME};
use crate::crc32::Crc32;
use crate::error::{Error, Result};
use crate::limits::{BUNDLE_MAX_BYTES, BUNDLE_MAX_ENTRIES};
use crate::name::ArtifactPath;

/// One entry to write.
#[derive(Clone, Copy, Debug)]
pub struct EmitEntry<'a> {
    /// Its name.
    pub name: &'a ArtifactPath,
    /// Its bytes.
    pub data: &'a [u8],
}

/// Writes the bundle of `artifacts` between `manifest` and `envelope` to `out`.
///
/// # Errors
/// [`Error::Usage`] if the artifacts are not strictly ascending, use a reserved name, or are too many or
/// too large; [`Error::Io`] if `out` fails.
pub fn emit(
    out: &mut impl Write,
    manifest: &[u8],
    artifacts: &[EmitEntry<'_>],
    envelope: &[u8],
) -> Result<()> {
    check_order(artifacts)?;
    let entries = std::iter::once((MANIFEST_NAME, manifest))
        .chain(
            artifacts
                .iter()
                .map(|entry| (entry.name.as_str(), entry.data)),
        )
        .chain(std::iter::once((ENVELOPE_NAME, envelope)));
    let mut offset = 0_u64;
    let mut directory = Vec::new();
    let mut count = 0_u16;
    for (name, data) in entries {
        let record = Record {
            name,
            crc32: Crc32::of(data),
            size: within_limit(data.len() as u64)?,
            offset: within_limit(offset)?,
        };
        let header = record.local_header();
        write(out, &header)?;
        write(out, data)?;
        offset += (header.len() + data.len()) as u64;
        directory.extend(record.central_record());
        count += 1;
    }
    let directory_bytes = within_limit(directory.len() as u64)?;
    let end = layout::end_record(count, directory_bytes, within_limit(offset)?);
    within_limit(offset + u64::from(directory_bytes) + end.len() as u64)?;
    write(out, &directory)?;
    write(out, &end)
}

fn check_order(artifacts: &[EmitEntry<'_>]) -> Result<()> {
    if artifacts.len() + 2 > BUNDLE_MAX_ENTRIES {
        let what = format!("a bundle holds at most {BUNDLE_MAX_ENTRIES} entries");
        return Err(Error::usage(what, "Leave out some artifacts"));
    }
    let reserved =
        |entry: &EmitEntry<'_>| [MANIFEST_NAME, ENVELOPE_NAME].contains(&entry.name.as_str());
    if artifacts.iter().any(reserved) || !artifacts.is_sorted_by(|a, b| a.name < b.name) {
        let what =
            "artifact paths must ascend, differ, and not be manifest.json or signatures.json";
        return Err(Error::usage(what, "Rename the artifact"));
    }
    Ok(())
}

fn within_limit(bytes: u64) -> Result<u32> {
    match u32::try_from(bytes) {
        Ok(small) if bytes <= BUNDLE_MAX_BYTES => Ok(small),
        _ => {
            let what = format!("a bundle is at most {BUNDLE_MAX_BYTES} bytes");
            Err(Error::usage(what, "Leave out some artifacts"))
        }
    }
}

fn write(out: &mut impl Write, bytes: &[u8]) -> Result<()> {
    out.write_all(bytes).map_err(|source: io::Error| Error::Io {
        action: "write",
        path: "the bundle".into(),
        source,
    })
}
