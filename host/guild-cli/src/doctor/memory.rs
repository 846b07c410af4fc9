//! Memory and what limits it.

use super::Check;
use crate::memory::limits::{Limit, LimitOwner, limits};
use crate::memory::process::ProcessMemory;
use crate::memory::size::ByteSize;
use crate::system::SystemFiles;
use crate::system::memory::{self, Memory};
use rustix::process::{Resource, getrlimit};
use serde_json::{Value, json};

/// Less than this part of the memory available is worth a word.
const LITTLE: u64 = 10;

/// What the machine has, and what this process may have of it.
pub fn available(files: &SystemFiles) -> Check {
    let limits = limits(files, None, &ProcessMemory::now());
    judge(&memory::memory(files), &limits)
}

fn judge(memory: &Memory, limits: &[Limit]) -> Check {
    let rows: Vec<Value> = limits
        .iter()
        .map(|limit| {
            json!({ "owner": limit.owner.name(), "available_bytes": limit.available_bytes })
        })
        .collect();
    let details = json!({
        "total_bytes": memory.total_bytes,
        "swap_bytes": memory.swap_bytes,
        "limits": rows,
    });
    let total = ByteSize(memory.total_bytes);
    let Some(tightest) = limits.iter().min_by_key(|limit| limit.available_bytes) else {
        return Check::ok("memory", format!("{total}; no limit is known"), details);
    };
    let usable = ByteSize(tightest.available_bytes);
    let finding = format!(
        "{usable} of {total} can be had; {} is the limit",
        tightest.owner.name()
    );
    let check = Check::ok("memory", finding, details);
    match &tightest.owner {
        LimitOwner::Machine if usable.0 >= memory.total_bytes / LITTLE => check,
        LimitOwner::Machine => check.warn(
            "little is left: large models won't fit, or are read from disk again and again",
            "ps -eo rss,pid,comm --sort=-rss | head",
        ),
        LimitOwner::ControlGroup { folder } => check.warn(
            format!("models are held to {usable}, whatever the machine has"),
            format!("cat {}/memory.max", folder.display()),
        ),
        _ => check.warn(
            format!("models are held to {usable}, whatever the machine has"),
            "ulimit -v unlimited -d unlimited",
        ),
    }
}

/// How much memory may be locked.
pub fn lock_limit() -> Check {
    let bytes = getrlimit(Resource::Memlock).current;
    let shown = bytes.map_or("none".to_owned(), |bytes| ByteSize(bytes).to_string());
    let details = json!({ "memlock_bytes": bytes });
    Check::ok("limits", format!("locked memory limit: {shown}"), details)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    #[test]
    fn a_tight_group_and_a_full_machine_are_warnings() {
        let memory = Memory {
            total_bytes: 100 << 30,
            ..Memory::default()
        };
        let limit = |owner, available_bytes| Limit {
            owner,
            available_bytes,
        };
        let machine = |bytes| limit(LimitOwner::Machine, bytes);
        assert_eq!(judge(&memory, &[machine(50 << 30)]).status, Status::Ok);
        let full = judge(&memory, &[machine(5 << 30)]);
        assert!(full.consequence.contains("little is left"));
        let group = LimitOwner::ControlGroup {
            folder: "/a/b".into(),
        };
        let tight = judge(&memory, &[machine(50 << 30), limit(group, 2 << 30)]);
        assert_eq!(tight.status, Status::Warning);
        assert_eq!(tight.fix, "cat /a/b/memory.max");
    }
}
