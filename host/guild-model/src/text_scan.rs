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

    /// Takes the next piece and appends to `out` the text that is certain now, never a stop string or a part of one that
    /// was met. True when one was met: nothing comes after. Of several the one that is complete first counts.
    pub fn push(&mut self, piece: &str, out: &mut String) -> bool {
        if self.stops.is_empty() {
            out.push_str(piece);
            return false;
        }
        self.held.push_str(piece);
        let found = |stop: &String| {
            let start = self.held.find(stop.as_str())?;
            Some((start + stop.len(), start))
        };
        if let Some((_, start)) = self.stops.iter().filter_map(found).min() {
            out.push_str(&self.held[..start]);
            self.held.clear();
            return true;
        }
        let certain = certain_bytes(&self.held, &self.stops);
        out.push_str(&self.held[..certain]);
        self.held.drain(..certain);
        false
    }

    /// Ends the text: what was held back is text after all, and is appended to `out`.
    pub fn finish(&mut self, out: &mut String) {
        out.push_str(&self.held);
        self.held.clear();
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

/// An answer with its reasoning, as far as both have come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitAnswer {
    /// What the model thought; complete before the answer begins.
    pub thinking: String,
    /// The answer.
    pub answer: String,
}

impl SplitAnswer {
    /// Bytes of the reasoning and of the answer.
    #[must_use]
    pub const fn lengths(&self) -> (usize, usize) {
        (self.thinking.len(), self.answer.len())
    }
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

    /// Takes the next piece and appends to `out` what is certain now.
    pub fn push(&mut self, piece: &str, out: &mut SplitAnswer) {
        self.held.push_str(piece);
        while let Some(mark) = self.mark() {
            let answering = self.part == AnswerPart::Answer;
            let Some(at) = self.held.find(mark) else {
                let certain = certain_bytes(&self.held, &[mark]);
                // White space before an opening mark isn't part of the answer.
                if !(answering && self.held[..certain].trim().is_empty()) {
                    self.hand_out(certain, out);
                }
                return;
            };
            if answering && !self.held[..at].trim().is_empty() {
                self.may_open = false;
                self.hand_out(at, out);
                continue;
            }
            if answering {
                self.held.drain(..at + mark.len());
                self.part = AnswerPart::Thinking;
            } else {
                self.hand_out(at, out);
                self.held.drain(..mark.len());
                self.part = AnswerPart::Answer;
            }
            (self.may_open, self.at_start) = (false, true);
        }
        self.hand_out(self.held.len(), out);
    }

    /// Ends the text: what was held back belongs to the part that it was met in.
    pub fn finish(&mut self, out: &mut SplitAnswer) {
        self.hand_out(self.held.len(), out);
    }

    /// The mark that would end the present part.
    fn mark(&self) -> Option<&'static str> {
        match self.part {
            AnswerPart::Thinking => Some(THINK_CLOSE),
            AnswerPart::Answer => self.may_open.then_some(THINK_OPEN),
        }
    }

    /// Moves the first `bytes` that are held to their part.
    fn hand_out(&mut self, bytes: usize, out: &mut SplitAnswer) {
        let text = match self.at_start {
            true => self.held[..bytes].trim_start_matches('\n'),
            false => &self.held[..bytes],
        };
        if !text.is_empty() {
            self.at_start = false;
            match self.part {
                AnswerPart::Thinking => out.thinking.push_str(text),
                AnswerPart::Answer => {
                    self.may_open &= text.trim().is_empty();
                    out.answer.push_str(text);
                }
            }
        }
        self.held.drain(..bytes);
    }
}

/// How many bytes of `held` are certain: all but the longest end that could be the start of one of `marks`, none of
/// which is in it.
fn certain_bytes<M: AsRef<str>>(held: &str, marks: &[M]) -> usize {
    let longest = marks.iter().map(|mark| mark.as_ref().len()).max();
    let first = held
        .len()
        .saturating_sub(longest.unwrap_or(0).saturating_sub(1));
    let opens = |end: &str| marks.iter().any(|mark| mark.as_ref().starts_with(end));
    (first..held.len())
        .find(|at| held.get(*at..).is_some_and(opens))
        .unwrap_or(held.len())
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
            if scanner.push(piece, &mut text) {
                return (text, true);
            }
        }
        scanner.finish(&mut text);
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
        let mut out = SplitAnswer::default();
        for piece in pieces {
            let before = out.clone();
            splitter.push(piece, &mut out);
            // Nothing is thought once the answer has begun.
            assert!(before.answer.is_empty() || before.thinking == out.thinking);
        }
        splitter.finish(&mut out);
        (out.thinking, out.answer)
    }

    #[test]
    fn without_stop_strings_nothing_is_held_and_nothing_allocated() {
        let mut scanner = StopStrings::new(&[String::new()]);
        let mut text = String::new();
        assert!(!scanner.push("a <", &mut text));
        assert_eq!(text, "a <");
        assert_eq!(scanner.held.capacity(), 0);
    }

    #[test]
    fn a_reserved_text_never_moves() {
        let mut scanner = StopStrings::new(&["</s>".to_owned()]);
        let mut splitter = ReasoningSplitter::after("<think>");
        let mut text = String::with_capacity(4096);
        let mut out = SplitAnswer {
            thinking: String::with_capacity(4096),
            answer: String::with_capacity(4096),
        };
        for piece in ["a</", "a</think", "a</"] {
            scanner.push(piece, &mut text);
            splitter.push(piece, &mut out);
        }
        let held = (scanner.held.capacity(), splitter.held.capacity());
        for _ in 0..500 {
            scanner.push("a</", &mut text);
            splitter.push("a</", &mut out);
        }
        assert_eq!((scanner.held.capacity(), splitter.held.capacity()), held);
        assert_eq!((text.capacity(), out.thinking.capacity()), (4096, 4096));
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
