//! Runs the program on a model in a folder of its own and measures it.

use crate::program;
use guild_hostile::cases::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Instant;
use wait4::Wait4;

/// A model's files.
pub struct Folder {
    folder: tempfile::TempDir,
    first: PathBuf,
    /// Length of all files.
    pub bytes: u64,
}

/// How a command ended.
pub struct Ended {
    pub command: String,
    /// `None` after a signal.
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
    /// The most memory that was resident at once, mapped files included.
    pub peak_bytes: u64,
}

/// A busy machine makes everything slow now and then; a slow program is slow every time.
const TRIES: usize = 3;
const FAST_SECONDS: f64 = 0.5;

impl Folder {
    /// Writes the files.
    pub fn of(files: &[File]) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        Folder {
            first: folder.path().join(&files[0].0),
            bytes: files.iter().map(|(_, bytes)| bytes.len() as u64).sum(),
            folder,
        }
    }

    /// Runs `guild COMMAND MODEL ARGUMENTS…`.
    pub fn guild(&self, command: &[&str]) -> Ended {
        let mut ended = self.once(command);
        for _ in 1..TRIES {
            if ended.seconds < FAST_SECONDS {
                break;
            }
            let again = self.once(command);
            if again.seconds < ended.seconds {
                ended = again;
            }
        }
        ended
    }

    fn once(&self, command: &[&str]) -> Ended {
        let start = Instant::now();
        let mut child = program::command(self.folder.path())
            .arg(command[0])
            .arg(&self.first)
            .args(&command[1..])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdout, stderr) = read_both(&mut child);
        let used = child.wait4().unwrap();
        Ended {
            command: command[0].to_owned(),
            exit: used.status.code(),
            stdout,
            stderr,
            seconds: start.elapsed().as_secs_f64(),
            peak_bytes: used.rusage.maxrss,
        }
    }
}

/// Both pipes to their end, side by side, so that neither fills up.
fn read_both(child: &mut Child) -> (String, String) {
    let mut pipe = child.stderr.take().unwrap();
    let stderr = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let mut bytes = Vec::new();
    let pipe = child.stdout.as_mut().unwrap();
    pipe.read_to_end(&mut bytes).unwrap();
    let stdout = String::from_utf8_lossy(&bytes).into_owned();
    (stdout, stderr.join().unwrap())
}
