//! The private seed that a command signs with: read from its file, opened with a passphrase where it has one.

use crate::args::SeedArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use guild_package::seed::{Passphrase, SecretSeed, SeedFile};
use std::io::IsTerminal;
use std::path::Path;
use zeroize::Zeroizing;

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
    rpassword::prompt_password(prompt)
        .map(Zeroizing::new)
        .map_err(|error| Failure::io(Path::new("/dev/tty"), &error))
}
