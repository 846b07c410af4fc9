//! Joins store, loader, model, graph and engine.

pub mod abi_identity;
pub mod builtins;
pub(crate) mod events;
pub mod isa;
pub mod model;
mod not_enabled;
pub mod planned;
mod prefetch;
pub mod probe;
#[expect(unsafe_code, reason = "hands the loader's tables to the graph")]
pub mod registry;
pub mod sampling;
pub mod template;
