//! Logging through `tracing`, to stderr or to a file.

use crate::args::{ColorWhen, GlobalArgs, LogFormat};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use std::fs::File;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

/// Starts logging: `--log` is a filter; without it warnings are shown, `-q` leaves errors alone, `-v` adds
/// information and `-vv` details.
///
/// # Errors
/// A filter that is none, and a log file that can't be opened.
pub fn start(args: &GlobalArgs) -> Outcome<()> {
    let filter = filter(args)?;
    let writer = match &args.log_file {
        None => BoxMakeWriter::new(std::io::stderr),
        Some(path) => {
            let file = File::options().append(true).create(true).open(path);
            BoxMakeWriter::new(file.map_err(|error| Failure::io(path, &error))?)
        }
    };
    let colours = args.log_file.is_none() && colours(args.color, &std::io::stderr());
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(colours)
        // A line that can't be written has no reader; saying so there too would end the program.
        .log_internal_errors(false);
    // A second start, as in tests, keeps the first one's settings.
    let _ = match (args.log_format, &args.log_file) {
        (LogFormat::Json, _) => lines.json().try_init(),
        (LogFormat::Text, Some(_)) => lines.try_init(),
        // Whoever watches a terminal knows the time.
        (LogFormat::Text, None) => lines.without_time().try_init(),
    };
    Ok(())
}

fn filter(args: &GlobalArgs) -> Outcome<EnvFilter> {
    let level = match (args.quiet, args.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "info",
        (false, _) => "debug",
    };
    EnvFilter::try_new(args.log.as_deref().unwrap_or(level)).map_err(|error| {
        Failure::new(Exit::Usage, format!("--log: {error}"))
            .hint("a filter is a level, or TARGET=LEVEL, or several with commas between")
    })
}

/// Whether a stream gets colours, by the usual variables.
fn colours(when: ColorWhen, stream: &impl IsTerminal) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto if set("NO_COLOR") => false,
        ColorWhen::Auto if std::env::var_os("CLICOLOR_FORCE").is_some_and(|v| v != "0") => true,
        ColorWhen::Auto => {
            stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}
