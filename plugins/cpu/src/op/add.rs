//! `guild.core.add@1`: `a + b`.

use super::elementwise::{self, Binary};
use crate::isa::Isa;
use guild_sdk::{Failure, Instance, Refusal, Request};

struct Add;

impl Binary for Add {
    #[inline(always)]
    fn lanes<S: Isa>(isa: S, x: S::F, other: S::F) -> S::F {
        isa.add(x, other)
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
    elementwise::create::<S, Add>(isa)
}
