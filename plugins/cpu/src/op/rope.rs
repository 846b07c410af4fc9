//! `guild.core.rope@1`: rotary position embedding. The pairing is chosen when the operation is bound.

use super::{check_counts, check_f32, rows_plan};
use crate::isa::{Isa, LANES, vectorized};
use core::marker::PhantomData;
use guild_numerics::rope::RopeFrequencies;
use guild_sdk::abi::core_ops::{GUILD_ROPE_ADJACENT, GUILD_ROPE_HALVES, guild_rope_params};
use guild_sdk::{Batch, Bounds, Exec, Failure, Instance, Refusal, Request, ScratchSlots};

/// Pairs that one head may have; a row's angles stand on the stack.
const PAIRS_MAX: usize = 512;

struct Rope<S, P> {
    isa: S,
    frequencies: RopeFrequencies,
    pairing: PhantomData<P>,
}

/// A row's cosines and sines, a head of the input and the same head of the output.
type RotateArguments<'a> = (&'a [f32], &'a [f32], &'a [f32], &'a mut [f32]);

/// Which elements of a head are a pair.
trait Pairing: Send + Sync + 'static {
    /// Rotates the pairs of one head and copies the rest.
    fn rotate<S: Isa>(isa: S, arguments: RotateArguments<'_>);
}

/// Elements `i` and `i + rotary_dims / 2`.
struct Halves;

/// Elements `2 i` and `2 i + 1`.
struct Adjacent;

/// Names [`Pairing::rotate`] of one pairing.
struct Rotate<P>(PhantomData<P>);

vectorized!(impl [P: Pairing] Rotate<P> = P::rotate, RotateArguments<'a>);

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand or parameter that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    let inputs = if request.inputs.len() == 2 { 2 } else { 1 };
    check_counts(request, inputs, 1, 0)?;
    let x = &request.inputs[0];
    check_f32(0, x, x.dim())?;
    check_f32(inputs, &request.outputs[0], x.dim())?;
    if x.axes() != request.outputs[0].axes() {
        return Err(Refusal::shape(
            inputs,
            0,
            "input and output have different shapes",
        ));
    }
    let Ok(params) = request.params::<guild_rope_params>() else {
        return Err(Refusal::params(0, "rope's parameters are missing"));
    };
    let dims = params.rotary_dims as usize;
    if ![GUILD_ROPE_HALVES, GUILD_ROPE_ADJACENT].contains(&params.pairing) {
        let text = "rope pairs halves or adjacent elements";
        return Err(Refusal::params(params.pairing.into(), text));
    }
    if !dims.is_multiple_of(2) || dims > x.dim() || dims > 2 * PAIRS_MAX {
        let text = "the rotary part is odd, longer than a head, or longer than 1024";
        return Err(Refusal::params(dims as u64, text));
    }
    if let Some(factors) = request.inputs.get(1) {
        check_f32(1, factors, dims / 2)?;
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
/// Parameters are missing, or a factor isn't one.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let params: guild_rope_params = request.params()?;
    let mut frequencies = RopeFrequencies::new(params.theta, params.rotary_dims);
    if request.inputs.len() == 2 {
        let factors = request.weight(1)?.elements();
        let divided = frequencies.divided_by(factors.ok_or_else(super::unknown_format)?);
        frequencies = divided
            .ok_or_else(|| Failure::invalid("a frequency factor isn't finite, or isn't above 0"))?;
    }
    Ok(match params.pairing {
        GUILD_ROPE_ADJACENT => bound::<S, Adjacent>(isa, frequencies),
        _ => bound::<S, Halves>(isa, frequencies),
    })
}

fn bound<S: Isa, P: Pairing>(isa: S, frequencies: RopeFrequencies) -> Box<dyn Instance> {
    let pairing = PhantomData::<P>;
    Box::new(Rope {
        isa,
        frequencies,
        pairing,
    })
}

impl<S: Isa, P: Pairing> Instance for Rope<S, P> {
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
                let place = (position(&batch, row), &mut cos[..pairs], &mut sin[..pairs]);
                self.isa.vectorize::<Angles, _>((&self.frequencies, place));
                for head in y.heads() {
                    let (x, y) = (from.vector(row, head), y.vector_mut(row, head));
                    self.isa
                        .vectorize::<Rotate<P>, _>((&cos[..pairs], &sin[..pairs], x, y));
                }
            }
        })
    }
}

/// A position, and the cosines and sines to write.
type Place<'a> = (u64, &'a mut [f32], &'a mut [f32]);

vectorized!(Angles = angles, (&'a RopeFrequencies, Place<'a>));

#[inline(always)]
fn angles<S: Isa>(_isa: S, (frequencies, (at, cos, sin)): (&RopeFrequencies, Place<'_>)) {
    frequencies.angles(at, cos, sin);
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

impl Pairing for Halves {
    #[inline(always)]
    fn rotate<S: Isa>(isa: S, (cos, sin, x, y): RotateArguments<'_>) {
        let pairs = cos.len();
        let (x_1, rest) = x.split_at(pairs);
        let (x_2, kept) = rest.split_at(pairs);
        let (y_1, rest) = y.split_at_mut(pairs);
        let (y_2, copied) = rest.split_at_mut(pairs);
        copied.copy_from_slice(kept);
        for at in (0..pairs).step_by(LANES) {
            let part = at..(at + LANES).min(pairs);
            let load = |from: &[f32]| isa.load_part(&from[part.clone()]);
            let (first, second) = turned(isa, [load(cos), load(sin)], [load(x_1), load(x_2)]);
            isa.store_part(&mut y_1[part.clone()], first);
            isa.store_part(&mut y_2[part.clone()], second);
        }
    }
}

impl Pairing for Adjacent {
    #[inline(always)]
    fn rotate<S: Isa>(isa: S, (cos, sin, x, y): RotateArguments<'_>) {
        let (x, kept) = x.split_at(2 * cos.len());
        let (y, copied) = y.split_at_mut(2 * cos.len());
        copied.copy_from_slice(kept);
        let angles = cos.chunks(LANES).zip(sin.chunks(LANES));
        let heads = x.chunks(2 * LANES).zip(y.chunks_mut(2 * LANES));
        for ((cos, sin), (x, y)) in angles.zip(heads) {
            // The pairs' first elements, then their second ones.
            let mut apart = [[0.0; LANES]; 2];
            for (pair, [first, second]) in x.as_chunks().0.iter().enumerate() {
                (apart[0][pair], apart[1][pair]) = (*first, *second);
            }
            let angle = [isa.load_part(cos), isa.load_part(sin)];
            let (first, second) = turned(isa, angle, apart.map(|half| isa.load(&half)));
            let (first, second) = (isa.array(first), isa.array(second));
            for (pair, y) in y.as_chunks_mut().0.iter_mut().enumerate() {
                *y = [first[pair], second[pair]];
            }
        }
    }
}

/// Sixteen pairs, turned by their angles.
#[inline(always)]
fn turned<S: Isa>(isa: S, [cos, sin]: [S::F; 2], [x_1, x_2]: [S::F; 2]) -> (S::F, S::F) {
    let first = isa.fma(x_1, cos, isa.neg(isa.mul(x_2, sin)));
    let second = isa.fma(x_1, sin, isa.mul(x_2, cos));
    (first, second)
}
