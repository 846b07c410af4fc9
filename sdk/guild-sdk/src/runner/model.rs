//! A model file as a runner sees it: metadata and tensor descriptions, no weights.

use super::shape::Shape;
use crate::kernel::Failure;
use guild_abi::abi::{
    GUILD_STATUS_ERR_INTERNAL, GUILD_STATUS_ERR_INVALID, GUILD_STATUS_ERR_NOT_FOUND, guild_status,
};
use std::fmt;

/// What answers a [`Model`]'s questions: the host's table, or a test's sample.
pub(super) trait ModelSource {
    fn architecture(&self) -> &str;
    fn length(&self, key: &str) -> Result<u64, guild_status>;
    fn unsigned(&self, key: &str, index: u64) -> Result<u64, guild_status>;
    fn number(&self, key: &str, index: u64) -> Result<f64, guild_status>;
    fn text(&self, key: &str, index: u64) -> Result<&str, guild_status>;
    fn tensor(&self, name: &str) -> Result<TensorInfo, guild_status>;
}

/// The model that a runner looks at; lives for one call.
pub struct Model<'a> {
    source: &'a dyn ModelSource,
}

/// A tensor of the model, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// Element format, one of `GUILD_FORMAT_*` or a number that the host gave a named format.
    pub format: u32,
    /// Elements along each axis, outermost first.
    pub shape: Shape,
    /// Bytes in the file.
    pub byte_len: u64,
}

/// Why a question about the model has no answer. The model file is at fault unless the variant says
/// otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelError {
    /// The metadata lacks a key.
    MissingKey {
        /// The key.
        key: String,
    },
    /// A metadata value has another type, or fewer elements.
    WrongType {
        /// The key.
        key: String,
        /// The element asked for; 0 for a scalar.
        index: u64,
        /// The type asked for.
        wanted: &'static str,
    },
    /// A metadata value is a list where one value is asked for.
    NotScalar {
        /// The key.
        key: String,
        /// Elements of the list.
        length: u64,
    },
    /// The file lacks a tensor.
    MissingTensor {
        /// The name.
        name: String,
    },
    /// The host failed; its own fault.
    Host {
        /// The key or name.
        what: String,
        /// The status.
        status: guild_status,
    },
}

impl std::error::Error for ModelError {}

// Written out: a derive would bring macros that every plugin of every author compiles.
impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::MissingKey { key } => write!(
                f,
                "the model has no metadata key {key:?}; convert the model again"
            ),
            ModelError::WrongType { key, index, wanted } => write!(
                f,
                "metadata key {key:?}, element {index}, is no {wanted} or doesn't exist; convert the model again"
            ),
            ModelError::NotScalar { key, length } => write!(
                f,
                "metadata key {key:?} is a list of {length} values; one value is wanted"
            ),
            ModelError::MissingTensor { name } => write!(
                f,
                "the model has no tensor {name:?}; the file is incomplete or of another architecture"
            ),
            ModelError::Host { what, status } => write!(
                f,
                "the host failed to look up {what:?} in the model (status {status})"
            ),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Failure {
        let status = match &error {
            ModelError::MissingKey { .. } | ModelError::MissingTensor { .. } => {
                GUILD_STATUS_ERR_NOT_FOUND
            }
            ModelError::WrongType { .. } | ModelError::NotScalar { .. } => GUILD_STATUS_ERR_INVALID,
            ModelError::Host { .. } => GUILD_STATUS_ERR_INTERNAL,
        };
        Failure::new(status, error.to_string())
    }
}

impl<'a> Model<'a> {
    pub(super) fn new(source: &'a dyn ModelSource) -> Model<'a> {
        Model { source }
    }

    /// The file's architecture name (`general.architecture`).
    #[must_use]
    pub fn architecture(&self) -> &str {
        self.source.architecture()
    }

    /// Elements of a metadata value, 1 for a scalar; `None` where the key is absent.
    ///
    /// # Errors
    /// [`ModelError::Host`].
    pub fn length(&self, key: &str) -> Result<Option<u64>, ModelError> {
        match self.source.length(key) {
            Ok(length) => Ok(Some(length)),
            Err(GUILD_STATUS_ERR_NOT_FOUND) => Ok(None),
            Err(status) => Err(host_failure(key, status)),
        }
    }

    /// An integer or boolean scalar.
    ///
    /// # Errors
    /// Names the key that is missing, of another type or a list.
    pub fn unsigned(&self, key: &str) -> Result<u64, ModelError> {
        self.check_scalar(key)?;
        self.unsigned_at(key, 0)
    }

    /// Element `index` of an array of integers or booleans; element 0 of a scalar is the scalar.
    ///
    /// # Errors
    /// Names the key that is missing, too short or of another type.
    pub fn unsigned_at(&self, key: &str, index: u64) -> Result<u64, ModelError> {
        self.source
            .unsigned(key, index)
            .map_err(|status| self.fault(key, index, "unsigned integer or boolean", status))
    }

    /// An integer or boolean scalar, or `absent` where the key is absent.
    ///
    /// # Errors
    /// Names the key that is of another type.
    pub fn unsigned_or(&self, key: &str, absent: u64) -> Result<u64, ModelError> {
        match self.length(key)? {
            Some(_) => self.unsigned(key),
            None => Ok(absent),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// Names the key that is missing or of another type.
    pub fn number(&self, key: &str) -> Result<f64, ModelError> {
        self.check_scalar(key)?;
        self.source
            .number(key, 0)
            .map_err(|status| self.fault(key, 0, "number", status))
    }

    /// A string.
    ///
    /// # Errors
    /// Names the key that is missing or of another type.
    pub fn text(&self, key: &str) -> Result<&str, ModelError> {
        self.check_scalar(key)?;
        self.source
            .text(key, 0)
            .map_err(|status| self.fault(key, 0, "string", status))
    }

    /// A tensor.
    ///
    /// # Errors
    /// [`ModelError::MissingTensor`].
    pub fn tensor(&self, name: &str) -> Result<TensorInfo, ModelError> {
        self.source.tensor(name).map_err(|status| match status {
            GUILD_STATUS_ERR_NOT_FOUND => ModelError::MissingTensor {
                name: name.to_owned(),
            },
            other => host_failure(name, other),
        })
    }

    /// Whether the file has a tensor of this name.
    ///
    /// # Errors
    /// [`ModelError::Host`].
    pub fn has_tensor(&self, name: &str) -> Result<bool, ModelError> {
        match self.tensor(name) {
            Ok(_) => Ok(true),
            Err(ModelError::MissingTensor { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// The first element of a longer list would pass for the whole value. An absent key is the caller's to find.
    fn check_scalar(&self, key: &str) -> Result<(), ModelError> {
        match self.source.length(key) {
            Ok(1) | Err(_) => Ok(()),
            Ok(length) => Err(ModelError::NotScalar {
                key: key.to_owned(),
                length,
            }),
        }
    }

    /// Hosts answer `NOT_FOUND` for an absent key and may for an absent element; the key's length
    /// tells which it is.
    fn fault(
        &self,
        key: &str,
        index: u64,
        wanted: &'static str,
        status: guild_status,
    ) -> ModelError {
        let wrong_type = || ModelError::WrongType {
            key: key.to_owned(),
            index,
            wanted,
        };
        match (status, self.source.length(key)) {
            (GUILD_STATUS_ERR_INVALID, _) | (GUILD_STATUS_ERR_NOT_FOUND, Ok(_)) => wrong_type(),
            (GUILD_STATUS_ERR_NOT_FOUND, Err(_)) => ModelError::MissingKey {
                key: key.to_owned(),
            },
            (other, _) => host_failure(key, other),
        }
    }
}

fn host_failure(what: &str, status: guild_status) -> ModelError {
    ModelError::Host {
        what: what.to_owned(),
        status,
    }
}
