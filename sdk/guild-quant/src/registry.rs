//! All weight formats as data, for code that holds a type number or a name and no Rust type.
//!
//! A new format is one file under `format/` and one line here.

use crate::activation::Activation;
use crate::format::{
    Bf16, BlockFormat, BlockIntegers, F16, F32, Iq1M, Iq1S, Iq2S, Iq2Xs, Iq2Xxs, Iq3S, Iq3Xxs,
    Iq4Nl, Iq4Xs, LengthMismatch, Mxfp4, Nvfp4, Q1_0, Q2K, Q3K, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K,
    Q6K, Q8_0, QuantisedFormat, Tq1_0, Tq2_0, decode_row,
};

/// One weight format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The format's name, such as `ggml.q4_K`.
    pub name: &'static str,
    /// The tensor type number in a GGUF file.
    pub ggml_type: u32,
    /// Elements in a block.
    pub block_elems: usize,
    /// Bytes in a block.
    pub block_bytes: usize,
    /// Decodes a row of whole blocks; see [`decode_row`].
    pub decode_row: fn(&[u8], &mut [f32]) -> Result<(), LengthMismatch>,
    /// What the exact quantised dot needs; `None` where the weights are floats.
    pub quantised: Option<Quantised>,
}

/// The part of a [`Format`] that only quantised formats have.
#[derive(Clone, Copy, Debug)]
pub struct Quantised {
    /// The format that activations are rounded to.
    pub activation: Activation,
    /// Parts of a block; see [`QuantisedFormat::PARTS`].
    pub parts: usize,
    /// Reads the integers of one part of a block; see [`QuantisedFormat::integers`], its panic included.
    pub integers: fn(&[u8], usize, &mut BlockIntegers),
}

/// Every format, in ascending order of the type number.
#[must_use]
pub fn formats() -> &'static [Format] {
    static FORMATS: [Format; 27] = [
        float::<F32>(),
        float::<F16>(),
        quantised::<Q4_0>(),
        quantised::<Q4_1>(),
        quantised::<Q5_0>(),
        quantised::<Q5_1>(),
        quantised::<Q8_0>(),
        quantised::<Q2K>(),
        quantised::<Q3K>(),
        quantised::<Q4K>(),
        quantised::<Q5K>(),
        quantised::<Q6K>(),
        quantised::<Iq2Xxs>(),
        quantised::<Iq2Xs>(),
        quantised::<Iq3Xxs>(),
        quantised::<Iq1S>(),
        quantised::<Iq4Nl>(),
        quantised::<Iq3S>(),
        quantised::<Iq2S>(),
        quantised::<Iq4Xs>(),
        quantised::<Iq1M>(),
        float::<Bf16>(),
        quantised::<Tq1_0>(),
        quantised::<Tq2_0>(),
        quantised::<Mxfp4>(),
        quantised::<Nvfp4>(),
        quantised::<Q1_0>(),
    ];
    &FORMATS
}

/// The format with this type number in a GGUF file, if guild has it.
#[must_use]
pub fn format_by_ggml_type(ggml_type: u32) -> Option<&'static Format> {
    formats()
        .iter()
        .find(|format| format.ggml_type == ggml_type)
}

/// The format with this name, if guild has it. Names are compared exactly.
#[must_use]
pub fn format_by_name(name: &str) -> Option<&'static Format> {
    formats().iter().find(|format| format.name == name)
}

const fn float<F: BlockFormat>() -> Format {
    Format {
        name: F::NAME,
        ggml_type: F::GGML_TYPE,
        block_elems: F::BLOCK_ELEMS,
        block_bytes: F::BLOCK_BYTES,
        decode_row: decode_row::<F>,
        quantised: None,
    }
}

const fn quantised<F: QuantisedFormat>() -> Format {
    Format {
        quantised: Some(Quantised {
            activation: F::ACTIVATION,
            parts: F::PARTS,
            integers: F::integers,
        }),
        ..float::<F>()
    }
}
