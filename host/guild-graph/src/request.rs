//! What a provider is asked for: a node's operands with their bounds, no activations yet.

use core::ffi::c_void;

use guild_abi::abi::{GUILD_KIND_OP_REQ, guild_bounds, guild_hdr, guild_op_req, guild_str};

use crate::arena::FixedTable;
use crate::arguments::{Addresses, Arguments};
use crate::graph::{Node, Section};
use crate::report::Phase;
use crate::sizes::Sizes;
use crate::weights::WeightAddresses;

/// A request for one node. The raw form borrows from it: it is valid while the request and the
/// model's weights are.
pub(crate) struct Request {
    name: String,
    version: u32,
    classes: u32,
    phase: Phase,
    arguments: Arguments,
    bounds: FixedTable<guild_bounds>,
}

impl Request {
    /// A request for `node`, for prefill until [`Request::set_phase`].
    pub(crate) fn new(
        section: &Section,
        node: &Node,
        sizes: &Sizes,
        weights: &WeightAddresses,
    ) -> Request {
        Request {
            name: node.operation.clone(),
            version: node.version,
            classes: sizes.options().classes,
            phase: Phase::Prefill,
            arguments: Arguments::new(section, node, sizes, &WeightsOnly(weights)),
            bounds: FixedTable::new(vec![sizes.options().bounds()]),
        }
    }

    /// Asks for another phase.
    pub(crate) fn set_phase(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// The maxima.
    pub(crate) fn bounds(&self) -> &guild_bounds {
        &self.bounds.as_slice()[0]
    }

    /// The ABI's struct.
    pub(crate) fn raw(&self) -> guild_op_req {
        let (inputs, n_in) = self.arguments.inputs();
        let (outputs, n_out) = self.arguments.outputs();
        let (states, n_state) = self.arguments.states();
        let (params, params_size) = self.arguments.params();
        guild_op_req {
            h: guild_hdr::new(size_of::<guild_op_req>(), GUILD_KIND_OP_REQ),
            name: guild_str::new(&self.name),
            version: self.version,
            phase: self.phase.bit(),
            params,
            params_size,
            n_in,
            n_out,
            n_state,
            classes: self.classes,
            inputs,
            outputs: outputs.cast(),
            states,
            bounds: self.bounds.as_ptr(),
            device: 0,
            reserved0: 0,
            reserved: [0; 2],
        }
    }
}

/// Before binding only weights have memory.
struct WeightsOnly<'w>(&'w WeightAddresses);

impl Addresses for WeightsOnly<'_> {
    fn value(&self, root: usize) -> *mut c_void {
        self.0.get(root)
    }

    fn state(&self, _state: usize) -> *mut c_void {
        core::ptr::null_mut()
    }
}
