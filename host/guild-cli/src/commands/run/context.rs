//! How long a sequence the model was made for.

use guild_model::{GgufFile, ModelSource};

/// Positions that the model was trained for, where its file says so.
pub fn made_for(file: &GgufFile) -> Option<u64> {
    let metadata = file.metadata();
    let architecture: &str = metadata.get("general.architecture").ok().flatten()?;
    let key = format!("{architecture}.context_length");
    metadata.get(&key).ok().flatten()
}

/// Warns of a context that is longer: it works, but what the model says there may be worth little.
pub fn warn_beyond(file: &GgufFile, context: u64) {
    if let Some(made_for) = made_for(file).filter(|&made_for| context > made_for) {
        tracing::warn!(
            "the context has {context} positions, the model was made for {made_for}: its answers get worse beyond them"
        );
    }
}
