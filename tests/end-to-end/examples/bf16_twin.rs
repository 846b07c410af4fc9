//! Writes the BF16 file with the values of a Q8_0 file, such as `tests/models/mini-ornith/mini-ornith-Q8_0.gguf`.
//!
//! usage: `cargo run -p guild-end-to-end --example bf16_twin -- Q8_0.gguf BF16.gguf`

use guild_end_to_end::bf16_twin::bf16_twin;
use std::io::{Error, Result};
use std::path::Path;

fn main() -> Result<()> {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let [source, target] = &args[..] else {
        return Err(Error::other("give a Q8_0 file and the file to write"));
    };
    std::fs::write(target, bf16_twin(Path::new(source)))
}
