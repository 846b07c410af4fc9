//! Small templates, one a feature, with the text that jinja2 makes of them (`features.py` wrote `features.json`).

use crate::render_source;
use serde_json::Value;

/// Cases in which guild differs, each with its reason.
const DIFFERENT: [(&str, &str); 2] = [
    (
        "percent_format",
        "minijinja has no `%` for strings; the filter `format` does the same",
    ),
    (
        "varargs",
        "minijinja's macros take no further arguments; none of the templates in use does",
    ),
];

#[test]
fn each_feature_renders_as_in_jinja2() {
    let file: Value = serde_json::from_str(include_str!("features.json")).unwrap();
    let special = file["input"]["special"].as_object().unwrap();
    let mut findings = Vec::new();
    for case in file["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let source = case["template"].as_str().unwrap();
        let ours = render_source(source, &file["input"], special);
        let same = match (&ours, case.get("text")) {
            (Ok(ours), Some(theirs)) => ours == theirs.as_str().unwrap(),
            (Err(_), None) => true,
            _ => false,
        };
        let known = DIFFERENT.iter().any(|(different, _)| *different == name);
        if same == known {
            let (text, error) = (&case["text"], &case["error"]);
            findings.push(format!(
                "{name}\n  guild  {ours:?}\n  jinja2 {text} {error}"
            ));
        }
    }
    assert!(
        findings.is_empty(),
        "{} differ from jinja2, or no longer do:\n{}",
        findings.len(),
        findings.join("\n")
    );
}

#[test]
fn a_refusal_keeps_the_templates_words_and_line() {
    let file: Value = serde_json::from_str(include_str!("features.json")).unwrap();
    let special = file["input"]["special"].as_object().unwrap();
    let source = "a\nb{% if true %}\n{{ raise_exception('No ' ~ messages|length) }}{% endif %}";
    let error = render_source(source, &file["input"], special).unwrap_err();
    assert!(
        matches!(
            &error,
            guild_model::ChatTemplateError::Raised { line: 3, message } if message == "No 4"
        ),
        "{error:?}"
    );
    let broken = render_source("a\n{% if %}", &file["input"], special).unwrap_err();
    assert!(
        matches!(
            broken,
            guild_model::ChatTemplateError::Syntax { line: 2, .. }
        ),
        "{broken:?}"
    );
}
