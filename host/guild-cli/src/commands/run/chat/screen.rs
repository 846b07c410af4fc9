//! Where an answer goes: the answer to standard output; reasoning beside it, dimmed on a terminal, else to standard
//! error. `--quiet` keeps reasoning back.

use crate::failure::Outcome;
use crate::output::{Output, plain};
use guild_model::AnswerPart;

/// Shows one answer.
pub struct Screen {
    output: Output,
    terminal: bool,
    dim: bool,
    part: Option<AnswerPart>,
}

impl Screen {
    /// A screen for the next answer.
    pub fn new(output: Output) -> Screen {
        let terminal = output.stdout_is_terminal();
        Screen {
            output,
            terminal,
            dim: terminal && std::env::var_os("NO_COLOR").is_none(),
            part: None,
        }
    }

    /// Shows a piece.
    pub fn show(&mut self, part: AnswerPart, text: &str) -> Outcome<()> {
        if self.output.quiet && part == AnswerPart::Thinking {
            return Ok(());
        }
        if self.part == Some(AnswerPart::Thinking) && part == AnswerPart::Answer {
            self.break_line()?;
        }
        self.part = Some(part);
        match (part, self.terminal) {
            (AnswerPart::Thinking, true) if self.dim => self
                .output
                .stream(&format!("\u{1b}[2m{}\u{1b}[0m", plain(text))),
            (AnswerPart::Thinking, false) => {
                self.output.aside(text);
                Ok(())
            }
            (AnswerPart::Answer, _) | (AnswerPart::Thinking, true) => self.output.stream_text(text),
        }
    }

    /// Ends the answer's last line.
    pub fn finish(mut self) -> Outcome<()> {
        if self.part == Some(AnswerPart::Thinking) && !self.terminal {
            self.break_line()?;
        }
        self.output.stream("\n")
    }

    /// Ends the reasoning's last line.
    fn break_line(&mut self) -> Outcome<()> {
        if self.terminal {
            return self.output.stream("\n\n");
        }
        self.output.aside("\n");
        Ok(())
    }
}
