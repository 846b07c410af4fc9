//! `guild.core.l2_norm@1`.

use crate::dense::update;
use crate::{Operation, check};
use guild_conformance::oracle::l2_norm::l2_norm;
use guild_sdk::abi::contract::L2_NORM;
use guild_sdk::abi::core_ops::guild_norm_params;
use guild_sdk::{Exec, Failure, Refusal, Request};

pub(super) const OPERATION: Operation = Operation {
    op: &L2_NORM,
    implementation: "reference.l2_norm",
    formats: &[],
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 1, 1, 0)?;
    check::params::<guild_norm_params>(request)?;
    check::float(request, 0)?;
    check::float(request, 1)?;
    check::same(request, 0, 1)
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let params: guild_norm_params = x.params()?;
    update(x, |input, _, dim| {
        l2_norm(input, dim, params.epsilon, params.scale)
    })
}
