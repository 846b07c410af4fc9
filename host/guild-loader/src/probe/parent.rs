//! The host's side of a trial run: starts the child, waits for it, reads its answer.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use guild_package::Result;
use guild_package::probe::{Answer, Probe, Probed, Subject};
use guild_package::text::{PlainText, escape};
use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;

use crate::ambient;
use crate::error::Fault;
use crate::memfd::SealedFile;
use crate::probe::answer::{self, STREAM_MAX_BYTES};
use crate::probe::child::COMMAND;
use crate::probe::ending::Ending;

/// How long a trial run may take.
const WALL: Duration = Duration::from_secs(10);
/// How often the child is looked at.
const POLL: Duration = Duration::from_millis(1);
/// What is kept of what the child wrote to standard error.
const WORDS_MAX_BYTES: u64 = 4096;
/// How long after the child's end its last words may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);

const ASK_PUBLISHER: &str = "Ask the publisher for a release that passes";
const MEND_HOST: &str = "Check that guild's own file can be executed and that /proc is mounted; a package is never activated without its trial run";
const NEED_SANDBOX: &str =
    "Use a Linux kernel with Landlock and seccomp, or leave --require-sandbox out";

/// Which file is executed. It must answer to [`COMMAND`] with [`crate::probe::serve`].
#[derive(Clone, Debug)]
pub enum Helper {
    /// The very file that this process was started from, even if it has been replaced since.
    ThisProgram,
    /// Another program that calls [`crate::probe::serve`].
    File(PathBuf),
}

/// Runs packages in a child process.
#[derive(Clone, Debug)]
pub struct ChildProbe {
    helper: Helper,
    wall: Duration,
    require_sandbox: bool,
}

impl Helper {
    /// Opened once, and executed by its descriptor: no name is looked up a second time.
    fn open(&self) -> io::Result<OwnedFd> {
        let path = match self {
            Self::ThisProgram => "/proc/self/exe".as_ref(),
            Self::File(path) => path.as_path(),
        };
        Ok(rustix::fs::open(
            path,
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
        )?)
    }
}

impl ChildProbe {
    /// A probe that starts `helper` and gives it ten seconds.
    #[must_use]
    pub const fn new(helper: Helper) -> Self {
        Self {
            helper,
            wall: WALL,
            require_sandbox: false,
        }
    }

    /// The same with another time.
    #[must_use]
    pub const fn within(mut self, wall: Duration) -> Self {
        self.wall = wall;
        self
    }

    /// The same, which refuses where the system has no Landlock or no seccomp.
    #[must_use]
    pub const fn require_sandbox(mut self, require: bool) -> Self {
        self.require_sandbox = require;
        self
    }

    fn run(&self, subject: &Subject<'_>) -> Result<Ran> {
        let cannot = |step: &str, error: io::Error| {
            subject.failed(
                format!("it could not be started: {step}: {error}"),
                MEND_HOST,
            )
        };
        let executable = self.helper.open();
        let executable = executable.map_err(|error| cannot("open guild's own file", error))?;
        let files = Files::of(subject)?;
        let passed = files.inheritable();
        let passed = passed.map_err(|error| cannot("pass the library on", error))?;
        let mut command = Command::new(format!("/proc/self/fd/{}", executable.as_raw_fd()));
        command
            .arg0("guild")
            .arg(COMMAND)
            .arg(std::process::id().to_string())
            .args(passed.each_ref().map(|file| file.as_raw_fd().to_string()))
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if self.require_sandbox {
            command.arg(super::child::REQUIRE_SANDBOX);
        }
        let child = command.spawn();
        drop(passed);
        let child = child.map_err(|error| cannot("execute guild's own file", error))?;
        Running::of(child)
            .wait(self.wall)
            .map_err(|error| cannot("wait for it", error))
    }
}

impl Probe for ChildProbe {
    fn probe(&self, subject: &Subject<'_>) -> Result<Probed> {
        let ran = self.run(subject)?;
        if let Some(failure) = ran.ending.failure() {
            return Err(subject.failed(format!("{failure}{}", ran.last_words()), ASK_PUBLISHER));
        }
        let (sandbox, answer) = answer::read(&ran.answer).map_err(|fault| {
            let reason = format!(
                "its answer is not to be believed: {fault}{}",
                ran.last_words()
            );
            subject.failed(reason, ASK_PUBLISHER)
        })?;
        if self.require_sandbox && !sandbox.is_whole() {
            return Err(subject.failed(super::child::no_sandbox(sandbox), NEED_SANDBOX));
        }
        let ambient = ambient::scan();
        match answer {
            Answer {
                report: Some(report),
                ..
            } => Ok(Probed {
                sandbox,
                sandbox_required: self.require_sandbox,
                report,
                ambient: ambient
                    .iter()
                    .map(|finding| answer::plain(&finding.source))
                    .collect(),
            }),
            Answer { refused, .. } => {
                let why = refused.map_or_else(String::new, |refused| {
                    format!("{} {}", refused.code, trimmed(&refused.message))
                });
                Err(subject.failed(why, ASK_PUBLISHER))
            }
        }
    }
}

/// Without the full stop, which the sentence around it has.
fn trimmed(message: &PlainText) -> &str {
    message.as_str().trim_end_matches('.')
}

/// What a child gets, as sealed memory files.
struct Files {
    manifest: SealedFile,
    image: SealedFile,
    golden: SealedFile,
}

impl Files {
    /// Copies what the child needs, comparing each byte with its digest on the way.
    fn of(subject: &Subject<'_>) -> Result<Self> {
        let manifest = subject.manifest();
        let label = format!("{}@{}", manifest.id, manifest.version);
        let unsealed = |fault: Fault| match fault {
            Fault::Package(error) => error,
            other => subject.failed(other.words(), MEND_HOST),
        };
        let sealed = |name: &str, write: &dyn Fn(&mut File) -> Result<()>| {
            SealedFile::fill(name, write).map_err(unsealed)
        };
        let plugin = subject.plugin()?;
        Ok(Self {
            manifest: sealed("manifest", &|file| {
                let written = file.write_all(subject.manifest_bytes());
                written.map_err(|error| subject.failed(error.to_string(), MEND_HOST))
            })?,
            image: sealed(&label, &|file| {
                subject.copy(plugin, |piece| file.write_all(piece))
            })?,
            golden: sealed("golden", &|file| {
                subject
                    .golden()
                    .try_for_each(|artifact| subject.copy(artifact, |piece| file.write_all(piece)))
            })?,
        })
    }

    /// Descriptors that the child inherits, in the order of its arguments. A process that another thread
    /// starts meanwhile would inherit them too: they are sealed, and hold what is in the bundle.
    fn inheritable(&self) -> io::Result<[OwnedFd; 3]> {
        let passed = |file: &SealedFile| -> io::Result<OwnedFd> {
            let copy = file.as_fd().try_clone_to_owned()?;
            rustix::io::fcntl_setfd(&copy, FdFlags::empty())?;
            Ok(copy)
        };
        Ok([
            passed(&self.manifest)?,
            passed(&self.image)?,
            passed(&self.golden)?,
        ])
    }
}

/// A child whose two outputs are read as they come, so that neither blocks it.
struct Running {
    child: Child,
    answer: Receiver<Vec<u8>>,
    words: Receiver<Vec<u8>>,
}

/// A child that has ended.
struct Ran {
    ending: Ending,
    answer: Vec<u8>,
    words: Vec<u8>,
}

impl Running {
    fn of(mut child: Child) -> Self {
        Self {
            answer: read_aside(child.stdout.take(), STREAM_MAX_BYTES as u64),
            words: read_aside(child.stderr.take(), WORDS_MAX_BYTES),
            child,
        }
    }

    fn wait(mut self, wall: Duration) -> io::Result<Ran> {
        let start = Instant::now();
        let ending = loop {
            if let Some(status) = self.child.try_wait()? {
                break Ending::Ended(status);
            }
            if start.elapsed() >= wall {
                self.kill();
                self.child.wait()?;
                break Ending::TimedOut(wall);
            }
            std::thread::sleep(POLL);
        };
        // An output that somebody still holds open counts as empty.
        let take = |output: &Receiver<Vec<u8>>| output.recv_timeout(LAST_WORDS).unwrap_or_default();
        Ok(Ran {
            ending,
            answer: take(&self.answer),
            words: take(&self.words),
        })
    }
}

impl Running {
    /// Ends the child and, where no filter kept it from starting some, those that it started.
    fn kill(&mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.child.kill();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nothing to do about a child that can't be killed; one that has ended is left alone.
        self.kill();
        let _ = self.child.wait();
    }
}

impl Ran {
    /// What it wrote to standard error, for the message.
    fn last_words(&self) -> String {
        let text = String::from_utf8_lossy(&self.words);
        match text.lines().find(|line| !line.trim().is_empty()) {
            Some(line) => format!("; it wrote \"{}\"", escape(line.trim())),
            None => String::new(),
        }
    }
}

/// Keeps the first `most` bytes and reads on, so that the writer never waits.
fn read_aside(output: Option<impl Read + Send + 'static>, most: u64) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    let Some(mut output) = output else {
        return receiver;
    };
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        // What can't be read is missing, and the answer is judged by what is there.
        let _ = output.by_ref().take(most).read_to_end(&mut kept);
        let _ = io::copy(&mut output, &mut io::sink());
        let _ = sender.send(kept);
    });
    receiver
}
