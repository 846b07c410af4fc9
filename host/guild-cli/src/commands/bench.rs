//! `guild bench`: measures prefill and decode speed.

use crate::args::BenchArgs;
use crate::failure::Outcome;
use crate::measure::{milliseconds, per_second};
use crate::output::Output;
use crate::wiring::model::{OpenModel, Size};
use guild_engine::{Engine, Session};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Runs each test once to warm up, then `-r` times.
pub fn run(args: &BenchArgs, data_dir: Option<&Path>, output: Output) -> Outcome<()> {
    let context = args
        .model
        .context
        .unwrap_or((args.prompt).max(args.tokens + 1).max(1));
    let model = OpenModel::open(&args.model, context, data_dir, output)?;
    let rows = args.model.batch.min(args.prompt.max(1));
    let mut engine = model.engine(Size {
        rows,
        outputs: 1,
        context,
    })?;
    let mut results = Vec::new();
    if args.prompt > 0 {
        let rates = measure(args, "prefill", output, || {
            prefill(&mut engine, args.prompt)
        })?;
        results.push(result(
            &format!("pp{}", args.prompt),
            model.threads,
            rates,
            output,
        )?);
    }
    if args.tokens > 0 {
        let rates = measure(args, "decode", output, || decode(&mut engine, args.tokens))?;
        results.push(result(
            &format!("tg{}", args.tokens),
            model.threads,
            rates,
            output,
        )?);
    }
    output.object(json!({ "results": results, "packages": model.package_report() }))
}

/// Tokens per second of each counted repetition.
fn measure(
    args: &BenchArgs,
    what: &'static str,
    output: Output,
    mut once: impl FnMut() -> Outcome<f64>,
) -> Outcome<Vec<f64>> {
    let progress = output.progress(u64::from(args.repetitions), what);
    once()?;
    let mut rates = Vec::new();
    for _ in 0..args.repetitions {
        rates.push(once()?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(rates)
}

fn prefill(engine: &mut Engine, tokens: u64) -> Outcome<f64> {
    let prompt = ids(engine, tokens);
    let started = Instant::now();
    let session = prefill_once(engine, &prompt)?;
    let rate = per_second(prompt.len(), milliseconds(started));
    engine.release(session);
    Ok(rate)
}

/// Decode from an empty context but for one token; the tokens are fixed, so that routing is too.
fn decode(engine: &mut Engine, tokens: u64) -> Outcome<f64> {
    let sequence = ids(engine, tokens + 1);
    let mut session = prefill_once(engine, &sequence[..1])?;
    let started = Instant::now();
    for token in &sequence[1..] {
        engine.decode(&mut session, *token)?;
    }
    let rate = per_second(sequence.len() - 1, milliseconds(started));
    engine.release(session);
    Ok(rate)
}

/// A session that holds `prompt`.
fn prefill_once(engine: &mut Engine, prompt: &[u32]) -> Outcome<Session> {
    let mut session = engine.start()?;
    engine.prefill(&mut session, prompt, |_| {})?;
    Ok(session)
}

/// Token ids spread over the vocabulary, the same in every run.
fn ids(engine: &Engine, count: u64) -> Vec<u32> {
    let vocabulary = engine.vocabulary().max(1) as u64;
    (0..count)
        .map(|i| ((i * 7_919 + 13) % vocabulary) as u32)
        .collect()
}

fn result(test: &str, threads: u32, mut rates: Vec<f64>, output: Output) -> Outcome<Value> {
    rates.sort_by(f64::total_cmp);
    let (min, max) = (rates[0], rates[rates.len() - 1]);
    let median = (rates[(rates.len() - 1) / 2] + rates[rates.len() / 2]) / 2.0;
    output.data(format!(
        "{test:<10} {threads} threads  median {median:.2}  min {min:.2}  max {max:.2} tokens/s"
    ))?;
    Ok(json!({
        "test": test,
        "threads": threads,
        "tps": { "median": median, "min": min, "max": max },
    }))
}
