//! `guild.core.rms_norm@1`: `(x / sqrt(mean(x * x) + epsilon)) * weight`.

use super::norm::{self, Norm, NormArguments};
use crate::isa::{Isa, LANES};
use guild_sdk::abi::core_ops::guild_norm_params;
use guild_sdk::{Failure, Instance, Refusal, Request};

struct RmsNorm {
    epsilon: f32,
}

impl Norm for RmsNorm {
    const INPUTS: usize = 2;

    #[inline(always)]
    fn vector<S: Isa>(isa: S, (norm, y, weight, _): NormArguments<'_, Self>) {
        normalise(isa, norm.epsilon, y, weight);
    }
}

/// Replaces `y` by its norm times the weight.
#[inline(always)]
pub(super) fn normalise<S: Isa>(isa: S, epsilon: f32, y: &mut [f32], weight: &[f32]) {
    let mean = super::dot(isa, (y, y)) / y.len() as f32;
    let r = isa.splat(1.0 / (mean + epsilon).sqrt());
    for (y, weight) in y.chunks_mut(LANES).zip(weight.chunks(LANES)) {
        let value = isa.mul(isa.mul(isa.load_part(y), r), isa.load_part(weight));
        isa.store_part(y, value);
    }
}

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    norm::supports::<RmsNorm>(request)
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// Parameters are missing.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let epsilon = request.params::<guild_norm_params>()?.epsilon;
    norm::create(isa, RmsNorm { epsilon })
}
