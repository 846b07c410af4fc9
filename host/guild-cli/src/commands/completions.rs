//! `guild completions`: prints a shell's completion script.

use crate::args::{CompletionsArgs, definition};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// Prints the script; it is text for the shell, so there is no JSON form.
pub fn run(args: &CompletionsArgs, output: Output) -> Outcome<()> {
    if output.json {
        return Err(
            Failure::new(Exit::Usage, "a completion script is no JSON object")
                .hint("leave out --json"),
        );
    }
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition(), "guild", &mut script);
    output.stream(&String::from_utf8_lossy(&script))
}
