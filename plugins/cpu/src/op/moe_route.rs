//! `guild.core.moe_route@1`: router probabilities and the experts with the largest (rule 8).
//!
//! | File | Holds |
//! |---|---|
//! | `logits` | the product |

mod logits;

use super::{check_counts, check_f32, check_ids, check_weight, rows_plan};
use crate::block::{Bf16, F16, F32, Float};
use crate::isa::{Isa, LANES, vectorized};
use guild_numerics::exp::exp;
use guild_sdk::abi::core_ops::{GUILD_ROUTE_RENORMALISE, guild_route_params};
use guild_sdk::abi::formats::{GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32};
use guild_sdk::{Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots};
use logits::{Logits, LogitsArguments, ROWS_MAX, work_elems};

/// Experts chosen for a row at most.
const TOP_MAX: usize = 32;
/// Experts at most.
const EXPERTS_MAX: usize = 1024;
/// Tasks that each worker gets at least where there are enough rows and experts.
const TASKS_PER_WORKER: usize = 4;

struct MoeRoute<S: Isa> {
    isa: S,
    logits: fn(S, LogitsArguments<'_, '_>),
    experts: usize,
    elems: usize,
    rows_max: usize,
    top: usize,
    renormalise: bool,
}

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand or parameter that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check_counts(request, 2, 2, 0)?;
    let (x, weight) = (&request.inputs[0], &request.inputs[1]);
    check_f32(0, x, x.dim())?;
    check_weight(1, weight, 2, x.dim())?;
    if ![GUILD_FORMAT_F32, GUILD_FORMAT_F16, GUILD_FORMAT_BF16].contains(&weight.format) {
        return Err(Refusal::format(
            1,
            weight.format,
            "a router is f32, f16 or bf16",
        ));
    }
    let Ok(params) = request.params::<guild_route_params>() else {
        return Err(Refusal::params(0, "the router's parameters are missing"));
    };
    let (top, experts) = (params.top_k as usize, weight.shape[0]);
    if experts > EXPERTS_MAX {
        return Err(Refusal::shape(1, experts as u64, "more than 1024 experts"));
    }
    if top == 0 || top > TOP_MAX.min(experts) {
        let text = "top_k isn't within 1 to 32 and the number of experts";
        return Err(Refusal::params(top as u64, text));
    }
    if params.flags & !GUILD_ROUTE_RENORMALISE != 0 {
        return Err(Refusal::params(params.flags.into(), "an unknown flag"));
    }
    check_ids(2, &request.outputs[0])?;
    check_f32(3, &request.outputs[1], top)
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// Parameters are missing.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let params: guild_route_params = request.params()?;
    let (x, weight) = (&request.inputs[0], &request.inputs[1]);
    Ok(Box::new(MoeRoute {
        isa,
        logits: match weight.format {
            GUILD_FORMAT_F32 => run_logits::<S, F32>,
            GUILD_FORMAT_F16 => run_logits::<S, F16>,
            GUILD_FORMAT_BF16 => run_logits::<S, Bf16>,
            _ => return Err(super::unknown_format()),
        },
        elems: x.dim(),
        experts: weight.shape[0],
        rows_max: x.shape[0],
        top: params.top_k as usize,
        renormalise: params.flags & GUILD_ROUTE_RENORMALISE != 0,
    }))
}

impl<S: Isa> Instance for MoeRoute<S> {
    fn scratch(&self, bounds: &Bounds) -> ScratchSlots {
        let rows = self.rows_max.max(bounds.max_rows);
        let logits = (rows * self.experts * size_of::<f32>()).next_multiple_of(64);
        let work = work_elems(self.elems) * bounds.workers.max(1) * size_of::<f32>();
        ScratchSlots::NONE.call((logits + work) as u64, 64)
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let input = super::packed(x.input(0)?)?;
        let weight = x.weight(1)?;
        let (ids, weights) = (x.output_ids(0)?, x.output(1)?);
        let rows = input.rows();
        let top = [ids.dim(), weights.dim(), weight.rows()] == [self.top, self.top, self.experts];
        let elems = [input.dim(), weight.elems()] == [self.elems; 2];
        if !top || !elems || [ids.rows(), weights.rows()] != [rows; 2] {
            return Err(super::lengths_differ());
        }
        let par = x.par();
        let mut scratch = x.scratch(0)?;
        let logit_bytes = rows * self.experts * size_of::<f32>();
        let mut logits = scratch
            .cut(logit_bytes)?
            .matrix::<f32>(rows, self.experts)?;
        // Whole blocks of rows, and as many bands of experts as feed all workers.
        let tasks = TASKS_PER_WORKER * par.workers();
        let bands = tasks.div_ceil(rows.div_ceil(ROWS_MAX).max(1));
        let band = self.experts.div_ceil(bands).next_multiple_of(LANES);
        let tiles = logits.reborrow().column_tiles(ROWS_MAX, band);
        let tiles = tiles.ok_or_else(super::gaps)?;
        let work = scratch.per_worker::<f32>(par.workers(), work_elems(self.elems))?;
        par.split((tiles, work), 1, |_, (mut y, work)| {
            (self.logits)(self.isa, (&input, &weight, &mut y, work));
        })?;
        let (par, row_block) = rows_plan(par, rows, self.experts * 4);
        let parts = (
            logits.tiles(row_block, 1),
            ids.tiles(row_block, 1),
            weights.tiles(row_block, 1),
        );
        par.split(parts, 1, |_, (mut logits, mut ids, mut weights)| {
            for row in logits.rows() {
                let line = (logits.row_mut(row), ids.row_mut(row), weights.row_mut(row));
                self.isa.vectorize::<Route, _>((line, self.renormalise));
            }
        })
    }
}

fn run_logits<S: Isa, W: Float>(isa: S, arguments: LogitsArguments<'_, '_>) {
    isa.vectorize::<Logits<W>, _>(arguments);
}

/// A row's logits, ids and weights.
type Line<'a> = (&'a mut [f32], &'a mut [i32], &'a mut [f32]);

vectorized!(Route = route, (Line<'a>, bool));

/// From a row's logits to its experts and their weights.
#[inline(always)]
fn route<S: Isa>(isa: S, ((logits, ids, weights), renormalise): (Line<'_>, bool)) {
    softmax(isa, logits);
    choose(logits, ids, weights);
    if renormalise {
        let sum = weights.iter().fold(0.0, |sum: f32, weight| sum + weight);
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
}

/// Logits become probabilities.
#[inline(always)]
fn softmax<S: Isa>(isa: S, x: &mut [f32]) {
    let m = isa.splat(super::maximum(isa, x));
    let mut sum = isa.splat(0.0);
    for x in x.chunks_mut(LANES) {
        let value = exp(isa, isa.sub(isa.load_part(x), m));
        isa.store_part(x, value);
        sum = isa.add(sum, isa.load_part(x));
    }
    let sum = isa.splat(isa.tree(sum));
    super::map_in_place(isa, x, |x| isa.div(x, sum));
}

/// Writes the experts with the largest probabilities (by their bits), larger first, the lower index
/// first where they are equal.
#[inline(always)]
fn choose(probabilities: &[f32], ids: &mut [i32], weights: &mut [f32]) {
    let mut best = [(0u32, 0u32); TOP_MAX];
    let best = &mut best[..ids.len()];
    let mut used = 0;
    for (first, some) in (0..).step_by(LANES).zip(probabilities.chunks(LANES)) {
        // Most groups have none that is good enough.
        let full = used == best.len();
        let least = best.last().map_or(0, |worst| worst.0);
        let better = |any, probability: &f32| any | (probability.to_bits() > least);
        if full && !some.iter().fold(false, better) {
            continue;
        }
        for (expert, probability) in (first..).zip(some) {
            let key = probability.to_bits();
            if used == best.len() && best.last().is_none_or(|worst| key <= worst.0) {
                continue;
            }
            let at = best[..used].partition_point(|chosen| chosen.0 >= key);
            used = (used + 1).min(best.len());
            best[at..used].rotate_right(1);
            best[at] = (key, expert);
        }
    }
    for ((bits, expert), (id, weight)) in best.iter().zip(ids.iter_mut().zip(weights)) {
        *id = expert.cast_signed();
        *weight = f32::from_bits(*bits);
    }
}
