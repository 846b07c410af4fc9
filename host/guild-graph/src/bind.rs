//! From a plan to a bound plan: instances, memory and argument blocks.

use core::ffi::c_void;
use std::sync::Arc;

use guild_model::ModelSource;

use crate::arena::AlignedBuffer;
use crate::arguments::Addresses;
use crate::batch::Batch;
use crate::describe::Described;
use crate::error::GraphError;
use crate::error_buffer::ErrorBuffer;
use crate::execute::{BoundPlan, Memory, Parts, Step};
use crate::graph::{InputKind, Node, Origin, OutputKind, Section};
use crate::instance::{Bound, Created, Shared};
use crate::memory::{MemoryPlan, Region};
use crate::options::BindOptions;
use crate::parallel::ParallelFor;
use crate::plan::{Plan, main_section};
use crate::registry::Registry;
use crate::report::Phase;
use crate::select::Choice;
use crate::state::StatePools;
use crate::weights::WeightAddresses;

/// Plans a described model and binds it: every provider's instance is made and prepared, all memory
/// is reserved. The plan keeps `model` and `par` alive.
///
/// A provider that was chosen for several phases of a node gets one instance for all of them; its
/// request names the first.
///
/// # Errors
/// Those of [`crate::plan`]; [`GraphError::Provider`] where a chosen provider fails: no other one
/// takes its place.
pub fn bind(
    described: &Described,
    model: Arc<dyn ModelSource>,
    registry: &dyn Registry,
    options: &BindOptions,
    par: ParallelFor,
) -> Result<BoundPlan, GraphError> {
    let mut plan = Plan::new(described, &*model, registry, options)?;
    let section = main_section(described);
    let created = create(section, &mut plan)?;
    let memory = reserve(section, &mut plan, &created)?;
    let places = Places {
        section,
        weights: &plan.weights,
        memory: &memory,
        plan: &plan.memory,
    };
    let shared = Shared {
        section,
        sizes: &plan.sizes,
        addresses: &places,
        call_scratch: &memory.call_scratch,
        batch: memory.batch.raw(),
        par: par.raw(),
        err: memory.errors.raw(),
    };
    let mut bound = Vec::with_capacity(created.len());
    for one in created {
        bound.push(one.prepare(&shared)?);
    }
    let steps = Phase::ALL.map(|phase| steps(section, &plan.choices, &bound, phase));
    Ok(BoundPlan::new(Parts {
        steps,
        bound,
        logits: result(section, &plan, OutputKind::Logits),
        hidden: result(section, &plan, OutputKind::Hidden),
        nodes: section.nodes.iter().map(step_name).collect(),
        report: plan.report,
        memory,
        model,
        par,
    }))
}

/// One instance for each node and distinct provider, in that order.
fn create(section: &Section, plan: &mut Plan) -> Result<Vec<Created>, GraphError> {
    let mut created = Vec::new();
    for (number, node) in section.nodes.iter().enumerate() {
        let (choice, request) = (&plan.choices[number], &mut plan.requests[number]);
        for (index, provider) in choice.providers.iter().enumerate() {
            let slot = choice
                .by_phase
                .iter()
                .position(|chosen| *chosen == index)
                .unwrap_or(0);
            created.push(Created::new(
                number,
                node,
                provider,
                request,
                Phase::ALL[slot],
            )?);
        }
    }
    Ok(created)
}

/// Reserves all memory that steps share.
fn reserve(section: &Section, plan: &mut Plan, created: &[Created]) -> Result<Memory, GraphError> {
    let call_bytes = created.iter().map(|one| one.call_bytes).max().unwrap_or(0);
    let call_align = created.iter().map(|one| one.call_align).max().unwrap_or(1);
    let own = created.iter().map(|one| one.persist_bytes);
    let scratch_bytes = own.fold(call_bytes, u64::saturating_add);
    plan.report.memory.scratch_bytes = Some(scratch_bytes);
    Ok(Memory {
        arena: AlignedBuffer::zeroed("the arena of values", plan.memory.arena_bytes, 1)?,
        outputs: AlignedBuffer::zeroed("the outputs", plan.memory.outputs_bytes, 1)?,
        call_scratch: AlignedBuffer::zeroed("the scratch of a call", call_bytes, call_align)?,
        states: StatePools::new(section, &plan.sizes)?,
        batch: Batch::new(plan.sizes.options()),
        errors: ErrorBuffer::new(),
    })
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

fn step_name(node: &Node) -> (String, u32) {
    (format!("{}@{}", node.operation, node.version), node.layer)
}

/// Where a result lies in the outputs' region, and its row length.
fn result(section: &Section, plan: &Plan, kind: OutputKind) -> Option<(u64, u64)> {
    let value = section.output(kind)?;
    let place = plan.memory.places[value].filter(|place| place.region == Region::Outputs)?;
    Some((place.offset, section.values[value].shape.fixed_elements()))
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
