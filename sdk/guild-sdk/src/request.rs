//! A safe view of `guild_op_req`: what the host asks a kernel for.
#![allow(unsafe_code)]

use crate::kernel::Failure;
use crate::sized;
use crate::tensor::{Gaps, Weight};
use guild_abi::abi::{
    GUILD_TENSOR_DYNAMIC_ROWS, guild_op_req, guild_quant, guild_state, guild_tensor,
};
use guild_abi::core_ops::{
    guild_attention_params, guild_conv_params, guild_delta_params, guild_experts_params,
    guild_norm_params, guild_rope_params, guild_route_params,
};
use guild_abi::formats::GUILD_LAYOUT_FILE;
use std::borrow::Cow;

/// Operands of each kind that one request may have.
pub(crate) const OPERANDS_MAX: usize = 64;

/// Maxima that scratch and instances are sized for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Rows in one call.
    pub max_rows: usize,
    /// Output rows in one call.
    pub max_outputs: usize,
    /// Sequences in one call.
    pub max_sequences: usize,
    /// Positions of one sequence.
    pub max_positions: usize,
    /// Workers of the thread pool, at least 1.
    pub workers: usize,
}

/// An operand of a request: format and shape, without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// One of `GUILD_FORMAT_*`.
    pub format: u32,
    /// Axes in use, 1 to 6.
    pub rank: usize,
    /// Elements along each axis, outermost first; unused axes are 0.
    pub shape: [usize; 6],
    /// Bytes from one element (block) to the next along each axis.
    pub stride: [i64; 6],
    /// Whether axis 0 is the number of rows of a call; `shape[0]` is then its bound.
    pub dynamic_rows: bool,
    /// One of `GUILD_LAYOUT_*`.
    pub layout: u16,
}

impl TensorInfo {
    /// Elements along the axes in use.
    #[must_use]
    pub fn axes(&self) -> &[usize] {
        &self.shape[..self.rank]
    }

    /// Elements along the last axis.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.shape[self.rank - 1]
    }
}

/// A state operand of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateInfo {
    /// `GUILD_STATE_APPEND` or `GUILD_STATE_RECURRENT`.
    pub kind: u32,
    /// One of `GUILD_FORMAT_*`.
    pub format: u32,
    /// Shape of one page or slot; unused axes are 1.
    pub shape: [usize; 4],
}

/// What the host asks a kernel for. Made by the shims, for `supports` and `create`.
#[derive(Debug)]
pub struct Request<'a> {
    /// Operation without its version.
    pub name: &'a str,
    /// Version wanted.
    pub version: u32,
    /// One of `GUILD_PHASE_*`.
    pub phase: u32,
    /// `GUILD_CLASS_*` bits that the policy accepts.
    pub classes: u32,
    /// Device number; 0 is the host.
    pub device: u32,
    /// Inputs in the contract's order, weights included.
    pub inputs: Vec<TensorInfo>,
    /// Outputs in the contract's order.
    pub outputs: Vec<TensorInfo>,
    /// States in the contract's order.
    pub states: Vec<StateInfo>,
    /// Maxima.
    pub bounds: Bounds,
    params: &'a [u8],
    operands: &'a [*const guild_tensor],
}

impl<'a> Request<'a> {
    /// The operation's parameters.
    ///
    /// # Errors
    /// `INVALID` where the caller's struct is shorter than `T`.
    pub fn params<T: Params>(&self) -> Result<T, Failure> {
        read_params(self.params)
    }

    /// Input `index` as a weight. Only `create` is given the bytes of weights.
    ///
    /// # Errors
    /// `INVALID` where there is none, it has no bytes, or they don't hold its shape.
    pub fn weight(&self, index: usize) -> Result<Weight<'a>, Failure> {
        let Some(&operand) = self.operands.get(index) else {
            return Err(Failure::invalid("an input operand is missing"));
        };
        // SAFETY: `list` refused null, and the host keeps its tensors valid during `'a`.
        let tensor = unsafe { &*operand };
        if tensor.data.is_null() {
            return Err(Failure::invalid("a weight has no bytes in this request"));
        }
        // SAFETY: as above; nothing writes a weight.
        unsafe { Weight::new(tensor, Gaps::None) }
    }

    /// Reads and checks a request.
    ///
    /// # Safety
    /// `from` is null, or points to a request whose pointers are valid during `'a`, as `abi.h` says.
    pub(crate) unsafe fn read(from: *const guild_op_req) -> Result<Request<'a>, Failure> {
        // SAFETY: the caller's promise.
        let raw = unsafe { sized::read(from, "the request") }?;
        // SAFETY: the host keeps the text valid during the call.
        let name = unsafe { raw.name.as_str() }
            .ok_or_else(|| Failure::invalid("the operation's name isn't UTF-8"))?;
        let (params, size) = (raw.params.cast::<u8>(), raw.params_size as usize);
        let params: &[u8] = if params.is_null() || size == 0 {
            &[]
        } else {
            // SAFETY: the host keeps `params_size` bytes valid during the call.
            unsafe { core::slice::from_raw_parts(params, size) }
        };
        // SAFETY: the host's arrays hold as many pointers as their counts say, all valid.
        let (inputs, outputs, states) = unsafe {
            (
                list(raw.inputs, raw.n_in, tensor_info)?,
                list(raw.outputs, raw.n_out, tensor_info)?,
                list(raw.states, raw.n_state, |state| Ok(state_info(state)))?,
            )
        };
        let operands: &[*const guild_tensor] = if inputs.is_empty() {
            &[]
        } else {
            // SAFETY: `list` has read as many pointers from it.
            unsafe { core::slice::from_raw_parts(raw.inputs, inputs.len()) }
        };
        let bounds = if raw.bounds.is_null() {
            Bounds {
                workers: 1,
                ..Bounds::default()
            }
        } else {
            // SAFETY: not null, so the host's bounds are valid during the call.
            unsafe { Bounds::read(raw.bounds) }?
        };
        Ok(Request {
            name,
            version: raw.version,
            phase: raw.phase,
            classes: raw.classes,
            device: raw.device,
            inputs,
            outputs,
            states,
            bounds,
            params,
            operands,
        })
    }
}

impl Bounds {
    /// Reads the host's struct.
    ///
    /// # Safety
    /// `from` is null, or points to bounds as long as their header says.
    pub(crate) unsafe fn read(
        from: *const guild_abi::abi::guild_bounds,
    ) -> Result<Bounds, Failure> {
        // SAFETY: the caller's promise.
        let raw = unsafe { sized::read(from, "the bounds") }?;
        Ok(Bounds {
            max_rows: raw.max_rows as usize,
            max_outputs: raw.max_outputs as usize,
            max_sequences: raw.max_sequences as usize,
            max_positions: raw.max_positions as usize,
            workers: (raw.workers as usize).max(1),
        })
    }
}

/// A parameter struct of a core operation.
///
/// # Safety
/// `repr(C)`, and every byte string of its size is a value.
pub unsafe trait Params: Copy {}

// SAFETY: `repr(C)` structs of integers and floats without padding.
unsafe impl Params for guild_norm_params {}
// SAFETY: as above.
unsafe impl Params for guild_rope_params {}
// SAFETY: as above.
unsafe impl Params for guild_attention_params {}
// SAFETY: as above.
unsafe impl Params for guild_conv_params {}
// SAFETY: as above.
unsafe impl Params for guild_delta_params {}
// SAFETY: as above.
unsafe impl Params for guild_route_params {}
// SAFETY: as above.
unsafe impl Params for guild_experts_params {}

/// Reads a parameter struct from its bytes.
pub(crate) fn read_params<T: Params>(bytes: &[u8]) -> Result<T, Failure> {
    if bytes.len() < size_of::<T>() {
        return Err(Failure::invalid(Cow::Borrowed(
            "the parameter struct is missing or shorter than the operation's",
        )));
    }
    // SAFETY: `bytes` holds a whole `T`, and any bytes are one (`Params`); the read may be unaligned.
    Ok(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// Reads an array of pointers.
///
/// # Safety
/// `items` points to `count` pointers, each null or valid for reading.
unsafe fn list<T, U>(
    items: *const *const T,
    count: u32,
    read: impl Fn(&T) -> Result<U, Failure>,
) -> Result<Vec<U>, Failure> {
    let count = count as usize;
    if count == 0 {
        return Ok(Vec::new());
    }
    if items.is_null() || count > OPERANDS_MAX {
        return Err(Failure::invalid(format!(
            "{count} operands: the list is null or longer than {OPERANDS_MAX}"
        )));
    }
    // SAFETY: not null, and the caller promises `count` pointers.
    let items = unsafe { core::slice::from_raw_parts(items, count) };
    items
        .iter()
        .map(|&item| {
            // SAFETY: the caller promises that each is null or valid.
            let item = unsafe { item.as_ref() };
            read(item.ok_or_else(|| Failure::invalid("an operand is null"))?)
        })
        .collect()
}

fn tensor_info(tensor: &guild_tensor) -> Result<TensorInfo, Failure> {
    let rank = usize::from(tensor.rank);
    if !(1..=6).contains(&rank) {
        return Err(Failure::invalid(format!("a tensor has rank {rank}")));
    }
    let mut shape = [0; 6];
    for (to, &from) in shape.iter_mut().zip(&tensor.shape).take(rank) {
        *to = usize::try_from(from)
            .ok()
            .filter(|&n| n <= isize::MAX as usize)
            .ok_or_else(|| Failure::invalid("an axis is longer than the address space"))?;
    }
    Ok(TensorInfo {
        format: tensor.format,
        rank,
        shape,
        stride: tensor.stride,
        dynamic_rows: tensor.flags & GUILD_TENSOR_DYNAMIC_ROWS != 0,
        // SAFETY: null, or the host keeps the description valid during the call.
        layout: unsafe { layout(tensor.quant) },
    })
}

/// The layout of a description that may be older than the field, and shorter.
///
/// # Safety
/// `quant` is null, or points to a description as long as its `size` says.
unsafe fn layout(quant: *const guild_quant) -> u16 {
    if quant.is_null() {
        return GUILD_LAYOUT_FILE;
    }
    // SAFETY: the caller's promise; `size` is the first field. No reference is made to what may not be there.
    let size = unsafe { (&raw const (*quant).size).read() };
    if (size as usize) < core::mem::offset_of!(guild_quant, group) {
        return GUILD_LAYOUT_FILE;
    }
    // SAFETY: the field lies before `group`, so the description has it.
    unsafe { (&raw const (*quant).layout).read() }
}

fn state_info(state: &guild_state) -> StateInfo {
    StateInfo {
        kind: state.kind,
        format: state.format,
        shape: state.shape.map(|n| usize::try_from(n).unwrap_or(0)),
    }
}
