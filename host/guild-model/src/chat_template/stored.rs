//! What a template may keep in a namespace.
//!
//! A namespace is the one thing that a template can change, so it is the one way to build values level by level in a
//! loop, or values that contain themselves. The engine would follow either until the stack ends. [`super::rewrite`]
//! passes every value that is assigned to a namespace through [`check`].

use super::error::{TooDeep, caused_by};
use super::limits::VALUE_LEVELS_MAX;
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, State};

/// The filter's name in rewritten templates.
pub(super) const FILTER: &str = "guild_stored";

/// Gives back a value that has few levels and no namespace in it.
pub(super) fn check(state: &State<'_, '_>, value: Value) -> Result<Value, Error> {
    walk(state, &value, VALUE_LEVELS_MAX)?;
    Ok(value)
}

fn walk(state: &State<'_, '_>, value: &Value, levels: usize) -> Result<(), Error> {
    let is_map = match value.kind() {
        ValueKind::Map => true,
        ValueKind::Seq | ValueKind::Iterable => false,
        _ => return Ok(()),
    };
    if levels == 0 || (is_map && is_namespace(value)) {
        return Err(caused_by(TooDeep));
    }
    for item in value.try_iter()?.checked() {
        state.consume_fuel(1)?;
        let item = item?;
        if is_map {
            walk(state, &value.get_item(&item)?, levels - 1)?;
        } else {
            walk(state, &item, levels - 1)?;
        }
    }
    Ok(())
}

/// Whether a mapping is the engine's namespace: its type isn't public, but its name is.
fn is_namespace(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|object| object.type_name().ends_with("::Namespace"))
}
