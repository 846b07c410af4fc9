//! The self-test of crashes, ended from outside.

mod program;

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(60);

#[track_caller]
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Another command with the surroundings of [`program::command`].
fn as_program_by(name: &str, home: &Path) -> Command {
    let program = program::command(home);
    let mut command = Command::new(name);
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(home);
    command
}

/// A self-test that kills processes without end.
struct Selftest {
    child: Child,
    temporary: PathBuf,
}

impl Selftest {
    fn start(home: &TempDir) -> Selftest {
        let temporary = home.path().join("tmp");
        std::fs::create_dir_all(&temporary).unwrap();
        // Whoever runs the tests may ignore signals, as `nohup` and a shell's background do; this process ignores none.
        let child = as_program_by("env", home.path())
            .args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_guild")])
            .args("kernel selftest --crash --images 1 --kills 1000000".split(' '))
            .env("TMPDIR", &temporary)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Selftest { child, temporary }
    }

    fn folders(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.temporary).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// What is in its folder.
    fn files(&self) -> Vec<PathBuf> {
        let folder = self.folders().pop();
        let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
        let entries = entries.into_iter().flatten();
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect()
    }

    /// Sends the signal to it alone, and checks that it ends by it, that its folder is gone and that nobody works there.
    #[track_caller]
    fn ends_by(mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut ended = None;
        wait_until("it didn't end", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        let status = ended.unwrap();
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status}");
        assert_eq!(working_on(&self.temporary), Vec::<String>::new());
        assert_eq!(self.folders(), Vec::<PathBuf>::new());
    }
}

impl Drop for Selftest {
    fn drop(&mut self) {
        // Of a test that failed; one that has ended can't be killed any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The command lines of processes that name something below `folder`.
fn working_on(folder: &Path) -> Vec<String> {
    let folder = folder.to_string_lossy().into_owned();
    let processes = std::fs::read_dir("/proc").unwrap();
    let lines = processes.filter_map(|entry| {
        let line = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(&folder).then_some(line)
    });
    lines.collect()
}

/// Before the first process runs, the images are made.
#[test]
fn ended_while_images_are_made_it_leaves_no_folder() {
    let home = tempfile::tempdir().unwrap();
    let test = Selftest::start(&home);
    // The workshop's files come after the handler was set.
    wait_until("no folder was made", || !test.files().is_empty());
    test.ends_by(Signal::INT);
}

#[test]
fn ended_while_a_process_runs_it_leaves_no_folder_and_no_process() {
    let home = tempfile::tempdir().unwrap();
    let signals = [Signal::TERM, Signal::INT, Signal::HUP];
    for (nth, signal) in signals.iter().cycle().take(9).enumerate() {
        let test = Selftest::start(&home);
        wait_until("no process was started", || {
            !working_on(&test.temporary).is_empty()
        });
        std::thread::sleep(Duration::from_millis(nth as u64));
        test.ends_by(*signal);
    }
}

/// `nohup` asks for that.
#[test]
fn a_hang_up_that_is_ignored_ends_nothing() {
    let home = tempfile::tempdir().unwrap();
    let temporary = home.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let line = format!(
        "trap '' HUP; exec env --default-signal=INT,TERM {} kernel selftest --crash --images 1 --kills 1000000",
        env!("CARGO_BIN_EXE_guild")
    );
    let child = as_program_by("sh", home.path())
        .args(["-c", &line])
        .env("TMPDIR", &temporary)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let test = Selftest { child, temporary };
    wait_until("no folder was made", || !test.files().is_empty());
    kill_process(Pid::from_child(&test.child), Signal::HUP).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(!test.files().is_empty());
    test.ends_by(Signal::TERM);
}

/// The process of a trial doesn't outlive the one that started it, however that ended.
#[test]
fn a_process_of_a_trial_ends_with_the_one_that_started_it() {
    let home = tempfile::tempdir().unwrap();
    let fifo = home.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    // It waits for its configuration, which nobody writes.
    let line = format!(
        "{} __trial --config {} kernel list & echo $!; wait",
        env!("CARGO_BIN_EXE_guild"),
        fifo.display()
    );
    let mut shell = as_program_by("sh", home.path())
        .env_remove("GUILD_NO_CONFIG")
        .args(["-c", &line])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pid = String::new();
    let mut said = BufReader::new(shell.stdout.take().unwrap());
    said.read_line(&mut pid).unwrap();
    let process = Path::new("/proc").join(pid.trim());
    let runs = || {
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("__trial")
    };
    wait_until("the process didn't start", runs);
    std::thread::sleep(Duration::from_millis(500));
    assert!(runs(), "it waits for the file");
    shell.kill().unwrap();
    shell.wait().unwrap();
    let start = Instant::now();
    while runs() && start.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let is_left = runs();
    if is_left {
        let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
    }
    assert!(!is_left, "the process outlived its parent");
}
