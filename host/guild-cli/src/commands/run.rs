//! `guild run`: generates text.

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::wiring::model::{OpenModel, Size};
use guild_engine::{Engine, Sampler, Sampling, Session};
use guild_model::{ModelSource, StreamDecoder, Tokenizer};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Positions of a sequence where neither `-c` nor the prompt and `-n` ask for more.
const CONTEXT_LEAST: u64 = 512;

/// Generates and reports what ran.
pub fn run(args: &RunArgs, data_dir: Option<&Path>, output: Output) -> Outcome<()> {
    let started = Instant::now();
    let (prompt, tokenizer) = prompt(args)?;
    let context = context(args, prompt.len() as u64)?;
    let model = OpenModel::open(&args.model, context, data_dir, output)?;
    let rows = args.model.batch.min(prompt.len() as u64);
    let mut engine = model.engine(Size {
        rows,
        outputs: 1,
        context,
    })?;
    let mut sampler = Sampler::new(sampling(args), engine.vocabulary())?;
    let mut session = engine.start()?;
    let load_ms = milliseconds(started);

    let mut generation = Generation::new(args, tokenizer.as_ref(), output);
    let prefill_started = Instant::now();
    let progress = output.progress(prompt.len() as u64, "prefill");
    let logits = engine.prefill(&mut session, &prompt, |done| {
        progress.set_position(done as u64)
    })?;
    progress.finish_and_clear();
    let mut token = sampler.sample(logits)?;
    let prefill_ms = milliseconds(prefill_started);

    let decode_started = Instant::now();
    while generation.accept(token)? {
        token = sampler.sample(engine.decode(&mut session, token)?)?;
    }
    let decode_ms = milliseconds(decode_started);
    generation.finish()?;
    engine.release(session);
    report(
        &Report {
            prompt: &prompt,
            generation,
            load_ms,
            prefill_ms,
            decode_ms,
        },
        &model,
        output,
    )
}

/// Positions of the sequence: what `-c` says, or what the prompt and `-n` need. Too few are refused
/// before anything is generated.
fn context(args: &RunArgs, prompt: u64) -> Outcome<u64> {
    // The last token is only written, so it takes no position.
    let needed = prompt + args.tokens.saturating_sub(1);
    let context = args.model.context.unwrap_or(needed.max(CONTEXT_LEAST));
    if needed <= context {
        return Ok(context);
    }
    let message = format!(
        "a prompt of {prompt} tokens and -n {} need {needed} positions, the context has {context}",
        args.tokens
    );
    Err(Failure::new(Exit::Usage, message).hint("raise the context with -c, or lower -n"))
}

/// The prompt's ids, and the tokenizer where the file has one that can be used.
fn prompt(args: &RunArgs) -> Outcome<(Vec<u32>, Option<Tokenizer>)> {
    let file = guild_model::GgufFile::open(&args.model.model)?;
    let tokenizer = Tokenizer::from_metadata(file.metadata());
    let ids = match (&args.prompt_ids, &args.prompt) {
        (Some(ids), _) => return no_empty_prompt(ids.clone()).map(|ids| (ids, tokenizer.ok())),
        (None, Some(text)) => {
            let tokenizer = tokenizer.as_ref().map_err(|error| {
                Failure::new(Exit::from_number(error.code().exit()), error.to_string())
                    .hint("give token ids with --prompt-ids")
            })?;
            let special = tokenizer.special_tokens();
            let mut ids: Vec<u32> = special
                .bos
                .filter(|_| special.adds_bos)
                .into_iter()
                .collect();
            ids.extend(tokenizer.encode(text, true)?);
            ids
        }
        (None, None) => {
            return Err(Failure::new(Exit::Usage, "no prompt was given")
                .hint("give text with -p or token ids with --prompt-ids"));
        }
    };
    no_empty_prompt(ids).map(|ids| (ids, tokenizer.ok()))
}

fn no_empty_prompt(ids: Vec<u32>) -> Outcome<Vec<u32>> {
    match ids.is_empty() {
        false => Ok(ids),
        true => Err(Failure::new(Exit::Usage, "the prompt has no tokens")
            .hint("give at least one character or one id")),
    }
}

fn sampling(args: &RunArgs) -> Sampling {
    match args.temp {
        0.0 => Sampling::Greedy,
        temperature => Sampling::Temperature {
            temperature,
            seed: args.seed,
        },
    }
}

/// The tokens so far and where their text goes.
struct Generation<'a> {
    tokens: Vec<u32>,
    text: String,
    limit: usize,
    ignore_eos: bool,
    decoder: StreamDecoder,
    tokenizer: Option<&'a Tokenizer>,
    output: Output,
}

impl<'a> Generation<'a> {
    fn new(args: &RunArgs, tokenizer: Option<&'a Tokenizer>, output: Output) -> Generation<'a> {
        let limit = usize::try_from(args.tokens).unwrap_or(usize::MAX);
        Generation {
            tokens: Vec::with_capacity(limit),
            text: String::new(),
            limit,
            ignore_eos: args.ignore_eos,
            decoder: StreamDecoder::new(),
            tokenizer,
            output,
        }
    }

    /// Takes a sampled token; false when generation ends: at the limit, or with the end token.
    fn accept(&mut self, token: u32) -> Outcome<bool> {
        if self.tokens.len() >= self.limit {
            return Ok(false);
        }
        let ends = self
            .tokenizer
            .is_some_and(|tokenizer| tokenizer.ends_generation(token));
        if ends && !self.ignore_eos {
            return Ok(false);
        }
        self.tokens.push(token);
        if let Some(tokenizer) = self.tokenizer {
            let piece = self.decoder.push(tokenizer, token)?;
            self.output.stream(&piece)?;
            self.text.push_str(&piece);
        }
        Ok(self.tokens.len() < self.limit)
    }

    /// Writes the bytes that were held back, and the ids where there is no tokenizer.
    fn finish(&mut self) -> Outcome<()> {
        let rest = std::mem::take(&mut self.decoder).finish();
        self.output.stream(&rest)?;
        self.text.push_str(&rest);
        if self.tokenizer.is_none() {
            let ids: Vec<String> = self.tokens.iter().map(u32::to_string).collect();
            self.output.stream(&ids.join(","))?;
        }
        self.output.stream("\n")
    }
}

/// What a run ends with.
struct Report<'a> {
    prompt: &'a [u32],
    generation: Generation<'a>,
    load_ms: f64,
    prefill_ms: f64,
    decode_ms: f64,
}

fn report(run: &Report<'_>, model: &OpenModel, output: Output) -> Outcome<()> {
    let generated = run.generation.tokens.len();
    // The first token comes out of prefill, so decode made one less.
    let decoded = generated.saturating_sub(1);
    let prefill_tps = per_second(run.prompt.len(), run.prefill_ms);
    let decode_tps = per_second(decoded, run.decode_ms);
    output.say(format!(
        "load {:.0} ms, prefill {} tokens at {prefill_tps:.1}/s, decode {decoded} tokens at {decode_tps:.1}/s",
        run.load_ms,
        run.prompt.len(),
    ));
    output.object(json!({
        "tokens": run.generation.tokens,
        "text": run.generation.text,
        "prompt_tokens": run.prompt.len(),
        "timings": {
            "load_ms": run.load_ms,
            "prefill_ms": run.prefill_ms,
            "decode_ms": run.decode_ms,
            "prefill_tps": prefill_tps,
            "decode_tps": decode_tps,
        },
        "packages": model.package_report(),
        "peak_rss_bytes": peak_rss_bytes(),
    }))
}

/// Milliseconds since `start`.
pub fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Tokens per second; 0 where no time was measured.
pub fn per_second(tokens: usize, milliseconds: f64) -> f64 {
    if milliseconds > 0.0 {
        tokens as f64 * 1e3 / milliseconds
    } else {
        0.0
    }
}

/// The largest resident size of this process so far, or null where the system doesn't say.
fn peak_rss_bytes() -> Value {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.map_or(Value::Null, |kib| json!(kib * 1024))
}

/// A session and its engine for callers that only need the last logits of a prompt.
pub fn prefill_once(engine: &mut Engine, prompt: &[u32]) -> Outcome<Session> {
    let mut session = engine.start()?;
    engine.prefill(&mut session, prompt, |_| {})?;
    Ok(session)
}
