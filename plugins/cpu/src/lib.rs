//! The package `org.guild.kernels.cpu`: every core operation for a CPU, in the exact class; BF16 products also in the
//! tolerant class, for a policy that accepts it.
//!
//! Operations, weight formats and instruction sets meet in traits, so that each is one file:
//!
//! | Module | Holds |
//! |---|---|
//! | [`detect`] | which instruction sets the machine has |
//! | [`isa`] | vectors of 16 lanes over each set; all unsafe code but `detect`'s |
//! | [`block`] | weight formats as vectors, and their products with activations |
//! | [`op`] | the operations |
//! | [`kernels`] | the table of both |
//!
//! `GUILD_CPU_ISA` (`portable`, `avx2`, `avxvnni`, `avx512`, `avx512vnni`, `amx`) forces one set. It is
//! read once, when the plugin starts.
#![deny(unsafe_code)]

pub mod block;
#[allow(unsafe_code)]
pub mod detect;
#[allow(unsafe_code)]
pub mod isa;
pub mod kernels;
pub mod op;

use detect::{Detected, FORCE_VARIABLE, IsaName};
use guild_sdk::{Failure, InitContext, Kernel, Plugin, PluginSource};

/// The plugin as the environment configures it.
pub struct Cpu;

impl PluginSource for Cpu {
    const PLUGIN: &'static Plugin = &plugin(from_environment);
}

/// The plugin with another way to make its kernels; tests force an instruction set with it.
#[must_use]
pub const fn plugin(kernels: guild_sdk::MakeKernels) -> Plugin {
    Plugin {
        id: "org.guild.kernels.cpu",
        version: "1.0.0",
        build_id: [0; 32],
        kernel_count: kernels::KERNEL_COUNT,
        kernels,
        runners: &[],
    }
}

fn from_environment(_context: &InitContext<'_>) -> Result<Vec<Box<dyn Kernel>>, Failure> {
    let forced = match std::env::var(FORCE_VARIABLE) {
        Err(_) => None,
        Ok(text) => Some(IsaName::parse(&text).ok_or_else(|| {
            Failure::invalid(format!(
                "{FORCE_VARIABLE} is {text:?}; it must be portable, avx2, avxvnni, avx512, avx512vnni \
                 or amx"
            ))
        })?),
    };
    kernels::kernels(Detected::new(), forced)
}
