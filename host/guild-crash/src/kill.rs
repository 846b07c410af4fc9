//! Kills real processes at random moments, and judges the stores that they leave. This sees what no model in memory does:
//! locks, the program's own start and end, and the system's files.

use std::fs::{self, DirBuilder};
use std::io::Read as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::{CrashError, Result};
use crate::invariant::{Invariant, Violation};
use crate::leash::Leash;
use crate::random::Random;
use crate::trial::Trial;

/// What killing found.
#[derive(Clone, Debug, Default)]
pub struct Kills {
    /// Processes that were started, beside the first one, which ends by itself.
    pub runs: usize,
    /// How many of them the kill ended; the others were done before it.
    pub killed: usize,
    /// What doesn't hold.
    pub violations: Vec<Violation>,
}

/// How a process ended.
struct Ended {
    was_killed: bool,
    /// Whether it had said that it succeeded.
    acknowledged: bool,
    failure: Option<String>,
}

impl Trial<'_> {
    /// Runs the operation once to its end, and `runs` times with a kill. `command` makes the process that runs it on the
    /// store in the folder `kernels` of a folder, and says on standard output when it succeeded. Each process is on
    /// `leash`, so that another thread can end it.
    ///
    /// # Errors
    /// Where a process can't be started or a folder can't be made.
    pub fn kill_at_random(
        &self,
        folder: &Path,
        runs: usize,
        random: &mut Random,
        leash: &Leash,
        command: &dyn Fn(&Path) -> Command,
    ) -> Result<Kills> {
        let mut kills = Kills::default();
        let runner = Runner { leash, command };
        let undisturbed = self.kill_one(folder, None, &runner, &mut kills)?;
        for _ in 0..runs {
            let moment = random.below(undisturbed.as_micros() as usize);
            let moment = Duration::from_micros(moment as u64);
            kills.runs += 1;
            self.kill_one(folder, Some(moment), &runner, &mut kills)?;
        }
        Ok(kills)
    }

    /// How long the process lasted.
    fn kill_one(
        &self,
        folder: &Path,
        moment: Option<Duration>,
        runner: &Runner<'_>,
        kills: &mut Kills,
    ) -> Result<Duration> {
        let data = folder.join("data");
        let store = data.join("kernels");
        DirBuilder::new()
            .mode(0o700)
            .create(&data)
            .map_err(CrashError::io(&data))?;
        self.lay_out(&store)?;
        let start = Instant::now();
        let ended = runner.run(&data, moment)?;
        let lasted = start.elapsed();
        kills.killed += usize::from(ended.was_killed);
        let violation = match ended.failure {
            Some(failure) => Some(Violation::new(Invariant::Again, failure)),
            None => self.judge(&store, ended.acknowledged)?,
        };
        if let Some(violation) = violation {
            let place = match moment {
                Some(moment) => format!("killed {moment:?} after the start"),
                None => "not killed".to_owned(),
            };
            kills.violations.push(Violation { place, ..violation });
        }
        fs::remove_dir_all(&data).map_err(CrashError::io(&data))?;
        Ok(lasted)
    }
}

/// What processes are made of, and what holds them.
struct Runner<'a> {
    leash: &'a Leash,
    command: &'a dyn Fn(&Path) -> Command,
}

impl Runner<'_> {
    /// Starts a process on the store in `data` and kills it after `moment`, or lets it end.
    fn run(&self, data: &Path, moment: Option<Duration>) -> Result<Ended> {
        let mut command = (self.command)(data);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let program = Path::new(command.get_program()).to_owned();
        let pipes = self.leash.start(&mut command);
        let (mut stdout, mut stderr) = pipes.map_err(CrashError::io(&program))?;
        if let Some(moment) = moment {
            std::thread::sleep(moment);
            self.leash.kill();
        }
        let (mut said, mut complained) = (String::new(), String::new());
        // Both fit into a pipe, so that the order of reading doesn't matter.
        let status = stdout
            .read_to_string(&mut said)
            .and_then(|_| stderr.read_to_string(&mut complained))
            .and_then(|_| self.leash.wait())
            .map_err(CrashError::io(data))?;
        let was_killed = status.signal() == Some(9);
        Ok(Ended {
            was_killed,
            acknowledged: status.success() || !said.is_empty(),
            failure: (!status.success() && !was_killed).then(|| format!("{status}: {complained}")),
        })
    }
}
