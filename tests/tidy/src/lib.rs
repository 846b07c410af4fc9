//! Checks on the source tree itself.
