//! `guild.core.rms_norm@1`.

use crate::dense::{gather, update};
use crate::{Operation, check};
use guild_conformance::oracle::rms_norm::rms_norm;
use guild_sdk::abi::contract::RMS_NORM;
use guild_sdk::abi::core_ops::guild_norm_params;
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &RMS_NORM,
    implementation: "reference.rms_norm",
    formats: &[],
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 2, 1, 0)?;
    check::params::<guild_norm_params>(request)?;
    for operand in 0..3 {
        check::float(request, operand)?;
    }
    check::axes(request, 1, &[Some(request.inputs[0].dim())])?;
    check::same(request, 0, 2)
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let params: guild_norm_params = x.params()?;
    let weight = gather(&x.input(1)?);
    update(x, |input, _, _| rms_norm(input, &weight, params.epsilon))
}
