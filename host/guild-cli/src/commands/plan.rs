//! `guild plan`: shows who serves each step, and why the others lost.

use crate::args::PlanArgs;
use crate::failure::Outcome;
use crate::output::Output;
use crate::wiring::model::{OpenModel, Size};
use guild_graph::PlanReport;
use guild_graph::report::StepReport;
use serde_json::json;
use std::path::Path;

/// Positions of the planned sequence where `-c` is absent.
const CONTEXT_DEFAULT: u64 = 4096;

/// Plans without binding and prints the report.
pub fn run(args: &PlanArgs, data_dir: Option<&Path>, output: Output) -> Outcome<()> {
    let context = args.model.context.unwrap_or(CONTEXT_DEFAULT);
    let model = OpenModel::open(&args.model, context, data_dir, output)?;
    let rows = args.model.batch.min(context);
    let report = model.plan(Size {
        rows,
        outputs: 1,
        context,
    })?;
    print(&report, output)?;
    output.object(json!({ "model": args.model.model, "context": context, "plan": report }))
}

fn print(report: &PlanReport, output: Output) -> Outcome<()> {
    let runner = &report.runner;
    output.data(format!("runner {} of {}", runner.id, runner.package))?;
    for section in &report.sections {
        let state = if section.planned {
            "planned"
        } else {
            "checked only"
        };
        output.data(format!(
            "section {}: {} steps, {state}",
            section.name, section.nodes
        ))?;
    }
    for step in &report.steps {
        print_step(step, output)?;
    }
    let memory = &report.memory;
    output.data(format!(
        "weights {} bytes, in the file's mapping",
        memory.weights_bytes
    ))?;
    output.data(format!(
        "values  {} bytes ({} without sharing)",
        memory.arena_bytes, memory.values_bytes
    ))?;
    output.data(format!("outputs {} bytes", memory.outputs_bytes))?;
    output.data(format!("kv      {} bytes", memory.kv_bytes))?;
    output.data(format!("state   {} bytes", memory.state_bytes))
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
            "{layer:>3} {node:<24} {operation}@{version:<3} {when}: {} of {}",
            phase.chosen.implementation, phase.chosen.package
        ))?;
        for refused in &phase.refused {
            output.data(format!("      not {refused}"))?;
        }
    }
    Ok(())
}
