//! `guild.core.swiglu@1`: `silu(gate) * up`.

use super::elementwise::{self, Binary};
use crate::isa::Isa;
use guild_numerics::exp::silu;
use guild_sdk::{Failure, Instance, Refusal, Request};

struct Swiglu;

impl Binary for Swiglu {
    #[inline(always)]
    fn lanes<S: Isa>(isa: S, x: S::F, other: S::F) -> S::F {
        isa.mul(silu(isa, x), other)
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
    elementwise::create::<S, Swiglu>(isa)
}
