//! A home folder, and the program run there with a line of words.

use crate::program;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// A folder that goes with its value.
pub struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    /// An empty one.
    pub fn new() -> Home {
        Home {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the words of a line; `_` stands for a blank in a word. Only a line that names the machine's folder has to do
    /// with its store.
    pub fn run(&self, line: &str) -> Output {
        let words = line.split(' ').map(|word| word.replace('_', " "));
        let mut command = program::command(self.path());
        if line.contains("--machine") {
            command.env_remove("GUILD_NO_MACHINE_STORE");
        }
        command.args(words).output().unwrap()
    }

    /// Exit code, standard output and standard error.
    pub fn text(&self, line: &str) -> (i32, String, String) {
        let output = self.run(line);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap();
        (code, text(output.stdout), text(output.stderr))
    }

    /// The object that is printed, also of a failure.
    #[track_caller]
    pub fn answer(&self, line: &str) -> Value {
        let output = self.run(&format!("--json {line}"));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    /// The object of a success.
    #[track_caller]
    pub fn json(&self, line: &str) -> Value {
        let answer = self.answer(line);
        assert_eq!(answer["ok"], true, "{line}: {answer}");
        answer
    }
}
