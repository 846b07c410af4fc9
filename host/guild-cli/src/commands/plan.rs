//! `guild plan`: shows what a model will take of memory and whether it fits, who serves each step, and
//! why the others lost.

use crate::args::{PlanArgs, SamplingArgs};
use crate::failure::Outcome;
use crate::memory::fit::Fit;
use crate::memory::plan::MemoryPlan;
use crate::memory::size::ByteSize;
use crate::output::Output;
use crate::places::Places;
use crate::wiring::model::{OpenModel, Size, open_file};
use crate::wiring::planned::PlannedModel;
use crate::wiring::sampling::EffectiveSampling;
use guild_engine::Sampling;
use guild_graph::PlanReport;
use guild_graph::report::{Class, StepReport};
use guild_model::{Metadata, ModelSource, Tokenizer};
use serde_json::json;
use std::collections::BTreeSet;

/// Positions of the planned sequence where `-c` is absent.
const CONTEXT_DEFAULT: u64 = 4096;

/// Plans without loading and prints the report. A model that doesn't fit is an answer, not a failure.
pub fn run(args: &PlanArgs, places: &Places, output: Output) -> Outcome<()> {
    let context = args.model.context.unwrap_or(CONTEXT_DEFAULT);
    let file = open_file(&args.model)?;
    // A run has a tokenizer in memory, so it counts here too.
    let tokenizer = Tokenizer::from_metadata(file.metadata());
    let model = OpenModel::describe(file, &args.model, context, places, output)?;
    let sampling = file_sampling(model.file.metadata());
    let rows = args.pass.batch.min(context);
    let planned = model.plan(Size {
        rows,
        outputs: 1,
        context,
        sampling: Some(&sampling),
    })?;
    drop(tokenizer);
    print(args, context, &planned, output)?;
    output.object(json!({
        "model": args.model.model,
        "context": context,
        "batch": rows,
        "threads": model.threads,
        "policy": model.policy,
        "plan": planned.report(),
        "memory": planned.memory(),
        "fit": planned.fit(),
    }))
}

/// What a run without sampling options samples with. A file whose keys make no sense counts as greedy:
/// its run needs options in their place.
fn file_sampling(metadata: &Metadata) -> Sampling {
    let effective = EffectiveSampling::new(&SamplingArgs::default(), metadata);
    effective.map_or_else(|_| Sampling::default(), |effective| effective.sampling)
}

fn print(args: &PlanArgs, context: u64, planned: &PlannedModel<'_>, output: Output) -> Outcome<()> {
    let report = planned.report();
    let runner = &report.runner;
    output.data(format!("runner   {} of {}", runner.id, runner.package))?;
    for package in packages(report) {
        output.data(format!("package  {package}"))?;
    }
    for section in &report.sections {
        let state = if section.planned {
            "planned"
        } else {
            "checked only"
        };
        output.data(format!(
            "section  {}: {} steps, {state}",
            section.name, section.nodes
        ))?;
    }
    output.data(format!(
        "\nmemory with a context of {context}, in passes of {} rows:",
        args.pass.batch.min(context)
    ))?;
    print_memory(planned.memory(), output)?;
    output.data("")?;
    print_fit(planned.fit(), output)?;
    if !args.steps {
        return Ok(());
    }
    output.data("\nsteps:")?;
    for step in &report.steps {
        print_step(step, output)?;
    }
    Ok(())
}

/// The packages that serve a step, each once.
fn packages(report: &PlanReport) -> BTreeSet<String> {
    let phases = report.steps.iter().flat_map(|step| &step.phases);
    phases
        .map(|phase| phase.chosen.package.to_string())
        .collect()
}

fn print_memory(memory: &MemoryPlan, output: Output) -> Outcome<()> {
    for (name, bytes) in memory.parts() {
        print_bytes(name, bytes, output)?;
    }
    print_bytes("total", memory.total_bytes, output)?;
    let types = memory.weights_by_type.iter().map(|one| {
        format!(
            "{} in {} x {}",
            ByteSize(one.bytes),
            one.tensors,
            one.type_name
        )
    });
    let types: Vec<String> = types.collect();
    output.data(format!("  weights: {}", types.join(", ")))?;
    if memory.weights_by_file.len() < 2 {
        return Ok(());
    }
    for file in &memory.weights_by_file {
        let (size, path) = (ByteSize(file.bytes), file.path.display());
        output.data(format!("  {size} in {} tensors of {path}", file.tensors))?;
    }
    Ok(())
}

fn print_bytes(name: &str, bytes: u64, output: Output) -> Outcome<()> {
    let short = ByteSize(bytes).to_string();
    output.data(format!("  {name:<32} {bytes:>16}  {short:>10}"))
}

fn print_fit(fit: &Fit, output: Output) -> Outcome<()> {
    for check in &fit.checks {
        output.data(format!(
            "  {} of {} under {}: {}",
            ByteSize(check.needed_bytes),
            ByteSize(check.available_bytes),
            check.limit.name(),
            if check.fits { "fits" } else { "doesn't fit" }
        ))?;
    }
    let verdict = match (fit.fits, fit.largest_context) {
        (true, _) => "it fits".to_owned(),
        (false, Some(context)) => {
            format!("it doesn't fit; the largest context that would is {context}")
        }
        (false, None) => "it doesn't fit, with any context".to_owned(),
    };
    output.data(verdict)
}

fn print_step(step: &StepReport, output: Output) -> Outcome<()> {
    let StepReport {
        node,
        layer,
        operation,
        version,
        phases,
    } = step;
    let alike = phases.iter().all(|phase| phase.chosen == phases[0].chosen);
    let shown = if alike { &phases[..1] } else { &phases[..] };
    for phase in shown {
        let when = if alike {
            "every phase"
        } else {
            phase.phase.name()
        };
        output.data(format!(
            "{layer:>3} {node:<24} {operation}@{version:<3} {when}: {} of {}{}",
            phase.chosen.implementation,
            phase.chosen.package,
            match phase.class {
                Class::Exact => "",
                Class::Tolerant => ", tolerant",
            }
        ))?;
        for refused in &phase.refused {
            output.data(format!("      not {refused}"))?;
        }
    }
    Ok(())
}
