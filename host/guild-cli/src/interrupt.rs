//! Ctrl-C: one handler for the whole process.
//!
//! The first Ctrl-C asks the command to stop; it ends at the next token or pass. A second one that comes before the
//! command has taken note ends the process at once with exit code 130. A command without such an end cleans up, and
//! ends by the signal.

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use signal_hook::consts::SIGINT;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often Ctrl-C is looked for by a command that only cleans up.
const POLL: Duration = Duration::from_millis(50);

/// Whether Ctrl-C was pressed. Clones share the answer.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes over SIGINT for the rest of the process. A command calls this at most once.
    pub fn catch() -> Outcome<Interrupt> {
        let interrupt = Interrupt::default();
        let code = i32::from(Exit::Interrupted as u8);
        // The order matters: the first signal finds the flag clear, sets it, and doesn't end the process.
        signal_hook::flag::register_conditional_shutdown(SIGINT, code, Arc::clone(&interrupt.0))
            .and_then(|_| signal_hook::flag::register(SIGINT, Arc::clone(&interrupt.0)))
            .map_err(|error| {
                Failure::new(
                    Exit::Internal,
                    format!("the handler for Ctrl-C could not be set: {error}"),
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

    /// From now on Ctrl-C runs `clean_up` and ends the process by the signal, as it would without a handler. A command
    /// calls this at most once, and not beside [`Interrupt::catch`].
    pub fn clean_up(clean_up: impl Fn() + Send + 'static) -> Outcome<Interrupt> {
        let interrupt = Interrupt::catch()?;
        let pressed = interrupt.clone();
        std::thread::spawn(move || {
            while !pressed.is_set() {
                std::thread::sleep(POLL);
            }
            clean_up();
            // Where the system doesn't let the process end so, nothing is left to do but to end.
            let _ = signal_hook::low_level::emulate_default_handler(SIGINT);
            std::process::exit(i32::from(Exit::Interrupted as u8));
        });
        Ok(interrupt)
    }

    /// Waits for the end that [`Interrupt::clean_up`] brings, where Ctrl-C was pressed: what failed since then failed
    /// for that.
    pub fn wait_for_the_end(&self) {
        while self.is_set() {
            std::thread::park();
        }
    }
}
