//! `guild.core.gated_rms_norm@1`: `rms_norm(x) * silu(z)`.

use super::norm::{self, Norm, NormArguments};
use super::rms_norm::normalise;
use crate::isa::{Isa, LANES};
use guild_numerics::exp::silu;
use guild_sdk::abi::core_ops::guild_norm_params;
use guild_sdk::{Failure, Instance, Refusal, Request};

struct GatedRmsNorm {
    epsilon: f32,
}

impl Norm for GatedRmsNorm {
    const INPUTS: usize = 3;

    #[inline(always)]
    fn vector<S: Isa>(isa: S, (norm, y, weight, z): NormArguments<'_, Self>) {
        normalise(isa, norm.epsilon, y, weight);
        for (y, z) in y.chunks_mut(LANES).zip(z.chunks(LANES)) {
            let value = isa.mul(isa.load_part(y), silu(isa, isa.load_part(z)));
            isa.store_part(y, value);
        }
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
