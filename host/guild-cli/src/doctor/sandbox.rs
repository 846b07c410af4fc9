//! What shuts in the trial run of a package before it becomes active.

use super::Check;
use guild_loader::probe::sandbox::available;
use guild_package::probe::Sandbox;
use serde_json::json;

/// Landlock and the filter of system calls.
pub fn check() -> Check {
    judge(available())
}

fn judge(sandbox: Sandbox) -> Check {
    let Sandbox {
        landlock_abi,
        seccomp,
    } = sandbox;
    let details = json!({ "landlock_abi": landlock_abi, "seccomp": seccomp });
    let landlock = match landlock_abi {
        0 => "no Landlock".to_owned(),
        abi => format!("Landlock ABI {abi}"),
    };
    let filter = match seccomp {
        true => "seccomp",
        false => "no seccomp",
    };
    let check = Check::ok("sandbox", format!("{landlock}, {filter}"), details);
    match sandbox.is_whole() {
        true => check,
        false => check.warn(
            "a new package's code is tried with less around it; `--require-sandbox` refuses that",
            "start the system with `landlock` in lsm= of the kernel's command line, and a container with seccomp allowed",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    #[test]
    fn less_than_all_is_a_warning() {
        let status = |landlock_abi, seccomp| {
            judge(Sandbox {
                landlock_abi,
                seccomp,
            })
            .status
        };
        assert_eq!(status(1, true), Status::Ok);
        assert_eq!(status(0, true), Status::Warning);
        assert_eq!(status(7, false), Status::Warning);
    }
}
