//! `guild.core.gated_delta@1`.

use crate::dense::{gather, scatter};
use crate::{Operation, check};
use guild_conformance::oracle::gated_delta::{DeltaRows, GatedDelta};
use guild_sdk::abi::abi::GUILD_STATE_RECURRENT;
use guild_sdk::abi::contract::GATED_DELTA;
use guild_sdk::abi::core_ops::{GUILD_HEADS_TILED, guild_delta_params};
use guild_sdk::abi::formats::GUILD_FORMAT_F32;
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &GATED_DELTA,
    implementation: "reference.gated_delta",
    formats: &[],
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 7, 1, 1)?;
    for operand in 0..8 {
        check::float(request, operand)?;
    }
    check::axes(request, 0, &[None; 3])?;
    check::axes(request, 2, &[None; 3])?;
    check::same(request, 0, 1)?;
    check::same(request, 2, 7)?;
    let [_, key_heads, key_dim, ..] = request.inputs[0].shape;
    let [_, value_heads, value_dim, ..] = request.inputs[2].shape;
    for (operand, axes) in [(3, 2), (4, 2), (5, 1), (6, 1)] {
        check::axes(request, operand, &[None, Some(value_heads)][2 - axes..])?;
    }
    if key_heads == 0 || !value_heads.is_multiple_of(key_heads) {
        return Err(Refusal::shape(
            2,
            value_heads as u64,
            format!("{value_heads} value heads aren't a multiple of {key_heads} key heads"),
        ));
    }
    let state = &request.states[0];
    if state.format != GUILD_FORMAT_F32 || state.kind != GUILD_STATE_RECURRENT {
        return Err(Refusal::format(
            8,
            state.format,
            "the memory isn't recurrent f32",
        ));
    }
    if state.shape != [value_heads, key_dim, value_dim, 1] {
        return Err(Refusal::shape(
            8,
            state.shape[0] as u64,
            "the memory isn't [value_heads, key_dim, value_dim]",
        ));
    }
    let params: guild_delta_params = check::params(request)?;
    if params.head_order <= GUILD_HEADS_TILED {
        return Ok(());
    }
    Err(Refusal::params(
        params.head_order.into(),
        "the head order isn't known",
    ))
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let params: guild_delta_params = x.params()?;
    let (keys, values) = (x.input(0)?, x.input(2)?);
    let delta = GatedDelta {
        key_heads: keys.heads(),
        key_dim: keys.dim(),
        value_heads: values.heads(),
        value_dim: values.dim(),
        tiled: params.head_order == GUILD_HEADS_TILED,
    };
    let (q, k, v) = (gather(&keys), gather(&x.input(1)?), gather(&values));
    let (alpha, beta) = (gather(&x.input(3)?), gather(&x.input(4)?));
    let (a, dt) = (gather(&x.input(5)?), gather(&x.input(6)?));
    let batch = x.batch()?;
    let mut state = x.state::<f32>(0)?;
    let mut y = Vec::new();
    for sequence in batch.sequences() {
        let part =
            |row: usize| sequence.first_row * row..(sequence.first_row + sequence.rows) * row;
        let (key_row, value_row) = (
            delta.key_heads * delta.key_dim,
            delta.value_heads * delta.value_dim,
        );
        let rows = DeltaRows {
            q: &q[part(key_row)],
            k: &k[part(key_row)],
            v: &v[part(value_row)],
            alpha: &alpha[part(delta.value_heads)],
            beta: &beta[part(delta.value_heads)],
            a: &a,
            dt: &dt,
        };
        let mut memory = state.slot(sequence.slot).to_vec();
        y.extend(delta.rows(&rows, &mut memory, |row, memory| {
            if let Some(slots) = sequence.snapshot_slots {
                state.slot_mut(slots[row] as usize).copy_from_slice(memory);
            }
        }));
        state.slot_mut(sequence.slot).copy_from_slice(&memory);
    }
    scatter(&mut x.output(0)?, &y)
}
