//! `guild.core.gated_rms_norm@1`.

use crate::dense::{gather, update};
use crate::{Operation, check};
use guild_conformance::oracle::gated_rms_norm::gated_rms_norm;
use guild_sdk::abi::contract::GATED_RMS_NORM;
use guild_sdk::abi::core_ops::guild_norm_params;
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &GATED_RMS_NORM,
    implementation: "reference.gated_rms_norm",
    formats: &[],
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 3, 1, 0)?;
    check::params::<guild_norm_params>(request)?;
    for operand in 0..4 {
        check::float(request, operand)?;
    }
    check::axes(request, 1, &[Some(request.inputs[0].dim())])?;
    check::same(request, 0, 2)?;
    check::same(request, 0, 3)
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let params: guild_norm_params = x.params()?;
    let (weight, z) = (gather(&x.input(1)?), gather(&x.input(2)?));
    update(x, |input, _, _| {
        gated_rms_norm(input, &weight, &z, params.epsilon)
    })
}
