//! Operands in memory: strides with gaps, guard bands around, and the comparison after a call.

use crate::case::{Operand, StateOperand};
use crate::tolerance::Allowed;
use guild_abi::abi::guild_quant;
use guild_abi::formats::{GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_LAYOUT_FILE};
use guild_sdk::format::{self, Storage};

/// Bytes of guard on each side.
const GUARD: usize = 128;
/// Fills guards, gaps and everything that a call must not read: NaN as f32 and as f16, -1 as i32.
const FILL: u8 = 0xff;
/// Rows beyond the call's own that a dynamic tensor has room for.
pub(crate) const SPARE_ROWS: usize = 2;

/// Memory with a guard on each side. The address doesn't change.
pub(crate) struct Guarded {
    memory: Vec<u8>,
    at: usize,
    len: usize,
}

impl Guarded {
    /// `len` bytes of `fill` whose address is a multiple of `align` and, where `odd` is set and
    /// `align` is below 64, of no larger power of two.
    pub(crate) fn new(len: usize, align: usize, odd: bool, fill: u8) -> Guarded {
        let line = align.max(64);
        let mut memory = vec![FILL; len + 2 * (GUARD + line)];
        let base = memory.as_ptr() as usize;
        let at = (base + GUARD).next_multiple_of(line) - base + if odd { align } else { 0 };
        memory[at..at + len].fill(fill);
        Guarded { memory, at, len }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.at..self.at + self.len]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.at..self.at + self.len]
    }

    /// Whether both guards are whole.
    pub(crate) fn is_intact(&self) -> bool {
        let outside = [&self.memory[..self.at], &self.memory[self.at + self.len..]];
        outside.iter().all(|guard| guard.iter().all(|&b| b == FILL))
    }
}

/// One operand laid out in guarded memory.
pub(crate) struct Placed {
    pub memory: Guarded,
    /// Bytes from one entry to the next along each axis.
    pub stride: Vec<i64>,
    /// Shape with the bound of axis 0.
    pub shape: Vec<u64>,
    /// Description of a packed layout.
    pub quant: Option<Box<guild_quant>>,
    /// The image before a call.
    before: Vec<u8>,
    /// The image that the call must leave.
    after: Vec<u8>,
    /// Bytes of one element where elements are compared as numbers, by format.
    format: u32,
    /// Where each run of dense elements lies.
    runs: Vec<core::ops::Range<usize>>,
    /// What an output of a tolerant implementation may hold.
    bound: Option<Bound>,
}

/// What f32 elements may be, instead of an image.
struct Bound {
    allowed: Vec<Allowed>,
    /// Further calls must give the first one's bits.
    repeats: bool,
}

impl Placed {
    /// Lays out an input, or an output that holds `FILL` before the call.
    pub(crate) fn tensor(operand: &Operand, is_output: bool) -> Placed {
        let storage = format::storage(operand.format).expect("cases use fixed formats");
        let rank = operand.shape.len();
        let bound = operand.shape[0] + if operand.dynamic { SPARE_ROWS } else { 0 };
        let mut stride = vec![storage.block_bytes; rank];
        let mut run = storage
            .row_bytes(operand.shape[rank - 1])
            .expect("cases use whole blocks");
        let dense_run = run;
        for axis in (0..rank.saturating_sub(1)).rev() {
            let gap = match (axis, rank) {
                (0, _) => operand.row_gap,
                (1, 3) => operand.head_gap,
                _ => 0,
            };
            run += gap * storage.block_bytes;
            stride[axis] = run;
            run *= if axis == 0 {
                bound
            } else {
                operand.shape[axis]
            };
        }
        let len = if rank == 1 {
            bound * storage.block_bytes / storage.block_elems
        } else {
            run
        };
        let mut shape: Vec<u64> = operand.shape.iter().map(|&n| n as u64).collect();
        shape[0] = bound as u64;
        let runs = (0..operand.bytes.len() / dense_run.max(1))
            .map(|index| {
                let start = offset(index, &operand.shape, &stride);
                start..start + dense_run
            })
            .collect();
        let placed = Placed {
            memory: Guarded::new(len, storage.align, true, FILL),
            stride: stride.iter().map(|&bytes| bytes as i64).collect(),
            shape,
            quant: packed(operand, &storage),
            before: Vec::new(),
            after: Vec::new(),
            format: operand.format,
            runs,
            bound: None,
        };
        let empty = vec![FILL; len];
        let full = placed.image(&empty, &operand.bytes);
        placed.with_images(if is_output { empty } else { full.clone() }, full)
    }

    /// Lays out an input whose memory an output of the same layout takes over.
    pub(crate) fn in_place(input: &Operand, output: &Operand) -> Placed {
        let mut placed = Placed::tensor(input, false);
        placed.after = placed.image(&placed.before, &output.bytes);
        placed
    }

    /// Lays out a state, with a gap behind each slot.
    pub(crate) fn state(state: &StateOperand) -> Placed {
        let storage = format::storage(state.format).expect("cases use fixed formats");
        let slot = state.shape.iter().product::<usize>() * storage.block_bytes;
        let stride = slot + 64;
        let placed = Placed {
            memory: Guarded::new(stride * state.count, storage.align, true, FILL),
            stride: vec![stride as i64],
            shape: state.shape.iter().map(|&n| n as u64).collect(),
            quant: None,
            before: Vec::new(),
            after: Vec::new(),
            format: state.format,
            runs: (0..state.count)
                .map(|at| at * stride..at * stride + slot)
                .collect(),
            bound: None,
        };
        let empty = vec![FILL; stride * state.count];
        let before = placed.image(&empty, &state.before);
        let after = placed.image(&empty, &state.after);
        placed.with_images(before, after)
    }

    /// Lets f32 elements be what is allowed; with `repeats`, the first call's bits from then on.
    pub(crate) fn hold_to(&mut self, allowed: Vec<Allowed>, repeats: bool) {
        self.bound = Some(Bound { allowed, repeats });
    }

    /// Puts the memory into the state before a call.
    pub(crate) fn reset(&mut self) {
        self.memory.bytes_mut().copy_from_slice(&self.before);
    }

    /// Compares the memory with what the call must leave, NaN equal to NaN.
    pub(crate) fn check(&mut self, what: &str) -> Result<(), String> {
        if !self.memory.is_intact() {
            return Err(format!("{what}: wrote outside the tensor"));
        }
        if let Some(bound) = self.bound.take() {
            let mut allowed = bound.allowed.iter();
            for (run, at) in self.runs.iter().zip(0..) {
                let got = &self.memory.bytes()[run.clone()];
                if let Some(element) = first_beyond(&mut allowed, got) {
                    return Err(format!("{what}: vector {at}, {element}"));
                }
                self.after[run.clone()].copy_from_slice(got);
            }
            self.bound = Some(bound).filter(|bound| !bound.repeats);
        }
        let got = self.memory.bytes();
        let mut gaps = got.to_vec();
        for (run, at) in self.runs.iter().zip(0..) {
            let (got, want) = (&got[run.clone()], &self.after[run.clone()]);
            if let Some(element) = first_difference(self.format, got, want) {
                return Err(format!("{what}: vector {at}, {element}"));
            }
            gaps[run.clone()].copy_from_slice(want);
        }
        match gaps.iter().zip(&self.after).position(|(a, b)| a != b) {
            Some(byte) => Err(format!("{what}: wrote into a gap at byte {byte}")),
            None => Ok(()),
        }
    }

    fn with_images(mut self, before: Vec<u8>, after: Vec<u8>) -> Placed {
        self.before = before;
        self.after = after;
        self.reset();
        self
    }

    fn image(&self, base: &[u8], dense: &[u8]) -> Vec<u8> {
        let mut image = base.to_vec();
        let mut from = 0;
        for run in &self.runs {
            image[run.clone()].copy_from_slice(&dense[from..from + run.len()]);
            from += run.len();
        }
        image
    }
}

/// The description of a packed layout, which the file's own needs none of.
fn packed(operand: &Operand, storage: &Storage) -> Option<Box<guild_quant>> {
    if operand.layout == GUILD_LAYOUT_FILE {
        return None;
    }
    Some(Box::new(guild_quant {
        size: size_of::<guild_quant>() as u32,
        format: operand.format,
        block_elems: storage.block_elems as u32,
        block_bytes: storage.block_bytes as u32,
        axis: operand.shape.len() as u16 - 1,
        layout: operand.layout,
        group: 0,
        scale: core::ptr::null(),
        zero: core::ptr::null(),
        scale_bytes: 0,
        zero_bytes: 0,
        reserved: [0; 2],
    }))
}

/// Bytes from the start to vector `index` of the last axis.
fn offset(mut index: usize, shape: &[usize], stride: &[usize]) -> usize {
    let mut at = 0;
    for axis in (0..shape.len() - 1).rev() {
        at += index % shape[axis] * stride[axis];
        index /= shape[axis];
    }
    at
}

/// Describes the first f32 element that isn't allowed, the next ones each.
fn first_beyond<'a>(allowed: &mut impl Iterator<Item = &'a Allowed>, got: &[u8]) -> Option<String> {
    let got = got.as_chunks().0.iter().map(|&got| f32::from_le_bytes(got));
    let mut pairs = got.zip(allowed).enumerate();
    let (at, (got, allowed)) = pairs.find(|(_, (got, allowed))| !allowed.allows(*got))?;
    Some(format!("element {at}: got {got:e}, allowed {allowed}"))
}

/// Describes the first element that differs.
fn first_difference(format: u32, got: &[u8], want: &[u8]) -> Option<String> {
    match format {
        GUILD_FORMAT_F32 => {
            let f32_of = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            let pairs = got.chunks_exact(4).zip(want.chunks_exact(4));
            pairs.enumerate().find_map(|(at, (got, want))| {
                let same = got == want || (f32_of(got).is_nan() && f32_of(want).is_nan());
                let (got, want) = (f32_of(got), f32_of(want));
                (!same).then(|| format!("element {at}: got {got:e}, want {want:e}"))
            })
        }
        GUILD_FORMAT_F16 => {
            let is_nan = |half: u16| half & 0x7fff > 0x7c00;
            let half_of = |b: &[u8]| u16::from_le_bytes([b[0], b[1]]);
            let pairs = got.chunks_exact(2).zip(want.chunks_exact(2));
            pairs.enumerate().find_map(|(at, (got, want))| {
                let (got, want) = (half_of(got), half_of(want));
                let same = got == want || (is_nan(got) && is_nan(want));
                (!same).then(|| format!("element {at}: got f16 {got:#x}, want {want:#x}"))
            })
        }
        _ => got
            .iter()
            .zip(want)
            .position(|(got, want)| got != want)
            .map(|at| format!("byte {at}: got {:#x}, want {:#x}", got[at], want[at])),
    }
}
