//! `guild.core.l2_norm@1`: `(x / sqrt(sum(x * x) + epsilon)) * scale`.

use super::norm::{self, Norm, NormArguments};
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
    fn vector<S: Isa>(isa: S, (norm, y, _, _): NormArguments<'_, Self>) {
        let r = isa.splat(1.0 / (super::dot(isa, (y, y)) + norm.epsilon).sqrt());
        let scale = isa.splat(norm.scale);
        super::map_in_place(isa, y, |x| isa.mul(isa.mul(x, r), scale));
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
