//! Conversations with the real program and committed models: scripts, a terminal, Ctrl-C, stop strings.
//!
//! Where only tokens count, what is kept, and where everything goes, the model has random weights and its words mean
//! nothing. Where words count it is a trained one, and its language says which answers are right.
#![cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]

mod answers;
mod ctrl_c;
#[path = "../program/mod.rs"]
mod program;
mod scripted;
mod stop;
mod template;
mod terminal;
mod untrusted;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A committed model with random weights, and without a chat template of its own.
const MODEL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/models/qwen35moe-small-bf16.gguf"
);

/// A committed model that was trained on short stories and sums, with its chat template.
const TRAINED: &str = guild_mini_ornith::MODEL;

/// A small template with the random model's own marks.
const TEMPLATE: &str = "\
{%- for message in messages -%}
{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}
{%- if enable_thinking %}{{ '<think>\\n' }}{% endif %}{% endif %}
{%- if tools %}{{ tools|tojson }}{% endif %}";

/// A folder with the template in it, and no package store.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        std::fs::write(place.template(), TEMPLATE).unwrap();
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn template(&self) -> PathBuf {
        self.path().join("template.jinja")
    }

    /// The program with its folders inside this one, at a terminal that has colours.
    fn guild(&self, args: &[&str]) -> Command {
        let mut command = program::command(self.path());
        command.args(args).env("TERM", "xterm");
        command
    }

    /// A conversation with the random model and this place's template.
    fn chat(&self, more: &[&str]) -> Command {
        let template = self.template();
        let mut args = vec![
            "run",
            MODEL,
            "--chat",
            "--chat-template",
            template.to_str().unwrap(),
        ];
        args.extend(["-t", "1"]);
        args.extend(more);
        self.guild(&args)
    }

    /// A conversation with the trained model.
    fn talk(&self, more: &[&str]) -> Command {
        self.guild(&[&["run", TRAINED, "--chat", "-t", "1"], more].concat())
    }
}

/// Runs a command without any standard input; it must succeed.
fn alone(mut command: Command) -> Output {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

/// Runs a command with this text as its standard input.
fn with_input(mut command: Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// The one JSON object on standard output.
fn object(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}
