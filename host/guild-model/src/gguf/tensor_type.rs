//! The tensor types that ggml has, so that a file can be listed and measured even where guild has no format for it.

/// One of ggml's tensor types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorType {
    /// The number in a file.
    pub number: u32,
    /// ggml's name.
    pub name: &'static str,
    /// Elements in a block.
    pub block_elems: u64,
    /// Bytes in a block.
    pub block_bytes: u64,
}

/// The tensor type with this number. Numbers that ggml has removed are unknown.
#[must_use]
pub fn tensor_type(number: u32) -> Option<&'static TensorType> {
    TENSOR_TYPES.iter().find(|known| known.number == number)
}

/// ggml's name for a type, also for those that it has removed; `unknown` for any other number.
pub(super) fn type_name(number: u32) -> &'static str {
    let removed = REMOVED.iter().find(|(removed, _)| *removed == number);
    let removed = removed.map_or("unknown", |(_, name)| name);
    tensor_type(number).map_or(removed, |known| known.name)
}

const fn row(number: u32, name: &'static str, block_elems: u64, block_bytes: u64) -> TensorType {
    TensorType {
        number,
        name,
        block_elems,
        block_bytes,
    }
}

/// Source: ggml's `ggml_type` and its type traits.
static TENSOR_TYPES: [TensorType; 35] = [
    row(0, "F32", 1, 4),
    row(1, "F16", 1, 2),
    row(2, "Q4_0", 32, 18),
    row(3, "Q4_1", 32, 20),
    row(6, "Q5_0", 32, 22),
    row(7, "Q5_1", 32, 24),
    row(8, "Q8_0", 32, 34),
    row(9, "Q8_1", 32, 36),
    row(10, "Q2_K", 256, 84),
    row(11, "Q3_K", 256, 110),
    row(12, "Q4_K", 256, 144),
    row(13, "Q5_K", 256, 176),
    row(14, "Q6_K", 256, 210),
    row(15, "Q8_K", 256, 292),
    row(16, "IQ2_XXS", 256, 66),
    row(17, "IQ2_XS", 256, 74),
    row(18, "IQ3_XXS", 256, 98),
    row(19, "IQ1_S", 256, 50),
    row(20, "IQ4_NL", 32, 18),
    row(21, "IQ3_S", 256, 110),
    row(22, "IQ2_S", 256, 82),
    row(23, "IQ4_XS", 256, 136),
    row(24, "I8", 1, 1),
    row(25, "I16", 1, 2),
    row(26, "I32", 1, 4),
    row(27, "I64", 1, 8),
    row(28, "F64", 1, 8),
    row(29, "IQ1_M", 256, 56),
    row(30, "BF16", 1, 2),
    row(34, "TQ1_0", 256, 54),
    row(35, "TQ2_0", 256, 66),
    row(39, "MXFP4", 32, 17),
    row(40, "NVFP4", 64, 36),
    row(41, "Q1_0", 128, 18),
    row(42, "Q2_0", 64, 18),
];

/// Types of older files that ggml no longer reads; nothing else is known of them here.
static REMOVED: [(u32, &str); 8] = [
    (4, "Q4_2"),
    (5, "Q4_3"),
    (31, "Q4_0_4_4"),
    (32, "Q4_0_4_8"),
    (33, "Q4_0_8_8"),
    (36, "IQ4_NL_4_4"),
    (37, "IQ4_NL_4_8"),
    (38, "IQ4_NL_8_8"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_that_guild_decodes_has_the_same_block_here() {
        for format in guild_quant::formats() {
            let known = tensor_type(format.ggml_type).expect("ggml has the type");
            assert_eq!(
                known.block_elems, format.block_elems as u64,
                "{}",
                known.name
            );
            assert_eq!(
                known.block_bytes, format.block_bytes as u64,
                "{}",
                known.name
            );
            assert_eq!(
                format.name.to_lowercase(),
                format!("ggml.{}", known.name.to_lowercase())
            );
        }
    }

    #[test]
    fn removed_and_future_numbers_are_unknown() {
        for number in [4, 5, 31, 32, 33, 36, 37, 38, 43, u32::MAX] {
            assert_eq!(tensor_type(number), None, "{number}");
        }
        assert_eq!(type_name(31), "Q4_0_4_4");
        assert_eq!(type_name(42), "Q2_0");
        assert_eq!(type_name(43), "unknown");
    }
}
