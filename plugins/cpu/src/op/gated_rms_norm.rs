//! `guild.core.gated_rms_norm@1`: `rms_norm(x) * silu(z)`.

use super::norm::{self, Norm};
use super::rms_norm::root_mean;
use crate::isa::Isa;
use guild_numerics::exp::silu;
use guild_sdk::abi::core_ops::guild_norm_params;
use guild_sdk::{Failure, Instance, Refusal, Request};

struct GatedRmsNorm {
    epsilon: f32,
}

impl Norm for GatedRmsNorm {
    const INPUTS: usize = 3;

    #[inline(always)]
    fn factor<S: Isa>(&self, isa: S, squares: S::F, dim: usize) -> S::F {
        root_mean(isa, squares, dim, self.epsilon)
    }

    #[inline(always)]
    fn lanes<S: Isa>(&self, isa: S, x: S::F, factor: S::F, weight: S::F, z: S::F) -> S::F {
        let y = isa.mul(isa.mul(x, factor), weight);
        isa.mul(y, silu(isa, z))
    }
}

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    norm::supports::<GatedRmsNorm>(request)
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// Parameters are missing.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let epsilon = request.params::<guild_norm_params>()?.epsilon;
    norm::create(isa, GatedRmsNorm { epsilon })
}
