//! Metadata values as text and as JSON. Long arrays are shortened and say their length.

use guild_model::{Array, Value};
use serde_json::json;

/// Elements of an array that are shown.
const ELEMENTS_SHOWN: usize = 8;
/// Characters of a string that are shown in text.
const CHARACTERS_SHOWN: usize = 96;

/// A value for people, on one line.
pub fn text(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(array) => {
            let shown = array.iter().take(ELEMENTS_SHOWN);
            let mut shown: Vec<String> = shown.map(|element| text(&element)).collect();
            if is_shortened(array) {
                shown.push(format!("… ({} in all)", array.len()));
            }
            format!("[{}]", shown.join(", "))
        }
        Value::F32(number) => number.to_string(),
        Value::F64(number) => number.to_string(),
        other => json(other).to_string(),
    }
}

/// A value as JSON. A number that JSON can't write (not finite) is `null`.
pub fn json(value: &Value<'_>) -> serde_json::Value {
    match value {
        // The shortest digits that lead back to the same f32, not the nearest f64's.
        Value::F32(number) => json!(number.to_string().parse::<f64>().ok()),
        Value::F64(number) => json!(number),
        Value::Bool(flag) => json!(flag),
        Value::String(text) => json!(text),
        Value::U64(number) => json!(number),
        Value::Array(array) => json!({
            "length": array.len(),
            "first": array
                .iter()
                .take(ELEMENTS_SHOWN)
                .map(|element| json(&element))
                .collect::<Vec<_>>(),
        }),
        integer => json!(integer.as_i64()),
    }
}

/// A text in quotes, with line breaks and the like escaped; a long one is cut and says its length.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS_SHOWN) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}… ({} bytes in all)", &text[..end], text.len()),
    }
}

/// A name or a key: as it is, or in quotes where it could break the line.
pub fn name(text: &str) -> String {
    let odd = text.is_empty() || text.chars().any(|c| c.is_control() || c.is_whitespace());
    if odd {
        format!("{text:?}")
    } else {
        text.to_owned()
    }
}

/// A sentence on one line.
pub fn line(text: &str) -> String {
    text.replace(['\n', '\t'], " ")
}

fn is_shortened(array: &Array<'_>) -> bool {
    array.len() > ELEMENTS_SHOWN as u64
}
