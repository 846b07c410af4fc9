//! A GGUF file on disk as a [`ModelSource`].

use std::path::Path;

use super::{Gguf, parse};
use crate::error::{ModelError, Unsupported};
use crate::map::MappedFile;
use crate::metadata::Metadata;
use crate::source::{ContentId, ModelSource, TensorInfo, missing_tensor};

/// An opened, mapped and checked GGUF file.
///
/// The metadata and the tensor directory are copies; only tensor data is read through the map.
#[derive(Debug)]
pub struct GgufFile {
    map: MappedFile,
    gguf: Gguf,
}

impl GgufFile {
    /// Opens and checks a file. No tensor data is read.
    ///
    /// # Errors
    /// - [`ModelError::Io`] when the file cannot be opened or mapped;
    /// - [`ModelError::Damaged`] when a check fails;
    /// - [`ModelError::Unsupported`] for another version, byte order, or a model split into several files. A tensor of
    ///   an unsupported type is no error here: the file can be listed, and [`ModelSource::tensor_bytes`] refuses it.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let map = MappedFile::open(path)?;
        let gguf = parse(map.bytes())?;
        if let Some(count) = gguf.metadata.get::<u64>("split.count")?
            && count > 1
        {
            return Err(Unsupported::Split { count }.into());
        }
        map.check_unchanged()?;
        Ok(Self { map, gguf })
    }

    /// The checked container: version, alignment, metadata, tensors.
    #[must_use]
    pub const fn gguf(&self) -> &Gguf {
        &self.gguf
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.map.bytes().len() as u64
    }

    /// The bytes of `tensor`, whose bounds the parser has checked against this map.
    fn slice(&self, tensor: &TensorInfo) -> Option<&[u8]> {
        let start = usize::try_from(tensor.offset).ok()?;
        let len = usize::try_from(tensor.byte_len?).ok()?;
        self.map.bytes().get(start..)?.get(..len)
    }
}

impl ModelSource for GgufFile {
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
        let tensor = self.tensor(name).ok_or_else(|| missing_tensor(name))?;
        tensor.format()?;
        self.map.check_unchanged()?;
        self.slice(tensor).ok_or_else(|| missing_tensor(name))
    }

    fn check_unchanged(&self) -> Result<(), ModelError> {
        self.map.check_unchanged()
    }

    fn prefetch(&self, name: &str) {
        if let Some(tensor) = self.tensor(name)
            && let Some(byte_len) = tensor.byte_len
        {
            self.map.prefetch(tensor.offset, byte_len);
        }
    }

    fn content_id(&self, tensor: &TensorInfo) -> ContentId {
        ContentId::new(&self.map.identity(), tensor)
    }
}
