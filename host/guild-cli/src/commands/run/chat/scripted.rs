//! A conversation without a line editor: one turn for each input.

use super::command::{self, Line};
use super::conversation::{Conversation, Turn};
use super::screen::Screen;
use crate::commands::run::generation::{Finish, interrupted};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::Output;
use serde_json::{Value, json};
use std::io::{BufRead, Read};
use std::path::Path;

/// The longest line that is read, with those that it goes on in.
const LINE_BYTES_MAX: usize = 64 << 20;

/// One question and its answer, shown and as JSON.
pub fn turn(
    conversation: &mut Conversation,
    question: &str,
    interrupt: &Interrupt,
    output: Output,
) -> Outcome<Value> {
    let mut turns = Vec::new();
    finished(ask(conversation, question, interrupt, output)?, &mut turns)?;
    Ok(turns.remove(0))
}

/// Adds a turn to those before it. A script ends with the answer that Ctrl-C stopped, and gives them all.
fn finished(turn: Turn, turns: &mut Vec<Value>) -> Outcome<Turn> {
    turns.push(to_json(&turn));
    match turn.generated.finish {
        Finish::Interrupted => Err(interrupted(
            turn.generated.tokens.len(),
            json!({ "turns": turns }),
        )),
        _ => Ok(turn),
    }
}

/// A turn for each line of standard input. Commands work too, but for those that write files: the text may come from
/// somebody else.
pub fn lines(
    conversation: &mut Conversation,
    interrupt: &Interrupt,
    output: Output,
) -> Outcome<Vec<Value>> {
    let mut turns = Vec::new();
    let mut last = None;
    let mut input = std::io::stdin().lock();
    while let Some(line) = read_line(&mut input, LINE_BYTES_MAX)? {
        match command::read(&line) {
            Line::Empty => {}
            Line::Command(name, _) if command::writes_files(&name) => {
                let message = format!("/{name} works at a terminal only");
                return Err(Failure::new(Exit::Usage, message)
                    .hint("take the line out; --json gives what was answered"));
            }
            Line::Command(name, rest) => {
                if !command::execute((&name, &rest), conversation, last.as_ref(), output)? {
                    break;
                }
            }
            Line::Question(question) => {
                let turn = ask(conversation, &question, interrupt, output)?;
                last = Some(finished(turn, &mut turns)?);
            }
        }
    }
    Ok(turns)
}

/// Asks and shows the answer.
pub fn ask(
    conversation: &mut Conversation,
    question: &str,
    interrupt: &Interrupt,
    output: Output,
) -> Outcome<Turn> {
    let mut screen = Screen::new(output);
    let turn = conversation.ask(question, interrupt, output, |part, text| {
        screen.show(part, text)
    })?;
    screen.finish()?;
    if turn.context_full {
        output.say("the context is full: the answer ends here; /undo or /clear, at a terminal /save, or start again with a larger -c");
    }
    Ok(turn)
}

/// The next line with those that it goes on in, `\` at the breaks; `None` at the end. More than `bytes_max` are refused
/// before they are kept.
fn read_line(input: &mut impl BufRead, bytes_max: usize) -> Outcome<Option<String>> {
    let mut line = Vec::new();
    loop {
        // A line of just `bytes_max` may have a line end of two bytes.
        let room = (bytes_max + 2 - line.len()) as u64;
        let read = input.by_ref().take(room).read_until(b'\n', &mut line);
        let bytes = read.map_err(|error| Failure::io(Path::new("standard input"), &error))?;
        if bytes == 0 {
            return (!line.is_empty()).then(|| text(line)).transpose();
        }
        line.pop_if(|byte| *byte == b'\n');
        line.pop_if(|byte| *byte == b'\r');
        if line.len() > bytes_max {
            let message = format!("a line of standard input has more than {bytes_max} bytes");
            return Err(Failure::new(Exit::Usage, message)
                .hint("cut it; lines that end with `\\` count together"));
        }
        if !command::goes_on(&line) {
            return text(line).map(Some);
        }
        line.push(b'\n');
    }
}

fn text(line: Vec<u8>) -> Outcome<String> {
    String::from_utf8(line).map_err(|_| {
        Failure::new(Exit::Usage, "a line of standard input is not UTF-8")
            .hint("convert the text to UTF-8")
    })
}

fn to_json(turn: &Turn) -> Value {
    json!({
        "content": turn.answer,
        "reasoning_content": turn.thinking,
        "tokens": turn.generated.tokens,
        "finish": turn.generated.finish.name(),
        "prompt_tokens": turn.prompt_tokens,
        "reused_tokens": turn.reused_tokens,
        "started_over": turn.started_over,
        "prefill_ms": turn.generated.prefill_ms,
        "decode_ms": turn.generated.decode_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lines of an input, up to a refusal.
    fn lines_of(mut input: &[u8], bytes_max: usize) -> Result<Vec<String>, Exit> {
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut input, bytes_max).map_err(|failure| failure.exit)? {
            lines.push(line);
        }
        Ok(lines)
    }

    #[test]
    fn lines_end_at_line_ends_and_go_on_after_a_mark() {
        let lines = lines_of(b"a\r\n\nb\\\r\nc\\\nd\ne", 8).unwrap();
        assert_eq!(lines, ["a", "", "b\\\nc\\\nd", "e"]);
        assert_eq!(lines_of(b"a\\", 8).unwrap(), ["a\\\n"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_and_never_cut() {
        for end in ["", "\n", "\r\n"] {
            let fits = format!("1234{end}");
            assert_eq!(lines_of(fits.as_bytes(), 4).unwrap(), ["1234"]);
            let long = format!("12345{end}");
            assert_eq!(lines_of(long.as_bytes(), 4), Err(Exit::Usage));
        }
        // Within a character, and at a carriage return that ends nothing.
        assert_eq!(lines_of("123456é".as_bytes(), 5), Err(Exit::Usage));
        assert_eq!(lines_of(b"1234\rx", 4), Err(Exit::Usage));
    }

    #[test]
    fn lines_that_go_on_count_together() {
        assert_eq!(lines_of(b"1\\\n2\n", 4).unwrap(), ["1\\\n2"]);
        assert_eq!(lines_of(b"1\\\n23\n", 4), Err(Exit::Usage));
        assert_eq!(lines_of(&b"\\\n".repeat(1000), 4), Err(Exit::Usage));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert_eq!(lines_of(b"a\xff\n", 8), Err(Exit::Usage));
    }
}
