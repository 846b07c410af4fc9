//! The BF16 file with the values of a Q8_0 file.
//!
//! Training rounded `mini-ornith`'s weights to powers of two times integers of seven bits, which Q8_0 and BF16 both
//! hold exactly. So one committed file stands for two: with BF16 weights guild rounds no activations and can be held
//! to transformers' numbers closely. `examples/bf16_twin.rs` writes the file for other programs.

use guild_hostile::writer::{Encoded, Writer, array, string, u32};
use guild_model::{GgufFile, ModelSource, Value};
use guild_quant::format::{Bf16, Q8_0};
use guild_quant::{BlockFormat, decode_row};
use std::path::Path;

/// `general.file_type` of a file whose matrices are BF16, as llama.cpp numbers them.
const FILE_TYPE_BF16: u32 = 32;

/// The bytes of a file with the same metadata and tensors, in which every Q8_0 tensor is BF16.
///
/// # Panics
/// When the model can't be read, is split, or has a Q8_0 value that BF16 doesn't hold exactly.
#[must_use]
pub fn bf16_twin() -> Vec<u8> {
    let model = GgufFile::open(Path::new(crate::MODEL)).unwrap();
    let [shard] = model.shards() else {
        panic!("the model is split over {} files", model.shards().len());
    };
    let mut writer = Writer::new();
    writer.alignment = usize::try_from(shard.alignment()).unwrap();
    for (key, value) in model.metadata().iter() {
        let (value_type, bytes) = encoded(value);
        writer.entry(key, value_type, &bytes);
    }
    writer.set("general.file_type", u32(FILE_TYPE_BF16));
    for tensor in model.tensors() {
        let stored = model.tensor_bytes(&tensor.name).unwrap();
        let (ggml_type, data) = match tensor.ggml_type == Q8_0::GGML_TYPE {
            true => (Bf16::GGML_TYPE, as_bf16(&tensor.name, stored)),
            false => (tensor.ggml_type, stored.to_vec()),
        };
        writer.tensor(&tensor.name, &tensor.shape, ggml_type, data);
    }
    writer.bytes()
}

/// A metadata value as the file has it.
fn encoded(value: Value<'_>) -> Encoded {
    (value.value_type() as u32, bytes(value))
}

fn bytes(value: Value<'_>) -> Vec<u8> {
    match value {
        Value::U8(n) => vec![n],
        Value::I8(n) => n.to_le_bytes().to_vec(),
        Value::U16(n) => n.to_le_bytes().to_vec(),
        Value::I16(n) => n.to_le_bytes().to_vec(),
        Value::U32(n) => n.to_le_bytes().to_vec(),
        Value::I32(n) => n.to_le_bytes().to_vec(),
        Value::U64(n) => n.to_le_bytes().to_vec(),
        Value::I64(n) => n.to_le_bytes().to_vec(),
        Value::F32(x) => x.to_le_bytes().to_vec(),
        Value::F64(x) => x.to_le_bytes().to_vec(),
        Value::Bool(flag) => vec![flag.into()],
        Value::String(text) => string(text),
        Value::Array(elements) => {
            let encoded: Vec<_> = elements.iter().map(bytes).collect();
            array(elements.element_type() as u32, &encoded)
        }
    }
}

/// The values of Q8_0 blocks as BF16.
fn as_bf16(name: &str, blocks: &[u8]) -> Vec<u8> {
    let mut values = vec![0.0; blocks.len() / Q8_0::BLOCK_BYTES * Q8_0::BLOCK_ELEMS];
    decode_row::<Q8_0>(blocks, &mut values).unwrap();
    let halves = values.iter().flat_map(|value| {
        // BF16 is the upper half of an f32, so a value is one exactly when its lower half is zero.
        let [first, second, upper @ ..] = value.to_le_bytes();
        assert_eq!([first, second], [0, 0], "{name}: {value} is no BF16 value");
        upper
    });
    halves.collect()
}
