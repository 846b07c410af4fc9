//! From a signed package to generated text, in one command.

fn main() {}
