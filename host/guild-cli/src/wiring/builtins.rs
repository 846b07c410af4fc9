//! The packages that are linked into this build.
#![expect(unsafe_code, reason = "vouches for the linked entries")]

use crate::args::PackageArgs;
use guild_loader::{Builtin, LoadOptions};

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
