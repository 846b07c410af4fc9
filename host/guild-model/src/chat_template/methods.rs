//! Methods of Python's strings and lists, on top of those that minijinja's own compatibility layer has.

use super::error::{TooManyStripped, caused_by};
use super::limits::{FORMAT_WIDTH_DIGITS_MAX, STRIPPED_BYTES_MAX};
use super::split::{not_empty, rsplit, split, splitlines};
use super::{charge, filters};
use minijinja::value::{Tuple, Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use minijinja_contrib::pycompat::unknown_method_callback;

/// Calls a method that the engine itself doesn't know.
pub(super) fn call(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    // The engine pays for the text that a method is called on; a method looks at its arguments' texts too.
    for text in args.iter().filter_map(Value::as_str) {
        charge::bytes(state, text.len())?;
    }
    let own = match value.kind() {
        ValueKind::String => of_string(state, value.as_str().unwrap_or_default(), method, args)?,
        ValueKind::Seq if method == "index" => Some(index(state, value, args)?),
        ValueKind::Seq if method == "count" => Some(count(state, value, args)?),
        ValueKind::Map if method == "copy" => {
            let () = from_args(args)?;
            Some(value.clone())
        }
        _ => None,
    };
    match own {
        Some(result) => Ok(result),
        None => unknown_method_callback(state, value, method, args),
    }
}

/// The filter `trim`.
pub(super) fn trim(
    state: &State<'_, '_>,
    text: &Value,
    chars: Option<&str>,
) -> Result<String, Error> {
    if let Some(text) = text.as_str() {
        return Ok(strip(state, text, chars, Side::BOTH)?.to_owned());
    }
    charge::text_of(state, text)?;
    Ok(strip(state, &text.to_string(), chars, Side::BOTH)?.to_owned())
}

fn of_string(
    state: &State<'_, '_>,
    text: &str,
    method: &str,
    args: &[Value],
) -> Result<Option<Value>, Error> {
    Ok(Some(match method {
        "strip" | "lstrip" | "rstrip" => {
            let (chars,): (Option<&str>,) = from_args(args)?;
            let side = Side {
                left: method != "rstrip",
                right: method != "lstrip",
            };
            Value::from(strip(state, text, chars, side)?)
        }
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        "partition" => {
            let (separator,): (&str,) = from_args(args)?;
            let parts = text.split_once(not_empty(separator)?);
            let (before, after) = parts.unwrap_or((text, ""));
            parted(before, parts.map_or("", |_| separator), after)
        }
        "rpartition" => {
            let (separator,): (&str,) = from_args(args)?;
            let parts = text.rsplit_once(not_empty(separator)?);
            let (before, after) = parts.unwrap_or(("", text));
            parted(before, parts.map_or("", |_| separator), after)
        }
        "split" => split(state, text, args)?,
        "rsplit" => rsplit(state, text, args)?,
        "splitlines" => splitlines(state, text, args)?,
        "join" => {
            let (values,): (&Value,) = from_args(args)?;
            Value::from(filters::joined(state, values, text)?)
        }
        "index" => {
            let (part,): (&str,) = from_args(args)?;
            let at = text
                .find(part)
                .ok_or_else(|| invalid("substring not found"))?;
            Value::from(text[..at].chars().count())
        }
        "format" => {
            check_format(state, text, args)?;
            return Ok(None);
        }
        _ => return Ok(None),
    }))
}

fn parted(before: &str, separator: &str, after: &str) -> Value {
    Value::from(Tuple::from([before, separator, after].map(Value::from)))
}

fn index(state: &State<'_, '_>, list: &Value, args: &[Value]) -> Result<Value, Error> {
    let (wanted,): (&Value,) = from_args(args)?;
    let compared = charge::text_of(state, wanted)?;
    for (at, item) in list.try_iter()?.checked().enumerate() {
        charge::values(state, 1)?;
        charge::bytes(state, compared)?;
        if item? == *wanted {
            return Ok(Value::from(at));
        }
    }
    Err(invalid("the value is not in the list"))
}

fn count(state: &State<'_, '_>, list: &Value, args: &[Value]) -> Result<Value, Error> {
    let (wanted,): (&Value,) = from_args(args)?;
    let compared = charge::text_of(state, wanted)?;
    let mut count = 0;
    for item in list.try_iter()?.checked() {
        charge::values(state, 1)?;
        charge::bytes(state, compared)?;
        count += usize::from(item? == *wanted);
    }
    Ok(Value::from(count))
}

/// What a method or filter says that can't do what it is asked for.
pub(super) fn invalid(reason: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}

/// Pays for what a format string may make of its arguments: each of its fields may be all of them, and a width becomes
/// that many characters.
pub(super) fn check_format<'v>(
    state: &State<'_, '_>,
    format: &str,
    args: impl IntoIterator<Item = &'v Value>,
) -> Result<(), Error> {
    let padding = widths(format)?.saturating_mul(char::MAX.len_utf8());
    let mut shown: usize = 0;
    for arg in args {
        shown = shown.saturating_add(charge::text_of(state, arg)?);
    }
    let fields = format.matches(['{', '%']).count();
    charge::bytes(state, fields.saturating_mul(shown).saturating_add(padding))
}

/// The sum of all numbers in a format string. Absurd ones are refused.
fn widths(format: &str) -> Result<usize, Error> {
    let mut total: usize = 0;
    for number in format.split(|c: char| !c.is_ascii_digit()) {
        if number.len() > FORMAT_WIDTH_DIGITS_MAX {
            return Err(invalid("format: a number in the format string is too long"));
        }
        total = total.saturating_add(number.parse().unwrap_or(0));
    }
    Ok(total)
}

/// The sides that are stripped.
#[derive(Clone, Copy)]
struct Side {
    left: bool,
    right: bool,
}

impl Side {
    const BOTH: Side = Side {
        left: true,
        right: true,
    };
}

/// `text` without the characters at its ends: the given ones, else what Python calls white space.
fn strip<'t>(
    state: &State<'_, '_>,
    text: &'t str,
    chars: Option<&str>,
    side: Side,
) -> Result<&'t str, Error> {
    charge::bytes(state, text.len())?;
    let Some(chars) = chars else {
        return Ok(strip_where(text, side, is_space));
    };
    if chars.len() > STRIPPED_BYTES_MAX {
        return Err(caused_by(TooManyStripped));
    }
    charge::bytes(state, chars.len())?;
    let mut set: Vec<char> = chars.chars().collect();
    set.sort_unstable();
    set.dedup();
    Ok(strip_where(text, side, |c| set.binary_search(&c).is_ok()))
}

fn strip_where(text: &str, side: Side, strips: impl Fn(char) -> bool) -> &str {
    let text = match side.left {
        true => text.trim_start_matches(&strips),
        false => text,
    };
    match side.right {
        true => text.trim_end_matches(&strips),
        false => text,
    }
}

/// Python's `str.isspace`: Unicode's white space and four separators of ASCII.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
