//! Where a command's words go: data to stdout, people's text to stderr. Progress goes to stderr too: a bar on a
//! terminal, elsewhere a plain line now and then.

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::progress::Progress;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{IsTerminal, Write};

/// How a command reports.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// One JSON object on stdout instead of text.
    pub json: bool,
    /// No sentences.
    pub quiet: bool,
    /// Progress of long work.
    pub progress: bool,
    /// Whether stdout is a terminal, which text could drive.
    stdout_terminal: bool,
    /// Whether stderr is one.
    stderr_terminal: bool,
}

impl Output {
    /// JSON or text, with everything that belongs to it.
    #[must_use]
    pub fn new(json: bool) -> Output {
        Output {
            json,
            quiet: false,
            progress: !json,
            stdout_terminal: std::io::stdout().is_terminal(),
            stderr_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// As the command line says.
    #[must_use]
    pub fn of(args: &GlobalArgs) -> Output {
        Output {
            quiet: args.quiet,
            progress: !(args.json || args.quiet || args.no_progress),
            ..Output::new(args.json)
        }
    }

    /// A sentence for people, on stderr; nothing under `--json` and `--quiet`.
    pub fn say(self, line: impl AsRef<str>) {
        if !self.json && !self.quiet {
            write_stderr(&plain(line.as_ref()));
        }
    }

    /// A line of data on stdout; nothing under `--json`.
    pub fn data(self, line: impl AsRef<str>) -> Outcome<()> {
        if self.json {
            Ok(())
        } else {
            write_stdout(&format!("{}\n", plain(line.as_ref())))
        }
    }

    /// As [`Output::data`], with `progress` out of the way meanwhile.
    pub fn data_beside(self, progress: &Progress, line: impl AsRef<str>) -> Outcome<()> {
        progress.suspend(|| self.data(line))
    }

    /// Whether stdout is a terminal.
    pub const fn stdout_is_terminal(self) -> bool {
        self.stdout_terminal
    }

    /// Text of a model or of a file that is data itself, on stdout and at once: as it is, but escaped on a terminal.
    /// Nothing under `--json`.
    pub fn stream_text(self, text: &str) -> Outcome<()> {
        self.stream(&shown(text, self.stdout_terminal))
    }

    /// The program's own text that is data itself, as it is, on stdout and at once; nothing under `--json`.
    pub fn stream(self, text: &str) -> Outcome<()> {
        if self.json {
            Ok(())
        } else {
            write_stdout(text)
        }
    }

    /// A piece of a model's text beside the data, on stderr and at once: as it is, but escaped on a terminal. Nothing
    /// under `--json` and `--quiet`.
    pub fn aside(self, text: &str) {
        if !self.json && !self.quiet {
            let text = shown(text, self.stderr_terminal);
            // As with sentences: one that can't be written has no reader.
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        }
    }

    /// The command's JSON object; nothing without `--json`.
    pub fn object(self, fields: Value) -> Outcome<()> {
        if !self.json {
            return Ok(());
        }
        let mut object = Map::new();
        object.insert("schema".into(), 1.into());
        object.insert("ok".into(), true.into());
        if let Value::Object(fields) = fields {
            object.extend(fields);
        }
        write_stdout(&format!("{}\n", Value::Object(object)))
    }

    /// Reports a failure.
    pub fn failure(self, failure: &Failure) {
        if failure.exit == Exit::Ok {
            return;
        }
        if self.json {
            // A closed stdout has nobody left to tell; the exit code still does.
            let _ = write_stdout(&format!("{}\n", failure.to_json()));
            return;
        }
        write_stderr(&format!(
            "error: {} [{}]",
            plain(&failure.message),
            failure.exit.name()
        ));
        if !failure.hint.is_empty() {
            write_stderr(&format!("hint: {}", plain(&failure.hint)));
        }
    }

    /// Progress over `total` steps, on stderr.
    #[must_use]
    pub fn progress(self, total: u64, what: &'static str) -> Progress {
        match self.progress {
            true => Progress::new(total, what),
            false => Progress::hidden(),
        }
    }
}

/// Text for a place that may be a terminal.
fn shown(text: &str, terminal: bool) -> Cow<'_, str> {
    match terminal {
        true => plain(text),
        false => Cow::Borrowed(text),
    }
}

/// `text` with control and direction characters escaped, so that a file, a package or a model can't drive the
/// terminal. Line breaks and tabs stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(drives_terminal) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if drives_terminal(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn drives_terminal(c: char) -> bool {
    let direction =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || direction
}

/// "1 file", "2 files".
#[must_use]
pub fn count<N: Display + PartialEq + From<u8>>(number: N, one: &str) -> String {
    match number == N::from(1) {
        true => format!("1 {one}"),
        false => format!("{number} {one}s"),
    }
}

/// A line on stderr. One that can't be written has no reader; the exit code still tells.
fn write_stderr(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

fn write_stdout(text: &str) -> Outcome<()> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    written.map_err(|error| unwritten(&error))
}

/// Why standard output couldn't be written.
pub fn unwritten(error: &std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Failure::reader_gone(),
        _ => Failure::io(std::path::Path::new("standard output"), error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_direction_characters_are_escaped() {
        assert_eq!(
            plain("a\u{1b}[2Jb\u{202e}c\n\t"),
            "a\\u{1b}[2Jb\\u{202e}c\n\t"
        );
        assert!(matches!(plain("a b\n\té"), Cow::Borrowed("a b\n\té")));
    }
}
