//! Conversations of every kind through a model's own template, against jinja2.
//!
//! `GUILD_TEST_CHAT_TEMPLATE` names template files, separated by `:`; `GUILD_TEST_PYTHON` an interpreter with jinja2.
//! The comparison is exact. Qwen 3.5's template is the one that must pass; `GUILD_TEST_CHAT_TEMPLATE_FEW` names more
//! files that are compared over the first conversations of each kind.

use crate::{reference, render_source};
use serde_json::{Map, Value, json};

fn say(role: &str, content: impl Into<Value>) -> Value {
    json!({ "role": role, "content": content.into() })
}

fn case(messages: Vec<Value>) -> Value {
    json!({ "messages": messages })
}

fn with(mut case: Value, more: Value) -> Value {
    let Value::Object(more) = more else {
        unreachable!("only objects are given")
    };
    case.as_object_mut().unwrap().extend(more);
    case
}

fn tool(name: &str) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": name,
            "description": format!("Does <{name}> & \"more\" – čeština"),
            "parameters": {
                "type": "object",
                "properties": {
                    "city": { "type": "string", "description": "A city, it's required" },
                    "days": { "type": "integer", "default": 3 },
                    "items": { "type": "array", "items": { "type": "string" } }
                },
                "required": ["city"]
            }
        }
    })
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "id": "call_0", "type": "function", "function": { "name": name, "arguments": arguments } })
}

/// An assistant that calls tools.
fn calling(content: impl Into<Value>, calls: Vec<Value>) -> Value {
    json!({ "role": "assistant", "content": content.into(), "tool_calls": calls })
}

fn plain() -> Vec<Value> {
    let user = || say("user", "Hello");
    let talk = vec![
        say("user", "One?"),
        say("assistant", "Two."),
        say("user", "Three?"),
    ];
    vec![
        case(vec![user()]),
        case(vec![say("system", "Be brief."), user()]),
        with(
            case(vec![user()]),
            json!({ "add_generation_prompt": false }),
        ),
        case(talk.clone()),
        with(case(talk), json!({ "add_generation_prompt": false })),
        case(vec![
            say("system", "  spaced \n\n"),
            say("user", "\n\t trailing  \n"),
        ]),
        case(vec![say(
            "user",
            "Žluťoučký 日本語 😀 \u{2028} <b>&amp; \"q\" 'a' \\n",
        )]),
        case(vec![say("user", "")]),
        case(vec![say("system", ""), user()]),
        case(vec![user(), say("assistant", ""), say("user", "again")]),
        case(vec![
            user(),
            say("assistant", Value::Null),
            say("user", "again"),
        ]),
        with(
            case(vec![user()]),
            json!({ "variables": { "custom": { "b": [1, 2.5, null] }, "add_vision_id": true } }),
        ),
    ]
}

fn thinking() -> Vec<Value> {
    let reasoned = |key: &str, reasoning: &str| json!({ "role": "assistant", "content": "Answer", key: reasoning });
    let inline = say("assistant", "<think>\nwhy\n</think>\n\nbecause");
    let user = || say("user", "Q");
    vec![
        with(
            case(vec![user()]),
            json!({ "variables": { "enable_thinking": true } }),
        ),
        with(
            case(vec![user()]),
            json!({ "variables": { "enable_thinking": false } }),
        ),
        with(
            case(vec![user(), inline.clone(), user()]),
            json!({ "variables": { "enable_thinking": false } }),
        ),
        case(vec![user(), inline.clone()]),
        case(vec![
            user(),
            reasoned("reasoning_content", " a\nb "),
            user(),
        ]),
        case(vec![user(), reasoned("reasoning", "r")]),
        case(vec![user(), reasoned("thinking", ""), user(), inline]),
        case(vec![
            user(),
            say("assistant", "no opening</think>text"),
            user(),
        ]),
    ]
}

fn tools() -> Vec<Value> {
    let weather = || {
        call(
            "weather",
            json!({ "city": "Praha", "days": 2, "items": ["a", "b"] }),
        )
    };
    let as_text = call(
        "weather",
        json!("{\"city\": \"Brno\", \"deep\": {\"x\": [1, null, true]}}"),
    );
    let asked = || say("user", "Weather?");
    let one = json!({ "tools": [tool("weather")] });
    let two = json!({ "tools": [tool("weather"), tool("time")] });
    let results = vec![
        asked(),
        calling(
            "",
            vec![
                weather(),
                call("time", json!({ "flag": true, "none": null, "f": 1.5 })),
            ],
        ),
        say("tool", "sunny\n"),
        say("tool", "{\"hour\": 12}"),
    ];
    let mut longer = results.clone();
    longer.extend([say("assistant", "Fine."), say("user", "Thanks")]);
    let reasoned = json!({
        "role": "assistant", "content": "I'll look.", "reasoning_content": "must call",
        "tool_calls": [weather()]
    });
    vec![
        with(case(vec![asked()]), one.clone()),
        with(case(vec![say("system", "Be brief."), asked()]), two.clone()),
        with(
            case(vec![
                asked(),
                calling("Let me see.", vec![weather()]),
                say("tool", "rain"),
            ]),
            one.clone(),
        ),
        with(
            case(vec![
                asked(),
                calling(Value::Null, vec![as_text]),
                say("tool", ""),
            ]),
            one.clone(),
        ),
        with(case(results), two.clone()),
        with(case(longer), two),
        with(case(vec![asked(), reasoned, say("tool", "x")]), one.clone()),
        with(
            case(vec![
                asked(),
                calling("", vec![call("none", json!({}))]),
                say("tool", "y"),
            ]),
            json!({ "tools": [] }),
        ),
        with(
            case(vec![asked()]),
            with(one, json!({ "variables": { "enable_thinking": false } })),
        ),
    ]
}

fn parts_and_refusals() -> Vec<Value> {
    let text = |text: &str| json!({ "type": "text", "text": text });
    vec![
        case(vec![say("user", vec![text("a "), text(" b")])]),
        case(vec![say(
            "user",
            vec![json!({ "type": "image" }), text("What?")],
        )]),
        with(
            case(vec![say(
                "user",
                vec![
                    json!({ "type": "image_url", "image_url": {} }),
                    json!({ "video": 1 }),
                ],
            )]),
            json!({ "variables": { "add_vision_id": true } }),
        ),
        case(vec![
            say("system", vec![text("S")]),
            say("user", Vec::<Value>::new()),
        ]),
        // Refused by the template.
        case(Vec::new()),
        case(vec![say("assistant", "alone")]),
        case(vec![say("user", "a"), say("system", "late")]),
        case(vec![say("user", "a"), say("narrator", "b")]),
        case(vec![
            say("system", vec![json!({ "type": "image" })]),
            say("user", "a"),
        ]),
        case(vec![say("user", vec![json!({ "type": "odd" })])]),
        case(vec![say("user", "<tool_response>only</tool_response>")]),
    ]
}

/// Every conversation, by kind.
fn all() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("plain", plain()),
        ("thinking", thinking()),
        ("tools", tools()),
        ("parts", parts_and_refusals()),
    ]
}

/// What differs between guild and jinja2 over `cases`, and how many both refuse.
fn compare(python: &str, path: &str, cases: &[Value]) -> (Vec<String>, usize) {
    let template = std::fs::read_to_string(path).unwrap();
    let special = json!({ "bos_token": "<s>", "eos_token": "</s>" });
    let theirs = reference::render(python, &template, &special, cases);
    let empty = Map::new();
    let special = special.as_object().unwrap_or(&empty);
    let mut findings = Vec::new();
    let mut refused = 0;
    for (case, theirs) in cases.iter().zip(&theirs) {
        match (render_source(&template, case, special), theirs.get("text")) {
            (Ok(ours), Some(text)) if ours == text.as_str().unwrap() => {}
            (Err(_), None) => refused += 1,
            (ours, _) => findings.push(format!("{case}\n  guild  {ours:?}\n  jinja2 {theirs}")),
        }
    }
    (findings, refused)
}

#[test]
fn a_models_template_renders_as_in_jinja2() {
    let (Some(python), Ok(paths)) = (
        reference::python(),
        std::env::var("GUILD_TEST_CHAT_TEMPLATE"),
    ) else {
        eprintln!("skipped: set GUILD_TEST_PYTHON and GUILD_TEST_CHAT_TEMPLATE");
        return;
    };
    let cases: Vec<Value> = all().into_iter().flat_map(|(_, cases)| cases).collect();
    assert!(cases.len() >= 20);
    for path in paths.split(':') {
        let (findings, refused) = compare(&python, path, &cases);
        println!(
            "{path}: {} conversations, {refused} refused by both",
            cases.len()
        );
        assert!(findings.is_empty(), "{path}\n{}", findings.join("\n"));
    }
}

/// Says how many templates of a collection agree; only a few conversations of each kind, since many templates refuse
/// what others take.
#[test]
fn how_many_other_templates_render_as_in_jinja2() {
    let (Some(python), Ok(paths)) = (
        reference::python(),
        std::env::var("GUILD_TEST_CHAT_TEMPLATE_FEW"),
    ) else {
        eprintln!("skipped: set GUILD_TEST_PYTHON and GUILD_TEST_CHAT_TEMPLATE_FEW");
        return;
    };
    let kinds = all();
    let few: Vec<Value> = kinds
        .iter()
        .flat_map(|(_, cases)| cases.iter().take(5).cloned())
        .collect();
    let (mut same, mut total) = (0, 0);
    for path in paths.split(':') {
        let (findings, refused) = compare(&python, path, &few);
        total += 1;
        same += usize::from(findings.is_empty());
        if !findings.is_empty() {
            println!(
                "{path}: {} differ, {refused} refused by both\n{}",
                findings.len(),
                findings[0]
            );
        }
    }
    println!("{same} of {total} templates render as in jinja2");
}
