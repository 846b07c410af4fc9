//! Chat templates against Python's jinja2, and hostile ones against the limits.

mod conversations;
mod features;
mod hostile;
mod reference;

use guild_model::chat_template::{ChatInput, ChatTemplate, ChatTemplateError, DateTime};
use serde_json::{Map, Value};

/// The time that `reference.py` shows.
fn now() -> DateTime {
    DateTime::constant(2024, 7, 26, 9, 5, 3, 0)
}

/// Renders one case in the form that `reference.py` takes. There is no model, so special tokens come as variables.
fn render(
    template: &ChatTemplate,
    case: &Value,
    special: &Map<String, Value>,
) -> Result<String, ChatTemplateError> {
    let mut variables = special.clone();
    if let Some(Value::Object(more)) = case.get("variables") {
        variables.extend(more.clone());
    }
    template.render(&ChatInput {
        messages: case["messages"].as_array().unwrap(),
        tools: case.get("tools").filter(|tools| !tools.is_null()),
        add_generation_prompt: case
            .get("add_generation_prompt")
            .is_none_or(|wanted| wanted == true),
        variables: &variables,
        now: now(),
    })
}

/// Renders where even compiling may fail.
fn render_source(
    source: &str,
    case: &Value,
    special: &Map<String, Value>,
) -> Result<String, ChatTemplateError> {
    render(&ChatTemplate::without_model(source)?, case, special)
}
