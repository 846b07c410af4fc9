//! `guild bench`: measures prefill and decode speed.

mod bandwidth;
mod case;
mod operations;
mod rates;
mod result;
mod table;

use crate::args::{BenchArgs, TableFormat};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::measure::peak_rss_bytes;
use crate::memory::limits::limits;
use crate::memory::process::ProcessMemory;
use crate::memory::size::ByteSize;
use crate::output::Output;
use crate::places::Places;
use crate::progress::Progress;
use crate::system::SystemFiles;
use crate::wiring::isa;
use crate::wiring::model::{OpenModel, Size};
use crate::wiring::planned::PlannedModel;
use bandwidth::Bandwidth;
use case::{Case, cases};
use guild_engine::Engine;
use rates::Rates;
use result::CaseResult;
use serde_json::json;

/// Runs each case once to warm up, then `-r` times, with one engine for each `-t` and `-b`.
pub fn run(args: &BenchArgs, places: &Places, output: Output) -> Outcome<()> {
    let cases = asked_for(args, output)?;
    let context = context(args, &cases)?;
    if let Some(name) = &args.isa {
        isa::force(name)?;
    }
    let mut model = OpenModel::open(&args.model, context, places, output)?;
    let threads = match args.model.threads.is_empty() {
        true => vec![model.threads],
        false => args.model.threads.clone(),
    };
    let mut bench = Bench {
        args,
        output,
        cases,
        context,
        progress: output.progress(0, "repetitions"),
        results: Vec::new(),
        planned_bytes: 0,
        before: ProcessMemory::now(),
    };
    bench.begin(threads.len())?;
    for threads in &threads {
        model.threads = *threads;
        for batch in &args.batch {
            bench.measure_all(&model, *batch)?;
        }
    }
    bench.progress.finish_and_clear();
    // The memory that bandwidth is measured with isn't the model's.
    let peak_bytes = peak_rss_bytes();
    let bandwidths = match args.roofline {
        true => bandwidth::measure(&threads)?,
        false => Vec::new(),
    };
    bench.compare(&bandwidths);
    bench.print_tables()?;
    output.say(format!(
        "peak memory {}, planned {}",
        ByteSize(peak_bytes.unwrap_or(0)),
        ByteSize(bench.planned_bytes)
    ));
    output.object(json!({
        "model": args.model.model,
        "context": context,
        "policy": model.policy,
        "isa": isa::in_use(&args.model.packages),
        "bandwidths": bandwidths,
        "results": bench.results,
        "packages": model.package_report(),
        "peak_rss_bytes": peak_bytes,
        "planned_bytes": bench.planned_bytes,
    }))
}

/// What is measured, and what came out so far.
struct Bench<'a> {
    args: &'a BenchArgs,
    output: Output,
    cases: Vec<Case>,
    context: u64,
    progress: Progress,
    results: Vec<CaseResult>,
    /// The most that an engine was planned to take.
    planned_bytes: u64,
    /// What the process had before any weight was read.
    before: ProcessMemory,
}

impl Bench<'_> {
    /// Shows the progress and the head of the table, for `threads` numbers of threads.
    fn begin(&mut self, threads: usize) -> Outcome<()> {
        let args = self.args;
        let repetitions =
            u64::from(args.repetitions) + u64::from(!args.no_warmup) + u64::from(args.ops);
        let tests = threads * args.batch.len() * self.cases.len();
        self.progress = self
            .output
            .progress(tests as u64 * repetitions, "repetitions");
        self.output
            .data_beside(&self.progress, result::header(args.format))
    }

    /// Every case with one engine.
    fn measure_all(&mut self, model: &OpenModel, batch: u64) -> Outcome<()> {
        let longest = self.cases.iter().map(Case::longest_prefill).max();
        let planned = model.plan(Size {
            rows: batch.min(longest.unwrap_or(1)).max(1),
            outputs: 1,
            context: self.context,
            sampling: None,
        })?;
        self.check_room(&planned)?;
        self.planned_bytes = planned.memory().total_bytes.max(self.planned_bytes);
        let read_bytes = planned.report().memory.weights_read_bytes;
        let mut engine = planned.load(self.output)?;
        for case in &self.cases {
            let rates = measure(self.args, case, &mut engine, &self.progress)?;
            let operations = if self.args.ops {
                let times = operations::time(case, &mut engine)?;
                self.progress.inc(1);
                times
            } else {
                Vec::new()
            };
            let result =
                CaseResult::new(*case, batch, model.threads, rates, read_bytes, operations);
            self.output
                .data_beside(&self.progress, result.line(self.args.format))?;
            self.results.push(result);
        }
        Ok(())
    }

    /// Refuses where the model would fit and what `--roofline` takes on top of it wouldn't.
    fn check_room(&self, planned: &PlannedModel<'_>) -> Outcome<()> {
        let memory_args = &self.args.model.memory;
        if !self.args.roofline || memory_args.no_fit_check || !planned.fit().fits {
            return Ok(());
        }
        let files = SystemFiles::of_machine();
        let limits = limits(&files, memory_args.memory_limit, &self.before);
        bandwidth::check_room(
            planned.memory().without_buffers_bytes(),
            &self.before,
            &limits,
        )
    }

    fn compare(&mut self, bandwidths: &[Bandwidth]) {
        for result in &mut self.results {
            result.compare(bandwidths);
        }
    }

    /// The tables after the table of results.
    fn print_tables(&self) -> Outcome<()> {
        let timed = self.results.iter();
        for result in timed.filter(|result| !result.operations.is_empty()) {
            self.output
                .data(result.operations_table(self.args.format))?;
        }
        match self.args.roofline {
            true => self
                .output
                .data(result::roofline_table(&self.results, self.args.format)),
            false => Ok(()),
        }
    }
}

/// The cases, unless there is none or the format can't hold what they give.
fn asked_for(args: &BenchArgs, output: Output) -> Outcome<Vec<Case>> {
    let cases = cases(args);
    if cases.is_empty() {
        return Err(Failure::new(Exit::Usage, "there is nothing to measure")
            .hint("give prompt tokens with -p, tokens to generate with -n, or both"));
    }
    if (args.ops || args.roofline) && args.format == TableFormat::Csv && !output.json {
        return Err(Failure::new(
            Exit::Usage,
            "--ops and --roofline add tables with other columns, and a csv stream holds one",
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
