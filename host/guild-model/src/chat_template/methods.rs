//! Methods of Python's strings and lists, on top of those that minijinja's own compatibility layer has.

use super::limits::FORMAT_WIDTH_DIGITS_MAX;
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
    let own = match value.kind() {
        ValueKind::String => of_string(value.as_str().unwrap_or_default(), method, args)?,
        ValueKind::Seq if method == "index" => Some(index(value, args)?),
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
pub(super) fn trim(text: &Value, chars: Option<&str>) -> String {
    match text.as_str() {
        Some(text) => strip(text, chars, Side::BOTH).to_owned(),
        None => strip(&text.to_string(), chars, Side::BOTH).to_owned(),
    }
}

fn of_string(text: &str, method: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    Ok(Some(match method {
        "strip" | "lstrip" | "rstrip" => {
            let (chars,): (Option<&str>,) = from_args(args)?;
            let side = Side {
                left: method != "rstrip",
                right: method != "lstrip",
            };
            Value::from(strip(text, chars, side))
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
        "rsplit" => {
            let (separator, most): (&str, Option<usize>) = from_args(args)?;
            let separator = not_empty(separator)?;
            let mut parts: Vec<&str> = match most {
                Some(most) => text.rsplitn(most.saturating_add(1), separator).collect(),
                None => text.rsplit(separator).collect(),
            };
            parts.reverse();
            parts.into_iter().map(Value::from).collect()
        }
        "index" => {
            let (part,): (&str,) = from_args(args)?;
            let at = text
                .find(part)
                .ok_or_else(|| invalid("substring not found"))?;
            Value::from(text[..at].chars().count())
        }
        "format" => {
            check_widths(text)?;
            return Ok(None);
        }
        _ => return Ok(None),
    }))
}

fn parted(before: &str, separator: &str, after: &str) -> Value {
    Value::from(Tuple::from([before, separator, after].map(Value::from)))
}

fn not_empty(separator: &str) -> Result<&str, Error> {
    match separator {
        "" => Err(invalid("empty separator")),
        separator => Ok(separator),
    }
}

fn index(list: &Value, args: &[Value]) -> Result<Value, Error> {
    let (wanted,): (&Value,) = from_args(args)?;
    for (at, item) in list.try_iter()?.checked().enumerate() {
        if item? == *wanted {
            return Ok(Value::from(at));
        }
    }
    Err(invalid("the value is not in the list"))
}

fn invalid(reason: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}

/// A width in a format string becomes that many bytes at once, so absurd ones are refused.
fn check_widths(format: &str) -> Result<(), Error> {
    let mut digits = 0;
    for c in format.chars() {
        digits = if c.is_ascii_digit() { digits + 1 } else { 0 };
        if digits > FORMAT_WIDTH_DIGITS_MAX {
            return Err(invalid("format: a number in the format string is too long"));
        }
    }
    Ok(())
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
fn strip<'t>(text: &'t str, chars: Option<&str>, side: Side) -> &'t str {
    let strips = |c: char| match chars {
        Some(chars) => chars.contains(c),
        None => is_space(c),
    };
    let text = if side.left {
        text.trim_start_matches(strips)
    } else {
        text
    };
    if side.right {
        text.trim_end_matches(strips)
    } else {
        text
    }
}

/// Python's `str.isspace`: Unicode's white space and four separators of ASCII.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
