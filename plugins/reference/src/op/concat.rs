//! `guild.core.concat@1`.

use crate::dense::{gather, scatter};
use crate::{Operation, check};
use guild_conformance::oracle::concat::concat;
use guild_sdk::abi::contract::CONCAT;
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &CONCAT,
    implementation: "reference.concat",
    formats: &[],
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 2, 1, 0)?;
    for operand in 0..3 {
        check::float(request, operand)?;
    }
    let [p, q] = [0, 1].map(|input| request.inputs[input].dim());
    check::axes(request, 0, &[None, Some(p)])?;
    check::axes(request, 1, &[None, Some(q)])?;
    check::axes(request, 2, &[None, p.checked_add(q)])
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let (a, b) = (x.input(0)?, x.input(1)?);
    let y = concat(&gather(&a), a.dim(), &gather(&b), b.dim());
    scatter(&mut x.output(0)?, &y)
}
