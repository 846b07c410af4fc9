//! `guild bench`: measures prefill and decode speed.

mod case;
mod operations;
mod rates;
mod result;
mod table;

use crate::args::{BenchArgs, TableFormat};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::measure::peak_rss_bytes;
use crate::memory::size::ByteSize;
use crate::output::Output;
use crate::progress::Progress;
use crate::wiring::model::{OpenModel, Size};
use case::{Case, cases};
use guild_engine::Engine;
use rates::Rates;
use result::CaseResult;
use serde_json::json;
use std::path::Path;

/// Runs each case once to warm up, then `-r` times, with one engine for each `-b`.
pub fn run(args: &BenchArgs, data_dir: Option<&Path>, output: Output) -> Outcome<()> {
    let cases = asked_for(args, output)?;
    let context = context(args, &cases)?;
    let model = OpenModel::open(&args.model, context, data_dir, output)?;
    let repetitions =
        u64::from(args.repetitions) + u64::from(!args.no_warmup) + u64::from(args.ops);
    let progress = output.progress(
        (args.batch.len() * cases.len()) as u64 * repetitions,
        "repetitions",
    );
    let mut results = Vec::new();
    let mut planned_bytes = 0;
    output.data_beside(&progress, result::header(args.format))?;
    for batch in &args.batch {
        let longest = cases.iter().map(Case::longest_prefill).max();
        let planned = model.plan(Size {
            rows: (*batch).min(longest.unwrap_or(1)).max(1),
            outputs: 1,
            context,
            sampling: None,
        })?;
        planned_bytes = planned.memory().total_bytes.max(planned_bytes);
        let read_bytes = planned.report().memory.weights_read_bytes;
        let mut engine = planned.load(output)?;
        for case in &cases {
            let rates = measure(args, case, &mut engine, &progress)?;
            let operations = if args.ops {
                let times = operations::time(case, &mut engine)?;
                progress.inc(1);
                times
            } else {
                Vec::new()
            };
            let result =
                CaseResult::new(*case, *batch, model.threads, rates, read_bytes, operations);
            output.data_beside(&progress, result.line(args.format))?;
            results.push(result);
        }
    }
    progress.finish_and_clear();
    for result in results
        .iter()
        .filter(|result| !result.operations.is_empty())
    {
        output.data(result.operations_table(args.format))?;
    }
    let peak_bytes = peak_rss_bytes();
    output.say(format!(
        "peak memory {}, planned {}",
        ByteSize(peak_bytes.unwrap_or(0)),
        ByteSize(planned_bytes)
    ));
    output.object(json!({
        "model": args.model.model,
        "context": context,
        "results": results,
        "packages": model.package_report(),
        "peak_rss_bytes": peak_bytes,
        "planned_bytes": planned_bytes,
    }))
}

/// The cases, unless there is none or the format can't hold what they give.
fn asked_for(args: &BenchArgs, output: Output) -> Outcome<Vec<Case>> {
    let cases = cases(args);
    if cases.is_empty() {
        return Err(Failure::new(Exit::Usage, "there is nothing to measure")
            .hint("give prompt tokens with -p, tokens to generate with -n, or both"));
    }
    if args.ops && args.format == TableFormat::Csv && !output.json {
        return Err(Failure::new(
            Exit::Usage,
            "--ops adds tables with other columns, and a csv stream holds one",
        )
        .hint("take --json, or --format markdown"));
    }
    Ok(cases)
}

/// Positions of the sequence: `-c`, or what the longest case needs. Too few are refused.
fn context(args: &BenchArgs, cases: &[Case]) -> Outcome<u64> {
    let needed = cases.iter().map(Case::positions).max().unwrap_or(1);
    match args.model.context {
        Some(context) if context < needed => {
            let message =
                format!("the longest test needs {needed} positions, the context has {context}");
            Err(Failure::new(Exit::Usage, message)
                .hint("raise the context with -c, or leave it out"))
        }
        Some(context) => Ok(context),
        None => Ok(needed),
    }
}

/// Tokens per second of each counted repetition.
fn measure(
    args: &BenchArgs,
    case: &Case,
    engine: &mut Engine,
    progress: &Progress,
) -> Outcome<Rates> {
    if !args.no_warmup {
        case.run(engine, |_| {})?;
        progress.inc(1);
    }
    let mut rates = Vec::new();
    for _ in 0..args.repetitions {
        let seconds = case.run(engine, |_| {})?;
        rates.push(case.tokens_measured() as f64 / seconds);
        progress.inc(1);
    }
    Ok(Rates::new(rates))
}
