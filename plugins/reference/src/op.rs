//! The operations, one file each.

mod add;
mod attention;
mod causal_conv;
mod concat;
mod embedding;
mod gated_delta;
mod gated_rms_norm;
mod l2_norm;
mod linear;
mod moe_experts;
mod moe_route;
mod rms_norm;
mod rope;
mod select_rows;
mod sigmoid_mul;
mod swiglu;

use crate::Operation;

/// Every operation, in the order of their numbers.
pub(crate) static ALL: &[Operation] = &[
    embedding::OPERATION,
    select_rows::OPERATION,
    add::OPERATION,
    rms_norm::OPERATION,
    gated_rms_norm::OPERATION,
    l2_norm::OPERATION,
    linear::OPERATION,
    swiglu::OPERATION,
    sigmoid_mul::OPERATION,
    rope::OPERATION,
    attention::OPERATION,
    causal_conv::OPERATION,
    gated_delta::OPERATION,
    moe_route::OPERATION,
    moe_experts::OPERATION,
    concat::OPERATION,
];
