//! `guild logits`: writes the logits of every token of a prompt.

use crate::args::LogitsArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::npy::NpyWriter;
use crate::output::Output;
use crate::places::Places;
use crate::wiring::events;
use crate::wiring::model::{OpenModel, Size};
use guild_engine::{Outputs, Part};
use guild_graph::Phase;
use guild_model::GgufFile;
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Runs the ids in passes of at most `--batch` rows; one row a pass runs as decode.
pub fn run(args: &LogitsArgs, places: &Places, output: Output) -> Outcome<()> {
    let ids = &args.ids;
    let context = args.model.context.unwrap_or(ids.len() as u64);
    let model = OpenModel::open(&args.model, context, places, output)?;
    not_the_model(&args.out, &model.file)?;
    let rows = args.pass.batch.min(ids.len() as u64);
    let mut engine = model.engine(Size {
        rows,
        outputs: rows,
        context,
        sampling: None,
    })?;
    let mut session = engine.start()?;
    let vocabulary = engine.vocabulary();
    let phase = if rows == 1 {
        Phase::Decode
    } else {
        Phase::Prefill
    };
    let mut file = NpyWriter::create(&args.out, ids.len(), vocabulary)?;
    let progress = output.progress(ids.len() as u64, "tokens");
    for chunk in ids.chunks(rows as usize) {
        let part = Part {
            session: &mut session,
            tokens: chunk,
            outputs: Outputs::All,
        };
        file.append(engine.pass(phase, &mut [part])?)?;
        progress.inc(chunk.len() as u64);
    }
    progress.finish_and_clear();
    events::states(&engine);
    engine.release(session);
    file.finish()?;
    output.say(format!(
        "{}: {} x {vocabulary} logits, f32",
        args.out.display(),
        ids.len()
    ));
    output.object(json!({
        "out": args.out,
        "rows": ids.len(),
        "vocabulary": vocabulary,
        "policy": model.policy,
        "packages": model.package_report(),
    }))
}

/// The model is mapped while the logits are written: writing over one of its files would lose it and crash.
fn not_the_model(out: &Path, model: &GgufFile) -> Outcome<()> {
    let file = |path: &Path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    let out_file = file(out);
    let mut shards = model.shards().iter();
    if out_file.is_some() && shards.any(|shard| file(shard.path()) == out_file) {
        let message = format!("--out: {} is the model", out.display());
        return Err(Failure::new(Exit::Usage, message).hint("choose another path"));
    }
    Ok(())
}
