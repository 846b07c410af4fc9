//! `guild.core.sigmoid_mul@1`.

use crate::dense::{gather, update};
use crate::{Operation, check};
use guild_conformance::oracle::sigmoid_mul::sigmoid_mul;
use guild_sdk::abi::contract::SIGMOID_MUL;
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &SIGMOID_MUL,
    implementation: "reference.sigmoid_mul",
    formats: &[],
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 2, 1, 0)?;
    for operand in 0..3 {
        check::float(request, operand)?;
        check::same(request, 0, operand)?;
    }
    Ok(())
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let other = gather(&x.input(1)?);
    update(x, |first, _, _| sigmoid_mul(first, &other))
}
