//! Finds marks in text that comes in pieces: stop strings, and the marks around a model's reasoning.
//!
//! Text that could still become a mark is held back until more text decides, so what is handed out never depends on
//! where the pieces were cut.

/// Ends an answer at the first of some texts.
#[derive(Clone, Debug, Default)]
pub struct StopStrings {
    stops: Vec<String>,
    held: String,
}

/// What a piece of text led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// Text that is certain now. It never holds a stop string or a part of one that was met.
    pub text: String,
    /// Whether a stop string was met: nothing comes after `text`.
    pub stopped: bool,
}

impl StopStrings {
    /// Stops at any of `stops`; empty ones are ignored.
    #[must_use]
    pub fn new(stops: &[String]) -> Self {
        let stops = stops.iter().filter(|stop| !stop.is_empty());
        Self {
            stops: stops.cloned().collect(),
            held: String::new(),
        }
    }

    /// Takes the next piece. Of several stop strings the one that is complete first counts.
    pub fn push(&mut self, piece: &str) -> Scanned {
        self.held.push_str(piece);
        let found = |stop: &String| {
            let start = self.held.find(stop.as_str())?;
            Some((start + stop.len(), start))
        };
        if let Some((_, start)) = self.stops.iter().filter_map(found).min() {
            let mut text = std::mem::take(&mut self.held);
            text.truncate(start);
            return Scanned {
                text,
                stopped: true,
            };
        }
        let marks: Vec<&str> = self.stops.iter().map(String::as_str).collect();
        Scanned {
            text: take_certain(&mut self.held, &marks),
            stopped: false,
        }
    }

    /// Ends the text: what was held back is text after all.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// Which part of an answer a text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerPart {
    /// What the model thinks before it answers.
    Thinking,
    /// The answer.
    Answer,
}

/// The mark before a model's reasoning.
pub const THINK_OPEN: &str = "<think>";
/// The mark after it.
pub const THINK_CLOSE: &str = "</think>";

/// Tells reasoning from answer. Reasoning is only looked for at the start of a text: later marks are the answer's own.
#[derive(Clone, Debug)]
pub struct ReasoningSplitter {
    held: String,
    part: AnswerPart,
    /// Whether an opening mark may still come.
    may_open: bool,
    /// Whether the part has had nothing but line ends so far, which are left out.
    at_start: bool,
}

impl ReasoningSplitter {
    /// A splitter for the text that follows `prompt`: a prompt that ends with an opening mark puts the model into its
    /// reasoning.
    #[must_use]
    pub fn after(prompt: &str) -> Self {
        let thinking = prompt.trim_end().ends_with(THINK_OPEN);
        Self {
            held: String::new(),
            part: if thinking {
                AnswerPart::Thinking
            } else {
                AnswerPart::Answer
            },
            may_open: !thinking,
            at_start: true,
        }
    }

    /// Takes the next piece; gives out what is certain, in order.
    pub fn push(&mut self, piece: &str) -> Vec<(AnswerPart, String)> {
        self.held.push_str(piece);
        let mut out = Vec::new();
        while let Some(mark) = self.mark() {
            let Some(at) = self.held.find(mark) else {
                let certain = take_certain(&mut self.held, &[mark]);
                if self.part == AnswerPart::Answer && certain.trim().is_empty() {
                    // White space before an opening mark isn't part of the answer.
                    self.held.insert_str(0, &certain);
                } else {
                    self.emit(certain, &mut out);
                }
                return out;
            };
            let before: String = self.held.drain(..at).collect();
            if self.part == AnswerPart::Answer && !before.trim().is_empty() {
                self.may_open = false;
                self.emit(before, &mut out);
                continue;
            }
            self.held.drain(..mark.len());
            if self.part == AnswerPart::Thinking {
                self.emit(before, &mut out);
                self.part = AnswerPart::Answer;
            } else {
                self.part = AnswerPart::Thinking;
            }
            (self.may_open, self.at_start) = (false, true);
        }
        let rest = std::mem::take(&mut self.held);
        self.emit(rest, &mut out);
        out
    }

    /// Ends the text: what was held back belongs to the part that it was met in.
    pub fn finish(&mut self) -> Vec<(AnswerPart, String)> {
        let mut out = Vec::new();
        let rest = std::mem::take(&mut self.held);
        self.emit(rest, &mut out);
        out
    }

    /// The mark that would end the present part.
    fn mark(&self) -> Option<&'static str> {
        match self.part {
            AnswerPart::Thinking => Some(THINK_CLOSE),
            AnswerPart::Answer => self.may_open.then_some(THINK_OPEN),
        }
    }

    fn emit(&mut self, text: String, out: &mut Vec<(AnswerPart, String)>) {
        let text = match self.at_start {
            true => text.trim_start_matches('\n').to_owned(),
            false => text,
        };
        if text.is_empty() {
            return;
        }
        self.at_start = false;
        if self.part == AnswerPart::Answer && !text.trim().is_empty() {
            self.may_open = false;
        }
        out.push((self.part, text));
    }
}

/// Takes from `held` all but the longest end that could be the start of one of `marks`, none of which is in it.
fn take_certain(held: &mut String, marks: &[&str]) -> String {
    let longest = marks.iter().map(|mark| mark.len()).max().unwrap_or(0);
    let first = held.len().saturating_sub(longest.saturating_sub(1));
    let open = (first..held.len())
        .find(|at| {
            held.get(*at..)
                .is_some_and(|end| marks.iter().any(|mark| mark.starts_with(end)))
        })
        .unwrap_or(held.len());
    let rest = held.split_off(open);
    std::mem::replace(held, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stopped_text(stops: &[&str], pieces: &[&str]) -> (String, bool) {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let mut scanner = StopStrings::new(&stops);
        let mut text = String::new();
        for piece in pieces {
            let scanned = scanner.push(piece);
            text.push_str(&scanned.text);
            if scanned.stopped {
                return (text, true);
            }
        }
        text.push_str(&scanner.finish());
        (text, false)
    }

    #[test]
    fn a_stop_string_over_several_pieces_is_never_handed_out() {
        let stops = ["</s>", "User:"];
        let cut = stopped_text(&stops, &["Hello <", "/", "s", "> more"]);
        assert_eq!(cut, ("Hello ".into(), true));
        let kept = stopped_text(&stops, &["a </", "b> Use", "r."]);
        assert_eq!(kept, ("a </b> User.".into(), false));
        assert_eq!(
            stopped_text(&stops, &["ends in <"]),
            ("ends in <".into(), false)
        );
    }

    fn split(prompt: &str, pieces: &[&str]) -> (String, String) {
        let mut splitter = ReasoningSplitter::after(prompt);
        let mut parts = (String::new(), String::new());
        let mut out: Vec<_> = pieces
            .iter()
            .flat_map(|piece| splitter.push(piece))
            .collect();
        out.extend(splitter.finish());
        for (part, text) in out {
            match part {
                AnswerPart::Thinking => parts.0.push_str(&text),
                AnswerPart::Answer => parts.1.push_str(&text),
            }
        }
        parts
    }

    #[test]
    fn reasoning_is_told_from_the_answer() {
        let both = ("why".into(), "so".into());
        assert_eq!(split("x<think>\n", &["w", "hy</th", "ink>\n\nso"]), both);
        assert_eq!(split("x", &["\n<thi", "nk>\nwhy</think>so"]), both);
        assert_eq!(split("x<think>", &["why"]), ("why".into(), String::new()));
        let marks = "a <think> b </think>";
        assert_eq!(split("x", &[marks]), (String::new(), marks.into()));
    }

    proptest! {
        /// Where a text is cut changes nothing.
        #[test]
        fn cuts_change_nothing(text in "[ab<>]{0,24}", stop in "[ab<>]{1,4}", other in "[ab<>]{1,4}", cut in 0usize..24) {
            let stops = [stop.as_str(), other.as_str()];
            let whole = stopped_text(&stops, &[&text]);
            let (a, b) = text.split_at(cut.min(text.len()));
            prop_assert_eq!(&stopped_text(&stops, &[a, b]), &whole);
            let single: Vec<String> = text.chars().map(String::from).collect();
            let single: Vec<&str> = single.iter().map(String::as_str).collect();
            prop_assert_eq!(stopped_text(&stops, &single), whole);
        }

        #[test]
        fn cuts_change_no_reasoning(text in "(a|<think>|</think>|\n|<){0,12}", cut in 0usize..60) {
            let cut = cut.min(text.len());
            let whole = split("", &[&text]);
            prop_assert_eq!(split("", &[&text[..cut], &text[cut..]]), whole);
        }
    }
}
