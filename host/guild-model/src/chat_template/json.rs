//! JSON in and out of templates: input as values, and the `tojson` filter with the output of Python's `json.dumps`.

use super::error::{TooDeep, caused_by};
use super::limits::{FUEL_BYTES, INDENT_MAX, VALUE_LEVELS_MAX};
use super::number;
use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};
use serde_json::Value as Json;
use std::fmt::Write;

/// A text is paid for in parts of so many bytes, as it is written.
const CHARGED_BYTES: usize = 64 << 10;

/// A JSON value as the engine's value; objects keep the order of their keys.
pub(super) fn to_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(flag) => Value::from(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::from(number),
            (None, Some(number)) => Value::from(number),
            (None, None) => Value::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => items.iter().map(to_value).collect(),
        Json::Object(entries) => Value::from_pairs(
            entries
                .iter()
                .map(|(key, value)| (key.as_str(), to_value(value))),
        ),
    }
}

/// The filter `tojson(ensure_ascii=false, indent=none, separators=none, sort_keys=false)`. The last two have to be named.
pub(super) fn tojson(
    state: &State<'_, '_>,
    value: &Value,
    ensure_ascii: Option<Value>,
    indent: Option<Value>,
    named: Kwargs,
) -> Result<Value, Error> {
    let pick = |positional: Option<Value>, name: &str| -> Result<Option<Value>, Error> {
        let given = match positional {
            Some(value) => Some(value),
            None => named.get::<Option<Value>>(name)?,
        };
        Ok(given.filter(|value| !value.is_none() && !value.is_undefined()))
    };
    let is_true = |value: Option<Value>| value.is_some_and(|value| value.is_true());
    let ensure_ascii = is_true(pick(ensure_ascii, "ensure_ascii")?);
    let indent = indentation(pick(indent, "indent")?)?;
    let (item, key) = separator_texts(pick(None, "separators")?, indent.is_some())?;
    let sort_keys = is_true(pick(None, "sort_keys")?);
    named.assert_all_used()?;
    let mut writer = Writer {
        state,
        out: String::new(),
        ensure_ascii,
        indent,
        item,
        key,
        sort_keys,
        charged_bytes: 0,
    };
    writer.value(value, 0)?;
    Ok(Value::from(writer.out))
}

/// The text of one level: spaces, or the text itself; `None` for one line.
fn indentation(indent: Option<Value>) -> Result<Option<String>, Error> {
    let Some(indent) = indent else {
        return Ok(None);
    };
    if let Some(text) = indent.as_str() {
        return match text.len() <= INDENT_MAX {
            true => Ok(Some(text.to_owned())),
            false => Err(invalid("tojson: the indent is too long")),
        };
    }
    let spaces = match indent.kind() {
        ValueKind::Bool => i64::from(indent.is_true()),
        _ => i64::try_from(indent)?,
    };
    match usize::try_from(spaces.max(0)) {
        Ok(spaces) if spaces <= INDENT_MAX => Ok(Some(" ".repeat(spaces))),
        _ => Err(invalid("tojson: the indent is too long")),
    }
}

/// What stands between items, and between a key and its value.
fn separator_texts(given: Option<Value>, indented: bool) -> Result<(String, String), Error> {
    let Some(given) = given else {
        let item = if indented { "," } else { ", " };
        return Ok((item.to_owned(), ": ".to_owned()));
    };
    let mut texts = Vec::new();
    for text in given.try_iter()?.checked().take(3) {
        let text = text?;
        let text = text.as_str().filter(|text| text.len() <= INDENT_MAX);
        texts.push(text.map(str::to_owned));
    }
    match <[Option<String>; 2]>::try_from(texts) {
        Ok([Some(item), Some(key)]) => Ok((item, key)),
        _ => Err(invalid("tojson: separators must be two short strings")),
    }
}

fn invalid(reason: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}

/// Writes one value.
struct Writer<'a, 't, 'e> {
    state: &'a State<'t, 'e>,
    out: String,
    ensure_ascii: bool,
    indent: Option<String>,
    item: String,
    key: String,
    sort_keys: bool,
    charged_bytes: usize,
}

impl Writer<'_, '_, '_> {
    fn value(&mut self, value: &Value, level: usize) -> Result<(), Error> {
        if level > VALUE_LEVELS_MAX {
            return Err(caused_by(TooDeep));
        }
        match value.kind() {
            ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self.out.push_str(truth(value)),
            ValueKind::Number => self.out.push_str(&number_text(value)),
            ValueKind::String => self.string(value.as_str().unwrap_or_default())?,
            ValueKind::Seq | ValueKind::Iterable => self.list(value, level)?,
            ValueKind::Map => self.object(value, level)?,
            kind => {
                return Err(Error::new(
                    ErrorKind::BadSerialization,
                    format!("a value of kind {kind} can't be written as JSON"),
                ));
            }
        }
        self.charge()
    }

    fn list(&mut self, value: &Value, level: usize) -> Result<(), Error> {
        self.out.push('[');
        let mut empty = true;
        for item in value.try_iter()?.checked() {
            self.begin_item(empty, level);
            empty = false;
            self.value(&item?, level + 1)?;
        }
        self.end(empty, level, ']');
        Ok(())
    }

    fn object(&mut self, value: &Value, level: usize) -> Result<(), Error> {
        let mut keys = Vec::new();
        for key in value.try_iter()?.checked() {
            let key = key?;
            let text = key_text(&key)?;
            self.state
                .consume_fuel(1 + text.len() as u64 / FUEL_BYTES)?;
            keys.push((text, key));
        }
        if self.sort_keys {
            keys.sort_by(|a, b| a.0.cmp(&b.0));
        }
        self.out.push('{');
        for (index, (text, key)) in keys.iter().enumerate() {
            self.begin_item(index == 0, level);
            self.string(text)?;
            self.out.push_str(&self.key);
            self.value(&value.get_item(key)?, level + 1)?;
        }
        self.end(keys.is_empty(), level, '}');
        Ok(())
    }

    fn begin_item(&mut self, first: bool, level: usize) {
        if !first {
            self.out.push_str(&self.item);
        }
        self.new_line(level + 1);
    }

    fn end(&mut self, empty: bool, level: usize, close: char) {
        if !empty {
            self.new_line(level);
        }
        self.out.push(close);
    }

    fn new_line(&mut self, level: usize) {
        if let Some(indent) = &self.indent {
            self.out.push('\n');
            for _ in 0..level {
                self.out.push_str(indent);
            }
        }
    }

    fn string(&mut self, text: &str) -> Result<(), Error> {
        self.out.push('"');
        for c in text.chars() {
            if self.out.len() - self.charged_bytes >= CHARGED_BYTES {
                self.charge()?;
            }
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                c if c < ' ' || (self.ensure_ascii && c > '~') => self.escape(c),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
        Ok(())
    }

    /// A character as one or two UTF-16 units.
    fn escape(&mut self, c: char) {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string can't fail.
            let _ = write!(self.out, "\\u{unit:04x}");
        }
    }

    /// Pays for what was written since the last payment.
    fn charge(&mut self) -> Result<(), Error> {
        let due = self.out.len() - self.charged_bytes;
        self.charged_bytes = self.out.len();
        self.state.consume_fuel(1 + due as u64 / 32)
    }
}

fn truth(value: &Value) -> &'static str {
    if value.is_true() { "true" } else { "false" }
}

/// An integer as it is, a float as JavaScript names those that aren't finite.
fn number_text(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    match f64::try_from(value.clone()) {
        Ok(x) if x.is_nan() => "NaN".to_owned(),
        Ok(x) if x.is_infinite() => if x > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        Ok(x) => number::repr(x),
        Err(_) => value.to_string(),
    }
}

/// A key as text, as `json.dumps` turns other kinds into it.
fn key_text(key: &Value) -> Result<String, Error> {
    match key.kind() {
        ValueKind::String => Ok(key.as_str().unwrap_or_default().to_owned()),
        ValueKind::None => Ok("null".to_owned()),
        ValueKind::Bool => Ok(truth(key).to_owned()),
        ValueKind::Number => Ok(number_text(key)),
        kind => Err(Error::new(
            ErrorKind::BadSerialization,
            format!("a key of kind {kind} can't be written as JSON"),
        )),
    }
}
