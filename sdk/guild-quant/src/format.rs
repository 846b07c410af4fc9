//! Weight formats: what a block of bytes means, as f32 values and as integers.
//!
//! A row is a whole number of blocks, one after the other. Multi-byte fields are little-endian.

mod bf16;
mod f16;
mod f32;
pub mod fp4;
pub mod grid;
mod iq1_m;
mod iq1_s;
mod iq2_s;
mod iq2_xs;
mod iq2_xxs;
mod iq3_s;
mod iq3_xxs;
mod iq4_nl;
mod iq4_xs;
mod k_scales;
mod mxfp4;
mod nvfp4;
mod q1_0;
mod q2_k;
mod q3_k;
mod q4_0;
mod q4_1;
mod q4_k;
mod q5_0;
mod q5_1;
mod q5_k;
mod q6_k;
mod q8_0;
mod sub_blocks;
mod tq1_0;
mod tq2_0;

pub use bf16::Bf16;
pub use f16::F16;
pub use f32::F32;
pub use iq1_m::Iq1M;
pub use iq1_s::Iq1S;
pub use iq2_s::Iq2S;
pub use iq2_xs::Iq2Xs;
pub use iq2_xxs::Iq2Xxs;
pub use iq3_s::Iq3S;
pub use iq3_xxs::Iq3Xxs;
pub use iq4_nl::{IQ4_LEVELS, Iq4Nl};
pub use iq4_xs::Iq4Xs;
pub use mxfp4::Mxfp4;
pub use nvfp4::Nvfp4;
pub use q1_0::Q1_0;
pub use q2_k::Q2K;
pub use q3_k::Q3K;
pub use q4_0::Q4_0;
pub use q4_1::Q4_1;
pub use q4_k::Q4K;
pub use q5_0::Q5_0;
pub use q5_1::Q5_1;
pub use q5_k::Q5K;
pub use q6_k::Q6K;
pub use q8_0::Q8_0;
pub use tq1_0::Tq1_0;
pub use tq2_0::Tq2_0;

use guild_numerics::convert::{CANONICAL_NAN_F32, f16_to_f32};

use crate::activation::Activation;

/// The most elements a block of any format has.
pub const BLOCK_ELEMS_MAX: usize = 256;
/// The most sub-blocks a block of any format has.
pub const SUB_BLOCKS_MAX: usize = 16;

/// A weight format whose blocks decode to f32.
pub trait BlockFormat {
    /// The format's name in operation contracts, manifests and reports, such as `ggml.q4_K`.
    const NAME: &'static str;
    /// The tensor type number in a GGUF file.
    const GGML_TYPE: u32;
    /// Elements in a block.
    const BLOCK_ELEMS: usize;
    /// Bytes in a block.
    const BLOCK_BYTES: usize;

    /// Decodes one block to the bits that ggml's own decoder gives, with every NaN made canonical.
    ///
    /// # Panics
    /// When `block` is not `[BLOCK_BYTES]` or `out` is not `[BLOCK_ELEMS]`; [`decode_row`] checks both.
    fn decode(block: &[u8], out: &mut [f32]);
}

/// A format that stores integers and scales, so that the exact quantised dot applies to it
/// (`docs/numerics.md`, rules 4 and 5).
pub trait QuantisedFormat: BlockFormat {
    /// The format that activations are rounded to before they meet this one; a part lies in one of its blocks.
    const ACTIVATION: Activation;
    /// Parts of a block, each as long as the others and with a scale of its own. The dot takes each as a block.
    const PARTS: usize = 1;

    /// Reads the integers and scales of one part of a block. Every field of `out` is written.
    ///
    /// # Panics
    /// When `block` is not `[BLOCK_BYTES]` or `part` is not below `PARTS`.
    fn integers(block: &[u8], part: usize, out: &mut BlockIntegers);
}

/// One block, or a part of one, as integers: element `i` of sub-block `s` is
/// `d * scales[s] * values[i] - dmin * mins[s]` in real arithmetic.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockIntegers {
    /// The scale, exactly as stored or divided by a power of two.
    pub d: f32,
    /// The scale of the minimums, widened from F16; 0 where the format has none.
    pub dmin: f32,
    /// Whether the format has minimums. It is the same for every block of a format.
    pub has_min: bool,
    /// Elements in this block or part: 16, 32 or 256.
    pub elems: usize,
    /// Elements in a sub-block; all, where there is one scale. Sub-block `s` holds elements `s * sub_block ..`.
    pub sub_block: usize,
    /// The element integers, `[elems]`, in -128..=127; the rest is 0.
    pub values: [i16; BLOCK_ELEMS_MAX],
    /// The integer scale of each sub-block, `[elems / sub_block]`; 1 where the format has none; the rest is 0.
    pub scales: [i16; SUB_BLOCKS_MAX],
    /// The integer minimum of each sub-block, `[elems / sub_block]`; 0 where the format has none.
    pub mins: [i16; SUB_BLOCKS_MAX],
}

impl BlockIntegers {
    /// An empty block, to be filled by [`QuantisedFormat::integers`].
    #[must_use]
    pub const fn new() -> Self {
        Self {
            d: 0.0,
            dmin: 0.0,
            has_min: false,
            elems: 0,
            sub_block: 1,
            values: [0; BLOCK_ELEMS_MAX],
            scales: [0; SUB_BLOCKS_MAX],
            mins: [0; SUB_BLOCKS_MAX],
        }
    }

    /// The block's integer dot: the sum over sub-blocks of `scale * sum(value * activation)`.
    ///
    /// `activations` are the integers of an activation block, `[elems]`, in -127..=127. The sum stays
    /// below 2^28 for every format here (`docs/numerics.md`, rule 4), so int32 is exact in any order.
    ///
    /// # Panics
    /// When `activations` is not `[elems]`.
    #[must_use]
    pub fn isum(&self, activations: &[i8]) -> i32 {
        self.sum_sub_blocks(activations, |s, values, activations| {
            let dot: i32 = values
                .iter()
                .zip(activations)
                .map(|(&q, &a)| i32::from(q) * i32::from(a))
                .sum();
            i32::from(self.scales[s]) * dot
        })
    }

    /// The minimum term's integer: the sum over sub-blocks of `min * sum(activation)`. 0 where the format has no
    /// minimums.
    ///
    /// # Panics
    /// When `activations` is not `[elems]`.
    #[must_use]
    pub fn msum(&self, activations: &[i8]) -> i32 {
        self.sum_sub_blocks(activations, |s, _, activations| {
            let sum: i32 = activations.iter().map(|&a| i32::from(a)).sum();
            i32::from(self.mins[s]) * sum
        })
    }

    fn sum_sub_blocks(
        &self,
        activations: &[i8],
        term: impl Fn(usize, &[i16], &[i8]) -> i32,
    ) -> i32 {
        assert_eq!(
            activations.len(),
            self.elems,
            "one activation for each element of the block"
        );
        self.values[..self.elems]
            .chunks_exact(self.sub_block)
            .zip(activations.chunks_exact(self.sub_block))
            .enumerate()
            .map(|(s, (values, activations))| term(s, values, activations))
            .sum()
    }
}

impl Default for BlockIntegers {
    fn default() -> Self {
        Self::new()
    }
}

/// A row's bytes and its element count do not belong together. The caller chose both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthMismatch {
    /// The format's name.
    pub format: &'static str,
    /// Bytes in a block of the format.
    pub block_bytes: usize,
    /// Elements in a block of the format.
    pub block_elems: usize,
    /// Bytes that were given.
    pub bytes: usize,
    /// Elements that were given.
    pub elems: usize,
}

impl core::fmt::Display for LengthMismatch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            format,
            block_bytes,
            block_elems,
            bytes,
            elems,
        } = self;
        write!(
            f,
            "{bytes} bytes of {format} cannot be {elems} elements: a block is {block_bytes} bytes and \
             {block_elems} elements; pass whole blocks and as many elements as they hold"
        )
    }
}

impl core::error::Error for LengthMismatch {}

/// Decodes a row of whole blocks into `out`.
///
/// # Errors
/// [`LengthMismatch`] when `bytes` is not a whole number of blocks or `out` has not their number of elements.
pub fn decode_row<F: BlockFormat>(bytes: &[u8], out: &mut [f32]) -> Result<(), LengthMismatch> {
    let blocks = bytes.len() / F::BLOCK_BYTES;
    let whole =
        bytes.len().is_multiple_of(F::BLOCK_BYTES) && out.len().is_multiple_of(F::BLOCK_ELEMS);
    if !whole || blocks != out.len() / F::BLOCK_ELEMS {
        return Err(LengthMismatch {
            format: F::NAME,
            block_bytes: F::BLOCK_BYTES,
            block_elems: F::BLOCK_ELEMS,
            bytes: bytes.len(),
            elems: out.len(),
        });
    }
    for (block, out) in bytes
        .chunks_exact(F::BLOCK_BYTES)
        .zip(out.chunks_exact_mut(F::BLOCK_ELEMS))
    {
        F::decode(block, out);
    }
    Ok(())
}

/// Panics unless a decode call was given one block's bytes and room for its elements.
fn assert_block<F: BlockFormat>(block: &[u8], out: &[f32]) {
    assert_eq!(
        block.len(),
        F::BLOCK_BYTES,
        "bytes in a block of {}",
        F::NAME
    );
    assert_eq!(
        out.len(),
        F::BLOCK_ELEMS,
        "elements in a block of {}",
        F::NAME
    );
}

/// Panics unless an integer view was asked of one block's bytes.
fn assert_block_bytes<F: BlockFormat>(block: &[u8]) {
    assert_eq!(
        block.len(),
        F::BLOCK_BYTES,
        "bytes in a block of {}",
        F::NAME
    );
}

/// The 16-bit word at `offset`.
fn u16_at(block: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes([block[offset], block[offset + 1]])
}

/// The 32-bit word at `offset`.
fn u32_at(block: &[u8], offset: usize) -> u32 {
    u32::from(u16_at(block, offset)) | u32::from(u16_at(block, offset + 2)) << 16
}

/// The F16 field at `offset`, widened.
fn f16_at(block: &[u8], offset: usize) -> f32 {
    f16_to_f32(u16_at(block, offset))
}

/// Makes a NaN canonical, so that a NaN scale does not leak its payload or sign through a product.
fn canonical(value: f32) -> f32 {
    if value.is_nan() {
        CANONICAL_NAN_F32
    } else {
        value
    }
}
