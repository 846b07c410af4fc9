//! `guild config show`: shows every setting with its value and who set it.

use crate::config::{Kind, Origin, Setting, Settings};
use crate::failure::Outcome;
use crate::output::Output;
use serde_json::{Value, json};

/// Prints the files that were looked for, then one line a setting.
pub fn run(settings: &Settings, output: Output) -> Outcome<()> {
    for file in settings.files() {
        let state = if file.read { "read" } else { "absent" };
        let layer = file.layer.name();
        output.data(format!("# {layer} file {}: {state}", file.path.display()))?;
    }
    for setting in settings.all() {
        let value = match setting.values.is_empty() {
            true => "(unset)".to_owned(),
            false => setting.values.join(","),
        };
        output.data(format!(
            "{} = {value}\t# {}",
            setting.option.title(),
            setting.origin
        ))?;
    }
    output.object(json!({
        "files": files(settings),
        "settings": settings.all().iter().map(row).collect::<Vec<_>>(),
    }))
}

/// The files that were looked for.
pub fn files(settings: &Settings) -> Vec<Value> {
    let file = |file: &crate::config::ConfigFile| {
        json!({
            "layer": file.layer.name(),
            "path": file.path,
            "read": file.read,
        })
    };
    settings.files().iter().map(file).collect()
}

/// A setting as fields.
pub fn row(setting: &Setting) -> Value {
    json!({
        "command": setting.option.command,
        "option": setting.option.name,
        "variable": setting.option.variable,
        "value": value(setting),
        "origin": origin(&setting.origin),
    })
}

/// Switches are true or false and lists are lists; all else is text, as the command line has it.
fn value(setting: &Setting) -> Value {
    let first = setting.values.first();
    match setting.option.kind {
        Kind::Many => json!(setting.values),
        Kind::Flag => json!(first.is_some_and(|value| crate::config::is_on(value))),
        Kind::Count | Kind::One => json!(first),
    }
}

fn origin(origin: &Origin) -> Value {
    match origin {
        Origin::Default => json!({ "kind": "default" }),
        Origin::Flag => json!({ "kind": "flag" }),
        Origin::Variable { name } => json!({ "kind": "variable", "name": name }),
        Origin::File { layer, place } => json!({
            "kind": "file",
            "layer": layer.name(),
            "path": place.path,
            "line": place.line,
        }),
    }
}
