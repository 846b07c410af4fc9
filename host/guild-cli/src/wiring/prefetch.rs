//! Reads a model's weights before the first pass needs them.

use crate::output::Output;
use guild_model::{ModelError, ModelSource};
use std::hint::black_box;

/// The smallest page of any system, in bytes: one touch in each makes everything resident.
const PAGE_BYTES: usize = 4096;

/// Touches every page of these tensors, in the order of the file, with the next tensor being read
/// ahead meanwhile. Shows progress in MiB.
///
/// # Errors
/// Those of [`ModelSource::tensor_bytes`].
pub fn weights<'n>(
    source: &dyn ModelSource,
    names: impl Iterator<Item = &'n str>,
    output: Output,
) -> Result<(), ModelError> {
    let tensors = names.map(|name| Ok((name, source.tensor_bytes(name)?)));
    let mut tensors = tensors.collect::<Result<Vec<_>, ModelError>>()?;
    tensors.sort_unstable_by_key(|(_, bytes)| bytes.as_ptr().addr());
    let total_bytes: usize = tensors.iter().map(|(_, bytes)| bytes.len()).sum();
    let progress = output.progress(total_bytes as u64 >> 20, "weights, MiB");
    let mut done_bytes = 0;
    for (number, (_, bytes)) in tensors.iter().enumerate() {
        if let Some((next, _)) = tensors.get(number + 1) {
            source.prefetch(next);
        }
        // A tensor may begin inside a page, so its last byte is touched as well.
        let touched = bytes.iter().step_by(PAGE_BYTES).chain(bytes.last());
        black_box(touched.fold(0u8, |sum, byte| sum.wrapping_add(*byte)));
        done_bytes += bytes.len();
        progress.set_position(done_bytes as u64 >> 20);
    }
    progress.finish_and_clear();
    Ok(())
}
