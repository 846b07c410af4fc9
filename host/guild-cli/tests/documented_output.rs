//! What the README and `docs/` show of the program is what it does: transcripts are made anew and compared, and the
//! commands under "Use it" run on the model that is committed.
#![cfg(all(feature = "builtin-cpu", feature = "builtin-qwen"))]

mod program;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a shell makes of a line in the project's root folder, with the built program and a home of its own: all that it
/// prints, on whichever stream, and how it ends.
fn shell(line: &str) -> (String, ExitStatus) {
    let home = tempfile::tempdir().unwrap();
    let guild = program::command(home.path());
    let folder = Path::new(guild.get_program()).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(root());
    for (name, value) in guild.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.env("PATH", format!("{}:{path}", folder.display()));
    let (mut reader, writer) = std::io::pipe().unwrap();
    let stderr = writer.try_clone().unwrap();
    shell.stdin(Stdio::null()).stdout(writer).stderr(stderr);
    let mut child = shell.spawn().unwrap();
    // The pipe ends when the program does, not when this command's own ends go.
    drop(shell);
    let mut printed = String::new();
    reader.read_to_string(&mut printed).unwrap();
    (printed, child.wait().unwrap())
}

/// The lines that a page's text blocks show of `guild`, each with what follows up to the next one.
fn transcripts(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("```text\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let commands = blocks.filter_map(|block| block.strip_prefix("$ "));
    let commands = commands.flat_map(|block| block.split("\n$ "));
    let transcripts = commands.map(|command| command.split_once('\n').unwrap_or((command, "")));
    transcripts
        .filter(|(line, _)| line.split(' ').any(|word| word == "guild"))
        .collect()
}

/// Text without the times and rates, which differ from run to run: in the line that has them, the numbers before `ms`
/// and `/s`.
fn without_times(text: &str) -> String {
    let mut without = String::new();
    for line in text.trim_end().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let mut kept = Vec::new();
        for (i, word) in words.iter().enumerate() {
            let next = words.get(i + 1).is_some_and(|next| next.starts_with("ms"));
            let timed = line.starts_with("load ") && (next || word.contains("/s"));
            kept.push(if timed { "…" } else { word });
        }
        without.push_str(&kept.join(" "));
        without.push('\n');
    }
    without
}

#[test]
fn transcripts_show_what_the_program_prints() {
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    let mut pages: Vec<PathBuf> = docs.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension() == Some(OsStr::new("md")));
    pages.push(root().join("README.md"));
    pages.push(root().join("tests/models/mini-ornith/README.md"));
    let mut with_transcripts = BTreeSet::new();
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for (line, shown) in transcripts(&text) {
            let (printed, status) = shell(line);
            let at = page.display();
            assert!(status.success(), "{at}: {line}\n{printed}");
            let [printed, shown] = [printed.as_str(), shown].map(without_times);
            assert_eq!(printed, shown, "{at}: {line}");
            with_transcripts.insert(page.clone());
        }
    }
    for page in [
        "README.md",
        "docs/chat.md",
        "docs/gguf.md",
        "docs/sampling.md",
        "tests/models/mini-ornith/README.md",
    ] {
        assert!(
            with_transcripts.contains(&root().join(page)),
            "{page} shows no command"
        );
    }
}

#[test]
fn the_readmes_commands_run_on_the_committed_model() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let block = readme.split("## Use it\n\n```sh\n").nth(1);
    let block = block.and_then(|block| block.split("```").next());
    let lines = block
        .expect("the README has commands under \"Use it\"")
        .lines();
    let lines: Vec<&str> = lines.filter(|line| line.starts_with("guild ")).collect();
    assert!(lines.len() >= 8, "{lines:?}");
    for line in lines {
        let line = line.replace(
            "MODEL.gguf",
            "tests/models/mini-ornith/mini-ornith-Q8_0.gguf",
        );
        let line = line.replace("TEXT", "tests/models/mini-ornith/held-out.txt");
        let (printed, status) = shell(&line);
        assert!(status.success(), "{line}\n{printed}");
    }
}
