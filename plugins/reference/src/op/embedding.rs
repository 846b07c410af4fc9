//! `guild.core.embedding@1`.

use crate::dense::{gather, invalid, matrix, scatter};
use crate::{Operation, check};
use guild_conformance::oracle::embedding::embedding;
use guild_sdk::abi::contract::EMBEDDING;
use guild_sdk::format::WEIGHT_FORMATS;
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &EMBEDDING,
    implementation: "reference.embedding",
    formats: WEIGHT_FORMATS,
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 2, 1, 0)?;
    check::weight(request, 0, WEIGHT_FORMATS)?;
    check::ids(request, 1)?;
    check::float(request, 2)?;
    let hidden = request.inputs[0].dim();
    check::axes(request, 0, &[None, Some(hidden)])?;
    check::axes(request, 1, &[None])?;
    check::axes(request, 2, &[None, Some(hidden)])
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let table = matrix(&x.weight(0)?)?;
    let y = embedding(&table, &gather(&x.ids(1)?)).map_err(invalid)?;
    scatter(&mut x.output(0)?, &y)
}
