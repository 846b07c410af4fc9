//! `guild kernel sign`: turns a staging folder into a signed bundle.

use crate::args::SignArgs;
use crate::failure::Outcome;
use crate::output::Output;
use crate::wiring::abi_identity::{abi_table_hash, contract_hashes};
use guild_package::{SignOptions, sign_package};
use serde_json::json;

/// Signs the folder and writes the bundle.
pub fn run(args: &SignArgs, output: Output) -> Outcome<()> {
    let options = SignOptions {
        issued_at: None,
        abi_table_hash: Some(abi_table_hash()),
        contract_hashes: contract_hashes(),
    };
    let signed = sign_package(
        &args.package_dir,
        &args.key_id,
        &args.seed_file,
        &args.bundle,
        &options,
    )?;
    let manifest = &signed.manifest;
    output.say(format!(
        "Signed {} {} with {}",
        manifest.id, manifest.version, args.key_id
    ));
    output.say(format!("Bundle {}", args.bundle.display()));
    output.data(signed.manifest_digest.to_string())?;
    output.object(json!({
        "id": manifest.id,
        "version": manifest.version,
        "manifest_sha256": signed.manifest_digest,
        "bundle": args.bundle,
        "artifacts": manifest.artifacts,
    }))
}
