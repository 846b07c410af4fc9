//! A safe view of `guild_exec`: the operands of one call.
//!
//! Two rules keep it sound, and both are checked at run time without allocation. Memory that is
//! written (outputs, states, scratch) overlaps no other operand, except that output 0 may be input
//! 0's memory where the contract says `alias` and the kernel has `GUILD_CAP_INPLACE`. And each
//! written operand is handed out once a call.
//!
//! A kernel with in-place operation takes output 0 by [`Exec::update`]: its tiles hold input 0's
//! elements when their task starts, whether or not the two share memory, so the kernel has one way
//! through its code.
#![allow(unsafe_code)]

use crate::batch::Batch;
use crate::kernel::{Failure, ScratchSlot};
use crate::parallel::Par;
use crate::request::{OPERANDS_MAX, Params, read_params};
use crate::scratch::Scratch;
use crate::span::{Span, same_memory, state_span, tensor_span};
use crate::state::State;
use crate::tensor::{Element, Gaps, Tensor, TensorMut, Weight};
use crate::tiles::Tiles;
use core::cell::Cell;
use guild_abi::abi::{guild_exec, guild_state, guild_tensor};
use guild_abi::core_ops::GUILD_OP_SELECT_ROWS;

/// The operands of one call. Lives during `execute` only; one thread.
pub struct Exec<'a> {
    raw: &'a guild_exec,
    facts: Facts<'a>,
    rows: usize,
    par: Par<'a>,
    /// Whether output 0 is input 0's memory.
    in_place: bool,
    taken: Cell<Taken>,
}

/// What the shim knows of the instance.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    /// `GUILD_OP_*`.
    pub op: u32,
    /// Whether output 0 may be input 0's memory.
    pub may_alias: bool,
    /// The scratch that the instance declared last.
    pub scratch: &'a [ScratchSlot],
}

/// Which written operands have been handed out, a bit each.
#[derive(Clone, Copy, Default)]
struct Taken {
    outputs: u64,
    states: u64,
    scratch: u64,
}

impl<'a> Exec<'a> {
    /// Rows in this call: the length of axis 0 of dynamic tensors.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of inputs, weights included.
    #[must_use]
    pub fn input_count(&self) -> usize {
        self.raw.n_in as usize
    }

    /// Number of outputs.
    #[must_use]
    pub fn output_count(&self) -> usize {
        self.raw.n_out as usize
    }

    /// The thread pool.
    #[must_use]
    pub fn par(&self) -> Par<'a> {
        self.par
    }

    /// The operation's parameters.
    ///
    /// # Errors
    /// `INVALID` where the host's struct is shorter than `T`.
    pub fn params<T: Params>(&self) -> Result<T, Failure> {
        let size = self.raw.params_size as usize;
        if self.raw.params.is_null() || size < size_of::<T>() {
            return read_params(&[]);
        }
        // SAFETY: not null; the host keeps `params_size` bytes readable during the call.
        read_params(unsafe { core::slice::from_raw_parts(self.raw.params.cast(), size) })
    }

    /// Input `index` as an f32 activation.
    ///
    /// # Errors
    /// `INVALID` where there is none, or it breaks the contract; `INTERNAL` where it shares its
    /// memory with output 0 (then use [`Exec::update`]).
    pub fn input(&self, index: usize) -> Result<Tensor<'a, f32>, Failure> {
        self.read(index)
    }

    /// Input `index` as i32 ids.
    ///
    /// # Errors
    /// As [`Exec::input`].
    pub fn ids(&self, index: usize) -> Result<Tensor<'a, i32>, Failure> {
        self.read(index)
    }

    /// Input `index` as a weight.
    ///
    /// # Errors
    /// `INVALID` where there is none, it isn't contiguous, or its bytes don't hold its shape;
    /// `INTERNAL` where it shares its memory with output 0.
    pub fn weight(&self, index: usize) -> Result<Weight<'a>, Failure> {
        self.check_not_updated(index)?;
        // SAFETY: `new` checked that no written operand overlaps it but an aliased input 0, which
        // was refused.
        unsafe { Weight::new(self.input_raw(index)?, Gaps::None) }
    }

    /// As [`Exec::weight`] for a weight with a layout of its own: there may be gaps behind rows and experts.
    ///
    /// # Errors
    /// As [`Exec::weight`].
    pub fn weight_with_gaps(&self, index: usize) -> Result<Weight<'a>, Failure> {
        self.check_not_updated(index)?;
        // SAFETY: as in `weight`.
        unsafe { Weight::new(self.input_raw(index)?, Gaps::Allowed) }
    }

    /// Output `index` for f32 elements. It holds garbage.
    ///
    /// # Errors
    /// `INVALID` where there is none or it breaks the contract; `INTERNAL` where it was taken before
    /// or shares its memory with input 0.
    pub fn output(&self, index: usize) -> Result<TensorMut<'a, f32>, Failure> {
        if self.in_place && index == 0 {
            return Err(Failure::internal("take an in-place output with `update`"));
        }
        self.write(index)
    }

    /// Output `index` for i32 ids. It holds garbage.
    ///
    /// # Errors
    /// As [`Exec::output`].
    pub fn output_ids(&self, index: usize) -> Result<TensorMut<'a, i32>, Failure> {
        self.write(index)
    }

    /// Output 0 over input 0, for operations whose contract lets them share memory.
    ///
    /// # Errors
    /// As [`Exec::output`]; `INVALID` where the two have different shapes.
    pub fn update(&self) -> Result<Update<'a>, Failure> {
        let target: TensorMut<'a, f32> = self.write(0)?;
        let source = if self.in_place {
            None
        } else {
            Some(self.input(0)?)
        };
        if let Some(source) = &source {
            let shape = [source.rows(), source.heads(), source.dim()];
            if shape != [target.rows(), target.heads(), target.dim()] {
                return Err(Failure::invalid("output 0 has another shape than input 0"));
            }
        }
        Ok(Update { target, source })
    }

    /// State `index`. `T` is u16 for F16 and f32 for F32.
    ///
    /// # Errors
    /// `INVALID` where there is none or its format isn't `T`'s; `INTERNAL` where it was taken before.
    pub fn state<T: Element>(&self, index: usize) -> Result<State<'a, T>, Failure> {
        let Some(state) = self.states().nth(index) else {
            return Err(Failure::invalid("a state operand is missing"));
        };
        self.take(|taken| &mut taken.states, index)?;
        // SAFETY: `new` checked that no other operand overlaps it; it is handed out once.
        unsafe { State::new(state) }
    }

    /// The batch table, checked against the states of this call.
    ///
    /// # Errors
    /// `INVALID` where there is none, or it names rows, pages or slots that don't exist.
    pub fn batch(&self) -> Result<Batch<'a>, Failure> {
        // SAFETY: the host keeps the table unchanged during the call.
        unsafe { Batch::new(self.raw.batch, self.states()) }
    }

    /// Scratch buffer `index` of those that the instance declared last.
    ///
    /// # Errors
    /// `SCRATCH_SMALL` where the host gave none; `INTERNAL` where it was taken before.
    pub fn scratch(&self, index: usize) -> Result<Scratch<'a>, Failure> {
        let data = self.scratch_pointers().get(index).copied();
        let slot = self.facts.scratch.get(index);
        let (Some(data), Some(slot)) = (data, slot) else {
            return Err(Failure::scratch_small("a scratch buffer is missing"));
        };
        self.take(|taken| &mut taken.scratch, index)?;
        let data = if slot.bytes == 0 {
            // Any aligned address serves a buffer without bytes.
            core::ptr::without_provenance_mut(slot.align as usize)
        } else {
            data.cast()
        };
        // SAFETY: the host gave what was declared; `new` checked that no other operand overlaps it;
        // it is handed out once.
        Ok(unsafe { Scratch::new(data, slot.bytes as usize) })
    }

    /// Wraps and checks the host's argument block.
    ///
    /// # Safety
    /// `raw` points to an argument block as `abi.h` says, valid during `'a` and not written but
    /// through this value; scratch buffers have the bytes that `facts.scratch` says; memory is
    /// initialised.
    pub(crate) unsafe fn new(
        raw: *const guild_exec,
        facts: Facts<'a>,
    ) -> Result<Exec<'a>, Failure> {
        // SAFETY: the caller's promise.
        let Some(raw) = (unsafe { raw.as_ref() }) else {
            return Err(Failure::invalid("the argument block is null"));
        };
        let lists = [
            (raw.n_in, raw.inputs.is_null()),
            (raw.n_out, raw.outputs.is_null()),
            (raw.n_state, raw.states.is_null()),
            (raw.n_scratch, raw.scratch.is_null()),
        ];
        let whole = (raw.size as usize) >= size_of::<guild_exec>()
            && lists
                .iter()
                .all(|&(count, null)| count == 0 || (!null && (count as usize) <= OPERANDS_MAX));
        if !whole || raw.rows.is_null() {
            return Err(Failure::invalid("the argument block breaks the contract"));
        }
        // SAFETY: not null; the host's counter is valid.
        let rows = unsafe { *raw.rows } as usize;
        // SAFETY: the host's table is valid during the call.
        let par = unsafe { Par::new(raw.par) }?;
        let mut exec = Exec {
            raw,
            facts,
            rows,
            par,
            in_place: false,
            taken: Cell::default(),
        };
        exec.check_pointers()?;
        exec.in_place = exec.check_overlap()?;
        Ok(exec)
    }

    fn read<T: Element>(&self, index: usize) -> Result<Tensor<'a, T>, Failure> {
        self.check_not_updated(index)?;
        let rows = if self.facts.op == GUILD_OP_SELECT_ROWS && index == 0 {
            // The input has the rows of the batch, the output those of this call.
            // SAFETY: the host's table is valid during the call.
            unsafe { self.raw.batch.as_ref() }.map_or(self.rows, |batch| batch.rows as usize)
        } else {
            self.rows
        };
        // SAFETY: as in `weight`.
        unsafe { Tensor::new(self.input_raw(index)?, rows) }
    }

    /// Refuses input 0 where it is output 0's memory, which `update` alone hands out.
    fn check_not_updated(&self, index: usize) -> Result<(), Failure> {
        match self.in_place && index == 0 {
            true => Err(Failure::internal("read an in-place input with `update`")),
            false => Ok(()),
        }
    }

    fn write<T: Element>(&self, index: usize) -> Result<TensorMut<'a, T>, Failure> {
        let Some(&tensor) = self.outputs().get(index) else {
            return Err(Failure::invalid("an output operand is missing"));
        };
        self.take(|taken| &mut taken.outputs, index)?;
        // SAFETY: `check_pointers` refused null; no other operand overlaps it but an aliased input,
        // which `read` refuses; it is handed out once.
        unsafe { TensorMut::new(&*tensor, self.rows) }
    }

    fn input_raw(&self, index: usize) -> Result<&'a guild_tensor, Failure> {
        match self.inputs().get(index) {
            // SAFETY: `check_pointers` refused null; the host keeps the tensor valid.
            Some(&tensor) => Ok(unsafe { &*tensor }),
            None => Err(Failure::invalid("an input operand is missing")),
        }
    }

    fn take(&self, of: fn(&mut Taken) -> &mut u64, index: usize) -> Result<(), Failure> {
        let mut taken = self.taken.get();
        let bits = of(&mut taken);
        let bit = 1u64 << index;
        if *bits & bit != 0 {
            return Err(Failure::internal("an operand was taken twice in one call"));
        }
        *bits |= bit;
        self.taken.set(taken);
        Ok(())
    }

    fn inputs(&self) -> &'a [*const guild_tensor] {
        // SAFETY: `new` checked that the list isn't null where its count isn't 0.
        unsafe { pointers(self.raw.inputs, self.raw.n_in) }
    }

    fn outputs(&self) -> &'a [*mut guild_tensor] {
        // SAFETY: as in `inputs`.
        unsafe { pointers(self.raw.outputs, self.raw.n_out) }
    }

    fn scratch_pointers(&self) -> &'a [*mut core::ffi::c_void] {
        // SAFETY: as in `inputs`.
        unsafe { pointers(self.raw.scratch, self.raw.n_scratch) }
    }

    fn states(&self) -> impl Iterator<Item = &'a guild_state> + Clone + use<'a> {
        // SAFETY: as in `inputs`.
        let states = unsafe { pointers(self.raw.states, self.raw.n_state) };
        // SAFETY: `check_pointers` refused null; the host keeps the states valid.
        states.iter().map(|&state| unsafe { &*state })
    }

    fn check_pointers(&self) -> Result<(), Failure> {
        // SAFETY: as in `inputs`; only the pointers are read.
        let states = unsafe { pointers(self.raw.states, self.raw.n_state) };
        let valid = |null: bool, aligned: bool| !null && aligned;
        let good = self
            .inputs()
            .iter()
            .all(|p| valid(p.is_null(), p.is_aligned()))
            && self
                .outputs()
                .iter()
                .all(|p| valid(p.is_null(), p.is_aligned()))
            && states.iter().all(|p| valid(p.is_null(), p.is_aligned()));
        if !good {
            return Err(Failure::invalid("an operand is null or misaligned"));
        }
        let scratch = self.scratch_pointers();
        if scratch.len() < self.facts.scratch.len() {
            return Err(Failure::scratch_small("scratch buffers are missing"));
        }
        for (data, slot) in scratch.iter().zip(self.facts.scratch) {
            let misaligned = !(*data as u64).is_multiple_of(slot.align.max(1));
            if slot.bytes > 0 && (data.is_null() || misaligned) {
                return Err(Failure::scratch_small(
                    "a scratch buffer is null or misaligned",
                ));
            }
        }
        Ok(())
    }

    /// Checks that written memory overlaps nothing else; gives whether output 0 is input 0.
    fn check_overlap(&self) -> Result<bool, Failure> {
        let mut in_place = false;
        for (at, &output) in self.outputs().iter().enumerate() {
            // SAFETY: `check_pointers` refused null.
            let output = unsafe { &*output };
            for (index, &input) in self.inputs().iter().enumerate() {
                // SAFETY: as above.
                let input = unsafe { &*input };
                if !tensor_span(output).meets(&tensor_span(input)) {
                    continue;
                }
                if at == 0 && index == 0 && self.facts.may_alias && same_memory(output, input) {
                    in_place = true;
                } else {
                    return Err(Failure::invalid("an output overlaps an input"));
                }
            }
            for &other in &self.outputs()[..at] {
                // SAFETY: as above.
                if tensor_span(output).meets(&tensor_span(unsafe { &*other })) {
                    return Err(Failure::invalid("two outputs overlap"));
                }
            }
        }
        for (at, state) in self.states().enumerate() {
            let span = state_span(state);
            let tensor = self
                .tensors()
                .any(|tensor| span.meets(&tensor_span(tensor)));
            if tensor
                || self
                    .states()
                    .take(at)
                    .any(|other| span.meets(&state_span(other)))
            {
                return Err(Failure::invalid("a state overlaps another operand"));
            }
        }
        for (at, span) in self.scratch_spans().enumerate() {
            let tensor = self
                .tensors()
                .any(|tensor| span.meets(&tensor_span(tensor)));
            let state = self.states().any(|state| span.meets(&state_span(state)));
            if tensor
                || state
                || self
                    .scratch_spans()
                    .take(at)
                    .any(|other| span.meets(&other))
            {
                return Err(Failure::invalid("scratch overlaps another operand"));
            }
        }
        Ok(in_place)
    }

    fn tensors(&self) -> impl Iterator<Item = &'a guild_tensor> + use<'a> {
        let outputs = self.outputs().iter().map(|&tensor| tensor.cast_const());
        let all = self.inputs().iter().copied().chain(outputs);
        // SAFETY: `check_pointers` refused null; the host keeps the tensors valid.
        all.map(|tensor| unsafe { &*tensor })
    }

    fn scratch_spans(&self) -> impl Iterator<Item = Span> + use<'a> {
        let pointers = self.scratch_pointers().iter();
        pointers
            .zip(self.facts.scratch)
            .map(|(&data, slot)| Span::plain(data as usize, slot.bytes as usize))
    }
}

/// Output 0 that starts with input 0's elements.
pub struct Update<'a> {
    target: TensorMut<'a, f32>,
    source: Option<Tensor<'a, f32>>,
}

impl<'a> Update<'a> {
    /// Rows in this call.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.target.rows()
    }

    /// Heads of a row.
    #[must_use]
    pub fn heads(&self) -> usize {
        self.target.heads()
    }

    /// Elements of a head.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.target.dim()
    }

    /// Splits into tiles of `row_block` rows and `head_block` heads, for [`Par::split`]. A tile holds
    /// the input's elements when its task starts; the task overwrites them with the output's.
    #[must_use]
    pub fn tiles(self, row_block: usize, head_block: usize) -> Tiles<'a, f32> {
        let tiles = self.target.tiles(row_block, head_block);
        match self.source {
            None => tiles,
            // SAFETY: `Exec::update` checked the shapes, `Exec::new` that they don't overlap.
            Some(source) => unsafe { tiles.with_source(source.parts()) },
        }
    }
}

/// A list of pointers.
///
/// # Safety
/// `items` points to `count` pointers that don't change during `'a`, unless `count` is 0.
unsafe fn pointers<'a, T>(items: *const T, count: u32) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts(items, count as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guild_abi::abi::{
        GUILD_STATUS_ERR_INTERNAL, GUILD_STATUS_ERR_INVALID, GUILD_STATUS_ERR_SCRATCH_SMALL,
        GUILD_TENSOR_DYNAMIC_ROWS,
    };
    use guild_abi::core_ops::GUILD_OP_ADD;
    use guild_abi::formats::GUILD_FORMAT_F32;

    const ROWS: u64 = 2;

    /// `[3, 4]` f32 rows over part of `memory`; a call has two of them.
    fn tensor(memory: *mut f32, at: usize) -> guild_tensor {
        // SAFETY: integers and pointers; all zero is a value.
        let zero: guild_tensor = unsafe { core::mem::zeroed() };
        guild_tensor {
            size: size_of::<guild_tensor>() as u32,
            rank: 2,
            flags: GUILD_TENSOR_DYNAMIC_ROWS,
            format: GUILD_FORMAT_F32,
            byte_len: 48,
            data: memory.wrapping_add(at).cast(),
            shape: [3, 4, 1, 1, 1, 1],
            stride: [16, 4, 0, 0, 0, 0],
            ..zero
        }
    }

    /// Makes a view of a call with these operands and hands it to `check`.
    fn with(
        inputs: &[guild_tensor],
        output: guild_tensor,
        may_alias: bool,
        scratch: &[ScratchSlot],
        check: impl FnOnce(Result<Exec<'_>, Failure>),
    ) {
        let inputs: Vec<_> = inputs.iter().map(core::ptr::from_ref).collect();
        let mut output = output;
        let outputs = [core::ptr::from_mut(&mut output)];
        // SAFETY: as in `tensor`.
        let zero: guild_exec = unsafe { core::mem::zeroed() };
        let raw = guild_exec {
            size: size_of::<guild_exec>() as u32,
            n_in: inputs.len() as u32,
            n_out: 1,
            inputs: inputs.as_ptr(),
            outputs: outputs.as_ptr(),
            rows: &ROWS,
            ..zero
        };
        let facts = Facts {
            op: GUILD_OP_ADD,
            may_alias,
            scratch,
        };
        // SAFETY: all operands are live; nothing else uses their memory meanwhile.
        check(unsafe { Exec::new(&raw, facts) });
    }

    fn status<T>(result: Result<T, Failure>) -> guild_abi::abi::guild_status {
        result.err().map_or(0, |failure| failure.status)
    }

    #[test]
    fn written_memory_overlaps_nothing_but_what_the_contract_allows() {
        let mut memory = [0.0f32; 36];
        let data = memory.as_mut_ptr();
        let (a, b) = (tensor(data, 0), tensor(data, 12));
        with(&[a, b], tensor(data, 24), false, &[], |x| {
            let x = x.unwrap();
            assert_eq!([x.input(0).unwrap().rows(), x.rows()], [2, 2]);
            assert!(x.update().is_ok());
        });
        with(&[a, b], tensor(data, 11), true, &[], |x| {
            assert_eq!(status(x), GUILD_STATUS_ERR_INVALID);
        });
        with(&[a, b], a, false, &[], |x| {
            assert_eq!(status(x), GUILD_STATUS_ERR_INVALID);
        });
        with(&[b, a], a, true, &[], |x| {
            assert_eq!(status(x), GUILD_STATUS_ERR_INVALID);
        });
        with(&[a, b], a, true, &[], |x| {
            let x = x.unwrap();
            assert_eq!(status(x.input(0)), GUILD_STATUS_ERR_INTERNAL);
            assert_eq!(status(x.weight(0)), GUILD_STATUS_ERR_INTERNAL);
            assert_eq!(status(x.output(0)), GUILD_STATUS_ERR_INTERNAL);
            assert!(x.update().is_ok() && x.input(1).is_ok());
            assert_eq!(status(x.update()), GUILD_STATUS_ERR_INTERNAL);
        });
    }

    #[test]
    fn operands_that_break_the_contract_are_refused() {
        let mut memory = [0.0f32; 36];
        let data = memory.as_mut_ptr();
        let breaks: [fn(&mut guild_tensor); 16] = [
            |t| t.size = 8,
            |t| t.rank = 0,
            |t| t.rank = 7,
            |t| t.format = 2,
            |t| t.format = 999,
            |t| t.space = 2,
            |t| t.byte_len = 31,
            |t| t.byte_len = u64::MAX,
            |t| t.shape[0] = 1,
            |t| t.shape[1] = u64::MAX,
            |t| t.stride[0] = -16,
            |t| t.stride[0] = i64::MAX,
            |t| t.stride[0] = 14,
            |t| t.stride[1] = 8,
            |t| t.data = core::ptr::null_mut(),
            |t| t.data = t.data.wrapping_byte_add(2),
        ];
        for (at, break_it) in breaks.iter().enumerate() {
            let mut bad = tensor(data, 0);
            break_it(&mut bad);
            with(&[bad], tensor(data, 24), false, &[], |x| {
                let read = x.and_then(|x| x.input(0).map(|_| ()));
                assert_eq!(status(read), GUILD_STATUS_ERR_INVALID, "tensor {at}");
            });
        }
    }

    #[test]
    fn rows_may_overlap_where_they_are_read_but_not_where_they_are_written() {
        let mut memory = [0.0f32; 36];
        let data = memory.as_mut_ptr();
        let mut broadcast = tensor(data, 0);
        broadcast.stride[0] = 0;
        with(&[broadcast], tensor(data, 24), false, &[], |x| {
            assert!(x.unwrap().input(0).is_ok());
        });
        with(&[tensor(data, 24)], broadcast, false, &[], |x| {
            assert_eq!(status(x.unwrap().output(0)), GUILD_STATUS_ERR_INVALID);
        });
    }

    #[test]
    fn missing_scratch_is_too_small() {
        let mut memory = [0.0f32; 36];
        let data = memory.as_mut_ptr();
        let slot = ScratchSlot {
            bytes: 64,
            align: 64,
            lifetime: 2,
        };
        with(&[tensor(data, 0)], tensor(data, 12), false, &[slot], |x| {
            assert_eq!(status(x), GUILD_STATUS_ERR_SCRATCH_SMALL);
        });
    }
}
