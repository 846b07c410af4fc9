//! `guild.core.attention@1`.

use crate::dense::{gather, scatter};
use crate::{Execute, Operation, check};
use guild_conformance::oracle::attention::{Attention, CacheFormat};
use guild_numerics::convert::{f16_to_f32, f32_to_f16};
use guild_sdk::abi::abi::{GUILD_PAGE_POSITIONS, GUILD_STATE_APPEND};
use guild_sdk::abi::contract::ATTENTION;
use guild_sdk::abi::core_ops::guild_attention_params;
use guild_sdk::abi::formats::{GUILD_FORMAT_F16, GUILD_FORMAT_F32};
use guild_sdk::{Element, Exec, Failure, Refusal, Request, Sequence, State};

const PAGE: usize = GUILD_PAGE_POSITIONS as usize;

pub(super) const OPERATION: Operation = Operation {
    op: &ATTENTION,
    implementation: "reference.attention",
    formats: &[],
    supports,
    choose,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check::counts(request, 3, 1, 2)?;
    for operand in 0..4 {
        check::float(request, operand)?;
    }
    check::axes(request, 0, &[None; 3])?;
    check::axes(request, 1, &[None; 3])?;
    check::same(request, 1, 2)?;
    check::same(request, 0, 3)?;
    let [_, heads, dim, ..] = request.inputs[0].shape;
    let [_, kv_heads, kv_dim, ..] = request.inputs[1].shape;
    if kv_heads == 0 || !heads.is_multiple_of(kv_heads) || dim != kv_dim {
        return Err(Refusal::shape(
            0,
            heads as u64,
            format!("{heads} heads of {dim} don't go with {kv_heads} KV heads of {kv_dim}"),
        ));
    }
    for (at, state) in request.states.iter().enumerate() {
        let known = [GUILD_FORMAT_F16, GUILD_FORMAT_F32].contains(&state.format);
        if !known || state.kind != GUILD_STATE_APPEND || state.format != request.states[0].format {
            return Err(Refusal::format(
                4 + at,
                state.format,
                "keys and values aren't append-only f16 or f32",
            ));
        }
        if state.shape != [kv_heads, PAGE, dim, 1] {
            return Err(Refusal::shape(
                4 + at,
                state.shape[0] as u64,
                "a page isn't [kv_heads, 256, dim]",
            ));
        }
    }
    check::params::<guild_attention_params>(request).map(|_| ())
}

fn choose(request: &Request<'_>) -> Execute {
    if request.states[0].format == GUILD_FORMAT_F16 {
        execute::<u16>
    } else {
        execute::<f32>
    }
}

fn execute<T: Cached>(x: &Exec<'_>) -> Result<(), Failure> {
    let params: guild_attention_params = x.params()?;
    let (q, k) = (x.input(0)?, x.input(1)?);
    let attention = Attention {
        heads: q.heads(),
        kv_heads: k.heads(),
        dim: q.dim(),
        scale: params.scale,
        format: T::FORMAT,
    };
    let (q, k, v) = (gather(&q), gather(&k), gather(&x.input(2)?));
    let batch = x.batch()?;
    let (mut keys, mut values) = (x.state::<T>(0)?, x.state::<T>(1)?);
    let mut y = Vec::new();
    for sequence in batch.sequences() {
        let row = attention.kv_heads * attention.dim;
        let part =
            |row: usize| sequence.first_row * row..(sequence.first_row + sequence.rows) * row;
        let mut past_keys = past(&keys, &sequence, &attention);
        let mut past_values = past(&values, &sequence, &attention);
        y.extend(attention.rows(
            &q[part(attention.heads * attention.dim)],
            &k[part(row)],
            &v[part(row)],
            &mut past_keys,
            &mut past_values,
        ));
        append(&mut keys, &sequence, &attention, &past_keys);
        append(&mut values, &sequence, &attention, &past_values);
    }
    scatter(&mut x.output(0)?, &y)
}

/// An element of a cache.
trait Cached: Element {
    const FORMAT: CacheFormat;
    fn widen(self) -> f32;
    /// `value` has been rounded to the format before.
    fn narrow(value: f32) -> Self;
}

impl Cached for u16 {
    const FORMAT: CacheFormat = CacheFormat::F16;
    fn widen(self) -> f32 {
        f16_to_f32(self)
    }
    fn narrow(value: f32) -> u16 {
        f32_to_f16(value)
    }
}

impl Cached for f32 {
    const FORMAT: CacheFormat = CacheFormat::F32;
    fn widen(self) -> f32 {
        self
    }
    fn narrow(value: f32) -> f32 {
        value
    }
}

/// Page and first element of one head's vector at a position.
fn place(sequence: &Sequence<'_>, a: &Attention, position: usize, head: usize) -> (usize, usize) {
    let page = sequence.pages[position / PAGE] as usize;
    (page, (head * PAGE + position % PAGE) * a.dim)
}

/// The cache before this call, `[position, kv_heads, dim]`.
fn past<T: Cached>(state: &State<'_, T>, sequence: &Sequence<'_>, a: &Attention) -> Vec<f32> {
    let mut out = Vec::new();
    for position in 0..sequence.position as usize {
        for head in 0..a.kv_heads {
            let (page, at) = place(sequence, a, position, head);
            out.extend(state.slot(page)[at..at + a.dim].iter().map(|x| x.widen()));
        }
    }
    out
}

/// Writes this call's positions of `cache`, `[position, kv_heads, dim]`.
fn append<T: Cached>(
    state: &mut State<'_, T>,
    sequence: &Sequence<'_>,
    a: &Attention,
    cache: &[f32],
) {
    let start = sequence.position as usize;
    for position in start..start + sequence.rows {
        for head in 0..a.kv_heads {
            let (page, at) = place(sequence, a, position, head);
            let vector = &cache[(position * a.kv_heads + head) * a.dim..][..a.dim];
            let slot = &mut state.slot_mut(page)[at..at + a.dim];
            for (slot, x) in slot.iter_mut().zip(vector) {
                *slot = T::narrow(*x);
            }
        }
    }
}
