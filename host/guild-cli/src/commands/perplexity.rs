//! `guild perplexity`: how well a model predicts a text.
//!
//! The windows are those of llama.cpp's `llama-perplexity`, so that figures can be compared: the text's
//! tokens are cut into windows of the context's length that don't overlap; the rest is left out. The
//! first token of a window gives way to the begin token where the model wants one. A window is evaluated
//! from an empty context, and only the tokens of its second half are scored, each by the logits before
//! it.

mod estimate;
mod text;

use crate::args::PerplexityArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::measure::{milliseconds, peak_rss_bytes, per_second};
use crate::output::Output;
use crate::places::Places;
use crate::wiring::model::{OpenModel, Size};
use estimate::Estimate;
use guild_engine::{Engine, LogProbability, Outputs, Part};
use guild_graph::Phase;
use guild_model::{ModelSource, Tokenizer};
use serde_json::json;
use std::time::Instant;

/// Positions of a window where `-c` doesn't say.
const WINDOW: u64 = 512;
/// Positions of the shortest window: one scored token at least, after two.
const WINDOW_LEAST: u64 = 4;
/// Bytes of logits that one pass gives at most: 67 rows of a vocabulary of 248,320.
const LOGITS_BYTES: u64 = 64 << 20;

/// Evaluates the windows one after the other and reports after each.
pub fn run(args: &PerplexityArgs, places: &Places, output: Output) -> Outcome<()> {
    let started = Instant::now();
    let window = args.model.context.unwrap_or(WINDOW);
    if window < WINDOW_LEAST {
        let message = format!("-c {window} is too short a window; {WINDOW_LEAST} is the shortest");
        return Err(Failure::new(Exit::Usage, message).hint("raise -c, or leave it out"));
    }
    let text = text::read(&args.file)?;
    let model = OpenModel::open(&args.model, window, places, output)?;
    let tokenizer = Tokenizer::from_metadata(model.file.metadata())?;
    let text = Text::new(&tokenizer, &text, args.special, window as usize)?;
    if text.spells_control_tokens {
        output.say(
            "note: the text spells control tokens and they are read as text; --special reads them as tokens",
        );
    }
    let chunks = args
        .chunks
        .map_or(text.chunks(), |n| text.chunks().min(n as usize));
    let mut scorer = Scorer::new(args, &model, window, u64::from(tokenizer.vocabulary_len()))?;
    let load_ms = milliseconds(started);

    let started = Instant::now();
    let mut estimate = Estimate::default();
    let mut running = Vec::with_capacity(chunks);
    let progress = output.progress(chunks as u64, "windows");
    for chunk in 0..chunks {
        scorer.score(&text.window(chunk), &mut estimate)?;
        running.push(estimate.perplexity());
        progress.println(format!("[{}] {:.4}", chunk + 1, estimate.perplexity()));
        progress.inc(1);
    }
    progress.finish_and_clear();
    let evaluate_ms = milliseconds(started);

    let rate = per_second(chunks * text.length, evaluate_ms);
    output.data(format!(
        "perplexity {:.4} +/- {:.5}",
        estimate.perplexity(),
        estimate.error()
    ))?;
    output.say(format!(
        "{} tokens scored in {chunks} windows of {window}, {rate:.1} tokens/s",
        estimate.count()
    ));
    output.object(json!({
        "perplexity": estimate.perplexity(),
        "error": estimate.error(),
        "mean_nll": estimate.mean(),
        "tokens": text.ids.len(),
        "tokens_scored": estimate.count(),
        "context": window,
        "chunks": chunks,
        "running": running,
        "timings": { "load_ms": load_ms, "evaluate_ms": evaluate_ms, "tps": rate },
        "policy": model.policy,
        "packages": model.package_report(),
        "peak_rss_bytes": peak_rss_bytes(),
    }))
}

/// A text's tokens and how they are cut into windows.
struct Text {
    ids: Vec<u32>,
    /// Whether control tokens are spelled and were read as text.
    spells_control_tokens: bool,
    /// What the first token of each window gives way to.
    begin: Option<u32>,
    /// Tokens of a window.
    length: usize,
}

impl Text {
    /// Control tokens that the text spells are tokens where `special` says so, else text. As
    /// `llama-perplexity` does, a text of fewer than two windows is refused.
    fn new(tokenizer: &Tokenizer, text: &str, special: bool, length: usize) -> Outcome<Text> {
        let begin = tokenizer.sequence_start();
        let ids = tokenizer.encode_prompt(text, special)?;
        if ids.len() < 2 * length {
            let message = format!(
                "the text has {} tokens; windows of {length} need {} at least",
                ids.len(),
                2 * length
            );
            return Err(Failure::new(Exit::Usage, message).hint("give a longer text or lower -c"));
        }
        let spells_control_tokens = !special && tokenizer.encode_prompt(text, true)? != ids;
        Ok(Text {
            ids,
            spells_control_tokens,
            begin,
            length,
        })
    }

    /// Whole windows.
    fn chunks(&self) -> usize {
        self.ids.len() / self.length
    }

    /// The tokens of a window.
    fn window(&self, chunk: usize) -> Vec<u32> {
        let mut tokens = self.ids[chunk * self.length..][..self.length].to_vec();
        if let Some(begin) = self.begin {
            tokens[0] = begin;
        }
        tokens
    }
}

/// Runs windows through the engine.
struct Scorer {
    engine: Engine,
    log_probability: LogProbability,
    /// Rows of a pass without logits, and of one with.
    rows: usize,
    outputs: usize,
}

impl Scorer {
    fn new(
        args: &PerplexityArgs,
        model: &OpenModel,
        window: u64,
        vocabulary: u64,
    ) -> Outcome<Scorer> {
        let rows = args.pass.batch.min(window);
        let outputs = (LOGITS_BYTES / (4 * vocabulary.max(1))).clamp(1, rows);
        let engine = model.engine(Size {
            rows,
            outputs,
            context: window,
            sampling: None,
        })?;
        Ok(Scorer {
            engine,
            log_probability: LogProbability::new(),
            rows: rows as usize,
            outputs: outputs as usize,
        })
    }

    /// Adds the tokens of a window's second half to `estimate`. The last token predicts nothing, so it
    /// isn't evaluated.
    fn score(&mut self, window: &[u32], estimate: &mut Estimate) -> Outcome<()> {
        let first = window.len() / 2;
        let (before, scored) = window[..window.len() - 1].split_at(first);
        let mut session = self.engine.start()?;
        for tokens in before.chunks(self.rows) {
            let part = Part {
                session: &mut session,
                tokens,
                outputs: Outputs::None,
            };
            self.engine.pass(Phase::Prefill, &mut [part])?;
        }
        let next = &window[first + 1..];
        for (tokens, next) in scored.chunks(self.outputs).zip(next.chunks(self.outputs)) {
            let part = Part {
                session: &mut session,
                tokens,
                outputs: Outputs::All,
            };
            let logits = self.engine.pass(Phase::Prefill, &mut [part])?;
            let rows = logits.chunks_exact(logits.len() / tokens.len());
            for (row, token) in rows.zip(next) {
                estimate.add(-self.log_probability.of(row, *token)?);
            }
        }
        self.engine.release(session);
        Ok(())
    }
}
