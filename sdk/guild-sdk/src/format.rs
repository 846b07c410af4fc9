//! The fixed format numbers of the ABI: sizes, names and what `guild-quant` knows of them.

use guild_abi::abi::{
    GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_FORMAT_I32, GUILD_FORMAT_I64,
    GUILD_FORMAT_Q4_0, GUILD_FORMAT_Q4_K, GUILD_FORMAT_Q5_K, GUILD_FORMAT_Q6_K, GUILD_FORMAT_Q8_0,
};
use guild_quant::{Format, format_by_name};

/// Every weight format that core operations name with `*`.
pub const WEIGHT_FORMATS: &[u32] = &[
    GUILD_FORMAT_F32,
    GUILD_FORMAT_F16,
    GUILD_FORMAT_BF16,
    GUILD_FORMAT_Q4_0,
    GUILD_FORMAT_Q8_0,
    GUILD_FORMAT_Q4_K,
    GUILD_FORMAT_Q5_K,
    GUILD_FORMAT_Q6_K,
];

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

/// Storage of a fixed format number, or `None` for others.
#[must_use]
pub const fn storage(format: u32) -> Option<Storage> {
    let (block_elems, block_bytes, align) = match format {
        GUILD_FORMAT_F32 | GUILD_FORMAT_I32 => (1, 4, 4),
        GUILD_FORMAT_F16 | GUILD_FORMAT_BF16 => (1, 2, 2),
        GUILD_FORMAT_I64 => (1, 8, 8),
        GUILD_FORMAT_Q4_0 => (32, 18, 2),
        GUILD_FORMAT_Q8_0 => (32, 34, 2),
        GUILD_FORMAT_Q4_K => (256, 144, 2),
        GUILD_FORMAT_Q5_K => (256, 176, 2),
        GUILD_FORMAT_Q6_K => (256, 210, 2),
        _ => return None,
    };
    Some(Storage {
        block_elems,
        block_bytes,
        align,
    })
}

/// Name of a fixed format number as contracts spell it, or `unknown`.
#[must_use]
pub const fn name(format: u32) -> &'static str {
    match format {
        GUILD_FORMAT_F32 => "f32",
        GUILD_FORMAT_F16 => "f16",
        GUILD_FORMAT_BF16 => "bf16",
        GUILD_FORMAT_I32 => "i32",
        GUILD_FORMAT_I64 => "i64",
        GUILD_FORMAT_Q4_0 => "ggml.q4_0",
        GUILD_FORMAT_Q8_0 => "ggml.q8_0",
        GUILD_FORMAT_Q4_K => "ggml.q4_K",
        GUILD_FORMAT_Q5_K => "ggml.q5_K",
        GUILD_FORMAT_Q6_K => "ggml.q6_K",
        _ => "unknown",
    }
}

/// What `guild-quant` knows of a weight format, or `None` for formats that no weight has.
#[must_use]
pub fn weight_format(format: u32) -> Option<&'static Format> {
    match format {
        GUILD_FORMAT_F32 => format_by_name("ggml.f32"),
        GUILD_FORMAT_F16 => format_by_name("ggml.f16"),
        GUILD_FORMAT_BF16 => format_by_name("ggml.bf16"),
        GUILD_FORMAT_I32 | GUILD_FORMAT_I64 => None,
        quantised => format_by_name(name(quantised)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_agrees_with_the_quantised_formats() {
        for &number in WEIGHT_FORMATS {
            let quant = weight_format(number).unwrap();
            let storage = storage(number).unwrap();
            assert_eq!(storage.block_elems, quant.block_elems, "{}", quant.name);
            assert_eq!(storage.block_bytes, quant.block_bytes, "{}", quant.name);
        }
        assert_eq!(storage(GUILD_FORMAT_Q4_K).unwrap().row_bytes(300), None);
        assert!(weight_format(GUILD_FORMAT_I32).is_none());
    }
}
