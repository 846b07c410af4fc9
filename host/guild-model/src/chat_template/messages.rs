//! Conversations as templates expect them.

use super::ChatTemplateError;
use serde_json::{Map, Value as Json};

/// The names under which a message's reasoning comes. The first is the one that templates read.
const REASONING_KEYS: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// The keys that hold what a message says; one without any of them says nothing, and most templates fail on it.
const SAYING_KEYS: [&str; 3] = ["content", "tool_calls", "tool_responses"];

/// Checks messages and brings them into the form that templates are written for, as transformers does it:
///
/// - keys without a value are left out, since many templates would print `None`;
/// - reasoning is there as `reasoning_content`, and as `thinking`, under whichever name it came;
/// - a tool call's `arguments` that are a JSON text become what they say.
///
/// # Errors
/// [`ChatTemplateError::Message`] for one that isn't an object with a `role`, whose `content` is neither text, a list
/// of parts nor null, or that has no key of content, tool calls, their answers or reasoning.
pub fn normalise(messages: &[Json]) -> Result<Vec<Json>, ChatTemplateError> {
    let one = |(index, message)| {
        normalise_one(message)
            .map(Json::Object)
            .map_err(|reason| ChatTemplateError::Message { index, reason })
    };
    messages.iter().enumerate().map(one).collect()
}

fn normalise_one(message: &Json) -> Result<Map<String, Json>, &'static str> {
    let message = message.as_object().ok_or("isn't an object")?;
    if !message.get("role").is_some_and(Json::is_string) {
        return Err("has no \"role\" that is a string");
    }
    if let Some(Json::Bool(_) | Json::Number(_) | Json::Object(_)) = message.get("content") {
        return Err("has a \"content\" that is neither a string nor a list of parts");
    }
    let reasoning = REASONING_KEYS
        .iter()
        .find_map(|key| message.get(*key).filter(|value| !value.is_null()));
    // An explicit null says that there is nothing, and templates that take it render it.
    let says = |key: &&str| message.contains_key(*key);
    if reasoning.is_none() && !SAYING_KEYS.iter().any(says) {
        return Err("has neither \"content\" nor \"tool_calls\" nor \"reasoning_content\"");
    }
    let mut normal = Map::new();
    if let Some(reasoning) = reasoning {
        normal.insert("thinking".into(), reasoning.clone());
    }
    let given = message.iter().filter(|(_, value)| !value.is_null());
    normal.extend(given.map(|(key, value)| (key.clone(), value.clone())));
    if let Some(reasoning) = reasoning {
        normal.insert("reasoning_content".into(), reasoning.clone());
    }
    if let Some(Json::Array(calls)) = normal.get_mut("tool_calls") {
        calls.iter_mut().for_each(read_arguments);
    }
    Ok(normal)
}

/// Replaces a text of JSON by the object in it; any other text stays.
fn read_arguments(call: &mut Json) {
    let call = match call.get_mut("function") {
        Some(function) => function,
        None => call,
    };
    let Some(arguments) = call.get_mut("arguments") else {
        return;
    };
    let object = arguments
        .as_str()
        .and_then(|text| serde_json::from_str::<Map<String, Json>>(text).ok());
    if let Some(object) = object {
        *arguments = Json::Object(object);
    }
}
