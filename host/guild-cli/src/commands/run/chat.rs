//! `guild run --chat`: a conversation, at a terminal or from a script.

mod command;
mod conversation;
mod interactive;
mod screen;
mod scripted;

use super::{context, prompt};
use crate::args::RunArgs;
use crate::failure::Outcome;
use crate::interrupt::Interrupt;
use crate::measure::{milliseconds, peak_rss_bytes};
use crate::output::Output;
use crate::places::Places;
use crate::wiring::model::{OpenModel, Size, open_file};
use crate::wiring::sampling::EffectiveSampling;
use crate::wiring::template::Template;
use conversation::{Conversation, Rules};
use guild_model::{GgufFile, ModelSource, StopStrings, Tokenizer};
use serde_json::json;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Instant;

/// Positions of a conversation where `-c` doesn't say: as many as the model was made for, up to this.
const CONTEXT_MOST: u64 = 4096;

/// Holds a conversation and reports what ran.
pub fn run(args: &RunArgs, places: &Places, output: Output) -> Outcome<()> {
    let started = Instant::now();
    let interrupt = Interrupt::catch()?;
    let file = open_file(&args.model)?;
    let tokenizer = Tokenizer::from_metadata(file.metadata())?;
    let sampling = EffectiveSampling::new(&args.sampling, file.metadata())?;
    let template = Template::open(&args.chat.template, &file)?;
    let context = args.model.context.unwrap_or_else(|| default_context(&file));
    context::warn_beyond(&file, context);
    let model = OpenModel::describe(Arc::clone(&file), &args.model, context, places, output)?;
    let engine = model.engine(Size {
        rows: args.pass.batch.min(context),
        outputs: 1,
        context,
        sampling: Some(&sampling.sampling),
    })?;
    let rules = Rules {
        context,
        tokens: args.tokens,
        ignore_eos: args.ignore_eos,
        stops: StopStrings::new(&args.stop),
    };
    let sampler = sampling.sampler(engine.vocabulary())?;
    sampling.announce(&args.sampling, file.metadata(), output);
    let mut conversation = Conversation::new(engine, sampler, tokenizer, template, rules);
    conversation.set_system(args.chat.template.system.as_deref());
    let load_ms = milliseconds(started);

    let at_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let one_turn = args.prompt.is_some() || args.file.is_some();
    let turns = if at_terminal && !one_turn && !output.json {
        interactive::run(&mut conversation, &interrupt, !args.chat.no_history, output)?;
        Vec::new()
    } else if one_turn {
        let text = prompt::text(args)?;
        vec![scripted::turn(
            &mut conversation,
            &text,
            &interrupt,
            output,
        )?]
    } else {
        scripted::lines(&mut conversation, &interrupt, output)?
    };
    output.object(json!({
        "turns": turns,
        "sampling": sampling.json(),
        "load_ms": load_ms,
        "policy": model.policy,
        "packages": model.package_report(),
        "peak_rss_bytes": peak_rss_bytes(),
    }))
}

fn default_context(file: &GgufFile) -> u64 {
    context::made_for(file)
        .unwrap_or(CONTEXT_MOST)
        .clamp(1, CONTEXT_MOST)
}
