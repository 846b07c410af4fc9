//! One provider's instance for one node: its scratch, its argument block, its function.

use core::ffi::c_void;
use core::mem::offset_of;

use guild_abi::abi::{
    GUILD_SCRATCH_CALL, GUILD_SCRATCH_PERSIST, GUILD_SPACE_HOST, GUILD_STATUS_ERR_INVALID,
    guild_batch, guild_err, guild_exec, guild_par, guild_scratch_slot,
};

use crate::arena::{ALIGNMENT_BYTES, AlignedBuffer, FixedTable};
use crate::arguments::{Addresses, Arguments};
use crate::call::{CallFailure, ExecuteFn, Instance};
use crate::error::{GraphError, ProviderFailure};
use crate::graph::{Node, Section};
use crate::registry::Candidate;
use crate::report::Phase;
use crate::request::Request;
use crate::shape::Dim;
use crate::sizes::Sizes;

/// An instance with its scratch laid out; not yet prepared, and without memory.
pub(crate) struct Created {
    node: usize,
    candidate: Candidate,
    instance: Instance,
    scratch: Vec<ScratchPlace>,
    /// Scratch that only this instance uses.
    persist: Extent,
    /// Where that scratch starts in the region of all instances; set by [`Scratch::add`].
    persist_at: u64,
    /// Scratch that all instances share.
    call: Extent,
}

/// The scratch of a plan's instances: one region that keeps what each has for itself side by side,
/// and one that all of them use in turn. Both begin at a page, the most alignment of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scratch {
    /// Bytes of the first region.
    pub(crate) persist_bytes: u64,
    /// Bytes of the second.
    pub(crate) call_bytes: u64,
}

impl Scratch {
    /// Makes room for an instance and tells it where its own scratch lies. A sum that overflows ends
    /// at the largest number, which no system can reserve.
    pub(crate) fn add(&mut self, created: &mut Created) {
        let Extent { bytes, align } = created.persist;
        if bytes > 0 {
            let start = self.persist_bytes.checked_next_multiple_of(align);
            created.persist_at = start.unwrap_or(u64::MAX);
            self.persist_bytes = created.persist_at.saturating_add(bytes);
        }
        self.call_bytes = self.call_bytes.max(created.call.bytes);
    }
}

/// Where a scratch buffer lies: bytes from the start of its region.
#[derive(Clone, Copy)]
enum ScratchPlace {
    Persist(u64),
    Call(u64),
}

/// What every argument block of a plan shares.
pub(crate) struct Shared<'p> {
    pub(crate) section: &'p Section,
    pub(crate) sizes: &'p Sizes,
    pub(crate) addresses: &'p dyn Addresses,
    pub(crate) persist_scratch: &'p AlignedBuffer,
    pub(crate) call_scratch: &'p AlignedBuffer,
    pub(crate) batch: *const guild_batch,
    pub(crate) par: *const guild_par,
    pub(crate) err: *mut guild_err,
}

/// A prepared instance. Its argument block is built once and never changes.
pub(crate) struct Bound {
    /// Declared first, so that the instance ends before its memory.
    instance: Instance,
    pub(crate) function: ExecuteFn,
    exec: FixedTable<guild_exec>,
    /// The rest is what `exec` points to.
    _arguments: Arguments,
    _scratch: FixedTable<*mut c_void>,
    pub(crate) candidate: Candidate,
}

impl Created {
    /// Makes an instance for `phase`, the first that the provider was chosen for, and asks what scratch
    /// it needs.
    pub(crate) fn new(
        number: usize,
        node: &Node,
        candidate: &Candidate,
        request: &mut Request,
        phase: Phase,
    ) -> Result<Created, GraphError> {
        let failed = |failure| provider_error(node, candidate, failure);
        request.set_phase(phase);
        let mut instance = candidate
            .table
            .create(candidate.index, request)
            .map_err(failed)?;
        let slots = instance.scratch(request.bounds()).map_err(failed)?;
        let layout = lay_out(&slots).map_err(failed)?;
        Ok(Created {
            node: number,
            candidate: candidate.clone(),
            instance,
            scratch: layout.places,
            persist: layout.persist,
            persist_at: 0,
            call: layout.call,
        })
    }

    /// Bytes of the tables that [`Created::prepare`] makes for `node`.
    pub(crate) fn table_bytes(&self, node: &Node) -> u64 {
        let own = size_of::<Bound>() + size_of::<guild_exec>();
        let pointers = self.scratch.len() * size_of::<*mut c_void>();
        Arguments::bytes(node) + (own + pointers) as u64
    }

    /// Builds the argument block and prepares the instance.
    pub(crate) fn prepare(mut self, shared: &Shared<'_>) -> Result<Bound, GraphError> {
        let node = &shared.section.nodes[self.node];
        let arguments = Arguments::new(shared.section, node, shared.sizes, shared.addresses);
        let scratch = self.scratch.iter().map(|place| match place {
            ScratchPlace::Call(offset) => shared.call_scratch.at(*offset),
            ScratchPlace::Persist(offset) => shared.persist_scratch.at(self.persist_at + *offset),
        });
        let scratch = FixedTable::new(scratch.collect());
        let exec = FixedTable::new(vec![exec(node, &arguments, &scratch, shared)]);
        let function = self.instance.prepare();
        let function =
            function.map_err(|failure| provider_error(node, &self.candidate, failure))?;
        Ok(Bound {
            instance: self.instance,
            function,
            exec,
            _arguments: arguments,
            _scratch: scratch,
            candidate: self.candidate,
        })
    }
}

impl Bound {
    /// First argument of the function.
    pub(crate) fn inst(&self) -> *mut c_void {
        self.instance.raw()
    }

    /// Second argument of the function.
    pub(crate) fn exec(&self) -> *const guild_exec {
        self.exec.as_ptr()
    }
}

fn exec(
    node: &Node,
    arguments: &Arguments,
    scratch: &FixedTable<*mut c_void>,
    shared: &Shared<'_>,
) -> guild_exec {
    let (inputs, n_in) = arguments.inputs();
    let (outputs, n_out) = arguments.outputs();
    let (states, n_state) = arguments.states();
    let (params, params_size) = arguments.params();
    let rows = match node.rows {
        Dim::Outputs => offset_of!(guild_batch, outputs),
        Dim::Rows | Dim::Fixed(_) => offset_of!(guild_batch, rows),
    };
    guild_exec {
        size: size_of::<guild_exec>() as u32,
        flags: 0,
        n_in,
        n_out,
        inputs,
        outputs,
        n_state,
        n_scratch: scratch.len() as u32,
        states,
        scratch: scratch.as_ptr(),
        params,
        params_size,
        rows: shared.batch.wrapping_byte_add(rows).cast(),
        batch: shared.batch,
        stream: core::ptr::null(),
        par: shared.par,
        err: shared.err,
        reserved: [0; 2],
    }
}

#[derive(Clone, Copy)]
struct Extent {
    bytes: u64,
    align: u64,
}

struct Layout {
    places: Vec<ScratchPlace>,
    persist: Extent,
    call: Extent,
}

/// Lays the slots of each lifetime side by side.
fn lay_out(slots: &[guild_scratch_slot]) -> Result<Layout, CallFailure> {
    let empty = Extent {
        bytes: 0,
        align: ALIGNMENT_BYTES,
    };
    let mut layout = Layout {
        places: Vec::with_capacity(slots.len()),
        persist: empty,
        call: empty,
    };
    for (number, slot) in slots.iter().enumerate() {
        let wrong = |what: &str| CallFailure {
            call: "scratch",
            status: GUILD_STATUS_ERR_INVALID,
            text: format!("slot {number} has {what}"),
        };
        let place = match (slot.space, slot.lifetime) {
            (GUILD_SPACE_HOST, GUILD_SCRATCH_PERSIST) => {
                ScratchPlace::Persist(append(&mut layout.persist, slot, wrong)?)
            }
            (GUILD_SPACE_HOST, GUILD_SCRATCH_CALL) => {
                ScratchPlace::Call(append(&mut layout.call, slot, wrong)?)
            }
            (GUILD_SPACE_HOST, _) => return Err(wrong("an unknown lifetime")),
            _ => return Err(wrong("a memory space that this host doesn't have")),
        };
        layout.places.push(place);
    }
    Ok(layout)
}

/// The most alignment of a scratch buffer, in bytes: a page.
const SCRATCH_ALIGN_MAX: u64 = 4096;

fn append(
    extent: &mut Extent,
    slot: &guild_scratch_slot,
    wrong: impl Fn(&str) -> CallFailure,
) -> Result<u64, CallFailure> {
    let align = slot.align.max(ALIGNMENT_BYTES);
    if !align.is_power_of_two() || align > SCRATCH_ALIGN_MAX {
        return Err(wrong("an alignment that isn't a power of two up to 4096"));
    }
    let offset = extent.bytes.checked_next_multiple_of(align);
    let end = offset.and_then(|offset| offset.checked_add(slot.bytes));
    let (Some(offset), Some(end)) = (offset, end) else {
        return Err(wrong("a size that overflows"));
    };
    *extent = Extent {
        bytes: end,
        align: extent.align.max(align),
    };
    Ok(offset)
}

fn provider_error(node: &Node, candidate: &Candidate, failure: CallFailure) -> GraphError {
    GraphError::Provider(Box::new(ProviderFailure {
        provider: candidate.identity(),
        operation: format!("{}@{}", node.operation, node.version),
        node: node.name.clone(),
        layer: node.layer,
        call: failure.call,
        status: failure.status,
        text: failure.text,
    }))
}
