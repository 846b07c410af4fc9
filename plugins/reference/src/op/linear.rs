//! `guild.core.linear@1`.

use crate::dense::{gather, matrix, scatter};
use crate::{Operation, check};
use guild_conformance::oracle::linear::linear;
use guild_sdk::abi::contract::LINEAR;
use guild_sdk::format::WEIGHT_FORMATS;
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &LINEAR,
    implementation: "reference.linear",
    formats: WEIGHT_FORMATS,
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    let weights = request.inputs.len().saturating_sub(1);
    check::counts(request, 1 + weights.max(1), weights.max(1), 0)?;
    check::float(request, 0)?;
    let k = request.inputs[0].dim();
    check::axes(request, 0, &[None, Some(k)])?;
    for weight in 1..=weights {
        check::weight(request, weight, WEIGHT_FORMATS)?;
        check::axes(request, weight, &[None, Some(k)])?;
        let output = weights + weight;
        check::float(request, output)?;
        check::axes(
            request,
            output,
            &[None, Some(request.inputs[weight].shape[0])],
        )?;
    }
    Ok(())
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let input = gather(&x.input(0)?);
    for output in 0..x.output_count() {
        let y = linear(&input, &matrix(&x.weight(1 + output)?)?);
        scatter(&mut x.output(output)?, &y)?;
    }
    Ok(())
}
