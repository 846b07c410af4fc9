//! Exports the CPU plugin's entry.
