//! Which provider serves a node in each phase, and why the others don't.
//!
//! Providers are asked in the registry's order; the first that serves is taken. The host's own checks
//! come before the provider's `supports`.

use guild_abi::abi::{
    GUILD_CAP_ACCUMULATES, GUILD_CAP_HOST_ASYNC, GUILD_CAP_INPLACE, GUILD_CAP_NEEDS_PREPACK,
};
use guild_abi::contract::core_op;

use crate::call::Refusal;
use crate::error::{GraphError, MissingProvider};
use crate::first_party;
use crate::format::format_name;
use crate::graph::{Node, Section};
use crate::registry::{Candidate, Registry};
use crate::report::{Class, Phase, PhaseReport, RefusalReason, Refused};
use crate::request::Request;

/// The providers of one node.
pub(crate) struct Choice {
    /// The distinct providers that were chosen.
    pub(crate) providers: Vec<Candidate>,
    /// For each phase in the order of [`Phase::ALL`], which of `providers`.
    pub(crate) by_phase: [usize; Phase::ALL.len()],
    /// The same for reports, with the losers.
    pub(crate) reports: Vec<PhaseReport>,
}

impl Choice {
    /// Asks for every phase.
    pub(crate) fn new(
        section: &Section,
        node: &Node,
        request: &mut Request,
        registry: &dyn Registry,
        classes: u32,
    ) -> Result<Choice, GraphError> {
        let candidates = registry.operations(&node.operation, node.version);
        let mut choice = Choice {
            providers: Vec::new(),
            by_phase: [0; Phase::ALL.len()],
            reports: Vec::with_capacity(Phase::ALL.len()),
        };
        for (slot, phase) in Phase::ALL.into_iter().enumerate() {
            request.set_phase(phase);
            let mut refused = Vec::new();
            let chosen = candidates.iter().find(|candidate| {
                match ask(candidate, node, request, phase, classes) {
                    Ok(()) => true,
                    Err(refusal) => {
                        refused.push(losing(candidate, refusal));
                        false
                    }
                }
            });
            let Some(chosen) = chosen else {
                return Err(missing(section, node, phase, refused));
            };
            choice.by_phase[slot] = choice.provider(chosen);
            choice.reports.push(PhaseReport {
                phase,
                chosen: chosen.identity(),
                class: Class::from_raw(chosen.exactness),
                refused,
            });
        }
        Ok(choice)
    }

    /// The distinct providers, each with the first phase that it was chosen for.
    pub(crate) fn instances(&self) -> impl Iterator<Item = (&Candidate, Phase)> {
        self.providers.iter().enumerate().map(|(index, provider)| {
            let slot = self.by_phase.iter().position(|chosen| *chosen == index);
            (provider, Phase::ALL[slot.unwrap_or(0)])
        })
    }

    /// Whether every chosen provider can write an output over an input.
    pub(crate) fn in_place(&self) -> bool {
        self.providers
            .iter()
            .all(|provider| provider.caps[0] & GUILD_CAP_INPLACE != 0)
    }

    /// The number of a provider among the distinct ones.
    fn provider(&mut self, chosen: &Candidate) -> usize {
        let same = |other: &Candidate| other.table == chosen.table && other.index == chosen.index;
        match self.providers.iter().position(same) {
            Some(known) => known,
            None => {
                self.providers.push(chosen.clone());
                self.providers.len() - 1
            }
        }
    }
}

/// The host's checks, then the provider's.
fn ask(
    candidate: &Candidate,
    node: &Node,
    request: &Request,
    phase: Phase,
    classes: u32,
) -> Result<(), Refusal> {
    let refuse = |reason, text: String| Err(Refusal { reason, text });
    let Candidate { op_min, op_max, .. } = candidate;
    if !(*op_min..=*op_max).contains(&node.version) {
        let text = format!(
            "serves versions {op_min} to {op_max}, wanted {}",
            node.version
        );
        return refuse(RefusalReason::Version, text);
    }
    let contract = core_op(&node.operation, node.version).map(|op| op.hash);
    if contract.is_some_and(|hash| hash != candidate.contract) {
        let text = "was built against another contract text; rebuild it with this host's headers";
        return refuse(RefusalReason::Contract, text.to_owned());
    }
    if candidate.phases & phase.bit() == 0 {
        let text = format!("doesn't serve the {} phase", phase.name());
        return refuse(RefusalReason::Phase, text);
    }
    if candidate.exactness & classes == 0 {
        let (has, accepted) = (class_name(candidate.exactness), class_name(classes));
        let text = format!("its class is {has}, the policy accepts {accepted}");
        return refuse(RefusalReason::Policy, text);
    }
    for (capability, text) in UNSERVED {
        if candidate.caps[0] & capability != 0 {
            return refuse(RefusalReason::Host, (*text).to_owned());
        }
    }
    candidate.table.supports(candidate.index, request)
}

/// Capabilities that ask something of the host which it doesn't do.
const UNSERVED: &[(u64, &str)] = &[
    (
        GUILD_CAP_NEEDS_PREPACK,
        "needs prepacked weights, which this host doesn't make",
    ),
    (
        GUILD_CAP_HOST_ASYNC,
        "may finish after `execute`, which this host doesn't wait for",
    ),
    (
        GUILD_CAP_ACCUMULATES,
        "adds to its output, which this host doesn't clear",
    ),
];

fn class_name(classes: u32) -> &'static str {
    match classes {
        1 => "exact",
        2 => "tolerant",
        3 => "exact or tolerant",
        _ => "unknown",
    }
}

fn losing(candidate: &Candidate, refusal: Refusal) -> Refused {
    Refused {
        provider: candidate.identity(),
        reason: refusal.reason,
        text: refusal.text,
    }
}

fn missing(section: &Section, node: &Node, phase: Phase, refused: Vec<Refused>) -> GraphError {
    let operand = |value: &usize| {
        let value = &section.values[*value];
        format!("{} {}", format_name(value.format), value.shape)
    };
    let inputs: Vec<String> = node.inputs.iter().map(operand).collect();
    let outputs: Vec<String> = node.outputs.iter().map(operand).collect();
    GraphError::MissingProvider(Box::new(MissingProvider {
        operation: node.operation.clone(),
        version: node.version,
        node: node.name.clone(),
        layer: node.layer,
        phase,
        wanted: format!(
            "inputs {} and outputs {}",
            inputs.join(", "),
            outputs.join(", ")
        ),
        served_by: first_party::serving(&node.operation),
        refused,
    }))
}
