//! The `guild` command.

fn main() {}
