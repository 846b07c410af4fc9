//! The parameter struct that the norms share.

use core::mem::offset_of;

use guild_abi::core_ops::guild_norm_params;

use super::operands::{Operands, require};
use crate::error::Mismatch;

/// What the contract says about the factor on the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// It is 1.
    One,
    /// Any finite number.
    Any,
}

/// Checks `guild_norm_params`.
pub(super) fn check(node: &Operands<'_>, scale: Scale) -> Result<(), Mismatch> {
    let params = node.params(size_of::<guild_norm_params>())?;
    let epsilon = params.f32_at(offset_of!(guild_norm_params, epsilon));
    let fits = epsilon.is_finite() && epsilon >= 0.0;
    require(fits, "epsilon", "a number from 0 up", epsilon)?;
    let factor = params.f32_at(offset_of!(guild_norm_params, scale));
    match scale {
        Scale::One => require(factor == 1.0, "scale", "1", factor),
        Scale::Any => require(factor.is_finite(), "scale", "a finite number", factor),
    }
}
