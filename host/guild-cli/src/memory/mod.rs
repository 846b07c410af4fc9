//! What a model will take of memory, what there is, and whether the one fits the other.
//!
//! - [`plan`]: the bytes that a planned model will have resident, by purpose, with one total.
//! - [`fit`]: the total against every limit of the process, and the largest context that would fit.
//! - [`limits`]: those limits: the machine's available memory, the control groups', `ulimit`'s, the
//!   user's own.
//! - [`process`]: what this process has now.
//! - [`size`]: byte counts as people write and read them.
//!
//! `docs/memory.md` explains the lines and the margin.

pub mod fit;
pub mod limits;
pub mod plan;
pub mod process;
pub mod size;
