//! The most of everything that a description may have; checked before anything is allocated for it.

/// Sections of a model.
pub(crate) const SECTIONS_MAX: usize = 16;
/// Values of a section.
pub(crate) const VALUES_MAX: usize = 1 << 16;
/// Operations of a section.
pub(crate) const NODES_MAX: usize = 1 << 14;
/// States of a section.
pub(crate) const STATES_MAX: usize = 1 << 14;
/// Inputs, outputs and states of an operation, each.
pub(crate) const OPERANDS_MAX: usize = 64;
/// Bytes of an operation's parameter struct.
pub(crate) const PARAMS_BYTES_MAX: usize = 4096;
/// Bytes of a name.
pub(crate) const NAME_BYTES_MAX: usize = 256;
/// Rows of a call.
pub(crate) const ROWS_MAX: u64 = 1 << 20;
/// Sequences of a call, and snapshot slots.
pub(crate) const SEQUENCES_MAX: u64 = 1 << 12;
/// Positions of a sequence.
pub(crate) const POSITIONS_MAX: u64 = 1 << 24;
