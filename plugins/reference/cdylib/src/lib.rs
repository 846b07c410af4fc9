//! Exports the reference plugin's entry.
