//! `guild kernel cosign`: a second machine's signature under a checkpoint.

use crate::args::CosignArgs;
use crate::commands::kernel_seed;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use guild_package::checkpoint::SignedCheckpoint;
use guild_package::{Error, KeyId, KeyRecord};
use serde_json::json;
use std::path::Path;

/// Checks the checkpoint against the one before, and writes it with one more signature.
pub fn run(args: &CosignArgs, output: Output) -> Outcome<()> {
    let keys = [KeyRecord::read(&args.public)?];
    let signed = read(&args.checkpoint, &keys)?;
    if let Some(earlier) = &args.after {
        let earlier = read(earlier, &keys)?;
        signed.checkpoint().check_follows(earlier.checkpoint())?;
    }
    let cosigned = signed.cosign(&kernel_seed::open(&args.seed)?)?;
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

/// The checkpoint in `path`. No store is asked here: the one key that counts is the one that was given.
fn read(path: &Path, keys: &[KeyRecord]) -> Outcome<SignedCheckpoint> {
    let unknown = |signers: &[KeyId]| {
        let signers: Vec<String> = signers.iter().map(ToString::to_string).collect();
        let message = format!(
            "{} is signed by {}, not by the key of --public",
            path.display(),
            signers.join(", ")
        );
        Failure::new(Exit::KeyUntrusted, message)
            .hint("give the record of the machine's key with --public")
    };
    SignedCheckpoint::read(path, keys).map_err(|error| match &error {
        Error::KeyUntrusted { keys } => unknown(keys),
        _ => error.into(),
    })
}
