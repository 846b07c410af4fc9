//! The metadata section: walks over every entry and checks it, without copying a value.

use super::cursor::{Cursor, check_limit};
use super::limits::{
    ARRAY_DEPTH_MAX, ARRAY_ELEMENTS_MAX, ARRAY_STRINGS_MAX, KEY_BYTES_MAX, METADATA_BYTES_MAX,
    STRING_BYTES_MAX,
};
use crate::error::Damage;
use crate::metadata::{Entry, ValueType};

/// Checks `count` entries and tells where their values lie.
pub(super) fn read_entries(cursor: &mut Cursor<'_>, count: u64) -> Result<Vec<Entry>, Damage> {
    let mut entries = Vec::new();
    for _ in 0..count {
        let key = cursor.string_copy("a metadata key", KEY_BYTES_MAX)?;
        let value_type = value_type(cursor)?;
        let start = cursor.position();
        check_value(cursor, value_type, ARRAY_DEPTH_MAX)?;
        check_limit(
            "the metadata's size in bytes",
            cursor.position() as u64,
            METADATA_BYTES_MAX,
        )?;
        entries.push(Entry {
            key,
            value_type,
            value: start..cursor.position(),
        });
    }
    Ok(entries)
}

/// Steps over one value and checks it. `depth_left` counts the arrays that may still be opened.
fn check_value(
    cursor: &mut Cursor<'_>,
    value_type: ValueType,
    depth_left: u32,
) -> Result<(), Damage> {
    match value_type {
        ValueType::String => cursor
            .string("a metadata string", STRING_BYTES_MAX)
            .map(drop),
        ValueType::Array => check_array(cursor, depth_left),
        ValueType::Bool => check_booleans(cursor, 1),
        scalar => cursor
            .take("a metadata value", scalar.fixed_bytes().unwrap_or(0))
            .map(drop),
    }
}

fn check_array(cursor: &mut Cursor<'_>, depth_left: u32) -> Result<(), Damage> {
    let depth_left = depth_left.checked_sub(1).ok_or(Damage::OverLimit {
        what: "the depth of nested arrays",
        found: u64::from(ARRAY_DEPTH_MAX) + 1,
        limit: u64::from(ARRAY_DEPTH_MAX),
    })?;
    let element_type = value_type(cursor)?;
    // A string takes at least its length, a nested array its type and its length.
    let (bytes_each, limit) = match element_type {
        ValueType::Array => (4 + 8, ARRAY_STRINGS_MAX),
        ValueType::String => (8, ARRAY_STRINGS_MAX),
        scalar => (scalar.fixed_bytes().unwrap_or(1), ARRAY_ELEMENTS_MAX),
    };
    let count = cursor.count("an array's length", limit, bytes_each)?;
    match element_type {
        ValueType::String | ValueType::Array => {
            (0..count).try_for_each(|_| check_value(cursor, element_type, depth_left))
        }
        ValueType::Bool => check_booleans(cursor, count),
        // `count` has checked that the product fits the file.
        _ => cursor.take("an array", count * bytes_each).map(drop),
    }
}

fn check_booleans(cursor: &mut Cursor<'_>, count: u64) -> Result<(), Damage> {
    let at = cursor.position() as u64;
    for (&found, at) in cursor.take("a boolean", count)?.iter().zip(at..) {
        if found > 1 {
            return Err(Damage::NotBoolean { found, at });
        }
    }
    Ok(())
}

fn value_type(cursor: &mut Cursor<'_>) -> Result<ValueType, Damage> {
    let at = cursor.position() as u64;
    let found = cursor.u32("a value type")?;
    ValueType::from_number(found).ok_or(Damage::UnknownValueType { found, at })
}
