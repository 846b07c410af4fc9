//! Python's ways to cut a string into a list. The pieces are counted and paid for before the list exists.

use super::methods::is_space;
use super::{charge, methods::invalid};
use minijinja::value::{Value, from_args};
use minijinja::{Error, State};

/// `split(separator=none, most=-1)`.
pub(super) fn split(state: &State<'_, '_>, text: &str, args: &[Value]) -> Result<Value, Error> {
    let (separator, most): (Option<&str>, Option<i64>) = from_args(args)?;
    let most = most.and_then(|most| usize::try_from(most).ok());
    match (separator, most) {
        (None, most) => {
            let mut rest = text;
            let mut left = most.unwrap_or(usize::MAX);
            list(
                state,
                std::iter::from_fn(move || next_word(&mut rest, &mut left)),
            )
        }
        (Some(separator), None) => list(state, text.split(not_empty(separator)?)),
        (Some(separator), Some(most)) => list(
            state,
            text.splitn(most.saturating_add(1), not_empty(separator)?),
        ),
    }
}

/// `rsplit(separator, most=-1)`.
pub(super) fn rsplit(state: &State<'_, '_>, text: &str, args: &[Value]) -> Result<Value, Error> {
    let (separator, most): (&str, Option<i64>) = from_args(args)?;
    let separator = not_empty(separator)?;
    let mut parts = match most.and_then(|most| usize::try_from(most).ok()) {
        Some(most) => collect(state, text.rsplitn(most.saturating_add(1), separator))?,
        None => collect(state, text.rsplit(separator))?,
    };
    parts.reverse();
    Ok(Value::from(parts))
}

/// `splitlines(keepends=false)`.
pub(super) fn splitlines(
    state: &State<'_, '_>,
    text: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let (keep_ends,): (Option<bool>,) = from_args(args)?;
    let keep_ends = keep_ends.unwrap_or(false);
    let mut rest = text;
    list(
        state,
        std::iter::from_fn(move || next_line(&mut rest, keep_ends)),
    )
}

/// A separator, which Python wants to have characters.
pub(super) fn not_empty(separator: &str) -> Result<&str, Error> {
    match separator {
        "" => Err(invalid("empty separator")),
        separator => Ok(separator),
    }
}

fn list<'t>(
    state: &State<'_, '_>,
    pieces: impl Iterator<Item = &'t str> + Clone,
) -> Result<Value, Error> {
    collect(state, pieces).map(Value::from)
}

fn collect<'t>(
    state: &State<'_, '_>,
    pieces: impl Iterator<Item = &'t str> + Clone,
) -> Result<Vec<Value>, Error> {
    let mut count = 0;
    for _ in pieces.clone() {
        charge::values(state, 1)?;
        count += 1;
    }
    let mut list = Vec::with_capacity(count);
    list.extend(pieces.map(Value::from));
    Ok(list)
}

/// The next word; the last one, when no more cuts are `left`, is all the rest.
fn next_word<'t>(rest: &mut &'t str, left: &mut usize) -> Option<&'t str> {
    let text = rest.trim_start_matches(is_space);
    if text.is_empty() {
        return None;
    }
    let end = match *left {
        0 => text.len(),
        _ => text.find(is_space).unwrap_or(text.len()),
    };
    *left = left.saturating_sub(1);
    let (word, after) = text.split_at(end);
    *rest = after;
    Some(word)
}

fn next_line<'t>(rest: &mut &'t str, keep_end: bool) -> Option<&'t str> {
    if rest.is_empty() {
        return None;
    }
    let (at, end) = match rest.char_indices().find(|(_, c)| is_line_end(*c)) {
        Some((at, _)) if rest[at..].starts_with("\r\n") => (at, at + 2),
        Some((at, c)) => (at, at + c.len_utf8()),
        None => (rest.len(), rest.len()),
    };
    let line = &rest[..if keep_end { end } else { at }];
    *rest = &rest[end..];
    Some(line)
}

/// Where Python's `str.splitlines` cuts.
fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}
