//! The private seed that a command signs with: read from its file, opened with a passphrase where it has one.

use crate::args::SeedArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use guild_package::seed::{Passphrase, SecretSeed, SeedFile};
use signal_hook::consts::SIGINT;
use std::io::{ErrorKind, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use zeroize::Zeroizing;

/// How often Ctrl-C is looked for.
const POLL: Duration = Duration::from_millis(50);

/// The seed of `args`, which must be that of the key it names.
pub fn open(args: &SeedArgs) -> Outcome<SecretSeed> {
    let seed = read(&args.seed_file, args.passphrase_file.as_deref())?;
    seed.check_id(&args.key_id)?;
    Ok(seed)
}

/// The seed in `file`. The passphrase, where one is needed, is in `passphrase_file` or asked for.
pub fn read(file: &Path, passphrase_file: Option<&Path>) -> Outcome<SecretSeed> {
    match SeedFile::read(file)? {
        SeedFile::Plain(seed) => Ok(seed),
        encrypted @ SeedFile::Encrypted(_) => {
            let passphrase = match passphrase_file {
                Some(path) => Passphrase::read(path)?,
                None => ask(&format!("Passphrase of {}: ", file.display()))?,
            };
            Ok(encrypted.open(|_| Ok(passphrase))?)
        }
    }
}

/// A passphrase for a new seed, asked for twice.
pub fn ask_for_new() -> Outcome<Passphrase> {
    let first = line("New passphrase: ")?;
    let second = line("The same again: ")?;
    if first != second {
        let message = "the two passphrases differ";
        return Err(Failure::new(Exit::Usage, message).hint("nothing was written; try again"));
    }
    Ok(Passphrase::new(first)?)
}

fn ask(prompt: &str) -> Outcome<Passphrase> {
    Ok(Passphrase::new(line(prompt)?)?)
}

/// A line from the terminal, not shown while it is typed.
fn line(prompt: &str) -> Outcome<Zeroizing<String>> {
    if !std::io::stdin().is_terminal() {
        let message = "a passphrase is needed, and there is no terminal to ask for it";
        return Err(Failure::new(Exit::Usage, message)
            .hint("give --passphrase-file; `keygen --no-passphrase` makes a plain seed"));
    }
    ask_until_interrupted(prompt)
}

/// Asks in a thread of its own, so that Ctrl-C can give the terminal its echo back before the command ends.
fn ask_until_interrupted(prompt: &str) -> Outcome<Zeroizing<String>> {
    let on_terminal = |error: std::io::Error| Failure::io(Path::new("/dev/tty"), &error);
    let before =
        rustix::termios::tcgetattr(std::io::stdin()).map_err(|error| on_terminal(error.into()))?;
    let pressed = Arc::new(AtomicBool::new(false));
    let handler = signal_hook::flag::register(SIGINT, Arc::clone(&pressed)).map_err(on_terminal)?;
    let (answer, asked) = mpsc::channel();
    let prompt = prompt.to_owned();
    std::thread::spawn(move || {
        let line = rpassword::prompt_password(prompt).map(Zeroizing::new);
        // Nobody waits any more after Ctrl-C.
        let _ = answer.send(line);
    });
    let line = loop {
        match asked.recv_timeout(POLL) {
            // The signal may meet the thread that reads.
            Ok(Err(error)) if error.kind() == ErrorKind::Interrupted => {
                pressed.store(true, Ordering::Relaxed);
            }
            Ok(line) => break line.map_err(on_terminal),
            Err(RecvTimeoutError::Timeout) if !pressed.load(Ordering::Relaxed) => {}
            Err(_) => {
                let flush = rustix::termios::OptionalActions::Flush;
                // A terminal that is gone needs no echo.
                let _ = rustix::termios::tcsetattr(std::io::stdin(), flush, &before);
                break Err(Failure::new(Exit::Interrupted, "no passphrase was given"));
            }
        }
    };
    signal_hook::low_level::unregister(handler);
    line
}
