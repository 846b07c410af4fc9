//! `guild.core.sigmoid_mul@1`: `x * sigmoid(gate)`.

use super::elementwise::{self, Binary};
use crate::isa::Isa;
use guild_numerics::exp::sigmoid;
use guild_sdk::{Failure, Instance, Refusal, Request};

struct SigmoidMul;

impl Binary for SigmoidMul {
    #[inline(always)]
    fn lanes<S: Isa>(isa: S, x: S::F, other: S::F) -> S::F {
        isa.mul(x, sigmoid(isa, other))
    }
}

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    elementwise::supports(request)
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// None.
pub fn create<S: Isa>(isa: S, _request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    elementwise::create::<S, SigmoidMul>(isa)
}
