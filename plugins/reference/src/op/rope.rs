//! `guild.core.rope@1`.

use crate::dense::update;
use crate::{Operation, check};
use guild_conformance::oracle::rope::rope;
use guild_sdk::abi::contract::ROPE;
use guild_sdk::abi::core_ops::{GUILD_ROPE_HALVES, guild_rope_params};
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &ROPE,
    implementation: "reference.rope",
    formats: &[],
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 1, 1, 0)?;
    check::float(request, 0)?;
    check::float(request, 1)?;
    check::axes(request, 0, &[None; 3])?;
    check::same(request, 0, 1)?;
    let params: guild_rope_params = check::params(request)?;
    let rotary = params.rotary_dims as usize;
    if params.pairing != GUILD_ROPE_HALVES {
        return Err(Refusal::params(
            params.pairing.into(),
            "only pairing by halves is served",
        ));
    }
    if !rotary.is_multiple_of(2) || rotary > request.inputs[0].dim() {
        return Err(Refusal::params(
            rotary as u64,
            "rotary_dims is odd or longer than a head",
        ));
    }
    if params.theta > 0.0 && params.theta.is_finite() {
        return Ok(());
    }
    Err(Refusal::params(
        params.theta.to_bits(),
        "theta isn't a positive number",
    ))
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let params: guild_rope_params = x.params()?;
    let positions: Vec<u64> = x
        .batch()?
        .sequences()
        .flat_map(|sequence| (0..sequence.rows as u64).map(move |row| sequence.position + row))
        .collect();
    if positions.len() != x.rows() {
        return Err(Failure::invalid(
            "the batch table has other rows than the call",
        ));
    }
    update(x, |input, heads, dim| {
        let rotary = params.rotary_dims as usize;
        rope(input, heads, dim, &positions, rotary, params.theta)
    })
}
