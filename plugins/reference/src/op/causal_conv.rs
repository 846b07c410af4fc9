//! `guild.core.causal_conv@1`.

use crate::dense::{gather, scatter};
use crate::{Operation, check};
use guild_conformance::oracle::causal_conv::causal_conv;
use guild_sdk::abi::abi::GUILD_STATE_RECURRENT;
use guild_sdk::abi::contract::CAUSAL_CONV;
use guild_sdk::abi::core_ops::{GUILD_ACTIVATION_SILU, guild_conv_params};
use guild_sdk::abi::formats::GUILD_FORMAT_F32;
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &CAUSAL_CONV,
    implementation: "reference.causal_conv",
    formats: &[],
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 2, 1, 1)?;
    for operand in 0..3 {
        check::float(request, operand)?;
    }
    let (channels, width) = (request.inputs[0].dim(), request.inputs[1].dim());
    check::axes(request, 0, &[None, Some(channels)])?;
    check::axes(request, 1, &[Some(channels), Some(width)])?;
    check::same(request, 0, 2)?;
    let state = &request.states[0];
    if state.format != GUILD_FORMAT_F32 || state.kind != GUILD_STATE_RECURRENT {
        return Err(Refusal::format(
            3,
            state.format,
            "the window isn't recurrent f32",
        ));
    }
    if width < 2 || state.shape != [width - 1, channels, 1, 1] {
        return Err(Refusal::shape(
            3,
            width as u64,
            "the window isn't [width - 1, channels]",
        ));
    }
    let params: guild_conv_params = check::params(request)?;
    if params.activation <= GUILD_ACTIVATION_SILU {
        return Ok(());
    }
    Err(Refusal::params(
        params.activation.into(),
        "the activation isn't known",
    ))
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let params: guild_conv_params = x.params()?;
    let input = x.input(0)?;
    let channels = input.dim();
    let (input, weight) = (gather(&input), gather(&x.input(1)?));
    let batch = x.batch()?;
    let mut state = x.state::<f32>(0)?;
    let mut y = Vec::new();
    for sequence in batch.sequences() {
        let rows = &input[sequence.first_row * channels..][..sequence.rows * channels];
        let mut window = state.slot(sequence.slot).to_vec();
        let silu = params.activation == GUILD_ACTIVATION_SILU;
        y.extend(causal_conv(
            rows,
            channels,
            &weight,
            silu,
            &mut window,
            |row, window| {
                if let Some(slots) = sequence.snapshot_slots {
                    state.slot_mut(slots[row] as usize).copy_from_slice(window);
                }
            },
        ));
        state.slot_mut(sequence.slot).copy_from_slice(&window);
    }
    scatter(&mut x.output(0)?, &y)
}
