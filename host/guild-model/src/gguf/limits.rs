//! What the reader accepts at most. A count is compared with its limit, and with the bytes that are left in the file,
//! before anything is allocated for it.

/// Metadata entries. Models have 20 to 100.
pub const METADATA_COUNT_MAX: u64 = 1 << 16;
/// Files of a split model. The largest have some 200.
pub const SHARD_COUNT_MAX: u64 = 512;
/// Tensors. The largest models with one tensor an expert have some 60,000.
pub const TENSOR_COUNT_MAX: u64 = 1 << 18;
/// Bytes in a metadata key; the limit of the GGUF specification.
pub const KEY_BYTES_MAX: u64 = (1 << 16) - 1;
/// Bytes in a tensor name. ggml itself stops at 63.
pub const TENSOR_NAME_BYTES_MAX: u64 = 256;
/// Bytes in a metadata string. Chat templates take some ten thousand.
pub const STRING_BYTES_MAX: u64 = 1 << 24;
/// Elements in a metadata array. The largest vocabularies have some 500,000 merges.
pub const ARRAY_ELEMENTS_MAX: u64 = 1 << 24;
/// Strings, or arrays, in a metadata array: each takes far more memory in use than in the file.
pub const ARRAY_STRINGS_MAX: u64 = 1 << 20;
/// Arrays inside one another.
pub const ARRAY_DEPTH_MAX: u32 = 4;
/// Bytes of all metadata together, which are copied into memory.
pub const METADATA_BYTES_MAX: u64 = 1 << 28;
/// Axes of a tensor.
pub const AXES_MAX: u64 = 4;
/// `general.alignment` in bytes.
pub const ALIGNMENT_BYTES_MAX: u64 = 1 << 16;
/// The alignment of a file that states none, in bytes.
pub const ALIGNMENT_BYTES_DEFAULT: u64 = 32;
