//! `guild.core.causal_conv@1`: depthwise convolution over time. Parallel over bands of channels.

use super::{check_counts, check_f32};
use crate::isa::{Isa, LANES, vectorized};
use guild_numerics::exp::silu;
use guild_sdk::abi::core_ops::{GUILD_ACTIVATION_NONE, GUILD_ACTIVATION_SILU, guild_conv_params};
use guild_sdk::abi::formats::GUILD_FORMAT_F32;
use guild_sdk::{
    Bounds, Exec, Failure, Instance, Par, Refusal, Request, ScratchSlots, Sequence, Tensor, Tile,
};

/// Channels of one task.
const BAND: usize = 256;
/// Widest kernel; a band's weights and window stand on the stack.
const WIDTH_MAX: usize = 16;
/// Elements from which waking other threads pays.
const PARALLEL_ELEMS: usize = 4 * 1024;

struct CausalConv<S> {
    isa: S,
    with_silu: bool,
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
    }))
}

impl<S: Isa> Instance for CausalConv<S> {
    fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE
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
        let fits = (2..=WIDTH_MAX).contains(&width) && window.shape()[..2] == [width - 1, channels];
        if !same || !fits || batch.rows() != rows {
            return Err(super::lengths_differ());
        }
        let par = if rows * channels < PARALLEL_ELEMS {
            Par::INLINE
        } else {
            x.par()
        };
        let outputs = y.column_tiles(rows.max(1), BAND).ok_or_else(super::gaps)?;
        let windows = window.inner_column_tiles(BAND);
        par.split((outputs, windows), 1, |_, (mut y, mut window)| {
            let columns = y.columns();
            let weights = Weights::new(&weight[columns.start * width..columns.end * width], width);
            for sequence in batch.sequences() {
                let band = Band {
                    sequence,
                    input: &input,
                    first: columns.start,
                    len: columns.len(),
                    with_silu: self.with_silu,
                };
                let arguments = (&band, &weights, &mut y, &mut window);
                self.isa.vectorize::<RunBand, _>(arguments);
            }
        })
    }
}

/// A band's weights, `[width][channels]`.
struct Weights {
    width: usize,
    by_tap: [[f32; BAND]; WIDTH_MAX],
}

impl Weights {
    fn new(weight: &[f32], width: usize) -> Weights {
        let mut by_tap = [[0.0; BAND]; WIDTH_MAX];
        for (channel, weight) in weight.chunks_exact(width).enumerate() {
            for (tap, value) in by_tap.iter_mut().zip(weight) {
                tap[channel] = *value;
            }
        }
        Weights { width, by_tap }
    }
}

/// One sequence's part of a band.
struct Band<'a> {
    sequence: Sequence<'a>,
    input: &'a Tensor<'a, f32>,
    first: usize,
    len: usize,
    with_silu: bool,
}

vectorized!(
    RunBand = Band::run,
    (
        &'a Band<'a>,
        &'a Weights,
        &'a mut Tile<'b, f32>,
        &'a mut Tile<'b, f32>
    )
);

impl Band<'_> {
    #[inline(always)]
    fn run<S: Isa>(
        isa: S,
        (band, weights, y, window): (&Band<'_>, &Weights, &mut Tile<'_, f32>, &mut Tile<'_, f32>),
    ) {
        let past = weights.width - 1;
        let own = band.sequence.slot * past;
        let mut before = [[0.0; BAND]; WIDTH_MAX - 1];
        for (i, before) in before[..past].iter_mut().enumerate() {
            before[..band.len].copy_from_slice(window.row(own + i));
        }
        for row in 0..band.sequence.rows {
            let inputs: [&[f32]; WIDTH_MAX] = core::array::from_fn(|tap| {
                let tap = tap.min(past);
                band.input_at(&before, past, row + tap)
            });
            let y = y.row_mut(band.sequence.first_row + row);
            for (at, y) in (0..).step_by(LANES).zip(y.chunks_mut(LANES)) {
                let part = at..at + y.len();
                let mut sum = isa.splat(0.0);
                for (tap, input) in weights.by_tap[..=past].iter().zip(&inputs) {
                    let tap = isa.load_part(&tap[part.clone()]);
                    sum = isa.fma(tap, isa.load_part(&input[part.clone()]), sum);
                }
                let sum = if band.with_silu { silu(isa, sum) } else { sum };
                isa.store_part(y, sum);
            }
            if let Some(&slot) = band
                .sequence
                .snapshot_slots
                .and_then(|slots| slots.get(row))
            {
                band.save(&before, past, row + 1, slot as usize, window);
            }
        }
        if band.sequence.rows > 0 {
            band.save(
                &before,
                past,
                band.sequence.rows,
                band.sequence.slot,
                window,
            );
        }
    }

    /// Input `time`, counted from the oldest one of the window before this call.
    #[inline(always)]
    fn input_at<'b>(
        &'b self,
        before: &'b [[f32; BAND]; WIDTH_MAX - 1],
        past: usize,
        time: usize,
    ) -> &'b [f32] {
        if time < past {
            &before[time][..self.len]
        } else {
            let row = self.sequence.first_row + time - past;
            &self.input.row(row)[self.first..][..self.len]
        }
    }

    /// Writes the window that starts at `time` to a slot.
    #[inline(always)]
    fn save(
        &self,
        before: &[[f32; BAND]; WIDTH_MAX - 1],
        past: usize,
        time: usize,
        slot: usize,
        window: &mut Tile<'_, f32>,
    ) {
        for i in 0..past {
            let row = window.row_mut(slot * past + i);
            row.copy_from_slice(self.input_at(before, past, time + i));
        }
    }
}
