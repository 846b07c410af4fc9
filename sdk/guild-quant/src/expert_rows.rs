//! `GateUpRowInterleaved`: one expert's weights with its gate and up rows alternating, so that a kernel that
//! needs row `i` of both reads one stream.
//!
//! | order | content |
//! |---|---|
//! | a file's | `gate_0 ... gate_(ff-1)`, `up_0 ... up_(ff-1)`, the down rows |
//! | packed | `gate_0`, `up_0`, `gate_1`, `up_1` and so on, the down rows |
//!
//! No byte changes, only its place. Gate and up may have different formats, and so rows of different lengths.
//! One expert is packed at a time: that much memory is all that it takes.

use core::fmt;

/// Sizes of one expert's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpertRows {
    ff: usize,
    gate_row_bytes: usize,
    up_row_bytes: usize,
    down_bytes: usize,
}

/// A part of an expert hasn't the length that its sizes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartLengths {
    /// Bytes of gate, up, down and the packed whole as the sizes say.
    pub want: [usize; 4],
    /// The same as given.
    pub got: [usize; 4],
}

impl fmt::Display for PartLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PartLengths { want, got } = self;
        write!(
            f,
            "gate, up, down and the whole of an expert have {got:?} bytes; its sizes say {want:?}"
        )
    }
}

impl core::error::Error for PartLengths {}

impl ExpertRows {
    /// Sizes of an expert with `ff` rows of gate and of up; none where they pass the address space.
    #[must_use]
    pub fn new(
        ff: usize,
        gate_row_bytes: usize,
        up_row_bytes: usize,
        down_bytes: usize,
    ) -> Option<ExpertRows> {
        let pairs = gate_row_bytes.checked_add(up_row_bytes)?.checked_mul(ff)?;
        pairs.checked_add(down_bytes)?;
        Some(ExpertRows {
            ff,
            gate_row_bytes,
            up_row_bytes,
            down_bytes,
        })
    }

    /// Bytes from a gate row to the next in the packed order, and from an up row to the next.
    #[must_use]
    pub const fn pair_bytes(&self) -> usize {
        self.gate_row_bytes + self.up_row_bytes
    }

    /// Bytes of the whole expert, in either order.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.down_at() + self.down_bytes
    }

    /// Where the down rows begin, in either order.
    #[must_use]
    pub const fn down_at(&self) -> usize {
        self.ff * self.pair_bytes()
    }

    /// Writes one expert in the packed order, from its three parts.
    ///
    /// # Errors
    /// A length isn't what the sizes say.
    pub fn pack(
        &self,
        gate: &[u8],
        up: &[u8],
        down: &[u8],
        packed: &mut [u8],
    ) -> Result<(), PartLengths> {
        self.check([gate.len(), up.len(), down.len(), packed.len()])?;
        let (pairs, down_rows) = packed.split_at_mut(self.down_at());
        for (i, pair) in pairs.chunks_exact_mut(self.pair_bytes().max(1)).enumerate() {
            let (gate_row, up_row) = pair.split_at_mut(self.gate_row_bytes);
            gate_row.copy_from_slice(&gate[i * self.gate_row_bytes..][..self.gate_row_bytes]);
            up_row.copy_from_slice(&up[i * self.up_row_bytes..][..self.up_row_bytes]);
        }
        down_rows.copy_from_slice(down);
        Ok(())
    }

    /// Writes the three parts of one expert, from the packed order.
    ///
    /// # Errors
    /// A length isn't what the sizes say.
    pub fn unpack(
        &self,
        packed: &[u8],
        gate: &mut [u8],
        up: &mut [u8],
        down: &mut [u8],
    ) -> Result<(), PartLengths> {
        self.check([gate.len(), up.len(), down.len(), packed.len()])?;
        let (pairs, down_rows) = packed.split_at(self.down_at());
        for (i, pair) in pairs.chunks_exact(self.pair_bytes().max(1)).enumerate() {
            let (gate_row, up_row) = pair.split_at(self.gate_row_bytes);
            gate[i * self.gate_row_bytes..][..self.gate_row_bytes].copy_from_slice(gate_row);
            up[i * self.up_row_bytes..][..self.up_row_bytes].copy_from_slice(up_row);
        }
        down.copy_from_slice(down_rows);
        Ok(())
    }

    fn check(&self, got: [usize; 4]) -> Result<(), PartLengths> {
        let want = [
            self.ff * self.gate_row_bytes,
            self.ff * self.up_row_bytes,
            self.down_bytes,
            self.bytes(),
        ];
        if got == want {
            Ok(())
        } else {
            Err(PartLengths { want, got })
        }
    }
}
