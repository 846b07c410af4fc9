//! The core operations, one file each, written once over the instruction set.
//!
//! Each file has `supports`, which checks a request against the contract in `docs/ops.md`, and
//! `create`, which binds it. An operation splits its work so that no two tasks write the same memory
//! and every output's order of arithmetic is that of the contract; little work stays on the calling
//! thread.

mod activations;
pub mod add;
pub mod attention;
pub mod causal_conv;
pub mod concat;
mod elementwise;
pub mod embedding;
pub mod gated_delta;
pub mod gated_rms_norm;
pub mod l2_norm;
pub mod linear;
pub mod linear_bf16_tiles;
pub mod moe_experts;
pub mod moe_route;
mod norm;
pub mod rms_norm;
pub mod rope;
pub mod select_rows;
pub mod sigmoid_mul;
pub mod swiglu;

use crate::isa::{Isa, LANES, vectorized};
use guild_sdk::abi::formats::{GUILD_FORMAT_F32, GUILD_FORMAT_I32, GUILD_LAYOUT_FILE};
use guild_sdk::{Element, Failure, Par, Refusal, Request, Tensor, TensorInfo};

/// Elements of simple work from which waking other threads pays.
const PARALLEL_ELEMS: usize = 16 * 1024;
/// Elements of simple work that one task gets.
const TASK_ELEMS: usize = 4 * 1024;

/// The pool, or this thread alone for little work, and the rows that one task gets.
fn rows_plan(par: Par<'_>, rows: usize, row_elems: usize) -> (Par<'_>, usize) {
    if rows * row_elems < PARALLEL_ELEMS || par.workers() == 1 {
        (Par::INLINE, rows.max(1))
    } else {
        (par, (TASK_ELEMS / row_elems.max(1)).max(1))
    }
}

/// A row's heads as one run of elements.
fn packed<T: Element>(x: Tensor<'_, T>) -> Result<Tensor<'_, T>, Failure> {
    x.packed_rows().ok_or_else(gaps)
}

fn gaps() -> Failure {
    Failure::invalid("a row of an operand has gaps, but the contract's last axis is the whole row")
}

fn unknown_format() -> Failure {
    Failure::invalid("a weight's format has no kernel here; `supports` refuses it")
}

fn lengths_differ() -> Failure {
    Failure::invalid("two operands have different shapes, but the contract gives them one")
}

/// Refuses a request that hasn't these numbers of inputs, outputs and states.
fn check_counts(
    request: &Request<'_>,
    inputs: usize,
    outputs: usize,
    states: usize,
) -> Result<(), Refusal> {
    let got = [
        request.inputs.len(),
        request.outputs.len(),
        request.states.len(),
    ];
    if got == [inputs, outputs, states] {
        return Ok(());
    }
    let text = "the request hasn't the contract's numbers of inputs, outputs and states";
    Err(Refusal::shape(0, got[0] as u64, text))
}

/// Refuses an operand that isn't f32 with this last axis.
fn check_f32(at: usize, tensor: &TensorInfo, dim: usize) -> Result<(), Refusal> {
    if tensor.format != GUILD_FORMAT_F32 {
        return Err(Refusal::format(at, tensor.format, "an operand isn't f32"));
    }
    if tensor.dim() != dim {
        let text = "an operand's last axis isn't the one that the contract names";
        return Err(Refusal::shape(at, tensor.dim() as u64, text));
    }
    Ok(())
}

/// Refuses ids that aren't i32.
fn check_ids(at: usize, tensor: &TensorInfo) -> Result<(), Refusal> {
    if tensor.format != GUILD_FORMAT_I32 {
        return Err(Refusal::format(at, tensor.format, "ids aren't i32"));
    }
    Ok(())
}

/// Refuses a weight of an unknown format, rank or row length, and one in a layout of its own.
fn check_weight(at: usize, weight: &TensorInfo, rank: usize, elems: usize) -> Result<(), Refusal> {
    check_layout(at, weight, GUILD_LAYOUT_FILE)?;
    check_shape(at, weight, rank, elems)
}

/// Refuses a weight of an unknown format, rank or row length.
fn check_shape(at: usize, weight: &TensorInfo, rank: usize, elems: usize) -> Result<(), Refusal> {
    let Some(storage) = guild_sdk::format::storage(weight.format)
        .filter(|_| guild_sdk::format::WEIGHT_FORMATS.contains(&weight.format))
    else {
        return Err(Refusal::format(
            at,
            weight.format,
            "no kernel for this weight format",
        ));
    };
    if weight.rank != rank || weight.dim() != elems || storage.row_bytes(elems).is_none() {
        let text = "a weight's rank or row length doesn't fit the contract or its format's blocks";
        return Err(Refusal::shape(at, weight.dim() as u64, text));
    }
    Ok(())
}

/// Refuses a weight in another layout.
fn check_layout(at: usize, weight: &TensorInfo, layout: u16) -> Result<(), Refusal> {
    if weight.layout == layout {
        return Ok(());
    }
    Err(Refusal {
        offered: layout.into(),
        ..Refusal::format(
            at,
            weight.layout.into(),
            "a weight is in a layout that isn't served here",
        )
    })
}

vectorized!(Dot = dot, (&'a [f32], &'a [f32]), f32);

/// `sum of a[i] * b[i]` by rule 2.
#[inline(always)]
fn dot<S: Isa>(isa: S, (a, b): (&[f32], &[f32])) -> f32 {
    let mut lanes = isa.splat(0.0);
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        lanes = isa.fma(isa.load_part(a), isa.load_part(b), lanes);
    }
    isa.tree(lanes)
}

/// Applies `f` to up to sixteen elements at a time.
#[inline(always)]
fn map_in_place<S: Isa>(isa: S, y: &mut [f32], f: impl Fn(S::F) -> S::F) {
    for y in y.chunks_mut(LANES) {
        let value = f(isa.load_part(y));
        isa.store_part(y, value);
    }
}

/// The largest element; NaN is passed over; minus infinity for none.
#[inline(always)]
fn maximum<S: Isa>(isa: S, x: &[f32]) -> f32 {
    let (whole, rest) = x.as_chunks::<LANES>();
    let mut largest = isa.splat(f32::NEG_INFINITY);
    for x in whole {
        let x = isa.load(x);
        largest = isa.select(isa.greater(x, largest), x, largest);
    }
    let larger = |m: f32, x: &f32| if *x > m { *x } else { m };
    let lanes = isa.array(largest);
    rest.iter().chain(&lanes).fold(f32::NEG_INFINITY, larger)
}
