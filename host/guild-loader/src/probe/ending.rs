//! How a trial run ended, in words.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// What people call the signals that end a trial run.
const SIGNALS: &[(i32, &str)] = &[
    (libc::SIGABRT, "SIGABRT: it gave up by itself"),
    (libc::SIGBUS, "SIGBUS: it used memory that isn't there"),
    (libc::SIGFPE, "SIGFPE: it divided by zero"),
    (
        libc::SIGILL,
        "SIGILL: it ran an instruction that this processor lacks",
    ),
    (
        libc::SIGKILL,
        "SIGKILL: somebody killed it, or the system had no more memory",
    ),
    (libc::SIGSEGV, "SIGSEGV: it used memory that isn't its own"),
    (
        libc::SIGSYS,
        "SIGSYS: it asked the system for something that no kernel package needs, such as a new process, a network connection or another process's memory",
    ),
    (libc::SIGTRAP, "SIGTRAP: it gave up by itself"),
    (
        libc::SIGXCPU,
        "SIGXCPU: it used more than its processor time",
    ),
];

/// How the child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself.
    Ended(ExitStatus),
    /// It was killed after this time.
    TimedOut(Duration),
}

impl Ending {
    /// Why that is a failure; `None` for an orderly end.
    pub fn failure(self) -> Option<String> {
        let status = match self {
            Self::TimedOut(wall) => {
                return Some(format!("it did not end within {} ms", wall.as_millis()));
            }
            Self::Ended(status) => status,
        };
        if let Some(number) = status.signal() {
            let known = SIGNALS.iter().find(|(signal, _)| *signal == number);
            let name = known.map_or(String::new(), |(_, name)| format!(" ({name})"));
            return Some(format!("signal {number} ended it{name}"));
        }
        match status.code() {
            Some(0) => None,
            code => Some(format!(
                "it ended with exit code {}",
                code.unwrap_or_default()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_but_an_orderly_one_is_a_failure() {
        let ended = |raw| Ending::Ended(ExitStatus::from_raw(raw)).failure();
        assert_eq!(ended(0), None);
        assert_eq!(ended(3 << 8).unwrap(), "it ended with exit code 3");
        assert!(ended(libc::SIGSEGV).unwrap().contains("SIGSEGV"));
        assert!(ended(libc::SIGUSR1).unwrap().contains("signal 10"));
        let late = Ending::TimedOut(Duration::from_secs(10)).failure().unwrap();
        assert!(late.contains("10000 ms"), "{late}");
    }
}
