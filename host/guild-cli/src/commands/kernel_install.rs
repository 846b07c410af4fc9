//! `guild kernel install`: verifies a bundle, stores it and makes it active.

use crate::args::InstallArgs;
use crate::commands::{kernel_countersigners, parsed};
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, above_the_machine_s, no_store, own_store};
use crate::wiring::probe::{probe, say_what_is_missing};
use guild_package::verify::{Signer, verify_or_name};
use guild_package::{InstallOptions, Installed, TrustStore, VerifyOptions};
use serde_json::json;

/// Installs and says what changed.
pub fn run(args: &InstallArgs, places: &Places, output: Output) -> Outcome<()> {
    let verify = VerifyOptions {
        id: args
            .id
            .as_deref()
            .map(|id| parsed("--id", id))
            .transpose()?,
        ..VerifyOptions::default()
    };
    let options = InstallOptions {
        verify,
        allow_downgrade: args.allow_downgrade,
        accept_new_publisher: args.accept_new_publisher,
        dry_run: args.dry_run,
    };
    let Some(store) = own_store(places)? else {
        // Where there is no store nobody is trusted, so every bundle is refused; none is made for that.
        verify_or_name(&args.bundle, &TrustStore::empty()?, &options.verify)?;
        return Err(no_store());
    };
    let store = above_the_machine_s(places, store)?;
    let installed = store.install_or_name(&args.bundle, &options, &probe(args.probe))?;
    say(&installed, args.dry_run, output);
    output.data(format!("{} {}", installed.id, installed.version))?;
    output.object(json!({
        "id": installed.id,
        "version": installed.version,
        "manifest_sha256": installed.manifest_digest,
        "generation": installed.generation,
        "already_installed": installed.already_installed,
        "refused_as_new": installed.refused_as_new.as_ref().map(|refusal| json!({
            "code": refusal.code().name(),
            "message": refusal.to_string(),
        })),
        "files_restored": installed.files_restored,
        "signatures_replaced": installed.signatures_replaced,
        "previous": installed.previous,
        "enabled": installed.enabled,
        "held": installed.held,
        "receipt_sha256": installed.receipt,
        "sandbox": installed.probed.map(|probed| probed.sandbox),
        "dry_run": args.dry_run,
        "test_identity": installed.signers.iter().any(|signer| signer.test_identity),
        "signers": installed.signers.iter().map(|signer| signer.key).collect::<Vec<_>>(),
        "countersigners": kernel_countersigners::rows(&installed.countersigners),
    }))
}

fn say(installed: &Installed, dry_run: bool, output: Output) {
    let state = match (installed.already_installed, dry_run) {
        (true, _) => "is already installed",
        (false, false) => "installed",
        (false, true) => "would be installed; nothing was changed",
    };
    output.say(format!("{} {} {state}", installed.id, installed.version));
    let signers: Vec<String> = installed.signers.iter().map(Signer::to_string).collect();
    output.say(format!("Signed by {}", signers.join(", ")));
    for line in kernel_countersigners::lines(&installed.countersigners) {
        output.say(line);
    }
    let is_enabled = installed.enabled.as_ref() == Some(&installed.version);
    match (&installed.previous, &installed.enabled) {
        (Some(previous), _) if is_enabled && *previous != installed.version => {
            output.say(format!("It replaces {previous}."));
        }
        (_, Some(enabled)) if !is_enabled => output.say(format!(
            "{enabled} stays enabled; `guild kernel enable {}@{}` switches.",
            installed.id, installed.version
        )),
        (_, None) => output.say("It isn't enabled; `guild kernel enable` does that."),
        _ => {}
    }
    if let Some(held) = installed.held.as_ref().filter(|_| !is_enabled) {
        output.say(format!(
            "A rollback was pinned: no install enables a version up to {held}."
        ));
    }
    say_what_is_mended(installed, dry_run, output);
    if let (Some(receipt), Some(_), false) = (installed.receipt, &installed.probed, dry_run) {
        output.say(format!("Receipt {receipt}"));
    }
    say_what_is_missing(installed.probed.as_ref(), output);
}

/// Of a version that is installed already.
fn say_what_is_mended(installed: &Installed, dry_run: bool, output: Output) {
    if let Some(refusal) = &installed.refused_as_new {
        let code = refusal.code().name();
        output.say(format!(
            "Only its files were looked after, since as a new package it would be refused: {refusal} [{code}]"
        ));
    }
    if installed.signatures_replaced {
        let are = if dry_run { "would be" } else { "are" };
        output.say(format!(
            "Its signatures {are} those of this bundle from now on."
        ));
    }
    match (installed.files_restored, dry_run) {
        (0, _) => {}
        (files, false) => output.say(format!(
            "{files} of its files were damaged and are whole again."
        )),
        (files, true) => output.say(format!(
            "{files} of its files are damaged or missing; an install writes them anew."
        )),
    }
}
