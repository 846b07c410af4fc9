//! The fixed format numbers of the ABI: names, sizes and what `guild-quant` knows of them.
//!
//! This is the one table that joins `GUILD_FORMAT_*` with the formats of `guild-quant`; names and block sizes of
//! weight formats come from there.

use guild_abi::formats::{
    GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_FORMAT_I32, GUILD_FORMAT_I64,
    GUILD_FORMAT_IQ1_M, GUILD_FORMAT_IQ1_S, GUILD_FORMAT_IQ2_S, GUILD_FORMAT_IQ2_XS,
    GUILD_FORMAT_IQ2_XXS, GUILD_FORMAT_IQ3_S, GUILD_FORMAT_IQ3_XXS, GUILD_FORMAT_IQ4_NL,
    GUILD_FORMAT_IQ4_XS, GUILD_FORMAT_MXFP4, GUILD_FORMAT_NVFP4, GUILD_FORMAT_Q1_0,
    GUILD_FORMAT_Q2_K, GUILD_FORMAT_Q3_K, GUILD_FORMAT_Q4_0, GUILD_FORMAT_Q4_1, GUILD_FORMAT_Q4_K,
    GUILD_FORMAT_Q5_0, GUILD_FORMAT_Q5_1, GUILD_FORMAT_Q5_K, GUILD_FORMAT_Q6_K, GUILD_FORMAT_Q8_0,
    GUILD_FORMAT_TQ1_0, GUILD_FORMAT_TQ2_0,
};
use guild_quant::format::{
    Bf16, F16, F32, Iq1M, Iq1S, Iq2S, Iq2Xs, Iq2Xxs, Iq3S, Iq3Xxs, Iq4Nl, Iq4Xs, Mxfp4, Nvfp4,
    Q1_0, Q2K, Q3K, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0, Tq1_0, Tq2_0,
};
use guild_quant::{BlockFormat, Format, format_by_ggml_type};

/// One format with a fixed number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedFormat {
    /// One of `GUILD_FORMAT_*`.
    pub number: u32,
    /// The name by which `guild.formats/1` finds it, such as `ggml.q4_K`.
    pub ggml_name: &'static str,
    /// The type number in a GGUF file; `None` where no weight has the format.
    pub ggml_type: Option<u32>,
    /// Sizes.
    pub storage: Storage,
}

/// Storage of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// Elements in a block; 1 where elements stand alone.
    pub block_elems: usize,
    /// Bytes in a block.
    pub block_bytes: usize,
    /// Alignment of a block in bytes.
    pub align: usize,
}

impl Storage {
    /// Bytes of a row of `elems` elements, or `None` where that isn't a whole number of blocks.
    #[must_use]
    pub const fn row_bytes(&self, elems: usize) -> Option<usize> {
        if elems.is_multiple_of(self.block_elems) {
            (elems / self.block_elems).checked_mul(self.block_bytes)
        } else {
            None
        }
    }
}

/// Formats that weights have. A new format is one line here.
const WEIGHTS: [FixedFormat; 27] = [
    weight::<F32>(GUILD_FORMAT_F32),
    weight::<F16>(GUILD_FORMAT_F16),
    weight::<Bf16>(GUILD_FORMAT_BF16),
    weight::<Q4_0>(GUILD_FORMAT_Q4_0),
    weight::<Q4_1>(GUILD_FORMAT_Q4_1),
    weight::<Q5_0>(GUILD_FORMAT_Q5_0),
    weight::<Q5_1>(GUILD_FORMAT_Q5_1),
    weight::<Q8_0>(GUILD_FORMAT_Q8_0),
    weight::<Q2K>(GUILD_FORMAT_Q2_K),
    weight::<Q3K>(GUILD_FORMAT_Q3_K),
    weight::<Q4K>(GUILD_FORMAT_Q4_K),
    weight::<Q5K>(GUILD_FORMAT_Q5_K),
    weight::<Q6K>(GUILD_FORMAT_Q6_K),
    weight::<Iq4Nl>(GUILD_FORMAT_IQ4_NL),
    weight::<Iq4Xs>(GUILD_FORMAT_IQ4_XS),
    weight::<Iq2Xxs>(GUILD_FORMAT_IQ2_XXS),
    weight::<Iq2Xs>(GUILD_FORMAT_IQ2_XS),
    weight::<Iq2S>(GUILD_FORMAT_IQ2_S),
    weight::<Iq3Xxs>(GUILD_FORMAT_IQ3_XXS),
    weight::<Iq3S>(GUILD_FORMAT_IQ3_S),
    weight::<Iq1S>(GUILD_FORMAT_IQ1_S),
    weight::<Iq1M>(GUILD_FORMAT_IQ1_M),
    weight::<Tq1_0>(GUILD_FORMAT_TQ1_0),
    weight::<Tq2_0>(GUILD_FORMAT_TQ2_0),
    weight::<Mxfp4>(GUILD_FORMAT_MXFP4),
    weight::<Nvfp4>(GUILD_FORMAT_NVFP4),
    weight::<Q1_0>(GUILD_FORMAT_Q1_0),
];

/// Formats that only activations and ids have.
const OTHERS: [FixedFormat; 2] = [
    integer(GUILD_FORMAT_I32, "ggml.i32", 4),
    integer(GUILD_FORMAT_I64, "ggml.i64", 8),
];

/// Every weight format that core operations name with `*`.
pub const WEIGHT_FORMATS: &[u32] = &numbers(&WEIGHTS);

/// Every format with a fixed number, the weight formats first.
pub fn fixed_formats() -> impl Iterator<Item = &'static FixedFormat> {
    WEIGHTS.iter().chain(&OTHERS)
}

/// The format with a fixed number, or `None` for other numbers.
#[must_use]
pub const fn fixed_format(number: u32) -> Option<&'static FixedFormat> {
    match find(&WEIGHTS, number) {
        Some(format) => Some(format),
        None => find(&OTHERS, number),
    }
}

/// Storage of a fixed format number, or `None` for others.
#[must_use]
pub const fn storage(format: u32) -> Option<Storage> {
    match fixed_format(format) {
        Some(format) => Some(format.storage),
        None => None,
    }
}

/// Name of a fixed format number as contracts spell it, or `unknown`: formats whose elements stand
/// alone are `f32` and so on, block formats have their ggml name.
#[must_use]
pub fn name(format: u32) -> &'static str {
    match fixed_format(format) {
        None => "unknown",
        Some(format) if format.storage.block_elems == 1 => format.short_name(),
        Some(format) => format.ggml_name,
    }
}

/// What `guild-quant` knows of a weight format, or `None` for formats that no weight has.
#[must_use]
pub fn weight_format(format: u32) -> Option<&'static Format> {
    format_by_ggml_type(fixed_format(format)?.ggml_type?)
}

impl FixedFormat {
    /// The name without ggml's prefix, such as `f32` and `q4_K`.
    #[must_use]
    pub fn short_name(&self) -> &'static str {
        let name = self.ggml_name;
        name.strip_prefix("ggml.").unwrap_or(name)
    }
}

const fn weight<F: BlockFormat>(number: u32) -> FixedFormat {
    FixedFormat {
        number,
        ggml_name: F::NAME,
        ggml_type: Some(F::GGML_TYPE),
        storage: Storage {
            block_elems: F::BLOCK_ELEMS,
            block_bytes: F::BLOCK_BYTES,
            align: match (F::BLOCK_ELEMS, F::BLOCK_BYTES % 2) {
                (1, _) => F::BLOCK_BYTES,
                // A block's widest field is its F16 scale.
                (_, 0) => 2,
                // Blocks one behind the other can't be aligned; this one's fields are bytes.
                _ => 1,
            },
        },
    }
}

const fn integer(number: u32, ggml_name: &'static str, bytes: usize) -> FixedFormat {
    FixedFormat {
        number,
        ggml_name,
        ggml_type: None,
        storage: Storage {
            block_elems: 1,
            block_bytes: bytes,
            align: bytes,
        },
    }
}

const fn numbers<const N: usize>(formats: &[FixedFormat; N]) -> [u32; N] {
    let mut numbers = [0; N];
    let mut i = 0;
    while i < N {
        numbers[i] = formats[i].number;
        i += 1;
    }
    numbers
}

const fn find(formats: &'static [FixedFormat], number: u32) -> Option<&'static FixedFormat> {
    let mut i = 0;
    while i < formats.len() {
        if formats[i].number == number {
            return Some(&formats[i]);
        }
        i += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_of_guild_quant_has_one_number() {
        let mut numbers: Vec<u32> = fixed_formats().map(|format| format.number).collect();
        numbers.sort_unstable();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        assert_eq!(WEIGHT_FORMATS.len(), guild_quant::formats().len());
        for quant in guild_quant::formats() {
            let mut found = fixed_formats().filter(|f| f.ggml_type == Some(quant.ggml_type));
            let fixed = found.next().expect(quant.name);
            assert_eq!(found.next(), None, "{}", quant.name);
            assert_eq!(weight_format(fixed.number).unwrap().name, fixed.ggml_name);
            assert_eq!(fixed.storage.block_elems, quant.block_elems);
            assert_eq!(fixed.storage.block_bytes, quant.block_bytes);
        }
    }

    #[test]
    fn names_and_sizes_are_those_of_the_contracts() {
        let names: Vec<&str> = WEIGHT_FORMATS[..4].iter().map(|&n| name(n)).collect();
        assert_eq!(names, ["f32", "f16", "bf16", "ggml.q4_0"]);
        assert_eq!((name(GUILD_FORMAT_I64), name(255)), ("i64", "unknown"));
        assert_eq!(
            fixed_format(GUILD_FORMAT_Q4_K).unwrap().short_name(),
            "q4_K"
        );
        assert_eq!(storage(GUILD_FORMAT_Q4_K).unwrap().row_bytes(300), None);
        assert_eq!(
            storage(GUILD_FORMAT_Q4_K).unwrap().row_bytes(512),
            Some(288)
        );
        assert!(weight_format(GUILD_FORMAT_I32).is_none());
        let align = |format: u32| storage(format).unwrap().align;
        assert_eq!((align(GUILD_FORMAT_F32), align(GUILD_FORMAT_Q4_K)), (4, 2));
        assert_eq!(align(GUILD_FORMAT_MXFP4), 1);
    }
}
