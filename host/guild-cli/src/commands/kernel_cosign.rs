//! `guild kernel cosign`: a second machine's signature under a checkpoint.

use crate::args::CosignArgs;
use crate::commands::kernel_seed;
use crate::failure::Outcome;
use crate::output::Output;
use guild_package::KeyRecord;
use guild_package::checkpoint::SignedCheckpoint;
use serde_json::json;

/// Checks the checkpoint against the one before, and writes it with one more signature.
pub fn run(args: &CosignArgs, output: Output) -> Outcome<()> {
    let keys = [KeyRecord::read(&args.public)?];
    let signed = SignedCheckpoint::read(&args.checkpoint, &keys)?;
    if let Some(earlier) = &args.after {
        let earlier = SignedCheckpoint::read(earlier, &keys)?;
        signed.checkpoint().check_follows(earlier.checkpoint())?;
    }
    let cosigned = signed.cosign(&kernel_seed::open(&args.seed)?)?;
    cosigned.write(&args.out)?;
    let checkpoint = cosigned.checkpoint();
    output.say(format!(
        "Cosigned {} generations of {}",
        checkpoint.size, checkpoint.origin
    ));
    output.data(checkpoint.root.to_string())?;
    output.object(json!({
        "checkpoint": checkpoint,
        "signers": cosigned.signers().collect::<Vec<_>>(),
        "file": args.out,
    }))
}
