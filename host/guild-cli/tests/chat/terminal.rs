//! A conversation at a terminal: a pair of pseudo-terminal ends, the program on one, the test on the other.

use crate::Place;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a busy machine may take for anything that is waited for.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// The history of what was typed, below the home folder.
const HISTORY: &str = ".local/state/guild/chat-history";

/// The program at a terminal.
pub struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<String>>,
    /// Bytes of the screen that were looked at.
    seen: usize,
}

impl Terminal {
    pub fn start(command: Command) -> Terminal {
        Terminal::start_with_stdout(command, None)
    }

    /// With standard output somewhere else than at the terminal.
    pub fn start_with_stdout(mut command: Command, stdout: Option<Stdio>) -> Terminal {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let open = || File::options().read(true).write(true).open(&name).unwrap();
        let child = command
            .stdin(open())
            .stdout(stdout.unwrap_or_else(|| open().into()))
            .stderr(open())
            .spawn()
            .unwrap();
        // The command keeps its ends open; the screen ends when the program does.
        drop(command);
        let keyboard = File::from(ours);
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut reader, shared) = (keyboard.try_clone().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                shared.lock().unwrap().push_str(&text);
            }
        });
        Terminal {
            child,
            keyboard,
            screen,
            seen: 0,
        }
    }

    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen shows this text after what was waited for before; returns what came before it.
    pub fn wait_for(&mut self, wanted: &str) -> String {
        let started = Instant::now();
        loop {
            {
                let screen = self.screen.lock().unwrap();
                let new = &screen[self.seen..];
                if let Some(at) = new.find(wanted) {
                    let before = new[..at].to_owned();
                    self.seen += at + wanted.len();
                    return before;
                }
                assert!(started.elapsed() < WAIT_MAX, "no {wanted:?} in {new:?}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    /// Waits for the end; returns the exit code.
    pub fn end(mut self) -> Option<i32> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(started.elapsed() < WAIT_MAX, "it doesn't end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn ctrl_c_stops_an_answer_and_the_session_goes_on() {
    let place = Place::new();
    let mut terminal = Terminal::start(place.chat(&["--ignore-eos", "-c", "32000"]));
    terminal.wait_for("Ctrl-D ends");
    terminal.wait_for("> ");
    terminal.press("Hello\r");
    // Something of the answer.
    terminal.wait_for("\n");
    std::thread::sleep(Duration::from_millis(300));
    terminal.interrupt();
    terminal.wait_for("stopped");
    terminal.wait_for("> ");
    terminal.press("/stats\r");
    terminal.wait_for("last answer: ");
    terminal.wait_for("> ");
    // The second answer goes on from the same session, or says why not.
    terminal.press("More\r");
    terminal.wait_for("\n");
    std::thread::sleep(Duration::from_millis(300));
    terminal.interrupt();
    terminal.wait_for("stopped");
    terminal.wait_for("> ");
    // Ctrl-C clears what was typed, and ends at an empty line.
    terminal.press("never sent\u{3}");
    terminal.press("/help\r");
    terminal.wait_for("/undo");
    terminal.wait_for("> ");
    terminal.press("\u{3}");
    assert_eq!(terminal.end(), Some(0));
    let history = place.path().join(HISTORY);
    let history = std::fs::read_to_string(history).unwrap();
    assert!(
        history.contains("Hello") && history.contains("More"),
        "{history}"
    );
    assert!(!history.contains("never sent"), "{history}");
}

#[test]
fn lines_go_on_and_no_history_is_kept_on_request() {
    let place = Place::new();
    let saved = place.path().join("saved.json");
    let mut terminal = Terminal::start(place.chat(&["-n", "2", "--no-history"]));
    terminal.wait_for("Ctrl-D ends");
    terminal.wait_for("> ");
    terminal.press("first\\\rsecond\r");
    terminal.wait_for("> ");
    terminal.press(&format!("/save {}\r", saved.display()));
    terminal.wait_for("has the conversation");
    terminal.wait_for("> ");
    terminal.press("\u{4}");
    assert_eq!(terminal.end(), Some(0));
    let saved: serde_json::Value = serde_json::from_slice(&std::fs::read(saved).unwrap()).unwrap();
    assert_eq!(saved["messages"][0]["content"], "first\nsecond");
    assert!(!place.path().join(HISTORY).exists());
}

#[test]
fn a_question_that_does_not_fit_leaves_the_conversation_as_it_was() {
    let place = Place::new();
    let saved = place.path().join("saved.json");
    let mut terminal = Terminal::start(place.chat(&["-n", "1", "-c", "40", "--no-history"]));
    terminal.wait_for("Ctrl-D ends");
    terminal.wait_for("> ");
    terminal.press("Hi\r");
    terminal.wait_for("> ");
    terminal.press(&format!("{}\r", "word ".repeat(60)));
    terminal.wait_for("the context holds 40");
    terminal.wait_for("> ");
    terminal.press(&format!("/save {}\r", saved.display()));
    terminal.wait_for("has the conversation");
    terminal.wait_for("> ");
    terminal.press("\u{4}");
    assert_eq!(terminal.end(), Some(0));
    let saved: serde_json::Value = serde_json::from_slice(&std::fs::read(saved).unwrap()).unwrap();
    assert_eq!(saved["messages"].as_array().unwrap().len(), 2);
}
