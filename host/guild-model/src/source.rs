//! What the rest of the host sees of a model file, whatever its container.

use crate::error::{Damage, ModelError, Unsupported};
use crate::metadata::Metadata;

/// A model file that has been opened and checked.
///
/// All methods may be called from any thread. Byte slices live as long as the source.
pub trait ModelSource: Send + Sync {
    /// The model's metadata.
    fn metadata(&self) -> &Metadata;

    /// Every tensor, in the order of the file.
    fn tensors(&self) -> &[TensorInfo];

    /// The tensor of this name.
    fn tensor(&self, name: &str) -> Option<&TensorInfo>;

    /// The stored bytes of a tensor: rows of whole blocks, contiguous axis first.
    ///
    /// # Errors
    /// - [`Damage::MissingTensor`] when there is no such tensor;
    /// - [`Unsupported::TensorType`] when guild has no format for its type;
    /// - [`Damage::ChangedWhileOpen`] when the file is not what was opened.
    fn tensor_bytes(&self, name: &str) -> Result<&[u8], ModelError>;

    /// Checks that the file is still what was opened. Call it before each pass over the weights: reading a mapped
    /// page that a truncation removed would end the process with a bus error, and this turns the usual case into an
    /// error. A truncation during a pass is not caught.
    ///
    /// # Errors
    /// - [`Damage::ChangedWhileOpen`] when the file's length or modification time differs;
    /// - [`ModelError::Io`] when the system cannot say.
    fn check_unchanged(&self) -> Result<(), ModelError>;

    /// Asks the system to read a tensor's bytes ahead. It is advice: failures and unknown names are ignored.
    fn prefetch(&self, name: &str);

    /// Names the stored bytes of a tensor, for caches of bytes derived from it.
    fn content_id(&self, tensor: &TensorInfo) -> ContentId;
}

/// One tensor of a model file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// The tensor's name, such as `blk.0.attn_norm.weight`.
    pub name: String,
    /// The type number in the file.
    pub ggml_type: u32,
    /// ggml's name for the type, such as `Q4_K`; also for types that ggml has removed; `unknown` for any other number.
    pub type_name: &'static str,
    /// Elements along each axis, the contiguous axis first (a matrix is `[columns, rows]`). 1 to 4 axes.
    pub shape: Vec<u64>,
    /// Which of the model's files holds the data, from 0. A model that isn't split has one file.
    pub shard: u32,
    /// Where the data starts, in bytes from the start of that file.
    pub offset: u64,
    /// Bytes of data; `None` when the type is unknown.
    pub byte_len: Option<u64>,
}

impl TensorInfo {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The format that decodes this tensor.
    ///
    /// # Errors
    /// [`Unsupported::TensorType`] when guild has none.
    pub fn format(&self) -> Result<&'static guild_quant::Format, Unsupported> {
        guild_quant::format_by_ggml_type(self.ggml_type).ok_or_else(|| Unsupported::TensorType {
            tensor: self.name.clone(),
            ggml_type: self.ggml_type,
            type_name: self.type_name,
            supported: supported_types(),
        })
    }

    /// Number of elements. The reader has checked that it does not overflow.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }
}

/// Names a tensor's stored bytes within one process: equal for two openings of the same unchanged file, different for
/// another tensor, another file, or the same file after a write.
///
/// It is a 64-bit FNV-1a hash of its file's device, inode, length and modification time and of the tensor's name,
/// offset and length. It reads no tensor data, says nothing about trust, and is not kept across restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentId(pub u64);

impl ContentId {
    /// The id of `tensor` in the file that `file_identity` describes.
    pub(crate) fn new(file_identity: &[u64], tensor: &TensorInfo) -> Self {
        let place = [tensor.offset, tensor.byte_len.unwrap_or(u64::MAX)];
        let numbers = file_identity
            .iter()
            .chain(&place)
            .flat_map(|number| number.to_le_bytes());
        let bytes = numbers.chain(tensor.name.bytes());
        Self(bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }
}

/// The error for a tensor that a model must have.
pub(crate) fn missing_tensor(name: &str) -> ModelError {
    Damage::MissingTensor {
        name: name.to_owned(),
    }
    .into()
}

/// The types that guild decodes, as a list for people.
fn supported_types() -> String {
    let names = guild_quant::formats().iter().map(|format| {
        crate::gguf::tensor_type(format.ggml_type).map_or(format.name, |known| known.name)
    });
    names.collect::<Vec<_>>().join(", ")
}
