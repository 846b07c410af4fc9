//! Forces the instruction set of the CPU kernels: they read a variable when they are loaded.
#![expect(unsafe_code, reason = "changes the environment")]

use crate::args::PackageArgs;
use crate::config::CPU_ISA;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::wiring::builtins::instruction_set;
use std::fs::read_dir;

/// Makes the CPU packages that are loaded from now on use the set with this name alone.
///
/// # Errors
/// Where the name is no set, this machine lacks it, or other threads may be reading the environment.
pub fn force(name: &str) -> Outcome<()> {
    check(name)?;
    if !alone() {
        let message = "--isa can't change the environment of a process with several threads";
        return Err(
            Failure::new(Exit::Unsupported, message).hint(format!("set {CPU_ISA}={name} instead"))
        );
    }
    // SAFETY: the duty is that no other thread reads or changes the environment meanwhile; there is no
    // other thread.
    unsafe { std::env::set_var(CPU_ISA, name) };
    Ok(())
}

/// The set that CPU kernels use under these arguments, as far as the host knows: that of the variable, or what
/// the built-in kernels choose where they may run.
pub fn in_use(args: &PackageArgs) -> Option<String> {
    let builtin = !args.external_only && !args.no_builtin_cpu;
    let chosen = instruction_set().filter(|_| builtin).map(str::to_owned);
    chosen.or_else(|| std::env::var(CPU_ISA).ok())
}

/// Whether this is the process's only thread; false where the system doesn't say.
fn alone() -> bool {
    read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

/// Refuses what the built-in kernels would refuse. An installed package knows names of its own.
#[cfg(feature = "builtin-cpu")]
fn check(name: &str) -> Outcome<()> {
    use guild_plugin_cpu::detect::{Detected, IsaName};
    let Some(set) = IsaName::parse(name) else {
        let names: Vec<&str> = IsaName::ALL.iter().map(|name| name.text()).collect();
        let message = format!("--isa {name}: there is no such instruction set");
        return Err(
            Failure::new(Exit::Usage, message).hint(format!("name one of {}", names.join(", ")))
        );
    };
    let detected = Detected::new();
    if detected.has(set) {
        return Ok(());
    }
    let message = format!("--isa {name}: this machine lacks that instruction set");
    let best = detected.best().text();
    Err(Failure::new(Exit::Incompatible, message)
        .hint(format!("its best is {best}; leave --isa out to use that")))
}

#[cfg(not(feature = "builtin-cpu"))]
fn check(_name: &str) -> Outcome<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_threads_are_seen() {
        std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::channel::<()>();
            // It waits until the sender is dropped.
            scope.spawn(move || receiver.recv());
            assert!(!alone());
            let refused = force("portable").unwrap_err();
            assert!(
                refused.message.contains("several threads"),
                "{}",
                refused.message
            );
            drop(sender);
        });
    }

    #[test]
    #[cfg(feature = "builtin-cpu")]
    fn no_set_is_refused_by_name() {
        let refused = force("sse2").unwrap_err();
        assert_eq!(refused.exit, Exit::Usage);
        assert!(refused.hint.contains("avx512vnni"), "{}", refused.hint);
    }
}
