//! Reads a model's weights before the first pass needs them.

use crate::output::Output;
use guild_model::{GgufFile, ModelError, ModelSource};
use std::hint::black_box;

/// The smallest page of any system, in bytes: one touch in each makes everything resident.
const PAGE_BYTES: usize = 4096;

/// Bytes that one call reads and maps: enough for few calls, few enough for a bar that moves.
const PART_BYTES: u64 = 64 << 20;

/// Makes every page of these tensors resident, in the order of the file. Shows progress in MiB.
///
/// One call for many pages is faster than a fault for each, and reads into larger pages. Where the system lacks it, every
/// page is touched, with the next tensor being read ahead meanwhile.
///
/// # Errors
/// Those of [`ModelSource::tensor_bytes`].
pub fn weights<'n>(
    source: &GgufFile,
    names: impl Iterator<Item = &'n str>,
    output: Output,
) -> Result<(), ModelError> {
    let tensors = names.map(|name| Ok((name, source.tensor_bytes(name)?)));
    let mut tensors = tensors.collect::<Result<Vec<_>, ModelError>>()?;
    tensors.sort_unstable_by_key(|(_, bytes)| bytes.as_ptr().addr());
    let total_bytes: usize = tensors.iter().map(|(_, bytes)| bytes.len()).sum();
    let progress = output.progress(total_bytes as u64 >> 20, "weights, MiB");
    let mut done_bytes = 0;
    for (number, (name, bytes)) in tensors.iter().enumerate() {
        let populated = populate(source, name, bytes.len() as u64, |bytes| {
            progress.set_position((done_bytes as u64 + bytes) >> 20);
        });
        if !populated {
            if let Some((next, _)) = tensors.get(number + 1) {
                source.prefetch(next);
            }
            touch(bytes);
        }
        done_bytes += bytes.len();
        progress.set_position(done_bytes as u64 >> 20);
    }
    progress.finish_and_clear();
    Ok(())
}

/// Has the system read and map a tensor part by part; false as soon as it won't.
fn populate(source: &GgufFile, name: &str, bytes: u64, progress: impl Fn(u64)) -> bool {
    let mut parts = (0..bytes).step_by(PART_BYTES as usize);
    parts.all(|start| {
        let end = (start + PART_BYTES).min(bytes);
        progress(end);
        source.populate(name, start..end)
    })
}

/// Reads a byte of every page. A tensor may begin inside a page, so its last byte is read as well.
fn touch(bytes: &[u8]) {
    let touched = bytes.iter().step_by(PAGE_BYTES).chain(bytes.last());
    black_box(touched.fold(0u8, |sum, byte| sum.wrapping_add(*byte)));
}
