//! Payments for what is made outside of the engine's own accounts. The engine pays for the text that a filter or method
//! is called on before the call, and for a result after it; whatever is larger than both is paid for here, before it is
//! made.

use super::error::{TooDeep, caused_by};
use super::limits::{FUEL_BYTES, VALUE_LEVELS_MAX};
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, State};

/// Bytes that a number or a truth takes at most, as text.
const SCALAR_BYTES: usize = 32;

/// Pays for so many bytes.
pub(super) fn bytes(state: &State<'_, '_>, bytes: usize) -> Result<(), Error> {
    state.consume_fuel(bytes as u64 / FUEL_BYTES)
}

/// Pays for so many new values: their places in a list, and what each has beside its text.
pub(super) fn values(state: &State<'_, '_>, count: usize) -> Result<(), Error> {
    state.consume_fuel(count as u64)
}

/// Bytes of a value as text. Those of a list or mapping are paid for, since it may hold one text many times.
pub(super) fn text_of(state: &State<'_, '_>, value: &Value) -> Result<usize, Error> {
    walk(state, value, VALUE_LEVELS_MAX)
}

fn walk(state: &State<'_, '_>, value: &Value, levels: usize) -> Result<usize, Error> {
    let is_map = match value.kind() {
        ValueKind::String => return Ok(value.as_str().map_or(0, str::len)),
        ValueKind::Map => true,
        ValueKind::Seq | ValueKind::Iterable => false,
        _ => return Ok(SCALAR_BYTES),
    };
    if levels == 0 {
        return Err(caused_by(TooDeep));
    }
    let mut total: usize = 0;
    for item in value.try_iter()?.checked() {
        let item = item?;
        let mut size = walk(state, &item, levels - 1)?;
        if is_map {
            size = size.saturating_add(walk(state, &value.get_item(&item)?, levels - 1)?);
        }
        state.consume_fuel(1 + size as u64 / FUEL_BYTES)?;
        total = total.saturating_add(size);
    }
    Ok(total)
}
