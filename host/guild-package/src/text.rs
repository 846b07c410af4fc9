//! Text that comes from outside and may reach a terminal: how a bad value is reported, and the one
//! type for text that people read.

use std::fmt;
use std::str::FromStr;

use crate::limits::{AUDIT_DETAIL_MAX_BYTES, TEXT_MAX_BYTES};

/// A value that breaks the grammar of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The kind of value, such as `package id`.
    pub what: &'static str,
    /// The value, escaped and shortened: safe to print.
    pub value: String,
    /// The rule, as "what would have been accepted".
    pub rule: &'static str,
}

impl Invalid {
    pub(crate) fn new(what: &'static str, value: &str, rule: &'static str) -> Self {
        Self {
            what,
            value: escape(value),
            rule,
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, value, rule } = self;
        write!(f, "`{value}` is not a valid {what}: expected {rule}")
    }
}

impl std::error::Error for Invalid {}

/// `value` with every character that could steer a terminal or reorder a line written as an escape, cut
/// at 160 characters.
#[must_use]
pub fn escape(value: &str) -> String {
    const SHOWN_CHARACTERS: usize = 160;
    let mut shown = String::new();
    for (index, character) in value.chars().enumerate() {
        if index == SHOWN_CHARACTERS {
            shown.push_str("...");
            break;
        }
        push_printable(&mut shown, character);
    }
    shown
}

/// Adds `character`, or its escape.
fn push_printable(shown: &mut String, character: char) {
    match is_printable(character) {
        true => shown.push(character),
        false => shown.extend(character.escape_unicode()),
    }
}

/// A time in seconds since 1970-01-01 UTC, written for people: `2026-11-30T12:00:00Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = i64::try_from(self.0).ok();
        match seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok()) {
            Some(time) => write!(f, "{time}"),
            None => write!(f, "second {}", self.0),
        }
    }
}

/// A line for people: printable Unicode without control, bidirectional or invisible marks, at most
/// 1024 bytes.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct PlainText(String);

impl PlainText {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first line of a message: escaped, and cut off where it is longer than a record of the audit log may hold.
    #[must_use]
    pub fn first_line_of(message: &str) -> Self {
        const CUT: &str = "...";
        let mut shown = String::new();
        for character in message.lines().next().unwrap_or_default().chars() {
            let before = shown.len();
            push_printable(&mut shown, character);
            if shown.len() > AUDIT_DETAIL_MAX_BYTES - CUT.len() {
                shown.truncate(before);
                shown.push_str(CUT);
                break;
            }
        }
        Self(shown)
    }
}

impl fmt::Display for PlainText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for PlainText {
    type Err = Invalid;

    /// # Errors
    /// Text that is too long or holds a mark that could mislead a reader.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.len() > TEXT_MAX_BYTES || !text.chars().all(is_printable) {
            let rule = "at most 1024 bytes of printable text without control or direction marks";
            return Err(Invalid::new("text", text, rule));
        }
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for PlainText {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<PlainText> for String {
    fn from(text: PlainText) -> Self {
        text.0
    }
}

/// Whether a terminal shows `character` as one mark in reading order. The ranges are Unicode's
/// `Cc`, `Cf` and line separators, the tag block and private use.
fn is_printable(character: char) -> bool {
    !matches!(character,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_39_steering_characters_are_refused_and_escaped() {
        for mark in [
            '\u{1b}', '\u{202e}', '\u{2066}', '\u{0}', '\n', '\u{200b}', '\u{9b}',
        ] {
            let text = format!("cpu{mark}kernels");
            assert!(text.parse::<PlainText>().is_err(), "{mark:?} was accepted");
            assert!(!escape(&text).contains(mark), "{mark:?} was printed");
        }
        assert_eq!(
            "Kernels für AVX2 — 核"
                .parse::<PlainText>()
                .unwrap()
                .as_str(),
            "Kernels für AVX2 — 核"
        );
    }

    #[test]
    fn a_message_s_first_line_is_escaped_and_cut_at_a_character() {
        let line = |text: &str| PlainText::first_line_of(text).as_str().to_owned();
        assert_eq!(
            line("bad\u{1b}[2J \u{202e}x\nmore"),
            "bad\\u{1b}[2J \\u{202e}x"
        );
        assert_eq!(line(""), "");
        assert_eq!(line(&"a".repeat(509)), "a".repeat(509));
        assert_eq!(line(&"a".repeat(510)), format!("{}...", "a".repeat(509)));
        for mark in ["é", "核", "\u{1b}", "\u{10ffff}", "\\"] {
            let cut = line(&mark.repeat(1000));
            assert!(cut.len() <= 512 && cut.len() > 490 && cut.ends_with("..."));
            assert!(cut.parse::<PlainText>().is_ok());
        }
    }

    #[test]
    fn text_is_limited() {
        assert!("a".repeat(1024).parse::<PlainText>().is_ok());
        assert!("a".repeat(1025).parse::<PlainText>().is_err());
        assert!(escape(&"a".repeat(5000)).len() < 200);
    }
}
