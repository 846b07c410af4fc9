//! `guild.core.rope@1`: rotary position embedding of the leading elements of each head.

use core::mem::offset_of;

use guild_abi::contract::{CoreOp, ROPE};
use guild_abi::core_ops::{GUILD_ROPE_ADJACENT, GUILD_ROPE_HALVES, guild_rope_params};
use guild_abi::formats::GUILD_FORMAT_F32;

use super::Contract;
use super::operands::{Formats, Operands, require};
use crate::error::Mismatch;

pub(super) struct Rope;

impl Contract for Rope {
    fn op(&self) -> &'static CoreOp {
        &ROPE
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(1..=2, 1..=1, 0)?;
        node.input(
            0,
            "x",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "heads", "dim"],
        )?;
        node.output(
            0,
            "y",
            Formats::One(GUILD_FORMAT_F32),
            &["rows", "heads", "dim"],
        )?;
        let pairs = check_params(node)?;
        if node.input_count() == 1 {
            return Ok(());
        }
        node.bind("rotary_dims/2", pairs);
        let format = Formats::One(GUILD_FORMAT_F32);
        node.input(1, "factors", format, &["rotary_dims/2"])
    }

    fn alias(&self) -> Option<(usize, usize)> {
        Some((0, 0))
    }
}

/// Checks the parameters and gives the number of pairs.
fn check_params(node: &Operands<'_>) -> Result<u64, Mismatch> {
    let params = node.params(size_of::<guild_rope_params>())?;
    let pairing = params.u32_at(offset_of!(guild_rope_params, pairing));
    require(
        [GUILD_ROPE_HALVES, GUILD_ROPE_ADJACENT].contains(&pairing),
        "pairing",
        "halves (0) or adjacent (1)",
        pairing,
    )?;
    let dim = node.number("dim");
    let rotary = params.u32_at(offset_of!(guild_rope_params, rotary_dims));
    let fits = rotary > 0 && rotary.is_multiple_of(2) && u64::from(rotary) <= dim;
    let wanted = format!("an even number from 2 to dim = {dim}");
    require(fits, "rotary_dims", &wanted, rotary)?;
    let interleaved = params.u32_at(offset_of!(guild_rope_params, interleaved));
    require(interleaved <= 1, "interleaved", "0 or 1", interleaved)?;
    let theta = params.f64_at(offset_of!(guild_rope_params, theta));
    let positive = theta.is_finite() && theta > 0.0;
    require(positive, "theta", "a number above 0", theta)?;
    let first = offset_of!(guild_rope_params, sections);
    let sections = (0..4).map(|i| u64::from(params.u32_at(first + 4 * i)));
    let in_sections: u64 = sections.sum();
    let pairs = u64::from(rotary / 2);
    let wanted = format!("a sum of at most rotary_dims / 2 = {pairs}");
    require(in_sections <= pairs, "sections", &wanted, in_sections)?;
    Ok(pairs)
}
