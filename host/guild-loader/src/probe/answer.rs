//! The two lines that a trial run answers with: what shuts it in, said before the library is mapped, and
//! what was found. Both are canonical JSON; one byte more or less is refused.

use std::io::{self, Write};

use guild_package::Error;
use guild_package::limits::PROBE_ANSWER_MAX_BYTES;
use guild_package::probe::{Answer, Refusal, Sandbox};
use guild_package::text::{PlainText, escape};

use crate::error::Fault;

/// Longest first line.
const FIRST_LINE_MAX_BYTES: usize = 128;
/// Most bytes that are read of an answer.
pub(super) const STREAM_MAX_BYTES: usize = FIRST_LINE_MAX_BYTES + PROBE_ANSWER_MAX_BYTES + 2;
/// Longest message of a refusal; the limit of its type.
const MESSAGE_MAX_BYTES: usize = 1024;

/// Reads an answer.
///
/// # Errors
/// What is wrong with it, in words.
pub(super) fn read(stream: &[u8]) -> Result<(Sandbox, Answer), String> {
    let malformed = |error: Error| error.to_string();
    let text = "it did not answer in two lines";
    let stream = stream.strip_suffix(b"\n").ok_or(text)?;
    let end = stream.iter().position(|byte| *byte == b'\n').ok_or(text)?;
    let (first, last) = (stream.get(..end), stream.get(end + 1..));
    let (first, last) = first.zip(last).ok_or(text)?;
    if first.len() > FIRST_LINE_MAX_BYTES {
        return Err("its first line is too long".to_owned());
    }
    Ok((
        Sandbox::decode(first).map_err(malformed)?,
        Answer::decode(last).map_err(malformed)?,
    ))
}

/// Writes one line of an answer.
///
/// # Errors
/// A reader that has gone.
pub(super) fn write(mut out: impl Write, line: &[u8]) -> io::Result<()> {
    let mut line = line.to_vec();
    line.push(b'\n');
    out.write_all(&line)
}

/// The answer for a package that the loader would refuse.
pub(super) fn refusal(fault: &Fault) -> Answer {
    Answer::refused(Refusal {
        code: plain(fault.code().name),
        message: plain(&fault.words()),
    })
}

/// Text that can be printed: whole where it can, else escaped and shortened.
pub(super) fn plain(text: &str) -> PlainText {
    let end = text.floor_char_boundary(MESSAGE_MAX_BYTES);
    let whole = text.get(..end).unwrap_or_default().parse();
    whole.or_else(|_| escape(text).parse()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = r#"{"landlock_abi":7,"seccomp":true}"#;
    const LAST: &str = r#"{"schema":1,"refused":{"code":"INCOMPATIBLE","message":"no"}}"#;

    #[test]
    fn two_lines_are_read() {
        let (sandbox, answer) = read(format!("{FIRST}\n{LAST}\n").as_bytes()).unwrap();
        assert!(sandbox.is_whole() && sandbox.landlock_abi == 7);
        assert_eq!(answer.refused.unwrap().message.as_str(), "no");
    }

    #[test]
    fn anything_else_is_refused() {
        let both = r#"{"schema":1,"report":{"descriptor":{"id":"org.a","version":"1.0.0","operations":[],"runners":[]},"golden":[]},"refused":{"code":"X","message":"no"}}"#;
        for stream in [
            String::new(),
            "\n".to_owned(),
            "\n\n".to_owned(),
            FIRST.to_owned(),
            format!("{FIRST}\n"),
            format!("{FIRST}\n{LAST}"),
            format!("{FIRST}\n{LAST}\n\n"),
            format!("{FIRST}\n{LAST}\n{LAST}\n"),
            format!("{LAST}\n{FIRST}\n"),
            format!(" {FIRST}\n{LAST}\n"),
            format!("{FIRST}\n{}\n", LAST.replace("1,", "2,")),
            format!("{FIRST}\n{}\n", LAST.replace("1,", "1, ")),
            format!("{FIRST}\n{}\n", LAST.replace("no", "a\\u001b[2J")),
            format!("{FIRST}\n{{\"schema\":1}}\n"),
            format!("{FIRST}\n{both}\n"),
            format!("{FIRST}{}\n{LAST}\n", " ".repeat(FIRST_LINE_MAX_BYTES)),
        ] {
            assert!(read(stream.as_bytes()).is_err(), "{stream:?}");
        }
        let long = format!("{FIRST}\n{LAST}{}\n", " ".repeat(PROBE_ANSWER_MAX_BYTES));
        assert!(read(long.as_bytes()).is_err());
    }

    #[test]
    fn messages_always_become_plain() {
        assert_eq!(plain("a b").as_str(), "a b");
        assert!(plain("a\u{1b}b").as_str().contains("\\u{1b}"));
        assert_eq!(plain(&"x".repeat(5000)).as_str().len(), MESSAGE_MAX_BYTES);
    }
}
