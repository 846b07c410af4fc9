//! Element formats as the ABI numbers them. Names and sizes come from the table in `guild-sdk`.

use guild_sdk::format::{FixedFormat, fixed_format, fixed_formats};

/// One element format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementFormat(&'static FixedFormat);

impl ElementFormat {
    /// The format with this ABI number.
    #[must_use]
    pub fn by_number(number: u32) -> Option<ElementFormat> {
        fixed_format(number).map(ElementFormat)
    }

    /// The format of a weight in the model file.
    pub(crate) fn of_weight(format: &guild_quant::Format) -> Option<ElementFormat> {
        fixed_formats()
            .find(|fixed| fixed.ggml_type == Some(format.ggml_type))
            .map(ElementFormat)
    }

    /// One of `GUILD_FORMAT_*`.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0.number
    }

    /// Bytes of one element; `None` for block formats, which only weights have.
    #[must_use]
    pub fn element_bytes(self) -> Option<u64> {
        match self.block() {
            (1, bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Elements and bytes of a storage block; `(1, element bytes)` where elements stand alone.
    #[must_use]
    pub fn block(self) -> (u64, u64) {
        let storage = self.0.storage;
        (storage.block_elems as u64, storage.block_bytes as u64)
    }
}

/// The name of a format number (`f32`, `q4_K`), or the number itself where it has none.
pub(crate) fn format_name(number: u32) -> String {
    fixed_format(number).map_or_else(
        || format!("format {number}"),
        |format| format.short_name().to_owned(),
    )
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
