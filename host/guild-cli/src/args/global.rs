//! Options that every command has.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` or `TERM=dumb` says no; `CLICOLOR_FORCE` says yes.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Options that every command has.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options of every command")]
pub struct GlobalArgs {
    /// Print one JSON object on stdout instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// Log more; twice for debugging.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Log errors only, and print no sentences and no progress.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Log filter, such as `guild::plugin=debug`; wins over -v and -q.
    #[arg(long, global = true, value_name = "FILTER")]
    pub log: Option<String>,
    /// How log lines look.
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        default_value_t
    )]
    pub log_format: LogFormat,
    /// Append log lines to a file instead of writing them to stderr.
    #[arg(long, global = true, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
    /// When to use colours.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub color: ColorWhen,
    /// Show no progress.
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// Folder that holds the package store.
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Work on the machine's package store, which everybody reads and its owner changes, not on your own.
    #[arg(long, global = true)]
    pub machine: bool,
    /// Folder that holds the machine's package store; its packages are used where your own store has none of that name.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = "/var/lib/guild"
    )]
    pub machine_data_dir: PathBuf,
    /// Leave the machine's package store out.
    #[arg(long, global = true, conflicts_with = "machine")]
    pub no_machine_store: bool,
    /// Read this configuration file too; it wins over the others.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Read no configuration file, not even the one of --config.
    #[arg(long, global = true)]
    pub no_config: bool,
}
