//! `guild.core.l2_norm@1`: `(x / sqrt(sum(x * x) + epsilon)) * scale`.

use super::norm::{self, Norm, inverse_root};
use crate::isa::Isa;
use guild_sdk::abi::core_ops::guild_norm_params;
use guild_sdk::{Failure, Instance, Refusal, Request};

struct L2Norm {
    epsilon: f32,
    scale: f32,
}

impl Norm for L2Norm {
    const INPUTS: usize = 1;

    #[inline(always)]
    fn factor<S: Isa>(&self, isa: S, squares: S::F, _dim: usize) -> S::F {
        inverse_root(isa, isa.add(squares, isa.splat(self.epsilon)))
    }

    #[inline(always)]
    fn lanes<S: Isa>(&self, isa: S, x: S::F, factor: S::F, _: S::F, _: S::F) -> S::F {
        isa.mul(isa.mul(x, factor), isa.splat(self.scale))
    }
}

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    norm::supports::<L2Norm>(request)
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// Parameters are missing.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let guild_norm_params { epsilon, scale, .. } = request.params()?;
    norm::create(isa, L2Norm { epsilon, scale })
}
