//! `guild.core.moe_route@1`.

use crate::dense::{gather, matrix, scatter};
use crate::{Operation, check};
use guild_conformance::oracle::moe_route::moe_route;
use guild_sdk::abi::contract::MOE_ROUTE;
use guild_sdk::abi::core_ops::{GUILD_ROUTE_RENORMALISE, guild_route_params};
use guild_sdk::abi::formats::{GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32};
use guild_sdk::{Exec, Failure, Refusal, Request};

/// Formats of the router's weight.
const FORMATS: &[u32] = &[GUILD_FORMAT_F32, GUILD_FORMAT_BF16, GUILD_FORMAT_F16];
/// Experts that a router may choose, and that it may choose from.
const LIMITS: [usize; 2] = [32, 1024];

pub(super) const OPERATION: Operation = Operation {
    op: &MOE_ROUTE,
    implementation: "reference.moe_route",
    formats: FORMATS,
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 2, 2, 0)?;
    check::float(request, 0)?;
    check::weight(request, 1, FORMATS)?;
    check::ids(request, 2)?;
    check::float(request, 3)?;
    let params: guild_route_params = check::params(request)?;
    let top_k = params.top_k as usize;
    let (experts, hidden) = (request.inputs[1].shape[0], request.inputs[0].dim());
    check::axes(request, 0, &[None, Some(hidden)])?;
    check::axes(request, 1, &[None, Some(hidden)])?;
    check::axes(request, 2, &[None, Some(top_k)])?;
    check::axes(request, 3, &[None, Some(top_k)])?;
    if top_k == 0 || top_k > LIMITS[0].min(experts) || experts > LIMITS[1] {
        return Err(Refusal::params(
            top_k as u64,
            format!("{top_k} of {experts} experts; the limits are {LIMITS:?}"),
        ));
    }
    if params.flags & !GUILD_ROUTE_RENORMALISE == 0 {
        return Ok(());
    }
    Err(Refusal::params(params.flags.into(), "a flag isn't known"))
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let params: guild_route_params = x.params()?;
    let weight = matrix(&x.weight(1)?)?;
    let renormalise = params.flags & GUILD_ROUTE_RENORMALISE != 0;
    let input = gather(&x.input(0)?);
    let (ids, weights) = moe_route(&input, &weight, params.top_k as usize, renormalise);
    scatter(&mut x.output_ids(0)?, &ids)?;
    scatter(&mut x.output(1)?, &weights)
}
