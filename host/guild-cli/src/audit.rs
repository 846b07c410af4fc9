//! The audit log of refusals: what each command's refusals are recorded as. A log that can't be written changes nothing
//! of how a command ends.

use crate::args::{Command, KernelCommand, TrustCommand};
use crate::failure::{Failure, Outcome};
use crate::places::{Places, audit_path};
use guild_package::Error;
use guild_package::audit::{Appended, Attempt, AuditLog, Refusal};
use guild_package::verify::system_time_s;
use std::io::ErrorKind;

/// Records the failure of `command`, if it is a refusal of something that would have run or have been believed.
pub fn record(command: &Command, places: &Places, failure: &Failure) {
    let (Some(refused), Some(attempt)) = (failure.refused.as_deref(), attempt(command)) else {
        return;
    };
    let refusal = Refusal::new(system_time_s(), attempt, refused.clone(), &failure.message);
    match append(places, &refusal) {
        Ok(appended) => tracing::debug!("the audit log: {appended:?}"),
        Err(failure) => tracing::warn!("the audit log has no record of this: {failure}"),
    }
}

fn append(places: &Places, refusal: &Refusal) -> Result<Option<Appended>, String> {
    let dir = audit_path(places).map_err(|failure| failure.message)?;
    let log = AuditLog::open_or_make(&dir, places.machine);
    match log.and_then(|log| log.append(refusal)) {
        // Whoever may not write there has no log, and need not hear of it each time.
        Err(Error::Io { source, .. }) if is_read_only(source.kind()) => Ok(None),
        Err(error) => Err(error.to_string()),
        Ok(appended) => Ok(Some(appended)),
    }
}

const fn is_read_only(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    )
}

/// What is asked for by a command whose refusals are recorded: those after which code would have run or keys would have
/// been believed. A question, such as `verify` or a dry run, leaves nothing behind.
fn attempt(command: &Command) -> Option<Attempt> {
    match command {
        Command::Run(_)
        | Command::Logits(_)
        | Command::Bench(_)
        | Command::Perplexity(_)
        | Command::Plan(_) => Some(Attempt::Load),
        Command::Kernel(command) => attempt_of_kernel(command),
        Command::Inspect(_)
        | Command::Template(_)
        | Command::Tokenize(_)
        | Command::Doctor
        | Command::Config(_)
        | Command::Completions(_)
        | Command::Man(_) => None,
    }
}

fn attempt_of_kernel(command: &KernelCommand) -> Option<Attempt> {
    match command {
        KernelCommand::Trust(command) => attempt_of_trust(command),
        KernelCommand::Install(args) => (!args.dry_run).then_some(Attempt::Install),
        KernelCommand::Enable(_) => Some(Attempt::Enable),
        KernelCommand::Rollback(args) => (!args.list).then_some(Attempt::Rollback),
        KernelCommand::Keygen(_)
        | KernelCommand::Sign(_)
        | KernelCommand::Countersign(_)
        | KernelCommand::RotateKey(_)
        | KernelCommand::Advisory(_)
        | KernelCommand::Cosign(_)
        | KernelCommand::Verify(_)
        | KernelCommand::Disable(_)
        | KernelCommand::Remove(_)
        | KernelCommand::Receipt(_)
        | KernelCommand::Gc
        | KernelCommand::Outdated(_)
        | KernelCommand::Fsck
        | KernelCommand::Selftest(_)
        | KernelCommand::Floor(_)
        | KernelCommand::Doctor
        | KernelCommand::Log(_)
        | KernelCommand::Audit(_)
        | KernelCommand::List(_)
        | KernelCommand::Active => None,
    }
}

/// A signed file may come from anybody; the other changes are the user's own word.
fn attempt_of_trust(command: &TrustCommand) -> Option<Attempt> {
    match command {
        TrustCommand::Rotate(args) => (!args.dry_run).then_some(Attempt::Trust),
        TrustCommand::Advisory(args) => (!args.dry_run).then_some(Attempt::Trust),
        TrustCommand::Add(_)
        | TrustCommand::Revoke(_)
        | TrustCommand::Policy(_)
        | TrustCommand::Show(_)
        | TrustCommand::List => None,
    }
}

/// Opens the log that commands on these places write to, if there is one.
///
/// # Errors
/// A log that is there and can't be read.
pub fn existing(places: &Places) -> Outcome<Option<AuditLog>> {
    let dir = audit_path(places)?;
    match dir.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        _ => Ok(Some(AuditLog::open(&dir)?)),
    }
}
