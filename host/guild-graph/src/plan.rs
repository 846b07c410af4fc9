//! From a checked graph to a plan: providers, their instances, memory, and the report that says why.

use std::collections::BTreeSet;
use std::sync::Arc;

use guild_model::ModelSource;

use crate::arena::reserved_bytes;
use crate::batch::Batch;
use crate::describe::Described;
use crate::error::GraphError;
use crate::graph::{Origin, OutputKind, Section, SectionKind};
use crate::instance::{Created, Scratch};
use crate::memory::MemoryPlan;
use crate::options::BindOptions;
use crate::registry::Registry;
use crate::report::{MemoryReport, PlanReport, SectionReport, StepReport};
use crate::request::Request;
use crate::select::Choice;
use crate::sizes::Sizes;
use crate::state::state_bytes;
use crate::traffic::weights_read_bytes;
use crate::weights::WeightAddresses;

/// Plans a described model without binding it: asks providers, makes their instances, plans memory.
/// No weight is read and no memory is reserved. The plan keeps `model` alive.
///
/// A provider that was chosen for several phases of a node gets one instance for all of them; its
/// request names the first.
///
/// # Errors
/// [`GraphError::MissingProvider`] for the first node and phase that no package serves, with every
/// refusal; [`GraphError::Provider`] where a chosen provider fails to make an instance or to say what
/// scratch it needs: no other one takes its place; [`GraphError::Option`] and [`GraphError::Model`].
pub fn plan<'d>(
    described: &'d Described,
    model: Arc<dyn ModelSource>,
    registry: &dyn Registry,
    options: &BindOptions,
) -> Result<Plan<'d>, GraphError> {
    Plan::new(described, model, registry, options)
}

/// Everything that is decided before anything is reserved: who serves each node, with instances that
/// wait to be prepared, and how much memory it takes. [`Plan::bind`] makes it real.
pub struct Plan<'d> {
    pub(crate) section: &'d Section,
    pub(crate) sizes: Sizes,
    pub(crate) weights: WeightAddresses,
    /// For each node who answers.
    pub(crate) choices: Vec<Choice>,
    /// One instance for each node and distinct provider, in that order.
    pub(crate) created: Vec<Created>,
    pub(crate) scratch: Scratch,
    pub(crate) memory: MemoryPlan,
    pub(crate) report: PlanReport,
    pub(crate) model: Arc<dyn ModelSource>,
}

impl<'d> Plan<'d> {
    fn new(
        described: &'d Described,
        model: Arc<dyn ModelSource>,
        registry: &dyn Registry,
        options: &BindOptions,
    ) -> Result<Plan<'d>, GraphError> {
        let section = main_section(described);
        let sizes = Sizes::new(section, options)?;
        let weights = WeightAddresses::new(section, &sizes, &*model)?;
        let mut choices = Vec::with_capacity(section.nodes.len());
        let mut created = Vec::with_capacity(section.nodes.len());
        let mut scratch = Scratch::default();
        let mut tables_bytes = Batch::bytes(options);
        for (number, node) in section.nodes.iter().enumerate() {
            let mut request = Request::new(section, node, &sizes, &weights);
            let choice = Choice::new(section, node, &mut request, registry, options.classes)?;
            for (provider, phase) in choice.instances() {
                let mut one = Created::new(number, node, provider, &mut request, phase)?;
                scratch.add(&mut one);
                tables_bytes += one.table_bytes(node);
                created.push(one);
            }
            choices.push(choice);
        }
        let memory = MemoryPlan::new(section, &sizes, |node| choices[node].in_place());
        let bytes = MemoryReport {
            tables_bytes,
            ..memory_report(section, &sizes, &weights, &memory, scratch)
        };
        let report = report(described, &choices, bytes);
        Ok(Plan {
            section,
            sizes,
            weights,
            choices,
            created,
            scratch,
            memory,
            report,
            model,
        })
    }

    /// What was decided and why, with the memory that it takes.
    #[must_use]
    pub fn report(&self) -> &PlanReport {
        &self.report
    }

    /// Length of a row of logits; 0 where the model gives none.
    #[must_use]
    pub fn vocabulary(&self) -> u64 {
        let logits = self.section.output(OutputKind::Logits);
        logits.map_or(0, |value| self.section.values[value].shape.fixed_elements())
    }

    /// The names of the tensors that the plan reads, each once, in alphabetical order.
    pub fn weight_names(&self) -> impl Iterator<Item = &str> {
        let names = self
            .section
            .values
            .iter()
            .filter_map(|value| match &value.origin {
                Origin::Weight { name, .. } => Some(name.as_str()),
                Origin::Input(_) | Origin::Node { .. } | Origin::View { .. } => None,
            });
        names.collect::<BTreeSet<_>>().into_iter()
    }
}

/// The section that runs; the builder made sure that it is the first.
fn main_section(described: &Described) -> &Section {
    &described.graph.sections[0]
}

fn report(described: &Described, choices: &[Choice], memory: MemoryReport) -> PlanReport {
    let sections = described
        .graph
        .sections
        .iter()
        .map(|section| SectionReport {
            kind: section.kind,
            name: section.name.clone(),
            nodes: section.nodes.len(),
            planned: section.kind == SectionKind::Main,
        });
    let steps = main_section(described)
        .nodes
        .iter()
        .zip(choices)
        .map(|(node, choice)| StepReport {
            node: node.name.clone(),
            layer: node.layer,
            operation: node.operation.clone(),
            version: node.version,
            phases: choice.reports.clone(),
        });
    PlanReport {
        runner: described.runner.clone(),
        sections: sections.collect(),
        steps: steps.collect(),
        memory,
    }
}

/// Bytes by purpose; the tables' are the caller's.
fn memory_report(
    section: &Section,
    sizes: &Sizes,
    weights: &WeightAddresses,
    memory: &MemoryPlan,
    scratch: Scratch,
) -> MemoryReport {
    let (kv_bytes, state_bytes) = state_bytes(section, sizes);
    let regions = [
        memory.arena_bytes,
        memory.outputs_bytes,
        scratch.persist_bytes,
        scratch.call_bytes,
    ];
    let states = section
        .states
        .iter()
        .map(|state| sizes.state(state).bytes());
    let reserved = regions.into_iter().chain(states).map(reserved_bytes);
    MemoryReport {
        weights_bytes: weights.bytes,
        weights_read_bytes: weights_read_bytes(section, sizes),
        arena_bytes: memory.arena_bytes,
        values_bytes: memory.values_bytes,
        outputs_bytes: memory.outputs_bytes,
        kv_bytes,
        state_bytes,
        scratch_bytes: scratch.persist_bytes.saturating_add(scratch.call_bytes),
        tables_bytes: 0,
        reserved_bytes: reserved.fold(0, u64::saturating_add),
    }
}
