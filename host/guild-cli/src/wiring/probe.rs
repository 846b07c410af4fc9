//! The trial run of packages, as commands order it.

use crate::args::ProbeArgs;
use crate::output::Output;
use guild_loader::probe::{ChildProbe, Helper};
use guild_package::probe::Probed;

/// Tries packages in a child process of this very program.
#[must_use]
pub fn probe(args: ProbeArgs) -> ChildProbe {
    ChildProbe::new(Helper::ThisProgram).require_sandbox(args.require_sandbox)
}

/// One line where the system could not shut the trial run in.
pub fn say_what_is_missing(probed: Option<&Probed>, output: Output) {
    let Some(sandbox) = probed.map(|probed| probed.sandbox) else {
        return;
    };
    let missing = match (sandbox.landlock_abi, sandbox.seccomp) {
        (0, true) => "Landlock",
        (0, false) => "Landlock and seccomp",
        (_, false) => "seccomp",
        (_, true) => return,
    };
    output.say(format!(
        "This system has no {missing}: the package's code was tried without it. --require-sandbox refuses that."
    ));
}
