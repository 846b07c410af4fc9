//! What can go wrong with a model file: whose fault it is, what was found, and what to do next.
//!
//! [`ModelError::code`] is a total function of the kind, so a command's exit code never depends on a text.

mod split;

use std::path::PathBuf;

use crate::metadata::ValueType;

pub use split::SplitDamage;

/// A failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The operating system refused; the file may be fine.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The model file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file's bytes break a rule of its format. Nobody should run it.
    #[error("the file is damaged: {0}")]
    Damaged(#[from] Damage),
    /// The file is well-formed, but guild has no code for something in it.
    #[error("not supported: {0}")]
    Unsupported(#[from] Unsupported),
    /// What is wrong with one file of a split model.
    #[error("shard {}: {error}", path.display())]
    InShard {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: Box<ModelError>,
    },
    /// A file of a split model isn't there.
    #[error(
        "the model is incomplete: shard {number} of {count} is missing: {}",
        path.display()
    )]
    MissingShard {
        /// The shard's number, from 1.
        number: u64,
        /// Shards of the model.
        count: u64,
        /// Where it should be.
        path: PathBuf,
    },
    /// A folder that was given as a model holds none.
    #[error(
        "the folder {} holds no .gguf file",
        folder.display()
    )]
    NoModel {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder that was given as a model holds more than one.
    #[error(
        "the folder {} holds {} models: {}",
        folder.display(),
        models.len(),
        shortened(models)
    )]
    SeveralModels {
        /// The folder.
        folder: PathBuf,
        /// File names; a split model is listed once.
        models: Vec<String>,
    },
}

impl ModelError {
    /// The stable code that a command exits with.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Io { .. } => ErrorCode::Io,
            Self::Damaged(_) => ErrorCode::Damaged,
            Self::Unsupported(_) => ErrorCode::Unsupported,
            Self::InShard { error, .. } => error.code(),
            Self::MissingShard { .. } => ErrorCode::Damaged,
            Self::NoModel { .. } => ErrorCode::NotFound,
            Self::SeveralModels { .. } => ErrorCode::Usage,
        }
    }

    /// What to do next; empty where the message says all there is.
    #[must_use]
    pub const fn next_step(&self) -> &'static str {
        match self {
            Self::Io { .. } => "check that the file exists and may be read",
            Self::Damaged(_) => "download or convert the file again",
            Self::Unsupported(_) => "",
            Self::InShard { error, .. } => error.next_step(),
            Self::MissingShard { .. } => "put the missing file beside the others",
            Self::NoModel { .. } => "name a GGUF file, or the folder that it lies in",
            Self::SeveralModels { .. } => "name one of them",
        }
    }
}

/// The most names in a list for people.
const NAMES_SHOWN: usize = 16;

/// A list for a sentence.
fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_SHOWN).cloned();
    let more = names
        .len()
        .checked_sub(NAMES_SHOWN)
        .filter(|&more| more > 0);
    let rest = more.map(|more| format!("and {more} more"));
    shown.chain(rest).collect::<Vec<_>>().join(", ")
}

/// The exit codes that this crate's errors lead to (`docs/cli.md` has all codes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// The path that was given is ambiguous.
    Usage = 2,
    /// A file's bytes are wrong.
    Damaged = 3,
    /// Something in a file has no code to serve it.
    Unsupported = 4,
    /// There is no model where one was looked for.
    NotFound = 33,
    /// The operating system refused.
    Io = 40,
}

impl ErrorCode {
    /// The process exit code.
    #[must_use]
    pub const fn exit(self) -> u8 {
        self as u8
    }

    /// The code's name in JSON output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Usage => "USAGE",
            Self::Damaged => "DAMAGED",
            Self::Unsupported => "UNSUPPORTED",
            Self::NotFound => "NOT_FOUND",
            Self::Io => "IO",
        }
    }
}

/// A rule of the format that the file's bytes break. Offsets are from the start of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The first four bytes are not `GGUF`.
    #[error("it is no GGUF file: it starts with \"{}\", not with \"GGUF\"", .magic.escape_ascii())]
    NotGguf {
        /// The first four bytes.
        magic: [u8; 4],
    },
    /// The file ends inside a field.
    #[error("{what} at byte {at} needs {need_bytes} bytes, the file has {have_bytes} left")]
    Truncated {
        /// The field.
        what: &'static str,
        /// Where it starts.
        at: u64,
        /// Bytes that it needs.
        need_bytes: u64,
        /// Bytes that are left.
        have_bytes: u64,
    },
    /// A count or a length is beyond what guild accepts (`docs/gguf.md`, limits).
    #[error("{what} is {found}, the limit is {limit}")]
    OverLimit {
        /// What was counted.
        what: &'static str,
        /// The number in the file.
        found: u64,
        /// The most that is accepted.
        limit: u64,
    },
    /// A string is not UTF-8.
    #[error("{what} at byte {at} is not UTF-8")]
    NotUtf8 {
        /// The field.
        what: &'static str,
        /// Where it starts.
        at: u64,
    },
    /// A metadata value has a type number that GGUF does not define.
    #[error("value type {found} at byte {at} does not exist")]
    UnknownValueType {
        /// The type number.
        found: u32,
        /// Where it stands.
        at: u64,
    },
    /// A boolean is neither 0 nor 1.
    #[error("the boolean at byte {at} is {found}")]
    NotBoolean {
        /// The byte.
        found: u8,
        /// Where it stands.
        at: u64,
    },
    /// Two metadata entries have the same key.
    #[error("the metadata key {key:?} occurs twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// Two tensors have the same name.
    #[error("the tensor name {name:?} occurs twice")]
    DuplicateTensor {
        /// The name.
        name: String,
    },
    /// `general.alignment` is not a power of two in the accepted range.
    #[error("general.alignment is {found}; it must be a power of two from 8 to {limit}")]
    BadAlignment {
        /// The number in the file.
        found: u64,
        /// The largest that is accepted.
        limit: u64,
    },
    /// A tensor has an axis of length 0.
    #[error("tensor {tensor:?} has the shape {shape:?}; no axis may be 0")]
    EmptyAxis {
        /// The tensor.
        tensor: String,
        /// Its shape, contiguous axis first.
        shape: Vec<u64>,
    },
    /// A tensor's element or byte count does not fit 64 bits.
    #[error("tensor {tensor:?} has the shape {shape:?}, whose size overflows")]
    SizeOverflow {
        /// The tensor.
        tensor: String,
        /// Its shape, contiguous axis first.
        shape: Vec<u64>,
    },
    /// A row is not a whole number of blocks.
    #[error(
        "tensor {tensor:?} has rows of {row_elems} elements; blocks of {type_name} have {block_elems}"
    )]
    PartialBlock {
        /// The tensor.
        tensor: String,
        /// The tensor type's name.
        type_name: &'static str,
        /// Elements in a row.
        row_elems: u64,
        /// Elements in a block.
        block_elems: u64,
    },
    /// A tensor's data does not start at a multiple of the file's alignment.
    #[error("tensor {tensor:?} starts at {offset} in the data, not a multiple of {alignment}")]
    Misaligned {
        /// The tensor.
        tensor: String,
        /// Its offset from the start of the tensor data.
        offset: u64,
        /// The file's alignment in bytes.
        alignment: u64,
    },
    /// A tensor's data reaches past the end of the file.
    #[error(
        "tensor {tensor:?} needs {byte_len} bytes at byte {at}, the file has {file_bytes} bytes"
    )]
    OutOfBounds {
        /// The tensor.
        tensor: String,
        /// Where its data starts.
        at: u64,
        /// Bytes that it needs.
        byte_len: u64,
        /// The file's length.
        file_bytes: u64,
    },
    /// Two tensors share bytes.
    #[error("tensors {first:?} and {second:?} overlap")]
    Overlap {
        /// The tensor that starts first.
        first: String,
        /// The tensor that starts inside it.
        second: String,
    },
    /// The file was written to, cut or replaced in place after it was opened.
    #[error(
        "it had {opened_bytes} bytes when it was opened and has {now_bytes} now, or was written to since"
    )]
    ChangedWhileOpen {
        /// Length when opened.
        opened_bytes: u64,
        /// Length now.
        now_bytes: u64,
    },
    /// A metadata entry that must be there is not.
    #[error("the metadata key {key:?} is missing")]
    MissingKey {
        /// The key.
        key: String,
    },
    /// A metadata entry has another type than its key asks for.
    #[error("the metadata key {key:?} must hold {want} and holds {found:?}")]
    WrongType {
        /// The key.
        key: String,
        /// What was asked for.
        want: &'static str,
        /// The type in the file.
        found: ValueType,
    },
    /// A tensor that must be there is not.
    #[error("the tensor {name:?} is missing")]
    MissingTensor {
        /// The name.
        name: String,
    },
    /// The tokenizer's arrays contradict each other.
    #[error("the tokenizer is broken: {0}")]
    Tokenizer(#[from] TokenizerDamage),
    /// The files of a split model contradict each other, or a file itself about its place among them.
    #[error("the split is broken: {0}")]
    Split(#[from] SplitDamage),
}

/// A contradiction in a model's vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerDamage {
    /// There is no token at all.
    #[error("the vocabulary is empty")]
    Empty,
    /// `token_type` has another length than `tokens`.
    #[error("{tokens} tokens have {types} types")]
    TypeCount {
        /// Length of `tokenizer.ggml.tokens`.
        tokens: u64,
        /// Length of `tokenizer.ggml.token_type`.
        types: u64,
    },
    /// A token type is not one of GGUF's six.
    #[error("token {id} has the type {found}; types are 1 to 6")]
    UnknownTokenType {
        /// The token.
        id: u32,
        /// The number in the file.
        found: i64,
    },
    /// A control or user-defined token has no text.
    #[error("token {id} is a marker without text")]
    EmptyMarker {
        /// The token.
        id: u32,
    },
    /// Two tokens have the same text.
    #[error("tokens {first} and {second} are both {text:?}")]
    DuplicateToken {
        /// The lower id.
        first: u32,
        /// The higher id.
        second: u32,
        /// Their text.
        text: String,
    },
    /// Some bytes have a token of their own, and this one has none.
    #[error("byte {byte:#04x} has no token, though others have")]
    MissingByte {
        /// The byte.
        byte: u8,
    },
    /// A byte token is not spelled `<0x00>` to `<0xFF>`.
    #[error("token {id} is a byte token and is {text:?}, not <0x00> to <0xFF>")]
    BadByteToken {
        /// The token.
        id: u32,
        /// Its text.
        text: String,
    },
    /// A token's text is too long.
    #[error("token {id} has {bytes} bytes of text; at most {limit_bytes} are accepted")]
    LongToken {
        /// The token.
        id: u32,
        /// Length of its text.
        bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// `scores` has another length than `tokens`.
    #[error("{tokens} tokens have {scores} scores")]
    ScoreCount {
        /// Length of `tokenizer.ggml.tokens`.
        tokens: u64,
        /// Length of `tokenizer.ggml.scores`.
        scores: u64,
    },
    /// A score is not a number.
    #[error("the score of token {id} is not a number")]
    BadScore {
        /// The token.
        id: u32,
    },
    /// A SentencePiece vocabulary has no token for a space.
    #[error("no token is a space (U+2581)")]
    MissingSpace,
    /// A merge is not two texts with one space between.
    #[error("merge {index} is {text:?}, not two texts with one space between")]
    BadMerge {
        /// Position in `tokenizer.ggml.merges`.
        index: u64,
        /// The entry.
        text: String,
    },
    /// A merge joins or makes a text that is no token.
    #[error("merge {index} needs the token {text:?}, which does not exist")]
    MergeWithoutToken {
        /// Position in `tokenizer.ggml.merges`.
        index: u64,
        /// The missing token.
        text: String,
    },
    /// A merge is there twice, so its rank is not known.
    #[error("merge {index}, {text:?}, is there for the second time")]
    DuplicateMerge {
        /// Position in `tokenizer.ggml.merges`.
        index: u64,
        /// The entry.
        text: String,
    },
    /// A special token's id is beyond the vocabulary.
    #[error("{key} is {id}, the vocabulary has {tokens} tokens")]
    IdOutOfRange {
        /// The metadata key.
        key: &'static str,
        /// The id.
        id: u64,
        /// Length of the vocabulary.
        tokens: u64,
    },
}

impl From<TokenizerDamage> for ModelError {
    fn from(damage: TokenizerDamage) -> Self {
        Self::Damaged(Damage::Tokenizer(damage))
    }
}

/// Something well-formed that guild has no code for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// The file is in big-endian byte order.
    #[error("the file is big-endian; convert it on a little-endian machine")]
    BigEndian,
    /// The container's version.
    #[error(
        "GGUF version {found}; guild reads versions 2 and 3; convert the model with a current converter"
    )]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// A tensor's type.
    #[error(
        "tensor {tensor:?} has the type {type_name} (number {ggml_type}); supported: {supported}; quantise the model to one of those"
    )]
    TensorType {
        /// The tensor.
        tensor: String,
        /// The type number in the file.
        ggml_type: u32,
        /// ggml's name for it, or `unknown`.
        type_name: &'static str,
        /// The types that guild decodes.
        supported: String,
    },
    /// The tokenizer's kind.
    #[error(
        "tokenizer.ggml.model {found:?}; supported: {supported}; give token ids instead of text"
    )]
    TokenizerModel {
        /// The name in the file.
        found: String,
        /// The names that guild knows.
        supported: String,
    },
    /// A change to the text before it is encoded that guild does not make.
    #[error(
        "the tokenizer changes texts first ({key}), which guild does not do; give token ids instead of text"
    )]
    Normalisation {
        /// The metadata key that asks for it.
        key: &'static str,
    },
    /// The rule that cuts text into pieces before merging.
    #[error("tokenizer.ggml.pre {found:?}; supported: {supported}; give token ids instead of text")]
    PreTokenizer {
        /// The name in the file.
        found: String,
        /// The names that guild knows.
        supported: String,
    },
}
