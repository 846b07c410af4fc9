//! `guild run`: generates text.

mod chat;
mod context;
mod generation;
mod prompt;
mod report;

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::measure::milliseconds;
use crate::output::Output;
use crate::places::Places;
use crate::wiring::model::{OpenModel, Size, open_file};
use crate::wiring::sampling::EffectiveSampling;
use generation::{Finish, Generator, Limits, interrupted};
use guild_model::{ModelSource, StopStrings, Tokenizer};
use report::Report;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// Positions of a sequence where neither `-c` nor the prompt and `-n` ask for more.
const CONTEXT_LEAST: u64 = 512;

/// Tokens of a raw completion where `-n` doesn't say.
const TOKENS: u64 = 128;

/// Generates and reports what ran.
pub fn run(args: &RunArgs, places: &Places, output: Output) -> Outcome<()> {
    if args.chat.chat {
        return chat::run(args, places, output);
    }
    if args.chat.template.any() {
        return Err(Failure::new(
            Exit::Usage,
            "options of the chat template were given without --chat",
        )
        .hint("add --chat; without it the prompt is completed as it is"));
    }
    let started = Instant::now();
    let interrupt = Interrupt::catch()?;
    let file = open_file(&args.model)?;
    let tokenizer = Tokenizer::from_metadata(file.metadata());
    let sampling = EffectiveSampling::new(&args.sampling, file.metadata())?;
    let prompt = prompt::ids(args, tokenizer.as_ref())?;
    let tokenizer = tokenizer.ok();
    let context = context(args, prompt.len() as u64)?;
    context::warn_beyond(&file, context);
    let model = OpenModel::describe(Arc::clone(&file), &args.model, context, places, output)?;
    let mut engine = model.engine(Size {
        rows: args.pass.batch.min(prompt.len() as u64),
        outputs: 1,
        context,
        sampling: Some(&sampling.sampling),
    })?;
    let mut sampler = sampling.sampler(engine.vocabulary())?;
    sampling.announce(&args.sampling, file.metadata(), output);
    let mut session = engine.start()?;
    let load_ms = milliseconds(started);

    let generator = Generator {
        engine: &mut engine,
        session: &mut session,
        sampler: &mut sampler,
        tokenizer: tokenizer.as_ref(),
        interrupt: &interrupt,
        output,
    };
    let limits = Limits {
        tokens: usize::try_from(args.tokens.unwrap_or(TOKENS)).unwrap_or(usize::MAX),
        ignore_eos: args.ignore_eos,
        stops: StopStrings::new(&args.stop),
    };
    let generated = generator.run(&prompt, limits, |text| output.stream_text(text))?;
    if tokenizer.is_none() {
        let ids: Vec<String> = generated.tokens.iter().map(u32::to_string).collect();
        output.stream(&ids.join(","))?;
    }
    output.stream("\n")?;
    engine.release(session);
    if generated.finish == Finish::Interrupted {
        return Err(interrupted(
            generated.tokens.len(),
            json!({ "text": generated.text, "tokens": generated.tokens }),
        ));
    }
    Report {
        prompt_tokens: prompt.len(),
        generated: &generated,
        sampling: &sampling,
        load_ms,
    }
    .print(&model, output)
}

/// Positions of the sequence: what `-c` says, or what the prompt and `-n` need. Too few are refused
/// before anything is generated.
fn context(args: &RunArgs, prompt: u64) -> Outcome<u64> {
    // The last token is only written, so it takes no position.
    let tokens = args.tokens.unwrap_or(TOKENS);
    let needed = prompt + tokens.saturating_sub(1);
    let context = args.model.context.unwrap_or(needed.max(CONTEXT_LEAST));
    if needed <= context {
        return Ok(context);
    }
    let message = format!(
        "the prompt's {prompt} and all but the last of -n {tokens} need {needed} positions, the context has {context}"
    );
    Err(Failure::new(Exit::Usage, message).hint("raise the context with -c, or lower -n"))
}
