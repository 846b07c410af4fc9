//! The tensor directory: names, shapes, types and places, checked against the file's length and against each other.

use super::cursor::{Cursor, check_limit};
use super::limits::{AXES_MAX, TENSOR_NAME_BYTES_MAX};
use super::tensor_type::{tensor_type, type_name};
use crate::error::Damage;
use crate::source::TensorInfo;

/// Reads `count` entries. Offsets in the file are from the start of the tensor data; in the result they are from the
/// start of the file.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    count: u64,
    alignment: u64,
) -> Result<Vec<TensorInfo>, Damage> {
    let mut tensors = Vec::new();
    for _ in 0..count {
        tensors.push(read_entry(cursor)?);
    }
    let file_bytes = cursor.total_bytes();
    // A position in memory is far below 2^63, so this cannot overflow.
    let data_start = (cursor.position() as u64).next_multiple_of(alignment);
    for tensor in &mut tensors {
        place(tensor, data_start, alignment, file_bytes)?;
    }
    check_overlap(&tensors)?;
    Ok(tensors)
}

fn read_entry(cursor: &mut Cursor<'_>) -> Result<TensorInfo, Damage> {
    let name = cursor.string_copy("a tensor name", TENSOR_NAME_BYTES_MAX)?;
    let axes = cursor.u32("a tensor's axis count")?;
    check_limit("a tensor's axis count", axes.into(), AXES_MAX)?;
    let mut shape = Vec::with_capacity(axes as usize);
    for _ in 0..axes {
        shape.push(cursor.u64("a tensor's axis")?);
    }
    // A scalar is written with no axis; one axis of length 1 says the same.
    if shape.is_empty() {
        shape.push(1);
    }
    let ggml_type = cursor.u32("a tensor's type")?;
    let offset = cursor.u64("a tensor's offset")?;
    let byte_len = byte_len(&name, ggml_type, &shape)?;
    let type_name = type_name(ggml_type);
    Ok(TensorInfo {
        name,
        ggml_type,
        type_name,
        shape,
        shard: 0,
        offset,
        byte_len,
    })
}

/// Bytes that a tensor takes, or `None` when its type is unknown.
fn byte_len(name: &str, ggml_type: u32, shape: &[u64]) -> Result<Option<u64>, Damage> {
    if shape.contains(&0) {
        return Err(Damage::EmptyAxis {
            tensor: name.to_owned(),
            shape: shape.to_vec(),
        });
    }
    let overflow = || Damage::SizeOverflow {
        tensor: name.to_owned(),
        shape: shape.to_vec(),
    };
    let elements = shape
        .iter()
        .try_fold(1u64, |product, &axis| product.checked_mul(axis));
    let elements = elements.ok_or_else(overflow)?;
    let Some(known) = tensor_type(ggml_type) else {
        return Ok(None);
    };
    let row_elems = shape.first().copied().unwrap_or(1);
    if !row_elems.is_multiple_of(known.block_elems) {
        return Err(Damage::PartialBlock {
            tensor: name.to_owned(),
            type_name: known.name,
            row_elems,
            block_elems: known.block_elems,
        });
    }
    let bytes = (elements / known.block_elems).checked_mul(known.block_bytes);
    bytes.map(Some).ok_or_else(overflow)
}

/// Turns a tensor's offset into one from the start of the file, inside the file.
fn place(
    tensor: &mut TensorInfo,
    data_start: u64,
    alignment: u64,
    file_bytes: u64,
) -> Result<(), Damage> {
    if !tensor.offset.is_multiple_of(alignment) {
        return Err(Damage::Misaligned {
            tensor: tensor.name.clone(),
            offset: tensor.offset,
            alignment,
        });
    }
    let at = tensor.offset.saturating_add(data_start);
    // Nothing is known of an unknown type but that it has a first byte.
    let byte_len = tensor.byte_len.unwrap_or(1);
    match at.checked_add(byte_len) {
        Some(end) if end <= file_bytes => tensor.offset = at,
        _ => {
            return Err(Damage::OutOfBounds {
                tensor: tensor.name.clone(),
                at,
                byte_len,
                file_bytes,
            });
        }
    }
    Ok(())
}

/// Refuses tensors that share bytes. All of them lie inside the file, so no sum overflows.
fn check_overlap(tensors: &[TensorInfo]) -> Result<(), Damage> {
    let mut by_offset: Vec<&TensorInfo> = tensors.iter().collect();
    by_offset.sort_unstable_by_key(|tensor| tensor.offset);
    for pair in by_offset.windows(2) {
        if let [first, second] = pair
            && first.offset + first.byte_len.unwrap_or(1) > second.offset
        {
            return Err(Damage::Overlap {
                first: first.name.clone(),
                second: second.name.clone(),
            });
        }
    }
    Ok(())
}
