//! Runs `reference.py`.

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// The interpreter that has jinja2, if the environment names one.
pub fn python() -> Option<String> {
    std::env::var("GUILD_TEST_PYTHON").ok()
}

/// What jinja2 makes of the cases: a list of objects with `text` or `error`.
pub fn render(python: &str, template: &str, special: &Value, cases: &[Value]) -> Vec<Value> {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/chat_template/reference.py"
    );
    let mut child = Command::new(python)
        .args(["-B", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let request = json!({ "template": template, "special": special, "cases": cases });
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(request.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{python} {script} failed");
    serde_json::from_slice(&output.stdout).unwrap()
}
