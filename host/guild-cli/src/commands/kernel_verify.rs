//! `guild kernel verify`: checks a bundle against the trusted keys, without installing it.

use crate::args::VerifyArgs;
use crate::commands::{kernel_countersigners, parsed};
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, read_store};
use guild_package::{TrustStore, VerifyOptions, verify_bundle};
use serde_json::json;

/// Verifies and prints who signed what.
pub fn run(args: &VerifyArgs, places: &Places, output: Output) -> Outcome<()> {
    let found = read_store(places, output)?;
    let trust = match &found {
        Some(found) => found.store.trust()?,
        None => TrustStore::empty()?,
    };
    let options = VerifyOptions {
        id: args
            .id
            .as_deref()
            .map(|id| parsed("--id", id))
            .transpose()?,
        ..VerifyOptions::default()
    };
    let package = verify_bundle(&args.bundle, &trust, &options)?;
    let manifest = package.manifest();
    output.data(format!("package   {} {}", manifest.id, manifest.version))?;
    output.data(format!("manifest  {}", package.manifest_digest()))?;
    for signer in package.signers() {
        output.data(format!("signer    {} {signer}", signer.key))?;
    }
    for line in kernel_countersigners::lines(package.countersigners()) {
        output.data(line)?;
    }
    output.data(format!("epoch     {}", manifest.security_epoch))?;
    for artifact in &manifest.artifacts {
        output.data(format!("file      {} {}", artifact.sha256, artifact.path))?;
    }
    output.data("VERIFIED")?;
    let signers = package.signers().iter().map(kernel_countersigners::signer);
    output.object(json!({
        "id": manifest.id,
        "version": manifest.version,
        "manifest_sha256": package.manifest_digest(),
        "security_epoch": manifest.security_epoch,
        "signers": signers.collect::<Vec<_>>(),
        "countersigners": kernel_countersigners::rows(package.countersigners()),
        "artifacts": manifest.artifacts,
        "store": found.map(|found| found.whose),
    }))
}
