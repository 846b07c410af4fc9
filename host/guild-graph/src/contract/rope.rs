//! `guild.core.rope@1`: rotary position embedding of the leading elements of each head.

use core::mem::offset_of;

use guild_abi::abi::GUILD_FORMAT_F32;
use guild_abi::contract::{CoreOp, ROPE};
use guild_abi::core_ops::{GUILD_ROPE_HALVES, guild_rope_params};

use super::Contract;
use super::operands::{Formats, Operands, require};
use crate::error::Mismatch;

pub(super) struct Rope;

impl Contract for Rope {
    fn op(&self) -> &'static CoreOp {
        &ROPE
    }

    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch> {
        node.counts(1..=1, 1..=1, 0)?;
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
        check_params(node)
    }

    fn alias(&self) -> Option<(usize, usize)> {
        Some((0, 0))
    }
}

fn check_params(node: &Operands<'_>) -> Result<(), Mismatch> {
    let params = node.params(size_of::<guild_rope_params>())?;
    let pairing = params.u32_at(offset_of!(guild_rope_params, pairing));
    require(
        pairing == GUILD_ROPE_HALVES,
        "pairing",
        "halves (0)",
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
    let pairs: u64 = sections.sum();
    let wanted = format!("a sum of at most rotary_dims / 2 = {}", rotary / 2);
    require(pairs <= u64::from(rotary / 2), "sections", &wanted, pairs)
}
