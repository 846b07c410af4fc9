//! Reads the text.

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::input;
use std::path::Path;

/// The text without its last line break, which is how `llama-perplexity` reads one.
///
/// # Errors
/// Those of [`input::read_prose`]; USAGE for an empty file.
pub fn read(path: &Path) -> Outcome<String> {
    let text = input::read_prose(path)?;
    if text.is_empty() {
        let message = format!("{} has no text", path.display());
        return Err(Failure::new(Exit::Usage, message).hint("give a file with text"));
    }
    Ok(text)
}
