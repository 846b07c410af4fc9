//! Writes the BF16 file with the model's values.
//!
//! usage: `cargo run -p guild-mini-ornith --example bf16_twin -- BF16.gguf`

use guild_mini_ornith::bf16_twin::bf16_twin;
use std::io::{Error, Result};

fn main() -> Result<()> {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let [target] = &args[..] else {
        return Err(Error::other("usage: bf16_twin BF16.gguf"));
    };
    std::fs::write(target, bf16_twin())
}
