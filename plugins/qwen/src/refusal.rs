//! Why a model is refused: an invariant of the architecture that its file breaks.

use guild_sdk::Failure;
use guild_sdk::abi::abi::{GUILD_STATUS_ERR_INVALID, GUILD_STATUS_ERR_UNSUPPORTED};
use guild_sdk::runner::Shape;

/// An invariant that a model breaks. Missing keys and tensors are `guild_sdk`'s `ModelError`. The
/// model file is at fault, except for [`Refusal::RopeScaling`], which this version doesn't serve.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A number is out of range.
    #[error("{key} is {found}; {least} to {most} is possible")]
    Range {
        /// The metadata key.
        key: String,
        /// Its value.
        found: u64,
        /// The least that is possible.
        least: u64,
        /// The most that is possible.
        most: u64,
    },
    /// A number must be above 0 and finite.
    #[error("{key} is {found}; it must be above 0 and finite")]
    NotPositive {
        /// The metadata key.
        key: String,
        /// Its value.
        found: f64,
    },
    /// A number is above 0 and finite only in double precision.
    #[error("{key} is {found}; it must be above 0 and finite in single precision")]
    NotSinglePrecision {
        /// The metadata key.
        key: String,
        /// Its value.
        found: f64,
    },
    /// A number isn't a multiple of another.
    #[error("{key} is {found}, which isn't a multiple of {divisor_key} = {divisor}")]
    NotMultiple {
        /// The metadata key.
        key: String,
        /// Its value.
        found: u64,
        /// The other number's key.
        divisor_key: String,
        /// The other number.
        divisor: u64,
    },
    /// A number is above another.
    #[error("{key} is {found}, more than {limit_key} = {limit}")]
    Exceeds {
        /// The metadata key.
        key: String,
        /// Its value.
        found: u64,
        /// The other number's key.
        limit_key: String,
        /// The other number.
        limit: u64,
    },
    /// Two numbers that must be equal differ.
    #[error("{key} is {found}, but {other_key} is {other}; they must be equal")]
    Differ {
        /// The metadata key.
        key: String,
        /// Its value.
        found: u64,
        /// The other number's key.
        other_key: String,
        /// The other number.
        other: u64,
    },
    /// An odd number of rotary dimensions.
    #[error("{key} is {found}; rotary dimensions come in pairs")]
    OddRotaryDims {
        /// The metadata key.
        key: String,
        /// Its value.
        found: u64,
    },
    /// The layers don't follow the interval.
    #[error(
        "layer {layer} is {found} in {key}, but {wanted} by {interval_key} = {interval}; the layer \
         pattern contradicts itself"
    )]
    LayerPattern {
        /// The key that lists the layers.
        key: String,
        /// The layer.
        layer: u64,
        /// What the list says.
        found: &'static str,
        /// What the interval says.
        wanted: &'static str,
        /// The interval's key.
        interval_key: String,
        /// The interval.
        interval: u64,
    },
    /// A tensor has another shape than the metadata says.
    #[error("tensor {name} is {found}, but the metadata asks for {wanted}, outermost axis first")]
    TensorShape {
        /// The tensor.
        name: String,
        /// Its shape.
        found: Shape,
        /// The shape that follows from the metadata.
        wanted: Shape,
    },
    /// A stretched context that this version doesn't compute.
    #[error("{key} is {found:?}; this runner serves models without RoPE scaling only")]
    RopeScaling {
        /// The metadata key.
        key: String,
        /// Its value.
        found: String,
    },
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        let status = match refusal {
            Refusal::RopeScaling { .. } => GUILD_STATUS_ERR_UNSUPPORTED,
            _ => GUILD_STATUS_ERR_INVALID,
        };
        Failure::new(status, refusal.to_string())
    }
}
