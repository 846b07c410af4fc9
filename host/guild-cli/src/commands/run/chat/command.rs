//! What a line of a conversation asks for: a question, or a command that starts with `/`.

use super::conversation::{Conversation, Turn};
use crate::failure::{Failure, Outcome};
use crate::measure::per_second;
use crate::output::Output;
use std::path::Path;

/// What `/help` says.
const HELP: &str = "\
/help            this list
/clear           forget the conversation, but for the system message
/undo            take back the last question and its answer
/system TEXT     set the system message; without TEXT there is none
/think on|off    let the model think before it answers, or not
/save FILE       write the conversation to a new JSON file; at a terminal only
/stats           what the last answer took
/quit            end; so do Ctrl-D, and Ctrl-C at an empty line
//TEXT           send /TEXT to the model
A line that ends with \\ goes on in the next one. Ctrl-C stops an answer; what came of it is kept.";

/// A line's meaning.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Nothing.
    Empty,
    /// Text for the model.
    Question(String),
    /// A command and what follows it.
    Command(String, String),
}

/// Reads a line; one that goes on in the next has a `\` at the break.
pub fn read(line: &str) -> Line {
    let line = line.replace("\\\n", "\n");
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return Line::Empty;
    }
    let Some(command) = trimmed.strip_prefix('/') else {
        return Line::Question(line);
    };
    if command.starts_with('/') {
        return Line::Question(command.to_owned());
    }
    let (name, rest) = command
        .split_once(char::is_whitespace)
        .unwrap_or((command, ""));
    Line::Command(name.to_owned(), rest.trim().to_owned())
}

/// Whether a line goes on in the next one.
pub fn goes_on(line: impl AsRef<[u8]>) -> bool {
    line.as_ref().ends_with(b"\\")
}

/// Whether a command writes files, which only who sits at a terminal may ask for.
pub fn writes_files(name: &str) -> bool {
    name == "save"
}

/// Carries a command out; false when it ends the conversation.
pub fn execute(
    (name, rest): (&str, &str),
    conversation: &mut Conversation,
    last: Option<&Turn>,
    output: Output,
) -> Outcome<bool> {
    match name {
        "help" | "?" => output.say(HELP),
        "quit" | "exit" => return Ok(false),
        "clear" => {
            conversation.clear();
            output.say("the conversation is empty");
        }
        "undo" => output.say(match conversation.undo() {
            true => "the last question is taken back",
            false => "there is no question to take back",
        }),
        "system" => {
            conversation.set_system(Some(rest));
            output.say(match rest {
                "" => "there is no system message",
                _ => "the system message is set",
            });
        }
        "think" => match rest {
            "on" | "off" => {
                conversation.set_thinking(Some(rest == "on"));
                output.say(format!("thinking is {rest}, if the chat template knows it"));
            }
            _ => output.say("/think takes on or off"),
        },
        "save" => save(Path::new(rest), conversation, output)?,
        "stats" => stats(conversation, last, output),
        _ => output.say(format!("there is no command /{name}; /help lists them")),
    }
    Ok(true)
}

/// Writes the conversation to a file that isn't there yet.
fn save(path: &Path, conversation: &Conversation, output: Output) -> Outcome<()> {
    if path.as_os_str().is_empty() {
        output.say("/save takes the path of a new file");
        return Ok(());
    }
    let file = std::fs::File::create_new(path).map_err(|error| Failure::io(path, &error))?;
    serde_json::to_writer_pretty(file, &conversation.to_json())
        .map_err(|error| Failure::io(path, &error.into()))?;
    output.say(format!("{} has the conversation", path.display()));
    Ok(())
}

fn stats(conversation: &Conversation, last: Option<&Turn>, output: Output) {
    let (used, context) = conversation.positions();
    output.say(format!("context: {used} of {context} positions are used"));
    let Some(turn) = last else {
        output.say("no answer so far");
        return;
    };
    let fresh = turn.prompt_tokens - turn.reused_tokens;
    output.say(format!(
        "last prompt: {} tokens, {} kept from before, {fresh} new at {:.1}/s",
        turn.prompt_tokens,
        turn.reused_tokens,
        per_second(fresh, turn.generated.prefill_ms),
    ));
    if turn.started_over {
        output.say("the session started over: the new text doesn't begin with what it held");
    }
    let decoded = turn.generated.tokens.len();
    output.say(format!(
        "last answer: {decoded} tokens at {:.1}/s",
        per_second(decoded.saturating_sub(1), turn.generated.decode_ms),
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_questions_or_commands() {
        assert_eq!(read("  "), Line::Empty);
        assert_eq!(read("a\\\nb"), Line::Question("a\nb".into()));
        let command = |name: &str, rest: &str| Line::Command(name.into(), rest.into());
        assert_eq!(read(" /save  a b.json "), command("save", "a b.json"));
        assert_eq!(read("/quit"), command("quit", ""));
        assert_eq!(read("//etc"), Line::Question("/etc".into()));
    }

    #[test]
    fn marks_between_lines_are_in_no_line() {
        assert_eq!(read("//a\\\nb"), Line::Question("/a\nb".into()));
        let system = Line::Command("system".into(), "a\nb".into());
        assert_eq!(read("/system a\\\nb"), system);
        assert_eq!(read("\\\n"), Line::Empty);
    }
}
