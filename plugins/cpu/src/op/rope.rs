//! `guild.core.rope@1`: rotary position embedding, halves paired.

use super::{check_counts, check_f32, rows_plan};
use crate::isa::{Isa, LANES, vectorized};
use guild_numerics::rope::RopeFrequencies;
use guild_sdk::abi::core_ops::{GUILD_ROPE_HALVES, guild_rope_params};
use guild_sdk::{Batch, Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots};

/// Pairs that one head may have; a row's angles stand on the stack.
const PAIRS_MAX: usize = 512;

struct Rope<S> {
    isa: S,
    frequencies: RopeFrequencies,
}

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand or parameter that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check_counts(request, 1, 1, 0)?;
    let x = &request.inputs[0];
    check_f32(0, x, x.dim())?;
    check_f32(1, &request.outputs[0], x.dim())?;
    if x.axes() != request.outputs[0].axes() {
        return Err(Refusal::shape(
            1,
            0,
            "input and output have different shapes",
        ));
    }
    let Ok(params) = request.params::<guild_rope_params>() else {
        return Err(Refusal::params(0, "rope's parameters are missing"));
    };
    let dims = params.rotary_dims as usize;
    if params.pairing != GUILD_ROPE_HALVES {
        let text = "rope pairs halves alone";
        return Err(Refusal::params(params.pairing.into(), text));
    }
    if !dims.is_multiple_of(2) || dims > x.dim() || dims > 2 * PAIRS_MAX {
        let text = "the rotary part is odd, longer than a head, or longer than 1024";
        return Err(Refusal::params(dims as u64, text));
    }
    if !(params.theta.is_normal() && params.theta > 0.0) {
        return Err(Refusal::params(
            params.theta.to_bits(),
            "theta isn't positive",
        ));
    }
    Ok(())
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// Parameters are missing.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let params: guild_rope_params = request.params()?;
    Ok(Box::new(Rope {
        isa,
        frequencies: RopeFrequencies::new(params.theta, params.rotary_dims),
    }))
}

impl<S: Isa> Instance for Rope<S> {
    fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let (from, y, batch) = (x.input(0)?, x.output(0)?, x.batch()?);
        let heads = y.heads();
        let same = [from.rows(), from.heads(), from.dim()] == [y.rows(), heads, y.dim()];
        if !same || batch.rows() != y.rows() {
            return Err(super::lengths_differ());
        }
        let pairs = self.frequencies.pairs();
        let (par, row_block) = rows_plan(x.par(), y.rows(), heads * y.dim());
        par.split(y.tiles(row_block, heads), 1, |_, mut y| {
            let (mut cos, mut sin) = ([0.0; PAIRS_MAX], [0.0; PAIRS_MAX]);
            for row in y.rows() {
                self.frequencies
                    .angles(position(&batch, row), &mut cos, &mut sin);
                for head in y.heads() {
                    let (x, y) = (from.vector(row, head), y.vector_mut(row, head));
                    self.isa
                        .vectorize::<Rotate, _>((&cos[..pairs], &sin[..pairs], x, y));
                }
            }
        })
    }
}

/// A row's absolute position.
fn position(batch: &Batch<'_>, row: usize) -> u64 {
    let mut sequences = batch.sequences();
    sequences
        .find(|sequence| row < sequence.first_row + sequence.rows)
        .map_or(0, |sequence| {
            sequence.position + (row - sequence.first_row) as u64
        })
}

vectorized!(
    Rotate = rotate,
    (&'a [f32], &'a [f32], &'a [f32], &'a mut [f32])
);

#[inline(always)]
fn rotate<S: Isa>(isa: S, (cos, sin, x, y): (&[f32], &[f32], &[f32], &mut [f32])) {
    let pairs = cos.len();
    let (x_1, rest) = x.split_at(pairs);
    let (x_2, kept) = rest.split_at(pairs);
    let (y_1, rest) = y.split_at_mut(pairs);
    let (y_2, copied) = rest.split_at_mut(pairs);
    copied.copy_from_slice(kept);
    for at in (0..pairs).step_by(LANES) {
        let part = at..(at + LANES).min(pairs);
        let load = |from: &[f32]| isa.load_part(&from[part.clone()]);
        let (cos, sin, x_1, x_2) = (load(cos), load(sin), load(x_1), load(x_2));
        let first = isa.fma(x_1, cos, isa.neg(isa.mul(x_2, sin)));
        let second = isa.fma(x_1, sin, isa.mul(x_2, cos));
        isa.store_part(&mut y_1[part.clone()], first);
        isa.store_part(&mut y_2[part.clone()], second);
    }
}
