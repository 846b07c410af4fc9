//! The header: magic, version and the two counts; and the alignment, which the metadata states.

use super::cursor::Cursor;
use super::limits::{
    ALIGNMENT_BYTES_DEFAULT, ALIGNMENT_BYTES_MAX, METADATA_COUNT_MAX, TENSOR_COUNT_MAX,
};
use crate::error::{Damage, ModelError, Unsupported};
use crate::metadata::Metadata;

/// A tensor entry takes at least: name length, axis count, one axis, type, offset.
const TENSOR_ENTRY_BYTES_MIN: u64 = 8 + 4 + 8 + 4 + 8;
/// A metadata entry takes at least: key length, value type, one byte of value.
const METADATA_ENTRY_BYTES_MIN: u64 = 8 + 4 + 1;

/// The first 24 bytes of a file.
pub(super) struct Header {
    pub(super) version: u32,
    pub(super) tensor_count: u64,
    pub(super) metadata_count: u64,
}

/// Reads the header; both counts are within their limits and within what the file can hold.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Header, ModelError> {
    let magic = cursor.array("the magic")?;
    if &magic != b"GGUF" {
        return Err(Damage::NotGguf { magic }.into());
    }
    let version = cursor.u32("the version")?;
    match version {
        2 | 3 => {}
        swapped if matches!(swapped.swap_bytes(), 1..=3) => {
            return Err(Unsupported::BigEndian.into());
        }
        found => return Err(Unsupported::Version { found }.into()),
    }
    let tensor_count =
        cursor.count("the tensor count", TENSOR_COUNT_MAX, TENSOR_ENTRY_BYTES_MIN)?;
    let metadata_count = cursor.count(
        "the metadata count",
        METADATA_COUNT_MAX,
        METADATA_ENTRY_BYTES_MIN,
    )?;
    Ok(Header {
        version,
        tensor_count,
        metadata_count,
    })
}

/// The alignment of tensor data in bytes.
pub(super) fn alignment(metadata: &Metadata) -> Result<u64, ModelError> {
    let stated = metadata.get::<u64>("general.alignment")?;
    let alignment = stated.unwrap_or(ALIGNMENT_BYTES_DEFAULT);
    if !alignment.is_power_of_two() || !(8..=ALIGNMENT_BYTES_MAX).contains(&alignment) {
        return Err(Damage::BadAlignment {
            found: alignment,
            limit: ALIGNMENT_BYTES_MAX,
        }
        .into());
    }
    Ok(alignment)
}
