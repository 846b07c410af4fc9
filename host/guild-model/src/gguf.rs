//! The GGUF container, versions 2 and 3, little-endian: reading and checking.
//!
//! [`parse`] is a pure function from bytes to a checked [`Gguf`], [`join`] one from the shards of a split model to one
//! [`Gguf`]; [`GgufFile`] puts both over memory maps. Everything is
//! checked before anything is used: magic and version, counts against the bytes that are left before any allocation,
//! string lengths and UTF-8, value types, array depth, unique keys and names, shapes, alignment, bounds and overlap of
//! tensor data. The limits are in [`limits`]; `docs/gguf.md` explains them. The layout is the one that ggml's
//! `docs/gguf.md` specifies.

pub(crate) mod cursor;
mod directory;
mod header;
pub mod limits;
mod locate;
mod reader;
mod split;
mod tensor_type;
mod value;

pub use reader::{GgufFile, Shard};
pub use split::{Split, join};
pub use tensor_type::{TensorType, tensor_type};

use crate::error::{Damage, ModelError};
use crate::metadata::Metadata;
use crate::name_index::NameIndex;
use crate::source::TensorInfo;
use cursor::Cursor;

/// A checked GGUF file, or a split model's files joined, without tensor data.
#[derive(Clone, Debug)]
pub struct Gguf {
    /// The container's version, 2 or 3.
    pub version: u32,
    /// The alignment of tensor data in bytes, a power of two.
    pub alignment: u64,
    /// The key and value list.
    pub metadata: Metadata,
    /// The tensors in the order of the files.
    pub tensors: Vec<TensorInfo>,
    by_name: NameIndex,
}

impl Gguf {
    /// The tensor of this name.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.by_name.find(&self.tensors, TensorInfo::name, name)
    }
}

/// Checks a whole file. It reads `bytes` up to the end of the tensor directory and no tensor data, copies the metadata
/// once, and takes time and memory in proportion to that part alone.
///
/// A tensor whose type is unknown is listed; using it is an error. A shard of a split model is checked on its own here;
/// [`join`] checks that it belongs to the others.
///
/// # Errors
/// [`ModelError::Damaged`] or [`ModelError::Unsupported`] with what was found.
pub fn parse(bytes: &[u8]) -> Result<Gguf, ModelError> {
    let mut cursor = Cursor::new(bytes);
    let header = header::read(&mut cursor)?;
    let entries = value::read_entries(&mut cursor, header.metadata_count)?;
    let encoded = bytes.get(..cursor.position()).unwrap_or(bytes);
    let metadata = Metadata::new(encoded.into(), entries)?;
    let alignment = header::alignment(&metadata)?;
    let tensors = directory::read(&mut cursor, header.tensor_count, alignment)?;
    let by_name = NameIndex::new(&tensors, TensorInfo::name)
        .map_err(|name| Damage::DuplicateTensor { name })?;
    Ok(Gguf {
        version: header.version,
        alignment,
        metadata,
        tensors,
        by_name,
    })
}
