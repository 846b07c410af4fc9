//! `guild.core.causal_conv@1`: depthwise convolution over time. Parallel over bands of channels.
//!
//! A band takes long runs of each row, since rows come from far away and memory is read ahead within a
//! run; the runs of a few rows and the weights still stand in the nearest cache together.

use super::{check_counts, check_f32};
use crate::isa::{Isa, LANES, vectorized};
use guild_numerics::exp::silu;
use guild_sdk::abi::core_ops::{GUILD_ACTIVATION_NONE, GUILD_ACTIVATION_SILU, guild_conv_params};
use guild_sdk::abi::formats::GUILD_FORMAT_F32;
use guild_sdk::{
    Bounds, Exec, Failure, Instance, Par, Refusal, Request, ScratchSlots, Sequence, Tensor, Tile,
};

/// Channels of one task, at most and at least.
const BAND_MAX: usize = 1024;
const BAND_MIN: usize = 128;
/// Tasks that each worker gets where there are enough channels.
const TASKS_PER_WORKER: usize = 4;
/// Widest kernel.
const WIDTH_MAX: usize = 16;
/// Elements from which waking other threads pays.
const PARALLEL_ELEMS: usize = 4 * 1024;

struct CausalConv<S> {
    isa: S,
    with_silu: bool,
    width: usize,
}

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand or parameter that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check_counts(request, 2, 1, 1)?;
    let (x, weight, window) = (&request.inputs[0], &request.inputs[1], &request.states[0]);
    check_f32(0, x, x.dim())?;
    check_f32(2, &request.outputs[0], x.dim())?;
    check_f32(1, weight, weight.dim())?;
    let width = weight.dim();
    if !(2..=WIDTH_MAX).contains(&width) || weight.rank != 2 || weight.shape[0] != x.dim() {
        let text = "the weight isn't [channels, width] with a width of 2 to 16";
        return Err(Refusal::shape(1, width as u64, text));
    }
    if window.format != GUILD_FORMAT_F32 {
        return Err(Refusal::format(3, window.format, "the window isn't f32"));
    }
    if window.shape != [width - 1, x.dim(), 1, 1] {
        let text = "the window isn't [width - 1, channels]";
        return Err(Refusal::shape(3, window.shape[0] as u64, text));
    }
    match request.params::<guild_conv_params>() {
        Ok(params) if params.activation <= GUILD_ACTIVATION_SILU => Ok(()),
        Ok(params) => Err(Refusal::params(
            params.activation.into(),
            "an unknown activation",
        )),
        Err(_) => Err(Refusal::params(
            0,
            "the convolution's parameters are missing",
        )),
    }
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// Parameters are missing.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let params: guild_conv_params = request.params()?;
    Ok(Box::new(CausalConv {
        isa,
        with_silu: params.activation != GUILD_ACTIVATION_NONE,
        width: request.inputs[1].dim(),
    }))
}

impl<S: Isa> Instance for CausalConv<S> {
    fn scratch(&self, bounds: &Bounds) -> ScratchSlots {
        let elems = self.worker_elems() * bounds.workers.max(1);
        ScratchSlots::NONE.call((elems * size_of::<f32>()) as u64, 64)
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let input = super::packed(x.input(0)?)?;
        let weight = x.weight(1)?;
        let (width, channels) = (weight.elems(), weight.rows());
        let weight: &[f32] = weight.elements().ok_or_else(super::unknown_format)?;
        let mut window = x.state::<f32>(0)?;
        let batch = x.batch()?;
        let y = x.output(0)?;
        let rows = y.rows();
        let same = [input.rows(), input.dim(), y.dim()] == [rows, channels, channels];
        let fits = width == self.width && window.shape()[..2] == [width - 1, channels];
        if !same || !fits || batch.rows() != rows {
            return Err(super::lengths_differ());
        }
        let par = if rows * channels < PARALLEL_ELEMS {
            Par::INLINE
        } else {
            x.par()
        };
        let even = channels / (TASKS_PER_WORKER * par.workers());
        let width_of_band = even.next_multiple_of(LANES).clamp(BAND_MIN, BAND_MAX);
        let outputs = y.column_tiles(rows.max(1), width_of_band);
        let outputs = outputs.ok_or_else(super::gaps)?;
        let windows = window.inner_column_tiles(width_of_band);
        let scratch = x.scratch(0)?;
        let scratch = scratch.per_worker::<f32>(x.par().workers(), self.worker_elems())?;
        let parts = (outputs, windows, scratch);
        par.split(parts, 1, |_, (mut y, mut window, scratch)| {
            let columns = y.columns();
            for sequence in batch.sequences() {
                let band = Band {
                    sequence,
                    input: &input,
                    weight: &weight[columns.start * width..columns.end * width],
                    width,
                    first: columns.start,
                    len: columns.len(),
                    with_silu: self.with_silu,
                };
                let arguments = (&band, &mut y, &mut window, &mut *scratch);
                self.isa.vectorize::<RunBand, _>(arguments);
            }
        })
    }
}

impl<S> CausalConv<S> {
    /// A band's weights by tap, and its window before the call.
    fn worker_elems(&self) -> usize {
        (2 * self.width - 1) * BAND_MAX
    }
}

/// One sequence's part of a band.
struct Band<'a> {
    sequence: Sequence<'a>,
    input: &'a Tensor<'a, f32>,
    /// `[channels][width]`.
    weight: &'a [f32],
    width: usize,
    first: usize,
    len: usize,
    with_silu: bool,
}

vectorized!(
    RunBand = Band::run,
    (
        &'a Band<'a>,
        &'a mut Tile<'b, f32>,
        &'a mut Tile<'b, f32>,
        &'a mut [f32]
    )
);

impl Band<'_> {
    #[inline(always)]
    fn run<S: Isa>(
        isa: S,
        (band, y, window, scratch): (
            &Band<'_>,
            &mut Tile<'_, f32>,
            &mut Tile<'_, f32>,
            &mut [f32],
        ),
    ) {
        let Band { sequence, len, .. } = band;
        let past = band.width - 1;
        let (taps, before) = scratch.split_at_mut(band.width * len);
        let before = &mut before[..past * len];
        band.weights_by_tap(taps);
        for (i, before) in before.chunks_exact_mut(*len).enumerate() {
            before.copy_from_slice(window.row(sequence.slot * past + i));
        }
        let mut by_tap = [&[][..]; WIDTH_MAX];
        by_tap
            .iter_mut()
            .zip(taps.chunks_exact(*len))
            .for_each(|(to, tap)| *to = tap);
        for row in 0..sequence.rows {
            let mut inputs = [&[][..]; WIDTH_MAX];
            for (tap, input) in inputs[..=past].iter_mut().enumerate() {
                *input = band.input_at(before, row + tap);
            }
            let y = y.row_mut(sequence.first_row + row);
            // The usual width is a loop of known length.
            if past == 3 {
                convolve(isa, &by_tap[..4], &inputs[..4], band.with_silu, y);
            } else {
                convolve(isa, &by_tap[..=past], &inputs[..=past], band.with_silu, y);
            }
            if let Some(&slot) = sequence.snapshot_slots.and_then(|slots| slots.get(row)) {
                band.save(before, row + 1, slot as usize, window);
            }
        }
        if sequence.rows > 0 {
            band.save(before, sequence.rows, sequence.slot, window);
        }
    }

    /// Writes the weights as `[width][channels]`.
    #[inline(always)]
    fn weights_by_tap(&self, taps: &mut [f32]) {
        if self.width == 4 {
            let (a, rest) = taps.split_at_mut(self.len);
            let (b, rest) = rest.split_at_mut(self.len);
            let (c, d) = rest.split_at_mut(self.len);
            let to = a.iter_mut().zip(b).zip(c).zip(d);
            for ((((a, b), c), d), weight) in to.zip(self.weight.as_chunks::<4>().0) {
                [*a, *b, *c, *d] = *weight;
            }
            return;
        }
        for (channel, weight) in self.weight.chunks_exact(self.width).enumerate() {
            for (tap, value) in taps.chunks_exact_mut(self.len).zip(weight) {
                tap[channel] = *value;
            }
        }
    }

    /// Input `time`, counted from the oldest one of the window before this call.
    #[inline(always)]
    fn input_at<'b>(&'b self, before: &'b [f32], time: usize) -> &'b [f32] {
        let past = self.width - 1;
        if time < past {
            &before[time * self.len..][..self.len]
        } else {
            let row = self.sequence.first_row + time - past;
            &self.input.row(row)[self.first..][..self.len]
        }
    }

    /// Writes the window that starts at `time` to a slot.
    #[inline(always)]
    fn save(&self, before: &[f32], time: usize, slot: usize, window: &mut Tile<'_, f32>) {
        let past = self.width - 1;
        for i in 0..past {
            let row = window.row_mut(slot * past + i);
            row.copy_from_slice(self.input_at(before, time + i));
        }
    }
}

/// `y = sum of taps[j] * inputs[j]`, then SiLU where it is wanted. All have the length of `y`.
#[inline(always)]
fn convolve<S: Isa>(isa: S, taps: &[&[f32]], inputs: &[&[f32]], with_silu: bool, y: &mut [f32]) {
    let (whole, rest) = y.as_chunks_mut::<LANES>();
    let done = whole.len() * LANES;
    for (i, y) in whole.iter_mut().enumerate() {
        let mut sum = isa.splat(0.0);
        for (tap, input) in taps.iter().zip(inputs) {
            let (tap, input) = (&tap.as_chunks().0[i], &input.as_chunks().0[i]);
            sum = isa.fma(isa.load(tap), isa.load(input), sum);
        }
        isa.store(y, activate(isa, with_silu, sum));
    }
    if !rest.is_empty() {
        let mut sum = isa.splat(0.0);
        for (tap, input) in taps.iter().zip(inputs) {
            let (tap, input) = (isa.load_part(&tap[done..]), isa.load_part(&input[done..]));
            sum = isa.fma(tap, input, sum);
        }
        isa.store_part(rest, activate(isa, with_silu, sum));
    }
}

#[inline(always)]
fn activate<S: Isa>(isa: S, with_silu: bool, sum: S::F) -> S::F {
    if with_silu { silu(isa, sum) } else { sum }
}
