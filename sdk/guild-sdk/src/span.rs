//! Which bytes an operand covers, and whether two operands may share one.

use crate::format;
use guild_abi::abi::{guild_state, guild_tensor};

/// Bytes that an operand covers: `count` pieces of `extent` bytes, `step` apart.
pub(crate) struct Span {
    start: usize,
    end: usize,
    step: usize,
    extent: usize,
}

impl Span {
    pub(crate) fn plain(start: usize, bytes: usize) -> Span {
        Span {
            start,
            end: start.saturating_add(bytes),
            step: 0,
            extent: bytes,
        }
    }

    /// Whether the two may share a byte. Pieces with the same step that interleave don't.
    pub(crate) fn meets(&self, other: &Span) -> bool {
        if self.start >= other.end || other.start >= self.end {
            return false;
        }
        if self.step == 0 || self.step != other.step {
            return true;
        }
        let apart = other.start.wrapping_sub(self.start) as isize;
        let phase = apart.rem_euclid(self.step as isize) as usize;
        phase < self.extent || phase.saturating_add(other.extent) > self.step
    }
}

/// The bytes of a tensor: all of `byte_len`, or the pieces of its rows where rows have gaps.
pub(crate) fn tensor_span(tensor: &guild_tensor) -> Span {
    let mut span = Span::plain(tensor.data as usize, tensor.byte_len as usize);
    let rank = usize::from(tensor.rank).min(6);
    if rank >= 2 && tensor.stride[0] > 0 && tensor.quant.is_null() {
        let size = format::storage(tensor.format).map_or(usize::MAX, |s| s.block_bytes);
        let row = (1..rank).fold(size, |row, at| {
            let steps = tensor.shape[at].saturating_sub(1) as usize;
            let stride = usize::try_from(tensor.stride[at]).unwrap_or(usize::MAX);
            row.saturating_add(steps.saturating_mul(stride))
        });
        span.step = tensor.stride[0] as usize;
        span.extent = row;
    }
    span
}

/// The bytes of a state.
pub(crate) fn state_span(state: &guild_state) -> Span {
    let size = format::storage(state.format).map_or(usize::MAX, |s| s.block_bytes);
    let slot = state
        .shape
        .iter()
        .fold(size, |bytes, &n| bytes.saturating_mul(n as usize));
    let stride = state.stride as usize;
    let last = stride.saturating_mul((state.count as usize).saturating_sub(1));
    Span {
        start: state.data as usize,
        end: (state.data as usize).saturating_add(last.saturating_add(slot)),
        step: stride,
        extent: slot,
    }
}

/// Whether two tensors are the same elements at the same addresses.
pub(crate) fn same_memory(a: &guild_tensor, b: &guild_tensor) -> bool {
    let rank = usize::from(a.rank).min(6);
    a.data == b.data
        && a.rank == b.rank
        && a.format == b.format
        && a.shape[..rank] == b.shape[..rank]
        && (0..rank).all(|at| a.shape[at] <= 1 || a.stride[at] == b.stride[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_pieces_meet_only_where_they_share_a_byte() {
        let span = |start: usize, extent| Span {
            start,
            end: start + 3 * 100 + extent,
            step: 100,
            extent,
        };
        let first = span(1000, 40);
        assert!(!first.meets(&span(1040, 60)) && !span(1040, 60).meets(&first));
        assert!(first.meets(&span(1039, 10)) && first.meets(&span(1040, 61)));
        assert!(first.meets(&span(1100, 40)) && first.meets(&span(960, 41)));
        assert!(!first.meets(&span(960, 40)));
        assert!(
            first.meets(&Span::plain(1050, 10)),
            "other steps count whole"
        );
        assert!(!first.meets(&Span::plain(1340, 10)) && !first.meets(&Span::plain(990, 10)));
    }
}
