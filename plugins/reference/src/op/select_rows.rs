//! `guild.core.select_rows@1`.

use crate::dense::{gather, invalid, scatter};
use crate::{Operation, check};
use guild_conformance::oracle::select_rows::select_rows;
use guild_sdk::abi::contract::SELECT_ROWS;
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &SELECT_ROWS,
    implementation: "reference.select_rows",
    formats: &[],
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 2, 1, 0)?;
    check::float(request, 0)?;
    check::ids(request, 1)?;
    check::float(request, 2)?;
    let hidden = request.inputs[0].dim();
    check::axes(request, 0, &[None, Some(hidden)])?;
    check::axes(request, 1, &[None])?;
    check::axes(request, 2, &[None, Some(hidden)])
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let rows = x.input(0)?;
    let y = select_rows(&gather(&rows), rows.dim(), &gather(&x.ids(1)?)).map_err(invalid)?;
    scatter(&mut x.output(0)?, &y)
}
