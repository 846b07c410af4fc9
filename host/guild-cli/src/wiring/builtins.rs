//! The packages that are linked into this build.
#![cfg_attr(
    any(
        feature = "builtin-cpu",
        feature = "builtin-qwen",
        feature = "builtin-llama"
    ),
    expect(unsafe_code, reason = "vouches for the linked entries")
)]

use crate::args::PackageArgs;
#[cfg(feature = "builtin-cpu")]
use crate::exit::Exit;
use crate::failure::Failure;
use guild_loader::{Builtin, LoadError, LoadOptions};

/// What the loader calls the built-in CPU kernels.
#[cfg(feature = "builtin-cpu")]
const BUILTIN_CPU: &str = "builtin.org.guild.kernels.cpu";

/// What to load for a command: the installed packages and, below them, the built-in ones that the
/// arguments leave on.
pub fn load_options(args: &PackageArgs) -> LoadOptions {
    let switches = [
        ("org.guild.kernels.cpu", args.no_builtin_cpu),
        ("org.guild.runners.qwen", args.no_builtin_qwen),
        ("org.guild.runners.llama", args.no_builtin_llama),
    ];
    let off = switches.iter().filter(|(_, off)| *off);
    LoadOptions {
        external_only: args.external_only,
        allow_reference: args.allow_reference,
        builtins: linked(),
        disabled_builtins: off.map(|(id, _)| (*id).to_owned()).collect(),
    }
}

/// What to load to see whether everything loads.
pub fn every_builtin() -> LoadOptions {
    LoadOptions {
        allow_reference: true,
        builtins: linked(),
        ..LoadOptions::default()
    }
}

/// The instruction set that the built-in CPU kernels choose here; none where they aren't built in. A
/// variable that names a set that the machine lacks keeps the package from loading.
#[must_use]
pub fn instruction_set() -> Option<&'static str> {
    #[cfg(feature = "builtin-cpu")]
    {
        use guild_plugin_cpu::detect::{Detected, FORCE_VARIABLE, IsaName};
        let forced = std::env::var(FORCE_VARIABLE).ok();
        let forced = forced.and_then(|name| IsaName::parse(&name));
        Some(forced.unwrap_or_else(|| Detected::new().best()).text())
    }
    #[cfg(not(feature = "builtin-cpu"))]
    {
        None
    }
}

/// Whether the system gives tile registers to the built-in CPU kernels, which ask for them; none where they
/// aren't built in.
#[must_use]
pub fn tiles_granted() -> Option<bool> {
    #[cfg(feature = "builtin-cpu")]
    {
        Some(guild_plugin_cpu::detect::tiles_granted())
    }
    #[cfg(not(feature = "builtin-cpu"))]
    {
        None
    }
}

/// Why packages didn't load. The built-in kernels refuse a variable that names no instruction set: that is
/// the user's to mend. An installed package knows its own names and keeps its own error.
pub fn load_failure(error: LoadError) -> Failure {
    #[cfg(feature = "builtin-cpu")]
    {
        use guild_plugin_cpu::detect::{FORCE_VARIABLE, IsaName};
        let forced = std::env::var(FORCE_VARIABLE).ok();
        let unknown = forced.filter(|name| IsaName::parse(name).is_none());
        if let Some(text) = unknown
            && error.package == BUILTIN_CPU
        {
            let names: Vec<&str> = IsaName::ALL.iter().map(|name| name.text()).collect();
            let message = format!("{FORCE_VARIABLE} is {text:?}, which is no instruction set");
            return Failure::new(Exit::Usage, message).hint(format!(
                "unset {FORCE_VARIABLE} or set it to one of {}",
                names.join(", ")
            ));
        }
    }
    error.into()
}

/// The plugins that Cargo features linked in.
fn linked() -> Vec<Builtin> {
    vec![
        #[cfg(feature = "builtin-cpu")]
        // SAFETY: the entry is made by the SDK, which keeps the ABI's rules.
        unsafe {
            Builtin::new(
                "org.guild.kernels.cpu",
                guild_sdk::entry::<guild_plugin_cpu::Cpu>,
            )
        },
        #[cfg(feature = "builtin-qwen")]
        // SAFETY: as above.
        unsafe {
            Builtin::new(
                "org.guild.runners.qwen",
                guild_sdk::entry::<guild_plugin_qwen::Qwen>,
            )
        },
        #[cfg(feature = "builtin-llama")]
        // SAFETY: the entry of `plugins/llama/llama.c`, which keeps the ABI's rules.
        unsafe {
            Builtin::new(
                "org.guild.runners.llama",
                guild_plugin_llama::guild_llama_plugin_entry_v1,
            )
        },
    ]
}
