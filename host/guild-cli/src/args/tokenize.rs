//! Arguments of `guild tokenize`.

use clap::Args;
use std::path::PathBuf;

/// `guild tokenize`.
#[derive(Args, Debug)]
pub struct TokenizeArgs {
    /// Model file (GGUF).
    pub model: PathBuf,
    /// Text to encode, taken as it is; without any it is read from standard input.
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with_all = ["file", "ids"])]
    pub prompt: Option<String>,
    /// File that holds the text. One newline at the end of a file or of standard input is left out.
    #[arg(short, long, value_name = "FILE", conflicts_with = "ids")]
    pub file: Option<PathBuf>,
    /// Decode these token ids, such as `1,2,3`, instead.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub ids: Option<Vec<u32>>,
    /// Take markers such as `<|im_start|>` as text; with `--ids`, leave control tokens out.
    #[arg(long)]
    pub no_special: bool,
    /// Begin with the beginning-of-text token, even if the model does not ask for it.
    #[arg(long, conflicts_with_all = ["no_bos", "ids"])]
    pub add_bos: bool,
    /// Add no token at the beginning or the end, even if the model asks for one.
    #[arg(long, conflicts_with = "ids")]
    pub no_bos: bool,
    /// Print one token a line: its id and its piece of text.
    #[arg(long, conflicts_with = "count")]
    pub pieces: bool,
    /// Print the number of tokens only.
    #[arg(long)]
    pub count: bool,
}
