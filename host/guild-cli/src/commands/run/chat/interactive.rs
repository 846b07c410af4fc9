//! A conversation at a terminal: a line editor with a history.

use super::command::{self, Line};
use super::conversation::Conversation;
use super::scripted::ask;
use crate::commands::run::generation::Finish;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::state_dir;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, Helper,
    KeyEvent, Movement, RepeatCount,
};
use std::path::{Path, PathBuf};

/// Lines that the history keeps.
const HISTORY_LINES: usize = 1000;
/// What stands before what is typed.
const PROMPT: &str = "> ";

/// Reads and answers until the end of input.
pub fn run(
    conversation: &mut Conversation,
    interrupt: &Interrupt,
    keep_history: bool,
    output: Output,
) -> Outcome<()> {
    let mut editor = editor()?;
    let history = if keep_history {
        history(&mut editor, output)
    } else {
        None
    };
    output.say("/help lists the commands; Ctrl-D ends");
    let mut last = None;
    let end = loop {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            // Ctrl-C at an empty line, and Ctrl-D.
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => break Ok(()),
            Err(ReadlineError::Signal(_)) => continue,
            Err(error) => break Err(terminal_failure(&error)),
        };
        interrupt.clear();
        let went_on = match command::read(&line) {
            Line::Empty => Ok(true),
            Line::Command(name, rest) => {
                command::execute((&name, &rest), conversation, last.as_ref(), output)
            }
            Line::Question(question) => {
                remember(&mut editor, &line);
                ask(conversation, &question, interrupt, output).map(|turn| {
                    say_interrupted(&turn.generated.finish, output);
                    last = Some(turn);
                    true
                })
            }
        };
        interrupt.clear();
        match went_on {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(failure) if failure.exit == Exit::Ok => break Err(failure),
            // The conversation is as it was; whoever types decides what comes next.
            Err(failure) => output.failure(&failure),
        }
    };
    if let Some(path) = history {
        save_history(&mut editor, &path, output);
    }
    end
}

fn say_interrupted(finish: &Finish, output: Output) {
    if *finish == Finish::Interrupted {
        output.say("stopped");
    }
}

type LineEditor = Editor<Lines, FileHistory>;

fn editor() -> Outcome<LineEditor> {
    let config = Config::builder()
        .max_history_size(HISTORY_LINES)
        .map(|builder| builder.history_ignore_space(true).build())
        .map_err(|error| terminal_failure(&error))?;
    let mut editor: LineEditor =
        Editor::with_config(config).map_err(|error| terminal_failure(&error))?;
    editor.set_helper(Some(Lines));
    editor.bind_sequence(
        KeyEvent::ctrl('C'),
        EventHandler::Conditional(Box::new(ClearOrEnd)),
    );
    Ok(editor)
}

/// Loads the history; `None`, with a warning, where it can't be kept.
fn history(editor: &mut LineEditor, output: Output) -> Option<PathBuf> {
    let path = state_dir::path()?.join("chat-history");
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    if let Err(error) = made {
        output.say(format!(
            "warning: no history is kept: {}: {error}",
            path.display()
        ));
        return None;
    }
    // There is none at first.
    let _ = editor.load_history(&path);
    Some(path)
}

fn remember(editor: &mut LineEditor, line: &str) {
    // It fails for lines that the settings leave out.
    let _ = editor.add_history_entry(line);
}

fn save_history(editor: &mut LineEditor, path: &Path, output: Output) {
    if let Err(error) = editor.save_history(path) {
        output.say(format!(
            "warning: the history was not saved: {}: {error}",
            path.display()
        ));
    }
}

fn terminal_failure(error: &ReadlineError) -> Failure {
    Failure::new(Exit::Io, format!("the terminal: {error}"))
        .hint("pipe the questions in, one a line")
}

/// Ctrl-C: clears what was typed; at an empty line it ends.
struct ClearOrEnd;

impl ConditionalEventHandler for ClearOrEnd {
    fn handle(
        &self,
        _event: &Event,
        _count: RepeatCount,
        _positive: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        Some(match context.line().is_empty() {
            true => Cmd::Interrupt,
            false => Cmd::Kill(Movement::WholeBuffer),
        })
    }
}

/// Lets a line go on in the next one.
struct Lines;

impl Helper for Lines {}
impl Highlighter for Lines {}

impl Hinter for Lines {
    type Hint = String;
}

impl Completer for Lines {
    type Candidate = String;
}

impl Validator for Lines {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match command::goes_on(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}
