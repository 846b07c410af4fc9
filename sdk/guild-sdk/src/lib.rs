//! For authors of Rust plugins: traits to implement, safe views of what the host passes, and the C
//! shims around both.
//!
//! A plugin crate has a [`Plugin`] value, kernels ([`Kernel`], [`Instance`]) or runners ([`Runner`]),
//! and a type that names it ([`PluginSource`]). It needs no unsafe code. A thin cdylib crate exports
//! the entry and the library's note with [`export_plugin!`]; a host that links the plugin statically calls
//! [`entry::<Source>`](entry()).
//!
//! Thread rules are those of the C contract: `supports` and `create` on any thread, one thread at a
//! time for each instance. `execute` must not allocate, lock, look things up or start threads; the
//! views here do none of it. Unsafe code stands in the files that `docs/safety.md` lists.
#![deny(unsafe_code)]

#[cfg(panic = "abort")]
compile_error!("a plugin catches panics at its functions: build it with panic = \"unwind\"");

pub mod format;

mod batch;
mod entry;
mod exec;
mod kernel;
pub mod note;
mod parallel;
mod request;
pub mod runner;
mod scratch;
mod shims;
mod sized;
mod span;
mod staged;
mod state;
mod tensor;
mod tiles;

pub use batch::{Batch, Sequence};
pub use entry::{InitContext, LogLevel, MakeKernels, Plugin, PluginSource, entry};
pub use exec::{Exec, Update};
pub use kernel::{
    Failure, Instance, Kernel, KernelInfo, Refusal, SCRATCH_SLOTS_MAX, ScratchSlot, ScratchSlots,
};
pub use parallel::Par;
pub use request::{Bounds, Params, Request, StateInfo, TensorInfo};
pub use runner::Runner;
pub use scratch::Scratch;
pub use staged::{Draft, Published, Stage, Staged};
pub use state::State;
pub use tensor::{Element, Tensor, TensorMut, Weight};
pub use tiles::{JOINED_MAX, Joined, PerWorker, Ragged, Split, Tile, Tiles};

/// What kernels need from the C contract: numbers, parameter structs, contracts.
pub use guild_abi as abi;
