//! A conversation without a line editor: one turn for each input.

use super::command::{self, Line};
use super::conversation::{Conversation, Turn};
use super::screen::Screen;
use crate::commands::run::generation::{Finish, interrupted};
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::Output;
use serde_json::{Value, json};
use std::io::BufRead;
use std::path::Path;

/// The longest line that is read.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// One question and its answer, shown and as JSON.
pub fn turn(
    conversation: &mut Conversation,
    question: &str,
    interrupt: &Interrupt,
    output: Output,
) -> Outcome<Value> {
    finished(ask(conversation, question, interrupt, output)?).map(|turn| to_json(&turn))
}

/// A script ends with the answer that Ctrl-C stopped.
fn finished(turn: Turn) -> Outcome<Turn> {
    match turn.generated.finish {
        Finish::Interrupted => Err(interrupted(turn.generated.tokens.len())),
        _ => Ok(turn),
    }
}

/// A turn for each line of standard input; commands work too.
pub fn lines(
    conversation: &mut Conversation,
    interrupt: &Interrupt,
    output: Output,
) -> Outcome<Vec<Value>> {
    let mut turns = Vec::new();
    let mut last = None;
    while let Some(line) = read_line()? {
        match command::read(&line) {
            Line::Empty => {}
            Line::Command(name, rest) => {
                if !command::execute((name, rest), conversation, last.as_ref(), output)? {
                    break;
                }
            }
            Line::Question(question) => {
                let turn = finished(ask(conversation, &question, interrupt, output)?)?;
                turns.push(to_json(&turn));
                last = Some(turn);
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
        output.say("the context is full: the answer ends here; /save, /undo or /clear, or start again with a larger -c");
    }
    Ok(turn)
}

/// The next line, joined with those that it goes on in; `None` at the end.
fn read_line() -> Outcome<Option<String>> {
    let mut line = String::new();
    loop {
        let read =
            std::io::Read::take(std::io::stdin().lock(), LINE_BYTES_MAX).read_line(&mut line);
        let bytes = read.map_err(|error| Failure::io(Path::new("standard input"), &error))?;
        if bytes == 0 {
            return Ok((!line.is_empty()).then_some(line));
        }
        let kept = line.trim_end_matches(['\n', '\r']).len();
        line.truncate(kept);
        if !command::goes_on(&line) {
            return Ok(Some(line));
        }
        line.push('\n');
    }
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
