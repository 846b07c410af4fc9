//! From a checked graph to a plan: providers, memory, and the report that says why.

use guild_model::ModelSource;

use crate::describe::Described;
use crate::error::GraphError;
use crate::graph::{Section, SectionKind};
use crate::memory::MemoryPlan;
use crate::options::BindOptions;
use crate::registry::Registry;
use crate::report::{MemoryReport, PlanReport, SectionReport, StepReport};
use crate::request::Request;
use crate::select::Choice;
use crate::sizes::Sizes;
use crate::state::state_bytes;
use crate::weights::WeightAddresses;

/// Plans a described model without binding it: asks providers, plans memory, touches no weight.
///
/// # Errors
/// [`GraphError::MissingProvider`] for the first node and phase that no package serves, with every
/// refusal; [`GraphError::Option`], [`GraphError::Memory`] and [`GraphError::Model`].
pub fn plan(
    described: &Described,
    model: &dyn ModelSource,
    registry: &dyn Registry,
    options: &BindOptions,
) -> Result<PlanReport, GraphError> {
    Ok(Plan::new(described, model, registry, options)?.report)
}

/// Everything that is decided before anything is allocated.
pub(crate) struct Plan {
    pub(crate) sizes: Sizes,
    pub(crate) weights: WeightAddresses,
    /// For each node of the main section what was asked.
    pub(crate) requests: Vec<Request>,
    /// For each node who answers.
    pub(crate) choices: Vec<Choice>,
    pub(crate) memory: MemoryPlan,
    pub(crate) report: PlanReport,
}

impl Plan {
    pub(crate) fn new(
        described: &Described,
        model: &dyn ModelSource,
        registry: &dyn Registry,
        options: &BindOptions,
    ) -> Result<Plan, GraphError> {
        let section = main_section(described);
        let sizes = Sizes::new(section, options)?;
        let weights = WeightAddresses::new(section, &sizes, model)?;
        let mut requests = Vec::with_capacity(section.nodes.len());
        let mut choices = Vec::with_capacity(section.nodes.len());
        for node in &section.nodes {
            let mut request = Request::new(section, node, &sizes, &weights);
            choices.push(Choice::new(
                section,
                node,
                &mut request,
                registry,
                options.classes,
            )?);
            requests.push(request);
        }
        let memory = MemoryPlan::new(section, &sizes, |node| choices[node].in_place());
        let report = report(described, &sizes, &weights, &choices, &memory);
        Ok(Plan {
            sizes,
            weights,
            requests,
            choices,
            memory,
            report,
        })
    }
}

/// The section that runs; the builder made sure that it is the first.
pub(crate) fn main_section(described: &Described) -> &Section {
    &described.graph.sections[0]
}

fn report(
    described: &Described,
    sizes: &Sizes,
    weights: &WeightAddresses,
    choices: &[Choice],
    memory: &MemoryPlan,
) -> PlanReport {
    let section = main_section(described);
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
    let steps = section
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
    let (kv_bytes, state_bytes) = state_bytes(section, sizes);
    PlanReport {
        runner: described.runner.clone(),
        sections: sections.collect(),
        steps: steps.collect(),
        memory: MemoryReport {
            weights_bytes: weights.bytes,
            arena_bytes: memory.arena_bytes,
            values_bytes: memory.values_bytes,
            outputs_bytes: memory.outputs_bytes,
            kv_bytes,
            state_bytes,
            scratch_bytes: None,
        },
    }
}
