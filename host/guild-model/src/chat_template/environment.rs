//! The engine with the settings of transformers: what Python's jinja2 gives a chat template.

use super::error::{Raised, caused_by};
use super::limits::{FUEL, TIME_FORMAT_BYTES_MAX};
use super::{DateTime, charge, filters, json, methods, number, stored};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, escape_formatter};

/// An environment without templates.
pub(super) fn new() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(false)
        .build()?;
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(print);
    environment.set_fuel(Some(FUEL));
    environment.set_unknown_method_callback(methods::call);
    environment.add_function("raise_exception", raise);
    environment.add_filter("tojson", json::tojson);
    filters::add_to(&mut environment);
    environment.add_filter(stored::FILTER, stored::check);
    environment.add_test("sequence", is_sequence);
    environment.add_test("iterable", is_iterable);
    environment.add_test("callable", is_callable);
    // It prints the engine's insides; jinja2 has it only on request.
    environment.remove_global("debug");
    Ok(environment)
}

/// The time as C's `strftime` writes it.
pub(super) fn strftime(format: &str, now: DateTime) -> Result<String, Error> {
    if format.len() > TIME_FORMAT_BYTES_MAX {
        let reason = "strftime_now: the format is too long";
        return Err(Error::new(ErrorKind::InvalidOperation, reason));
    }
    jiff::fmt::strtime::format(format, now).map_err(|error| {
        let reason = format!("strftime_now: {error}");
        Error::new(ErrorKind::InvalidOperation, reason)
    })
}

/// `raise_exception(message)`.
fn raise(state: &State<'_, '_>, message: &Value) -> Result<Value, Error> {
    charge::text_of(state, message)?;
    Err(caused_by(Raised(message.to_string())))
}

/// Prints a value as Python's `str` does.
fn print(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    if value.is_number() && !value.is_integer() {
        let x = f64::try_from(value.clone())?;
        return Ok(out.write_str(&number::repr(x))?);
    }
    escape_formatter(out, state, value)
}

/// Whether Python could index it: text and mappings too.
fn is_sequence(value: &Value) -> bool {
    matches!(
        value.kind(),
        ValueKind::Undefined | ValueKind::String | ValueKind::Seq | ValueKind::Map
    )
}

/// Whether it is a function or a macro.
fn is_callable(value: &Value) -> bool {
    value.kind() == ValueKind::Plain
}

/// Whether Python could loop over it.
fn is_iterable(value: &Value) -> bool {
    is_sequence(value) || value.kind() == ValueKind::Iterable
}
