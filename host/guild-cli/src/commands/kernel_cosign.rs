//! `guild kernel cosign`: a second machine's signature under a checkpoint.

use crate::args::CosignArgs;
use crate::commands::kernel_seed;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use guild_package::checkpoint::SignedCheckpoint;
use guild_package::seed::SecretSeed;
use guild_package::{Error, KeyId, KeyRecord};
use serde_json::json;
use std::path::Path;

/// Checks the checkpoint against the one before, and writes it with one more signature.
pub fn run(args: &CosignArgs, output: Output) -> Outcome<()> {
    let keys = [KeyRecord::read(&args.public)?];
    let signed = read(&args.checkpoint, &keys)?;
    let earlier = args.after.as_deref();
    let earlier = earlier.map(|path| read(path, &keys).map(|signed| (path, signed)));
    let earlier = earlier.transpose()?;
    let seed = kernel_seed::open(&args.seed)?;
    if let Some((path, earlier)) = earlier {
        check_own(&earlier, path, &seed)?;
        signed.checkpoint().check_follows(earlier.checkpoint())?;
    }
    let cosigned = signed.cosign(&seed)?;
    cosigned.write(&args.out)?;
    let checkpoint = cosigned.checkpoint();
    output.say(format!(
        "Cosigned {} generations of {}",
        checkpoint.size, checkpoint.origin
    ));
    output.say(format!("Checkpoint {}", args.out.display()));
    output.data(checkpoint.root.to_string())?;
    output.object(json!({
        "checkpoint": checkpoint,
        "signers": cosigned.signers().collect::<Vec<_>>(),
        "file": args.out,
    }))
}

/// The key of `seed` signed it. Another one's word says nothing of what this key has seen.
fn check_own(earlier: &SignedCheckpoint, path: &Path, seed: &SecretSeed) -> Outcome<()> {
    let key = seed.public_key()?;
    if earlier.is_signed_by(&key)? {
        return Ok(());
    }
    let message = format!("{} isn't signed by {}", path.display(), key.id());
    Err(Failure::new(Exit::KeyUntrusted, message)
        .hint("give the checkpoint that this key cosigned before with --after; leave it out for the first one"))
}

/// The checkpoint in `path`. No store is asked here: the one key that counts is the one that was given.
fn read(path: &Path, keys: &[KeyRecord]) -> Outcome<SignedCheckpoint> {
    SignedCheckpoint::read(path, keys).map_err(|error| match &error {
        Error::KeyUntrusted { keys } => {
            unknown(path, keys).hint("give the record of the machine's key with --public")
        }
        _ => error.into(),
    })
}

/// None of the keys that count signed the checkpoint in `path`. Whoever compares notes need not trust their signers with
/// packages.
pub(super) fn unknown(path: &Path, signers: &[KeyId]) -> Failure {
    let signers: Vec<String> = signers.iter().map(ToString::to_string).collect();
    let message = format!(
        "{} is signed by {}, and by no key that was asked for",
        path.display(),
        signers.join(", ")
    );
    Failure::new(Exit::KeyUntrusted, message)
        .hint("give the record of a key that signed it with --public; it needn't be trusted with packages")
}
