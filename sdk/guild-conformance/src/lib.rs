//! The conformance kit: what every provider of a core operation is held to.
//!
//! [`oracle`] computes each operation the plain way; [`case`] makes cases with fixed data; [`run`]
//! drives a plugin through its C table, as a host would, and compares every bit with the oracle.
//! A plugin's test needs one call:
//!
//! ```ignore
//! let report = guild_conformance::run(guild_sdk::entry::<MyPlugin>);
//! assert!(report.failures().is_empty(), "{report}");
//! ```
//!
//! An implementation that is described as tolerant is held to the operation's bound instead ([`tolerance`]), and to its
//! own bits in each further execution; without a stated bound it fails.
//!
//! A request that a kernel declines (an instruction set that this machine lacks, say) is listed as
//! declined, not as passed: ask [`Report::passed`] for what must have run.
#![deny(unsafe_code)]

pub mod case;
pub mod golden;
pub mod oracle;
pub mod tolerance;

mod driver;
mod guarded;
mod pool;
mod report;

pub use driver::{Entry, Operation, reproduce, run, run_cases};
pub use report::{Outcome, Report, Verdict};
