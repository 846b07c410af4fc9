//! Model runners for qwen35moe and qwen35.
