//! A model of three small tensors, in memory.

use guild_model::gguf::{Gguf, parse};
use guild_model::{ContentId, Damage, Metadata, ModelError, ModelSource, TensorInfo};

use crate::writer::{Writer, string};

/// Tokens that the model knows.
pub const VOCABULARY: usize = 4;
/// Length of a hidden state. Equal to the vocabulary, so that hidden states can be logits.
pub const HIDDEN: usize = 4;

/// A GGUF file in memory. Its tensors are copied to aligned memory.
pub struct TestModel {
    gguf: Gguf,
    data: Vec<AlignedBytes>,
}

/// Row `t` of the embedding table, column `i`: `10 t + i`.
pub fn embedding(token: usize) -> [f32; HIDDEN] {
    core::array::from_fn(|i| (10 * token + i) as f32)
}

impl TestModel {
    /// `table` f32 `[4, 4]`, `norm` f32 `[4]`, `half` f16 `[4, 4]`.
    pub fn new() -> TestModel {
        let table = (0..VOCABULARY).flat_map(embedding);
        let bytes: Vec<u8> = table.flat_map(f32::to_le_bytes).collect();
        let mut writer = Writer::new();
        writer
            .entry("general.architecture", 8, &string("test"))
            .entry("test.layers", 4, &3u32.to_le_bytes())
            .entry("test.scale", 6, &0.5f32.to_le_bytes())
            .entry("test.name", 8, &string("tiny"))
            .tensor("table", &[4, 4], 0, bytes.clone())
            .tensor("norm", &[4], 0, vec![0; 16])
            .tensor("half", &[4, 4], 1, vec![0; 32])
            .tensor("wide", &[8, 4], 0, vec![0; 128])
            .tensor("strange", &[256], 42, vec![0; 72])
            .tensor("scaled.weight", &[64], 40, vec![0; 36])
            .tensor("scaled.scale", &[1], 0, vec![0; 4])
            .tensor("alone.weight", &[64], 40, vec![0; 36]);
        let gguf = parse(&writer.bytes()).expect("the test's file is whole");
        let zeros = [16, 32, 128, 72, 36, 4, 36].map(|bytes| vec![0; bytes]);
        let data = std::iter::once(bytes).chain(zeros);
        TestModel {
            gguf,
            data: data.map(AlignedBytes::new).collect(),
        }
    }
}

/// Bytes of which `start..start + len` are aligned as a mapping's are.
struct AlignedBytes {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedBytes {
    fn new(data: Vec<u8>) -> AlignedBytes {
        let mut bytes = vec![0; data.len() + 64];
        let start = bytes.as_ptr().align_offset(64);
        bytes[start..start + data.len()].copy_from_slice(&data);
        AlignedBytes {
            bytes,
            start,
            len: data.len(),
        }
    }
}

impl ModelSource for TestModel {
    fn metadata(&self) -> &Metadata {
        &self.gguf.metadata
    }

    fn tensors(&self) -> &[TensorInfo] {
        &self.gguf.tensors
    }

    fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.gguf.tensor(name)
    }

    fn tensor_bytes(&self, name: &str) -> Result<&[u8], ModelError> {
        let found = self
            .gguf
            .tensors
            .iter()
            .position(|tensor| tensor.name == name);
        let missing = || Damage::MissingTensor {
            name: name.to_owned(),
        };
        let aligned = &self.data[found.ok_or_else(missing)?];
        Ok(&aligned.bytes[aligned.start..aligned.start + aligned.len])
    }

    fn check_unchanged(&self) -> Result<(), ModelError> {
        Ok(())
    }

    fn prefetch(&self, _name: &str) {}

    fn content_id(&self, tensor: &TensorInfo) -> ContentId {
        ContentId(tensor.offset + 1)
    }
}
