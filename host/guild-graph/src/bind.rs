//! From a plan to a bound plan: memory, argument blocks and prepared instances.

use core::ffi::c_void;
use std::sync::Arc;

use guild_model::ModelSource;

use crate::arena::AlignedBuffer;
use crate::arguments::Addresses;
use crate::batch::Batch;
use crate::describe::Described;
use crate::error::GraphError;
use crate::error_buffer::ErrorBuffer;
use crate::execute::{BoundPlan, Memory, NodeFacts, Parts, Step};
use crate::graph::{InputKind, Origin, OutputKind, Section};
use crate::instance::{Bound, Shared};
use crate::memory::{MemoryPlan, Region};
use crate::options::BindOptions;
use crate::parallel::ParallelFor;
use crate::plan::Plan;
use crate::registry::Registry;
use crate::report::Phase;
use crate::select::Choice;
use crate::state::StatePools;
use crate::traffic::read_by;
use crate::weights::WeightAddresses;

/// Plans a described model and binds the plan; see [`crate::plan()`] and [`Plan::bind`].
///
/// # Errors
/// Those of both.
pub fn bind(
    described: &Described,
    model: Arc<dyn ModelSource>,
    registry: &dyn Registry,
    options: &BindOptions,
    par: ParallelFor,
) -> Result<BoundPlan, GraphError> {
    crate::plan(described, model, registry, options)?.bind(par)
}

impl Plan<'_> {
    /// Binds the plan: reserves all memory, as much as the report says, and prepares every instance.
    /// The bound plan keeps the model and `par` alive.
    ///
    /// # Errors
    /// [`GraphError::Memory`] where the system has too little; [`GraphError::Provider`] where an
    /// instance can't be prepared.
    pub fn bind(mut self, par: ParallelFor) -> Result<BoundPlan, GraphError> {
        let memory = self.reserve()?;
        let places = Places {
            section: self.section,
            weights: &self.weights,
            memory: &memory,
            plan: &self.memory,
        };
        let shared = Shared {
            section: self.section,
            sizes: &self.sizes,
            addresses: &places,
            persist_scratch: &memory.persist_scratch,
            call_scratch: &memory.call_scratch,
            batch: memory.batch.raw(),
            par: par.raw(),
            err: memory.errors.raw(),
        };
        let created = core::mem::take(&mut self.created);
        let bound = created.into_iter().map(|one| one.prepare(&shared));
        let bound = bound.collect::<Result<Vec<_>, _>>()?;
        let steps = Phase::ALL.map(|phase| steps(self.section, &self.choices, &bound, phase));
        Ok(BoundPlan::new(Parts {
            steps,
            bound,
            logits: self.result(OutputKind::Logits),
            hidden: self.result(OutputKind::Hidden),
            nodes: self.facts(),
            report: self.report,
            memory,
            times: None,
            model: self.model,
            par,
        }))
    }

    /// Reserves all memory that steps share.
    fn reserve(&self) -> Result<Memory, GraphError> {
        let (plan, scratch) = (&self.memory, self.scratch);
        let memory = Memory {
            arena: AlignedBuffer::zeroed("the arena of values", plan.arena_bytes)?,
            outputs: AlignedBuffer::zeroed("the outputs", plan.outputs_bytes)?,
            persist_scratch: AlignedBuffer::zeroed(
                "the scratch of operations",
                scratch.persist_bytes,
            )?,
            call_scratch: AlignedBuffer::zeroed("the scratch of a call", scratch.call_bytes)?,
            states: StatePools::new(self.section, &self.sizes)?,
            batch: Batch::new(self.sizes.options()),
            errors: ErrorBuffer::new(),
        };
        Ok(memory)
    }

    /// What the bound plan tells of each node.
    fn facts(&self) -> Vec<NodeFacts> {
        let nodes = self.section.nodes.iter();
        let facts = nodes.map(|node| NodeFacts {
            operation: format!("{}@{}", node.operation, node.version),
            layer: node.layer,
            weights_read_bytes: read_by(self.section, &self.sizes, node),
        });
        facts.collect()
    }

    /// Where a result lies in the outputs' region, and its row length.
    fn result(&self, kind: OutputKind) -> Option<(u64, u64)> {
        let value = self.section.output(kind)?;
        let place = self.memory.places[value].filter(|place| place.region == Region::Outputs)?;
        Some((
            place.offset,
            self.section.values[value].shape.fixed_elements(),
        ))
    }
}

/// The pointers of one phase, in the order of the nodes.
fn steps(section: &Section, choices: &[Choice], bound: &[Bound], phase: Phase) -> Vec<Step> {
    let mut first = 0;
    let mut steps = Vec::with_capacity(section.nodes.len());
    for (node, choice) in section.nodes.iter().zip(choices) {
        let instance = first + choice.by_phase[phase.index()];
        steps.push(Step::new(&bound[instance], instance, node.rows));
        first += choice.providers.len();
    }
    steps
}

/// The addresses of everything that steps work on.
struct Places<'p> {
    section: &'p Section,
    weights: &'p WeightAddresses,
    memory: &'p Memory,
    plan: &'p MemoryPlan,
}

impl Addresses for Places<'_> {
    fn value(&self, root: usize) -> *mut c_void {
        match self.section.values[root].origin {
            Origin::Weight { .. } => self.weights.get(root),
            Origin::Input(InputKind::Tokens) => self.memory.batch.tokens_ptr().cast(),
            Origin::Input(InputKind::OutputRows) => self.memory.batch.output_rows_ptr().cast(),
            // Main sections have no hidden input, and a root is no view.
            Origin::Input(InputKind::Hidden) | Origin::View { .. } => core::ptr::null_mut(),
            Origin::Node { .. } => match self.plan.places[root] {
                Some(place) if place.region == Region::Outputs => {
                    self.memory.outputs.at(place.offset)
                }
                Some(place) => self.memory.arena.at(place.offset),
                None => core::ptr::null_mut(),
            },
        }
    }

    fn state(&self, state: usize) -> *mut c_void {
        self.memory.states.address(state)
    }
}
