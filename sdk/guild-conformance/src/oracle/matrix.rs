//! A weight matrix in any format, and its exact dot with a row of activations (rules 2, 4 and 5).

use guild_numerics::reduce;
use guild_quant::registry::Quantised;
use guild_quant::{Activation, ActivationFormat, BlockIntegers, Format, Q8_32, Q8_256};
use guild_sdk::format;

/// Rows of `elems` elements in one weight format, without gaps.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    format: &'static Format,
    bytes: &'a [u8],
    elems: usize,
    row_bytes: usize,
}

impl<'a> Matrix<'a> {
    /// A matrix over its bytes, or `None` where `format` (a `GUILD_FORMAT_*`) is no weight format or
    /// the bytes aren't whole rows.
    #[must_use]
    pub fn new(format: u32, bytes: &'a [u8], elems: usize) -> Option<Matrix<'a>> {
        let row_bytes = format::storage(format)?.row_bytes(elems)?;
        let whole = row_bytes > 0 && bytes.len().is_multiple_of(row_bytes);
        whole.then_some(Matrix {
            format: format::weight_format(format)?,
            bytes,
            elems,
            row_bytes,
        })
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.bytes.len() / self.row_bytes
    }

    /// Elements of a row.
    #[must_use]
    pub fn elems(&self) -> usize {
        self.elems
    }

    /// Rows `first..first + count` as a matrix of their own.
    ///
    /// # Panics
    /// When there are no such rows.
    #[must_use]
    pub fn part(&self, first: usize, count: usize) -> Matrix<'a> {
        Matrix {
            bytes: &self.bytes[first * self.row_bytes..][..count * self.row_bytes],
            ..*self
        }
    }

    /// One row, decoded.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn decode(&self, row: usize) -> Vec<f32> {
        let mut out = vec![0.0; self.elems];
        (self.format.decode_row)(self.row(row), &mut out).expect("`new` checked whole rows");
        out
    }

    /// `dot(x, row)` for every row, `[rows]`. `x` is `[elems]`.
    #[must_use]
    pub fn apply(&self, x: &[f32]) -> Vec<f32> {
        let Some(quantised) = self.format.quantised else {
            return (0..self.rows())
                .map(|row| reduce::dot(x, &self.decode(row)))
                .collect();
        };
        let activations = match quantised.activation {
            Activation::Q8_32 => encode::<Q8_32>(x),
            Activation::Q8_256 => encode::<Q8_256>(x),
        };
        (0..self.rows())
            .map(|row| self.quantised_dot(row, &quantised, &activations))
            .collect()
    }

    /// Rule 4: the parts of the row's blocks, in order.
    fn quantised_dot(
        &self,
        row: usize,
        quantised: &Quantised,
        activations: &[(f32, Vec<i8>)],
    ) -> f32 {
        let (mut acc, mut at) = (0.0f32, 0);
        let mut part = BlockIntegers::new();
        let length = quantised.activation.block_elems();
        for block in self.row(row).chunks_exact(self.format.block_bytes) {
            for number in 0..quantised.parts {
                (quantised.integers)(block, number, &mut part);
                let (da, q) = &activations[at / length];
                let q = &q[at % length..][..part.elems];
                acc = (part.isum(q) as f32).mul_add(part.d * da, acc);
                if part.has_min {
                    acc = (-(part.msum(q) as f32)).mul_add(part.dmin * da, acc);
                }
                at += part.elems;
            }
        }
        acc
    }

    fn row(&self, row: usize) -> &'a [u8] {
        &self.bytes[row * self.row_bytes..][..self.row_bytes]
    }
}

/// Scale and integers of each block of `x`.
fn encode<A: ActivationFormat>(x: &[f32]) -> Vec<(f32, Vec<i8>)> {
    x.chunks_exact(A::BLOCK_ELEMS)
        .map(|values| {
            let block = A::encode(values);
            (block.scale(), block.integers().to_vec())
        })
        .collect()
}
