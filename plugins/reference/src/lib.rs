//! Every core operation, scalar and safe: the oracle of `guild-conformance` as a package.
//!
//! Each kernel gathers its operands into dense slices, calls the oracle and writes the result back.
//! It allocates in `execute` and uses one thread; it is what other providers are compared with, not
//! a way to run models fast.
#![forbid(unsafe_code)]

mod check;
mod dense;
mod op;

use guild_sdk::abi::abi::{GUILD_CAP_INPLACE, GUILD_CAP_REENTRANT};
use guild_sdk::abi::contract::CoreOp;
use guild_sdk::{
    Bounds, Exec, Failure, InitContext, Instance, Kernel, KernelInfo, Plugin, PluginSource,
    Refusal, Request, ScratchSlots,
};

/// Names this plugin for `guild_sdk::entry` and `guild_sdk::export_plugin!`.
pub struct Reference;

impl PluginSource for Reference {
    const PLUGIN: &'static Plugin = &Plugin {
        id: "org.guild.kernels.reference",
        version: "1.0.0",
        build_id: [0; 32],
        kernel_count: op::ALL.len() as u32,
        kernels,
        runners: &[],
    };
}

fn kernels(_context: &InitContext<'_>) -> Result<Vec<Box<dyn Kernel>>, Failure> {
    Ok(op::ALL
        .iter()
        .map(|operation| Box::new(ReferenceKernel(operation)) as Box<dyn Kernel>)
        .collect())
}

/// What runs an operation.
type Execute = fn(&Exec<'_>) -> Result<(), Failure>;

/// One operation of the plugin.
struct Operation {
    op: &'static CoreOp,
    implementation: &'static str,
    formats: &'static [u32],
    supports: fn(&Request<'_>) -> Result<(), Refusal>,
    /// Chooses the function for a request that `supports` accepted.
    choose: fn(&Request<'_>) -> Execute,
}

struct ReferenceKernel(&'static Operation);

impl Kernel for ReferenceKernel {
    fn info(&self) -> KernelInfo {
        let exact = KernelInfo::exact(self.0.op, self.0.implementation);
        KernelInfo {
            caps: exact.caps | GUILD_CAP_INPLACE | GUILD_CAP_REENTRANT,
            rank: -100,
            formats: self.0.formats,
            ..exact
        }
    }

    fn supports(&self, request: &Request<'_>) -> Result<(), Refusal> {
        (self.0.supports)(request)
    }

    fn create(&self, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
        Ok(Box::new(ReferenceInstance((self.0.choose)(request))))
    }
}

struct ReferenceInstance(Execute);

impl Instance for ReferenceInstance {
    fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        (self.0)(x)
    }
}
