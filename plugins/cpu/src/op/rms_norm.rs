//! `guild.core.rms_norm@1`: `(x / sqrt(mean(x * x) + epsilon)) * weight`.

use super::norm::{self, Norm, inverse_root};
use crate::isa::Isa;
use guild_sdk::abi::core_ops::guild_norm_params;
use guild_sdk::{Failure, Instance, Refusal, Request};

struct RmsNorm {
    epsilon: f32,
}

impl Norm for RmsNorm {
    const INPUTS: usize = 2;

    #[inline(always)]
    fn factor<S: Isa>(&self, isa: S, squares: S::F, dim: usize) -> S::F {
        root_mean(isa, squares, dim, self.epsilon)
    }

    #[inline(always)]
    fn lanes<S: Isa>(&self, isa: S, x: S::F, factor: S::F, weight: S::F, _: S::F) -> S::F {
        isa.mul(isa.mul(x, factor), weight)
    }
}

/// `1 / sqrt(mean + epsilon)`.
#[inline(always)]
pub(super) fn root_mean<S: Isa>(isa: S, squares: S::F, dim: usize, epsilon: f32) -> S::F {
    let mean = isa.div(squares, isa.splat(dim as f32));
    inverse_root(isa, isa.add(mean, isa.splat(epsilon)))
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
