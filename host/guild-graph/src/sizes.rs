//! Bytes of values and states under the maxima of a plan.

use core::ffi::c_void;

use guild_abi::abi::{
    GUILD_PAGE_POSITIONS, GUILD_STATE_APPEND, GUILD_STATE_RECURRENT, guild_state,
};

use crate::arena::ALIGNMENT_BYTES;
use crate::error::GraphError;
use crate::format::ElementFormat;
use crate::graph::{Origin, Section, State, StateKind, Value};
use crate::options::BindOptions;
use crate::shape::Dim;

/// Turns shapes into bytes. `check` has made sure that no product below overflows.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    options: BindOptions,
}

/// The most bytes of all values and states together: what an address can hold, with room for padding.
const BYTES_MAX: u64 = 1 << 56;

impl Sizes {
    /// Checks that the values and states of `section` have sizes that fit.
    pub(crate) fn new(section: &Section, options: &BindOptions) -> Result<Sizes, GraphError> {
        options.check()?;
        let sizes = Sizes { options: *options };
        let values = section
            .values
            .iter()
            .map(|value| sizes.checked_bytes(value));
        let states = section
            .states
            .iter()
            .map(|state| sizes.checked_state_bytes(state));
        let total = values
            .chain(states)
            .try_fold(0u64, |sum, bytes| sum.checked_add(bytes?));
        match total {
            Some(bytes) if bytes <= BYTES_MAX => {}
            other => {
                return Err(GraphError::Memory {
                    what: "the graph",
                    bytes: other.unwrap_or(u64::MAX),
                });
            }
        }
        Ok(sizes)
    }

    /// The options that the sizes are for.
    pub(crate) fn options(&self) -> &BindOptions {
        &self.options
    }

    /// The largest length of an axis.
    pub(crate) fn bound(&self, dim: Dim) -> u64 {
        match dim {
            Dim::Rows => self.options.max_rows,
            Dim::Outputs => self.options.max_outputs,
            Dim::Fixed(number) => number,
        }
    }

    /// Bytes of a value that is no view.
    pub(crate) fn bytes(&self, value: &Value) -> u64 {
        self.checked_bytes(value).unwrap_or(u64::MAX)
    }

    /// Bytes from a value's first to its last element, both included.
    pub(crate) fn reach_bytes(&self, value: &Value) -> u64 {
        if !matches!(value.origin, Origin::View { .. }) {
            return self.bytes(value);
        }
        let axes = value.shape.dims().iter().zip(&value.strides);
        let last: u64 = axes
            .map(|(dim, stride)| (self.bound(*dim) - 1) * stride)
            .sum();
        (last + 1) * element_bytes(value.format)
    }

    /// Bytes from the start of a view's root to its first element; 0 for other values.
    pub(crate) fn view_offset_bytes(&self, value: &Value) -> u64 {
        match value.origin {
            Origin::View { offset, .. } => offset * element_bytes(value.format),
            Origin::Weight { .. } | Origin::Input(_) | Origin::Node { .. } => 0,
        }
    }

    /// Pages or slots of a state.
    pub(crate) fn state(&self, state: &State) -> StateSize {
        let format = state.format_or(self.options.kv_format.number());
        let mut shape = [1; 4];
        let (kind, count) = match state.kind {
            StateKind::Append => (GUILD_STATE_APPEND, self.options.pages()),
            StateKind::Recurrent => (GUILD_STATE_RECURRENT, self.options.slots()),
        };
        for (axis, dim) in shape.iter_mut().zip(page_or_slot(state)) {
            *axis = dim;
        }
        let bytes = shape.iter().product::<u64>() * element_bytes(format);
        StateSize {
            kind,
            format,
            shape,
            count,
            stride_bytes: bytes.next_multiple_of(ALIGNMENT_BYTES),
        }
    }

    fn checked_bytes(&self, value: &Value) -> Option<u64> {
        let (block_elems, block_bytes) = ElementFormat::by_number(value.format)?.block();
        let leading = value.shape.leading().map_or(1, |dim| self.bound(dim));
        let elements = value.shape.fixed_elements().checked_mul(leading)?;
        (elements / block_elems).checked_mul(block_bytes)
    }

    fn checked_state_bytes(&self, state: &State) -> Option<u64> {
        let format = state.format_or(self.options.kv_format.number());
        let elements = page_or_slot(state)
            .into_iter()
            .try_fold(1u64, u64::checked_mul)?;
        let bytes = elements.checked_mul(element_bytes(format))?;
        let stride = bytes.checked_next_multiple_of(ALIGNMENT_BYTES)?;
        stride.checked_mul(self.options.pages().max(self.options.slots()))
    }
}

/// The memory of one state.
#[derive(Clone, Copy)]
pub(crate) struct StateSize {
    kind: u32,
    format: u32,
    shape: [u64; 4],
    /// Pages or slots.
    pub(crate) count: u64,
    /// Bytes from one page or slot to the next.
    pub(crate) stride_bytes: u64,
}

impl StateSize {
    /// Bytes of all pages or slots.
    pub(crate) fn bytes(&self) -> u64 {
        self.count * self.stride_bytes
    }

    /// The state operand whose first page or slot is at `data`.
    pub(crate) fn raw(&self, data: *mut c_void) -> guild_state {
        guild_state {
            size: size_of::<guild_state>() as u32,
            kind: self.kind,
            format: self.format,
            count: u32::try_from(self.count).unwrap_or(u32::MAX),
            data,
            stride: self.stride_bytes,
            shape: self.shape,
            reserved: [0; 2],
        }
    }
}

/// Bytes of one element; block formats have none, and only weights use them.
fn element_bytes(format: u32) -> u64 {
    let format = ElementFormat::by_number(format);
    format.and_then(ElementFormat::element_bytes).unwrap_or(0)
}

/// Axes of a page `[kv_heads, 256, head_dim]` or of a slot.
fn page_or_slot(state: &State) -> Vec<u64> {
    let mut shape = state.shape.clone();
    if state.kind == StateKind::Append {
        shape.insert(1, GUILD_PAGE_POSITIONS.into());
    }
    shape
}
