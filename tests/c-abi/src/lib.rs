//! Checks on the generated C headers.
