//! Text and JSON from files and from standard input.

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use serde_json::Value;
use std::io::{IsTerminal, Read};
use std::path::Path;

/// The longest text that any command reads.
const TEXT_BYTES_MAX: u64 = 256 << 20;

/// Reads all of a source of text that `name` names in errors.
///
/// # Errors
/// IO; USAGE for a text above the limit, and for one that isn't UTF-8, with its first wrong byte.
pub fn read_text(source: impl Read, name: &Path) -> Outcome<String> {
    let mut bytes = Vec::new();
    let read = source.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::io(name, &error))?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        let message = format!(
            "{} has more than {TEXT_BYTES_MAX} bytes of text",
            name.display()
        );
        return Err(Failure::new(Exit::Usage, message).hint("give a shorter text"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("{} is not UTF-8 at byte {at}", name.display());
        Failure::new(Exit::Usage, message).hint("convert the text to UTF-8")
    })
}

/// A text file's contents.
///
/// # Errors
/// Those of [`read_text`].
pub fn read_file(path: &Path) -> Outcome<String> {
    let file = std::fs::File::open(path).map_err(|error| Failure::io(path, &error))?;
    read_text(file, path)
}

/// A text file's contents without one newline at its end, which editors and `echo` put there and
/// llama.cpp's programs leave out too.
///
/// # Errors
/// Those of [`read_text`].
pub fn read_prose(path: &Path) -> Outcome<String> {
    read_file(path).map(without_last_newline)
}

/// The JSON in a text that came from `path`. `expected` says what should stand there, as a next step.
///
/// # Errors
/// USAGE for an empty text and for one that isn't JSON.
pub fn read_json(path: &Path, text: &str, expected: &str) -> Outcome<Value> {
    let path = path.display();
    if text.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, format!("{path} is empty")).hint(expected));
    }
    serde_json::from_str(text).map_err(|error| {
        Failure::new(Exit::Usage, format!("{path} isn't JSON: {error}")).hint(expected)
    })
}

/// The text that is given on the command line, as it is; else that of a file or of standard input, without
/// one newline at its end.
pub fn text(given: Option<&str>, file: Option<&Path>) -> Outcome<String> {
    match (given, file) {
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(path)) => read_prose(path),
        (None, None) if std::io::stdin().is_terminal() => {
            Err(Failure::new(Exit::Usage, "no text was given")
                .hint("give text with -p, a file with -f, or pipe it in"))
        }
        (None, None) => read_text(std::io::stdin().lock(), Path::new("standard input"))
            .map(without_last_newline),
    }
}

fn without_last_newline(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}
