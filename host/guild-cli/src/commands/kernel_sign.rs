//! `guild kernel sign`: turns a staging folder into a signed bundle, in one step or, where the key is elsewhere, in two.

use crate::args::SignArgs;
use crate::commands::kernel_seed;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::wiring::abi_identity::{abi_table_hash, contract_hashes};
use guild_package::external::{attach_signature, request_signature};
use guild_package::{KeyRecord, Manifest, SignOptions, SignedPackage, sign_package};
use serde_json::{Value, json};
use std::path::Path;

/// Signs the folder and writes the bundle, or writes what is to be signed elsewhere.
pub fn run(args: &SignArgs, output: Output) -> Outcome<()> {
    let options = SignOptions {
        issued_at: None,
        abi_table_hash: Some(abi_table_hash()),
        contract_hashes: contract_hashes(),
    };
    match args {
        SignArgs {
            external: Some(request),
            signature: None,
            ..
        } => write_request(&args.package_dir, request, &options, output),
        SignArgs {
            external: Some(request),
            signature: Some(signature),
            public: Some(public),
            bundle: Some(bundle),
            ..
        } => {
            let key = KeyRecord::read(public)?;
            let files = (request.as_path(), signature.as_path());
            let signed = attach_signature(&args.package_dir, &key, files, bundle, &options)?;
            say_signed(&signed, &key.id.to_string(), bundle, output)
        }
        SignArgs {
            key_id: Some(key),
            seed_file: Some(seed_file),
            bundle: Some(bundle),
            ..
        } => {
            let seed = kernel_seed::read(seed_file, args.passphrase_file.as_deref())?;
            let signed = sign_package(&args.package_dir, key, &seed, bundle, &options)?;
            say_signed(&signed, key, bundle, output)
        }
        _ => Err(Failure::new(Exit::Usage, "an option is missing")
            .hint("`guild kernel sign --help` shows which go together")),
    }
}

fn write_request(
    package_dir: &Path,
    request: &Path,
    options: &SignOptions,
    output: Output,
) -> Outcome<()> {
    let asked = request_signature(package_dir, request, options)?;
    let Manifest { id, version, .. } = &asked.manifest;
    output.say(format!(
        "Sign the bytes of {} for {id} {version} with Ed25519, as they are",
        request.display()
    ));
    output.say("Then run the same command with --signature, --public and --bundle.");
    output.data(asked.request_sha256.to_string())?;
    let mut answer = facts(&asked.manifest);
    answer["manifest_sha256"] = json!(asked.manifest_digest);
    answer["request"] = json!(request);
    answer["request_sha256"] = json!(asked.request_sha256);
    output.object(answer)
}

fn say_signed(signed: &SignedPackage, key: &str, bundle: &Path, output: Output) -> Outcome<()> {
    let Manifest { id, version, .. } = &signed.manifest;
    output.say(format!("Signed {id} {version} with {key}"));
    output.say(format!("Bundle {}", bundle.display()));
    output.data(signed.manifest_digest.to_string())?;
    let mut answer = facts(&signed.manifest);
    answer["manifest_sha256"] = json!(signed.manifest_digest);
    answer["bundle"] = json!(bundle);
    output.object(answer)
}

fn facts(manifest: &Manifest) -> Value {
    json!({
        "id": manifest.id,
        "version": manifest.version,
        "artifacts": manifest.artifacts,
    })
}
