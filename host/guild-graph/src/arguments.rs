//! A node's operands in the ABI's terms, at fixed addresses: tensors, states and parameters.

use core::ffi::c_void;

use guild_abi::abi::{
    GUILD_SPACE_HOST, GUILD_TENSOR_CONTIGUOUS, GUILD_TENSOR_DYNAMIC_ROWS, GUILD_TENSOR_READ_ONLY,
    guild_quant, guild_state, guild_tensor,
};

use crate::arena::FixedTable;
use crate::format::ElementFormat;
use crate::graph::{Node, Origin, Section, Value};
use crate::shape::AXES_MAX;
use crate::sizes::Sizes;

/// Where operands lie. Null where nothing is allocated yet.
pub(crate) trait Addresses {
    /// The first element of a value; of its root for a view.
    fn value(&self, root: usize) -> *mut c_void;

    /// The first page or slot of a state.
    fn state(&self, state: usize) -> *mut c_void;
}

/// The operand tables of one node. Nothing in them changes after `new`.
pub(crate) struct Arguments {
    /// What `inputs` and `outputs` point to, inputs first; read by plugins only.
    _tensors: FixedTable<guild_tensor>,
    inputs: FixedTable<*const guild_tensor>,
    outputs: FixedTable<*mut guild_tensor>,
    states: FixedTable<guild_state>,
    state_pointers: FixedTable<*const guild_state>,
    params: FixedTable<u64>,
    params_size: usize,
    /// What `guild_tensor.quant` points to; read by plugins only.
    _quants: FixedTable<guild_quant>,
}

impl Arguments {
    /// Fills the tables for `node`.
    pub(crate) fn new(
        section: &Section,
        node: &Node,
        sizes: &Sizes,
        addresses: &dyn Addresses,
    ) -> Arguments {
        let operands: Vec<usize> = node.inputs.iter().chain(&node.outputs).copied().collect();
        let quants = operands.iter().map(|value| quant(&section.values[*value]));
        let quants = FixedTable::new(quants.collect());
        let tensors = operands.iter().enumerate().map(|(operand, value)| {
            let value = &section.values[*value];
            let root = section.root(operands[operand]);
            tensor(value, sizes, addresses.value(root), quants.at(operand))
        });
        let tensors = FixedTable::new(tensors.collect());
        let states = node.states.iter().map(|state| {
            let data = addresses.state(*state);
            sizes.state(&section.states[*state]).raw(data)
        });
        let states = FixedTable::new(states.collect());
        let n_in = node.inputs.len();
        Arguments {
            inputs: FixedTable::new((0..n_in).map(|i| tensors.at(i).cast_const()).collect()),
            outputs: FixedTable::new(
                (0..node.outputs.len())
                    .map(|i| tensors.at(n_in + i))
                    .collect(),
            ),
            state_pointers: FixedTable::new(
                (0..states.len())
                    .map(|i| states.at(i).cast_const())
                    .collect(),
            ),
            params: FixedTable::new(node.params.words().to_vec()),
            params_size: node.params.size(),
            _tensors: tensors,
            states,
            _quants: quants,
        }
    }

    /// Bytes of the tables of `node`.
    pub(crate) fn bytes(node: &Node) -> u64 {
        let operand =
            size_of::<guild_tensor>() + size_of::<guild_quant>() + size_of::<*mut c_void>();
        let state = size_of::<guild_state>() + size_of::<*mut c_void>();
        let operands = (node.inputs.len() + node.outputs.len()) * operand;
        let params = size_of_val(node.params.words());
        (operands + node.states.len() * state + params) as u64
    }

    /// Table of inputs and its length.
    pub(crate) fn inputs(&self) -> (*const *const guild_tensor, u32) {
        (self.inputs.as_ptr(), self.inputs.len() as u32)
    }

    /// Table of outputs and its length.
    pub(crate) fn outputs(&self) -> (*const *mut guild_tensor, u32) {
        (self.outputs.as_ptr(), self.outputs.len() as u32)
    }

    /// Table of states and its length.
    pub(crate) fn states(&self) -> (*const *const guild_state, u32) {
        (self.state_pointers.as_ptr(), self.states.len() as u32)
    }

    /// The parameter struct and its bytes; null without one.
    pub(crate) fn params(&self) -> (*const c_void, u64) {
        match self.params_size {
            0 => (core::ptr::null(), 0),
            size => (self.params.as_ptr().cast_const().cast(), size as u64),
        }
    }
}

fn tensor(
    value: &Value,
    sizes: &Sizes,
    root: *mut c_void,
    quant: *const guild_quant,
) -> guild_tensor {
    let format = ElementFormat::by_number(value.format);
    let blocked = format.is_some_and(|format| format.element_bytes().is_none());
    let mut flags = 0;
    if value.contiguous() {
        flags |= GUILD_TENSOR_CONTIGUOUS;
    }
    if value.shape.leading().is_some() {
        flags |= GUILD_TENSOR_DYNAMIC_ROWS;
    }
    if matches!(value.origin, Origin::Weight { .. } | Origin::Input(_)) {
        flags |= GUILD_TENSOR_READ_ONLY;
    }
    let content_id = match value.origin {
        Origin::Weight { content_id, .. } => content_id,
        Origin::Input(_) | Origin::Node { .. } | Origin::View { .. } => 0,
    };
    let mut shape = [1; AXES_MAX];
    for (axis, dim) in shape.iter_mut().zip(value.shape.dims()) {
        *axis = sizes.bound(*dim);
    }
    guild_tensor {
        size: size_of::<guild_tensor>() as u32,
        rank: value.shape.rank() as u8,
        space: GUILD_SPACE_HOST,
        flags,
        pad0: 0,
        device: 0,
        format: value.format,
        byte_len: sizes.reach_bytes(value),
        data: offset(root, sizes.view_offset_bytes(value)),
        shape,
        stride: strides(value),
        quant: if blocked { quant } else { core::ptr::null() },
        content_id,
        reserved: [0; 2],
    }
}

/// A null address stays null.
fn offset(root: *mut c_void, bytes: u64) -> *mut c_void {
    if root.is_null() {
        return root;
    }
    root.wrapping_byte_add(bytes as usize)
}

/// Byte strides; on the innermost axis of a block format from one block to the next.
fn strides(value: &Value) -> [i64; AXES_MAX] {
    let (block_elems, block_bytes) =
        ElementFormat::by_number(value.format).map_or((1, 0), ElementFormat::block);
    let mut strides = [0; AXES_MAX];
    let innermost = value.shape.rank() - 1;
    for (axis, elements) in value.strides.iter().enumerate() {
        let bytes = if axis == innermost && block_elems > 1 {
            block_bytes
        } else {
            elements / block_elems * block_bytes
        };
        strides[axis] = bytes as i64;
    }
    strides
}

fn quant(value: &Value) -> guild_quant {
    let (block_elems, block_bytes) =
        ElementFormat::by_number(value.format).map_or((1, 0), ElementFormat::block);
    guild_quant {
        size: size_of::<guild_quant>() as u32,
        format: value.format,
        block_elems: block_elems as u32,
        block_bytes: block_bytes as u32,
        axis: value.shape.rank() as u16 - 1,
        layout: 0,
        group: 0,
        scale: core::ptr::null(),
        zero: core::ptr::null(),
        scale_bytes: 0,
        zero_bytes: 0,
        reserved: [0; 2],
    }
}
