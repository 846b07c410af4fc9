//! A thread with a stack that the limits on a template can't exhaust.
//!
//! The engine walks and drops nested values and expressions by recursion, so a template decides how deep it goes: at
//! most as deep as its source is long, or as deep as the limits on stored values allow.

use super::ChatTemplateError;
use super::limits::STACK_BYTES;

/// Runs `work` on such a thread and waits for it. A panic there is guild's or a library's fault and becomes an error.
pub(super) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, ChatTemplateError> {
    let internal = |reason: String| ChatTemplateError::Internal { reason };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("guild-template".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)
            .map_err(|error| internal(format!("no thread could be started: {error}")))?;
        thread
            .join()
            .map_err(|_| internal("the template engine panicked".to_owned()))
    })
}
