//! Reads the text.

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes of the largest text.
const TEXT_BYTES_MAX: u64 = 1 << 30;

/// The text without its last line break, which is how `llama-perplexity` reads one.
///
/// # Errors
/// IO; USAGE for an empty file or one above the limit; DAMAGED names the first byte that isn't UTF-8.
pub fn read(path: &Path) -> Outcome<String> {
    let io = |error| Failure::io(path, &error);
    let file = File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    let mut limited = file.take(TEXT_BYTES_MAX + 1);
    limited.read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        let message = format!("{} has more than {TEXT_BYTES_MAX} bytes", path.display());
        return Err(Failure::new(Exit::Usage, message).hint("cut the text"));
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    if bytes.is_empty() {
        return Err(Failure::new(
            Exit::Usage,
            format!("{} has no text", path.display()),
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!(
            "{} isn't UTF-8: its byte {at}, from 0, is wrong",
            path.display()
        );
        Failure::new(Exit::Damaged, message).hint("convert the text to UTF-8")
    })
}
