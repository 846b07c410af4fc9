//! A thread with a stack that the limits on a template can't exhaust.
//!
//! The engine walks and drops nested values and expressions by recursion, so a template decides how deep it goes: at
//! most as deep as its source is long, or as deep as the limits on stored values allow.

use super::ChatTemplateError;
use super::limits::STACK_BYTES;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

/// Runs `work` on such a thread and waits for it. A panic there is guild's or a library's fault and becomes an error.
pub(super) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, ChatTemplateError> {
    std::thread::scope(|scope| {
        let thread = builder().spawn_scoped(scope, work).map_err(not_started)?;
        thread.join().map_err(|_| panicked())
    })
}

/// Runs `work` as [`run`] does, but waits no longer than `limit`.
///
/// A thread can't be ended from outside, so one that is late goes on alone until its work or the process ends; nobody
/// sees what comes of it.
///
/// # Errors
/// [`ChatTemplateError::Slow`] after `limit`.
pub(super) fn run_within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ChatTemplateError> {
    let (sender, receiver) = channel();
    let thread = builder()
        .spawn(move || drop(sender.send(work())))
        .map_err(not_started)?;
    match receiver.recv_timeout(limit) {
        Ok(result) => {
            // It is done, or about to be: nothing is left to do after sending.
            thread.join().map_err(|_| panicked())?;
            Ok(result)
        }
        Err(RecvTimeoutError::Timeout) => Err(ChatTemplateError::Slow {
            limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
        }),
        Err(RecvTimeoutError::Disconnected) => Err(panicked()),
    }
}

fn builder() -> Builder {
    Builder::new()
        .name("guild-template".to_owned())
        .stack_size(STACK_BYTES)
}

fn not_started(error: std::io::Error) -> ChatTemplateError {
    ChatTemplateError::Internal {
        reason: format!("no thread could be started: {error}"),
    }
}

fn panicked() -> ChatTemplateError {
    ChatTemplateError::Internal {
        reason: "the template engine panicked".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{ChatTemplateError, run_within};
    use std::time::Duration;

    #[test]
    fn what_is_late_is_given_up() {
        let limit = Duration::from_millis(20);
        let late = run_within(limit, || std::thread::sleep(Duration::from_secs(5)));
        assert!(
            matches!(late, Err(ChatTemplateError::Slow { limit_ms: 20 })),
            "{late:?}"
        );
        let soon = run_within(Duration::from_secs(60), || 7);
        assert!(matches!(soon, Ok(7)), "{soon:?}");
    }

    #[test]
    fn a_panic_is_an_error() {
        let result = run_within(Duration::from_secs(60), || -> u8 { panic!("on purpose") });
        assert!(
            matches!(result, Err(ChatTemplateError::Internal { .. })),
            "{result:?}"
        );
    }
}
