//! Arbitrary template text rendered over a conversation, part of which is arbitrary too: no panic, and an end in bounded
//! time and memory. The first zero byte separates the template from a message.
use guild_model::chat_template::{ChatInput, ChatTemplate, ChatTemplateError, DateTime};
use serde_json::{Map, json};
use std::time::{Duration, Instant};

/// Whether the template of `data` renders.
///
/// # Panics
/// If the template finds a fault of guild's own, or takes too long.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let source = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let message = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let started = Instant::now();
    let Ok(template) = ChatTemplate::without_model(&source) else {
        return false;
    };
    let given = serde_json::from_str(&message).unwrap_or_else(|_| json!(message));
    let messages = [
        json!({ "role": "system", "content": message }),
        json!({ "role": "user", "content": "Hello", "tool_calls": given }),
    ];
    let variables = Map::new();
    let rendered = template.render(&ChatInput {
        messages: &messages,
        tools: Some(&given),
        add_generation_prompt: true,
        variables: &variables,
        now: DateTime::constant(2024, 7, 26, 9, 5, 3, 0),
    });
    let faulty = matches!(
        rendered,
        Err(ChatTemplateError::Internal { .. } | ChatTemplateError::Slow { .. })
    );
    assert!(!faulty, "{rendered:?}");
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "it took {:?}",
        started.elapsed()
    );
    rendered.is_ok()
}
