//! `guild.core.rope@1`.

use crate::dense::{gather, invalid, update};
use crate::{Operation, check};
use guild_conformance::oracle::rope::{Pairing, Rotation, rope};
use guild_sdk::abi::contract::ROPE;
use guild_sdk::abi::core_ops::{GUILD_ROPE_ADJACENT, GUILD_ROPE_HALVES, guild_rope_params};
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &ROPE,
    implementation: "reference.rope",
    formats: &[],
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    let inputs = if request.inputs.len() == 2 { 2 } else { 1 };
    check::counts(request, inputs, 1, 0)?;
    for operand in 0..=inputs {
        check::float(request, operand)?;
    }
    check::axes(request, 0, &[None; 3])?;
    check::same(request, 0, inputs)?;
    let params: guild_rope_params = check::params(request)?;
    let rotary = params.rotary_dims as usize;
    if pairing(&params).is_none() {
        return Err(Refusal::params(
            params.pairing.into(),
            "the pairing is neither halves nor adjacent",
        ));
    }
    if !rotary.is_multiple_of(2) || rotary > request.inputs[0].dim() {
        return Err(Refusal::params(
            rotary as u64,
            "rotary_dims is odd or longer than a head",
        ));
    }
    if inputs == 2 {
        check::axes(request, 1, &[Some(rotary / 2)])?;
    }
    if params.theta > 0.0 && params.theta.is_finite() {
        return Ok(());
    }
    Err(Refusal::params(
        params.theta.to_bits(),
        "theta isn't a positive number",
    ))
}

fn pairing(params: &guild_rope_params) -> Option<Pairing> {
    match params.pairing {
        GUILD_ROPE_HALVES => Some(Pairing::Halves),
        GUILD_ROPE_ADJACENT => Some(Pairing::Adjacent),
        _ => None,
    }
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let params: guild_rope_params = x.params()?;
    let pairing = pairing(&params).ok_or_else(|| Failure::invalid("the pairing is unknown"))?;
    let factors = match x.input_count() {
        2 => Some(gather(&x.input(1)?)),
        _ => None,
    };
    let rotation = Rotation {
        pairing,
        rotary_dims: params.rotary_dims as usize,
        theta: params.theta,
        factors: factors.as_deref(),
    };
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
    // The same question without elements, since the loop below can't fail.
    rope(&[], 1, 1, &[], &rotation).map_err(invalid)?;
    update(x, |input, heads, dim| {
        rope(input, heads, dim, &positions, &rotation).unwrap_or_default()
    })
}
