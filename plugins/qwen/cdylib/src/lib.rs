//! Exports the Qwen runner's entry.
