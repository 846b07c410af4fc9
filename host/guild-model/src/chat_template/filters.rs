//! Filters of the engine that make more than they are given, with payment first.

use super::charge;
use super::limits::FUEL_BYTES;
use super::methods::{check_format, invalid, trim};
use minijinja::value::{Kwargs, Rest, Value, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, filters};
use std::fmt::Write;

/// Filters that jinja2 doesn't have, each of which can make much out of little.
const FOREIGN: [&str; 4] = ["chain", "lines", "split", "zip"];

/// Replaces the filters in an environment.
pub(super) fn add_to(environment: &mut Environment<'static>) {
    for name in FOREIGN {
        environment.remove_filter(name);
    }
    environment.add_filter("batch", batch);
    environment.add_filter("format", format);
    environment.add_filter("join", join);
    environment.add_filter("max", max);
    environment.add_filter("min", min);
    environment.add_filter("slice", slice);
    environment.add_filter("sort", sort);
    environment.add_filter("string", string);
    environment.add_filter("sum", sum);
    environment.add_filter("trim", trim);
    environment.add_filter("unique", unique);
}

/// Texts in a row with a separator between them, as the filter and the method `join` give them.
pub(super) fn joined(
    state: &State<'_, '_>,
    values: &Value,
    separator: &str,
) -> Result<String, Error> {
    let mut out = String::new();
    for (index, item) in values.try_iter()?.checked().enumerate() {
        let item = item?;
        let size = charge::text_of(state, &item)?.saturating_add(separator.len());
        state.consume_fuel(1 + size as u64 / FUEL_BYTES)?;
        if index > 0 {
            out.push_str(separator);
        }
        match item.as_str() {
            Some(text) => out.push_str(text),
            // Writing to a string can't fail.
            None => drop(write!(out, "{item}")),
        }
    }
    Ok(out)
}

fn join(
    state: &mut State<'_, '_>,
    values: &Value,
    separator: Option<Value>,
    attribute: Option<Value>,
    named: Kwargs,
) -> Result<String, Error> {
    let separator = match separator {
        Some(separator) => Some(separator),
        None => named.get::<Option<Value>>("d")?,
    };
    let attribute = match attribute {
        Some(attribute) => Some(attribute),
        None => named.get::<Option<Value>>("attribute")?,
    };
    named.assert_all_used()?;
    let separator = separator.unwrap_or_default();
    charge::text_of(state, &separator)?;
    let separator = match separator.as_str() {
        Some(text) => text.to_owned(),
        None => separator.to_string(),
    };
    let attribute = attribute.filter(|name| !name.is_none() && !name.is_undefined());
    let Some(attribute) = attribute else {
        return joined(state, values, &separator);
    };
    let attribute = Kwargs::from_iter([("attribute", attribute)]);
    let picked = state.apply_filter("map", &[values.clone(), Value::from(attribute)])?;
    joined(state, &picked, &separator)
}

fn batch(
    state: &State<'_, '_>,
    value: Value,
    count: usize,
    fill_with: Option<Value>,
) -> Result<Value, Error> {
    // Each batch is a list of its own.
    let batches = value.len().unwrap_or(0) / count.max(1);
    charge::values(state, batches.saturating_mul(2))?;
    filters::batch(state, value, count, fill_with)
}

fn slice(
    state: &State<'_, '_>,
    value: Value,
    count: usize,
    fill_with: Option<Value>,
) -> Result<Value, Error> {
    charge::values(state, count.saturating_mul(2))?;
    filters::slice(state, value, count, fill_with)
}

/// Pays for comparing the texts in a list as often as sorting does it.
fn compared(state: &State<'_, '_>, values: &Value) -> Result<(), Error> {
    let count = values.len().unwrap_or(usize::MAX);
    let rounds = usize::BITS - count.leading_zeros();
    let bytes = charge::text_of(state, values)?;
    charge::bytes(state, bytes.saturating_mul(rounds as usize))
}

fn max(state: &State<'_, '_>, values: Value, named: Kwargs) -> Result<Value, Error> {
    compared(state, &values)?;
    filters::max(state, values, named)
}

fn min(state: &State<'_, '_>, values: Value, named: Kwargs) -> Result<Value, Error> {
    compared(state, &values)?;
    filters::min(state, values, named)
}

fn sort(state: &State<'_, '_>, values: Value, named: Kwargs) -> Result<Value, Error> {
    compared(state, &values)?;
    filters::sort(state, values, named)
}

fn unique(state: &State<'_, '_>, values: Value, named: Kwargs) -> Result<Value, Error> {
    compared(state, &values)?;
    filters::unique(state, values, named)
}

fn string(state: &State<'_, '_>, value: &Value) -> Result<Value, Error> {
    charge::text_of(state, value)?;
    filters::string(state, value)
}

/// Python's `sum`, which takes no texts; the engine would add them up without payment.
fn sum(
    state: &State<'_, '_>,
    values: Value,
    attribute: Option<&str>,
    start: Option<Value>,
    named: Kwargs,
) -> Result<Value, Error> {
    let start = match start {
        Some(start) => Some(start),
        None => named.get::<Option<Value>>("start")?,
    };
    match start.as_ref().map(Value::kind) {
        None | Some(ValueKind::Number | ValueKind::Bool) => {}
        Some(_) => return Err(invalid("sum: only numbers can be summed up")),
    }
    filters::sum(state, values, attribute, start, named)
}

fn format(
    state: &mut State<'_, '_>,
    format: &Value,
    args: Rest<ValueOrKwargs>,
) -> Result<Value, Error> {
    if let Some(text) = format.as_str() {
        check_format(state, text, args.iter().map(|arg| &**arg))?;
    }
    filters::format(state, format, args)
}
