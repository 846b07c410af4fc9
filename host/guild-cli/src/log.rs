//! Logging to stderr through `tracing`.

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Starts logging: `GUILD_LOG` is a filter; without it warnings are shown, `-v` adds information and
/// `-vv` details.
pub fn start(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_env("GUILD_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    // A second start, as in tests, keeps the first one's settings.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::env::var_os("NO_COLOR").is_none() && std::io::stderr().is_terminal())
        .without_time()
        .try_init();
}
