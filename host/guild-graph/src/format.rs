//! Element formats as the ABI numbers them: names and sizes.

use guild_abi::abi::{
    GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_FORMAT_I32, GUILD_FORMAT_I64,
    GUILD_FORMAT_Q4_0, GUILD_FORMAT_Q4_K, GUILD_FORMAT_Q5_K, GUILD_FORMAT_Q6_K, GUILD_FORMAT_Q8_0,
};

/// One element format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementFormat {
    /// One of `GUILD_FORMAT_*`.
    pub number: u32,
    /// Name in contracts and reports: `f32`, `q4_K`.
    pub name: &'static str,
    /// The type number in a GGUF file; `None` where no weight has the format.
    ggml_type: Option<u32>,
    /// Bytes of an element; `None` for block formats.
    element_bytes: Option<u64>,
}

const FORMATS: &[ElementFormat] = &[
    row(GUILD_FORMAT_F32, "f32", Some(0), Some(4)),
    row(GUILD_FORMAT_F16, "f16", Some(1), Some(2)),
    row(GUILD_FORMAT_BF16, "bf16", Some(30), Some(2)),
    row(GUILD_FORMAT_I32, "i32", None, Some(4)),
    row(GUILD_FORMAT_I64, "i64", None, Some(8)),
    row(GUILD_FORMAT_Q4_0, "q4_0", Some(2), None),
    row(GUILD_FORMAT_Q8_0, "q8_0", Some(8), None),
    row(GUILD_FORMAT_Q4_K, "q4_K", Some(12), None),
    row(GUILD_FORMAT_Q5_K, "q5_K", Some(13), None),
    row(GUILD_FORMAT_Q6_K, "q6_K", Some(14), None),
];

impl ElementFormat {
    /// The format with this ABI number.
    #[must_use]
    pub fn by_number(number: u32) -> Option<&'static ElementFormat> {
        FORMATS.iter().find(|format| format.number == number)
    }

    /// The format of a weight in the model file.
    pub(crate) fn of_weight(format: &guild_quant::Format) -> Option<&'static ElementFormat> {
        FORMATS
            .iter()
            .find(|row| row.ggml_type == Some(format.ggml_type))
    }

    /// Bytes of one element; `None` for block formats, which only weights have.
    #[must_use]
    pub const fn element_bytes(&self) -> Option<u64> {
        self.element_bytes
    }

    /// Elements and bytes of a storage block; `(1, element bytes)` where elements stand alone.
    #[must_use]
    pub fn block(&self) -> (u64, u64) {
        match self.element_bytes {
            Some(bytes) => (1, bytes),
            None => self
                .ggml_type
                .and_then(guild_quant::format_by_ggml_type)
                .map_or((1, 0), |format| {
                    (format.block_elems as u64, format.block_bytes as u64)
                }),
        }
    }
}

/// The name of a format number, or the number itself where it has none.
pub(crate) fn format_name(number: u32) -> String {
    ElementFormat::by_number(number).map_or_else(
        || format!("format {number}"),
        |format| format.name.to_owned(),
    )
}

const fn row(
    number: u32,
    name: &'static str,
    ggml_type: Option<u32>,
    element_bytes: Option<u64>,
) -> ElementFormat {
    ElementFormat {
        number,
        name,
        ggml_type,
        element_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_format_has_a_number() {
        for format in guild_quant::formats() {
            let element = ElementFormat::of_weight(format).expect(format.name);
            let block = (format.block_elems as u64, format.block_bytes as u64);
            assert_eq!(element.block(), block, "{}", format.name);
        }
    }
}
