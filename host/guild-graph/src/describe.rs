//! From a model file to a checked graph: chooses a runner and lets it describe.

mod builder;
#[expect(unsafe_code, reason = "called by runners")]
mod callbacks;
mod model_table;
mod states;
mod views;

use guild_abi::abi::{GUILD_KIND_RECORD, GUILD_STATUS_ERR_NOT_FOUND, guild_hdr};
use guild_abi::runner::guild_describe_params;
use guild_model::ModelSource;
use std::collections::BTreeSet;

use crate::call::CallFailure;
use crate::error::{DescriptionFault, GraphError};
use crate::first_party;
use crate::graph::Graph;
use crate::registry::{Registry, RunnerCandidate};
use crate::report::RunnerIdentity;
use builder::Builder;
use model_table::ModelTable;

/// A model as its runner described it.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The checked graph.
    pub graph: Graph,
    /// Who described it.
    pub runner: RunnerIdentity,
    /// The file's architecture name.
    pub architecture: String,
}

/// Chooses the runner that fits `model` best and checks what it describes. `context` is the number of
/// positions of one sequence.
///
/// The best score wins; among equal scores an installed package wins over a built-in one, then the
/// lower package id. A runner that fails while it is asked ends the whole call: no other runner
/// silently takes its place. One call at a time per runner package.
///
/// # Errors
/// [`GraphError::NoRunner`], [`GraphError::RunnerRefused`] with the runner's own text,
/// [`GraphError::Description`] where what it described doesn't hold together, and
/// [`GraphError::Model`] for the file.
pub fn describe(
    model: &dyn ModelSource,
    registry: &dyn Registry,
    context: u64,
) -> Result<Described, GraphError> {
    let table = ModelTable::new(model)?;
    let runners = registry.runners();
    let (runner, score) = choose(&table, &runners)?;
    let params = guild_describe_params {
        h: guild_hdr::new(size_of::<guild_describe_params>(), GUILD_KIND_RECORD),
        context,
        reserved: [0; 3],
    };
    let mut builder = Builder::new(model);
    let outcome = callbacks::describe(runner, &table, &params, &mut builder);
    let graph = match outcome {
        Ok(()) => builder
            .finish()
            .map_err(|fault| description(runner, fault))?,
        Err(failure) => return Err(blame(runner, failure, builder)),
    };
    Ok(Described {
        graph,
        runner: RunnerIdentity {
            package: runner.package.clone(),
            id: runner.id.clone(),
            score,
        },
        architecture: table.architecture().to_owned(),
    })
}

/// The runner with the best score.
fn choose<'r>(
    table: &ModelTable<'_>,
    runners: &'r [RunnerCandidate],
) -> Result<(&'r RunnerCandidate, i32), GraphError> {
    let mut best: Option<(&RunnerCandidate, i32)> = None;
    for runner in runners {
        let answer = callbacks::matches(runner, table);
        let Some(score) = answer.map_err(|failure| refused(runner, failure))? else {
            continue;
        };
        let order = |runner: &RunnerCandidate| (runner.package.builtin, runner.package.id.clone());
        let better = best.is_none_or(|(other, highest)| {
            score > highest || (score == highest && order(runner) < order(other))
        });
        if better {
            best = Some((runner, score));
        }
    }
    best.ok_or_else(|| GraphError::NoRunner {
        architecture: table.architecture().to_owned(),
        known: known(runners),
        left_out: first_party::runners_not_in(runners.iter().map(|runner| &*runner.package.id)),
    })
}

/// The architectures of all runners, each once.
fn known(runners: &[RunnerCandidate]) -> Vec<String> {
    let names = runners.iter().flat_map(|runner| &runner.architectures);
    let names: BTreeSet<&String> = names.collect();
    names.into_iter().cloned().collect()
}

/// A failed description is the builder's finding where there is one: it has the numbers.
fn blame(runner: &RunnerCandidate, failure: CallFailure, builder: Builder<'_>) -> GraphError {
    let missing = failure.status == GUILD_STATUS_ERR_NOT_FOUND;
    match builder.into_fault(missing) {
        Some(fault) => description(runner, fault),
        None => refused(runner, failure),
    }
}

fn description(runner: &RunnerCandidate, fault: DescriptionFault) -> GraphError {
    GraphError::Description {
        package: Box::new(runner.package.clone()),
        runner: runner.id.clone(),
        fault: Box::new(fault),
    }
}

fn refused(runner: &RunnerCandidate, failure: CallFailure) -> GraphError {
    GraphError::RunnerRefused {
        package: Box::new(runner.package.clone()),
        runner: runner.id.clone(),
        call: failure.call,
        status: failure.status,
        text: failure.text,
    }
}
