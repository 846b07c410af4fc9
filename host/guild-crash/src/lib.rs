//! Whether a crash leaves the package store whole. A recording file system in memory notes what each call of a
//! command changes and what is durable; from that every state is made that a power loss may leave behind, and each is
//! opened, recovered and held to the invariants of `docs/package-format.md`, section 15.
#![forbid(unsafe_code)]

mod check;
mod disk;
mod error;
mod full_disk;
mod image;
mod invariant;
mod judge;
mod kill;
mod leash;
mod library;
mod memory_fs;
mod operation;
mod package_toml;
mod random;
mod snapshot;
mod trial;
pub mod unprobed;
mod workshop;

pub use check::{Effort, Outcome, check, first_run_without, second_run_without, syncs};
pub use error::CrashError;
pub use full_disk::FullDisks;
pub use invariant::{Invariant, Violation};
pub use kill::Kills;
pub use leash::Leash;
pub use memory_fs::{MemoryFs, SyncCall};
pub use operation::{OPERATIONS, Operation};
pub use random::Random;
pub use trial::{Side, Trial};
pub use workshop::{PACKAGE, Workshop};
