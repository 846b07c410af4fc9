//! Ctrl-C: one handler for the whole process.
//!
//! The first Ctrl-C asks the command to stop; it ends at the next token or pass. A second one that comes before the
//! command has taken note ends the process at once with exit code 130. A command without such an end cleans up, and
//! ends by the signal; so it does at SIGTERM and at SIGHUP, which a closed terminal sends.

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a signal is looked for by a command that only cleans up.
const POLL: Duration = Duration::from_millis(50);
/// What asks a command to end that only cleans up.
const ENDING: [c_int; 3] = [SIGINT, SIGTERM, SIGHUP];
/// A process that a signal ended has this code and the signal's number, as shells count.
const SIGNAL_EXIT: c_int = 128;

/// Whether Ctrl-C was pressed. Clones share the answer.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes over SIGINT for the rest of the process. A command calls this at most once.
    pub fn catch() -> Outcome<Interrupt> {
        Interrupt::by(SIGINT)
    }

    /// As [`Interrupt::catch`], for another signal.
    fn by(signal: c_int) -> Outcome<Interrupt> {
        let interrupt = Interrupt::default();
        let code = SIGNAL_EXIT + signal;
        // The order matters: the first signal finds the flag clear, sets it, and doesn't end the process.
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&interrupt.0))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupt.0)))
            .map_err(|error| {
                Failure::new(
                    Exit::Internal,
                    format!("the handler for signal {signal} could not be set: {error}"),
                )
            })?;
        Ok(interrupt)
    }

    /// Whether Ctrl-C was pressed since [`Interrupt::clear`].
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes note: the next Ctrl-C is a first one again.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// What ends a command that cleans up.
#[derive(Clone, Debug)]
pub struct Ending(Vec<(c_int, Interrupt)>);

impl Ending {
    /// From now on Ctrl-C, SIGTERM and SIGHUP run `clean_up` and end the process by the signal, as they would without a
    /// handler. What the process was started to ignore, as `nohup` does, stays so. A command calls this at most once, and
    /// not beside [`Interrupt::catch`].
    pub fn clean_up(clean_up: impl Fn() + Send + 'static) -> Outcome<Ending> {
        let ignored = ignored();
        let caught = ENDING
            .iter()
            .filter(|signal| ignored >> (**signal - 1) & 1 == 0);
        let caught = caught.map(|signal| Ok((*signal, Interrupt::by(*signal)?)));
        let ending = Ending(caught.collect::<Outcome<_>>()?);
        let watched = ending.clone();
        std::thread::spawn(move || {
            let signal = loop {
                match watched.signal() {
                    Some(signal) => break signal,
                    None => std::thread::sleep(POLL),
                }
            };
            clean_up();
            // Where the system doesn't let the process end so, nothing is left to do but to end.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            std::process::exit(SIGNAL_EXIT + signal);
        });
        Ok(ending)
    }

    /// Waits for the end that [`Ending::clean_up`] brings, where a signal has come: what failed since then failed for
    /// that.
    pub fn wait_for_the_end(&self) {
        while self.signal().is_some() {
            std::thread::park();
        }
    }

    /// The signal that has come, if one has.
    fn signal(&self) -> Option<c_int> {
        let mut caught = self.0.iter();
        let (signal, _) = caught.find(|(_, interrupt)| interrupt.is_set())?;
        Some(*signal)
    }
}

/// The signals that this process ignores, one bit each; none where the system doesn't say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
