//! A damaged file of an installed version comes back from its bundle, also where the bundle would no longer be accepted as
//! a new one.

use std::fs;
use std::path::PathBuf;

use guild_package::countersign::Addition;
use guild_package::envelope::Envelope;
use guild_package::sign::Purpose;
use guild_package::trust::{Policy, Right, Withdrawal};
use guild_package::{Code, Digest, InstallOptions, Installed, VerifyOptions};

use crate::external::with;
use crate::fixture::{self, Bench, DOC, NOW_S, PLUGIN, Publisher, entries, grant, options};
use crate::versions::{CPU, change_byte, id, version};

/// A store with version 1.0.0 of a package, and its bundle.
struct Broken {
    bench: Bench,
    bundle: Vec<u8>,
    installed: Installed,
}

impl Broken {
    fn new() -> Self {
        Self::with_lines("")
    }

    /// With more lines at the top of its `package.toml`.
    fn with_lines(lines: &str) -> Self {
        let bench = Bench::new();
        let bundle = bench.package_by(&bench.publisher, CPU, "1.0.0", lines);
        let installed = bench.install(&bundle).unwrap();
        Self {
            bench,
            bundle,
            installed,
        }
    }

    /// With this epoch, and signed by a second key too, which may raise epochs.
    fn signed_twice(epoch: u64) -> (Self, Publisher) {
        let bench = Bench::new();
        let second = Publisher::new(bench.path(), "second");
        let mut rights = grant("org.guild");
        rights.scopes[0].rights.push(Right::Epoch);
        bench.store.trust_add(&second.record, &rights).unwrap();
        let parts = entries(&bench.package(CPU, "1.0.0"));
        let text = String::from_utf8(parts["manifest.json"].clone()).unwrap();
        let manifest = text.replace(
            "\"security_epoch\":1,",
            &format!("\"security_epoch\":{epoch},"),
        );
        let signers = [&bench.publisher, &second];
        let sign = |signer: &Publisher| signer.sign(Purpose::Release, manifest.as_bytes());
        let envelope = Envelope::new(signers.map(sign).to_vec()).encode().unwrap();
        let artifacts = [(DOC, &parts[DOC][..]), (PLUGIN, &parts[PLUGIN][..])];
        let bundle = fixture::bundle(manifest.as_bytes(), &artifacts, &envelope);
        let installed = bench.install(&bundle).unwrap();
        let broken = Self {
            bench,
            bundle,
            installed,
        };
        (broken, second)
    }

    fn plugin(&self) -> PathBuf {
        let package = self.bench.store.enabled().unwrap().remove(0);
        self.bench
            .object(package.plugin_artifact().unwrap().sha256())
    }

    fn envelope(&self) -> PathBuf {
        let generation = self.bench.store.generation().unwrap();
        let version = generation.version(&id(CPU), &version("1.0.0")).unwrap();
        self.bench.meta(version.envelope)
    }

    fn revoke(&self, key: &Publisher, withdrawal: Withdrawal) {
        self.bench.revoke(key, withdrawal);
    }

    /// A new bundle of the version is refused with `code`; of this one the damaged files come back, and nothing else
    /// changes.
    #[track_caller]
    fn mends(&self, bundle: &[u8], options: &InstallOptions, code: Code) {
        let whole = self.bench.listing();
        let damaged = [
            self.plugin(),
            self.bench.meta(self.installed.manifest_digest),
        ];
        damaged.iter().for_each(|path| change_byte(path));
        let broken = self.bench.listing();
        assert_ne!(broken, whole);
        let dry = InstallOptions {
            dry_run: true,
            ..options.clone()
        };
        let would = self.bench.install_with(bundle, &dry).unwrap();
        assert_eq!(self.bench.listing(), broken, "a dry run changed the store");
        let mended = self.bench.install_with(bundle, options).unwrap();
        assert_eq!(self.bench.listing(), whole, "not as it was");
        for told in [would, mended] {
            assert!(told.already_installed && !told.signatures_replaced);
            assert_eq!(told.files_restored, 2);
            assert_eq!(told.refused_as_new.unwrap().code(), code);
        }
        assert_eq!(self.bench.store.enabled().unwrap().len(), 1);
    }

    /// The bundle is refused with `code`, and the damaged file stays as it is.
    #[track_caller]
    fn stays_broken(
        &self,
        bundle: &[u8],
        options: &InstallOptions,
        damaged: &[PathBuf],
        code: Code,
    ) {
        damaged.iter().for_each(|path| change_byte(path));
        self.bench.install_refuses(bundle, options, code);
    }
}

/// Judged at another time than the fixture's.
fn at(now_s: u64) -> InstallOptions {
    InstallOptions {
        verify: VerifyOptions {
            now_s,
            ..VerifyOptions::default()
        },
        ..InstallOptions::default()
    }
}

fn two_publishers() -> Policy {
    Policy {
        prefix: "org.guild".parse().unwrap(),
        publish: 2,
        reviewer: 0,
        distinct_operators: false,
        strict_ambient: false,
        allow_ptx_jit: false,
    }
}

#[test]
fn a_retired_key_s_package_is_mended() {
    let broken = Broken::new();
    let key = &broken.bench.publisher;
    broken.revoke(key, Withdrawal::Superseded);
    broken.mends(&broken.bundle, &options(), Code::KeyRevoked);
    // The envelope comes back too, and what is whole is left alone.
    let envelope = broken.envelope();
    let whole = broken.bench.listing();
    fs::remove_file(envelope).unwrap();
    for files in [1, 0] {
        let mended = broken.bench.install(&broken.bundle).unwrap();
        assert_eq!(mended.files_restored, files);
        assert_eq!(broken.bench.listing(), whole);
    }
    // It brings nothing in that isn't installed.
    let next = broken.bench.package(CPU, "1.0.1");
    broken
        .bench
        .install_refuses(&next, &options(), Code::KeyRevoked);
    let other = broken
        .bench
        .package_by(key, CPU, "1.0.0", "summary = \"other bytes\"");
    broken
        .bench
        .install_refuses(&other, &options(), Code::KeyRevoked);
    broken.bench.store.remove(&id(CPU), None).unwrap();
    broken
        .bench
        .install_refuses(&broken.bundle, &options(), Code::KeyRevoked);
}

#[test]
fn a_package_below_its_floor_is_mended() {
    let broken = Broken::new();
    broken.bench.store.raise_floor(&id(CPU), 2).unwrap();
    broken.mends(&broken.bundle, &options(), Code::DowngradeRefused);
}

#[test]
fn a_package_whose_time_is_over_is_mended() {
    let broken = Broken::with_lines(&format!("expires_at = {}", NOW_S + 100));
    broken.mends(&broken.bundle, &at(NOW_S + 100), Code::Expired);
}

#[test]
fn a_package_by_a_key_whose_time_is_over_is_mended() {
    let broken = Broken::new();
    broken
        .bench
        .force_trust(|body| body.keys[0].not_after = Some(NOW_S + 100));
    broken.mends(&broken.bundle, &at(NOW_S + 100), Code::Expired);
}

#[test]
fn a_stolen_key_s_package_is_mended_where_it_is_believed() {
    let broken = Broken::new();
    let key = &broken.bench.publisher;
    let since_gen = broken.installed.generation;
    broken.revoke(key, Withdrawal::Compromised { since_gen });
    broken.mends(&broken.bundle, &options(), Code::KeyRevoked);
    let plugin = broken.plugin();
    let since_gen = since_gen - 1;
    broken.revoke(key, Withdrawal::Compromised { since_gen });
    broken.stays_broken(&broken.bundle, &options(), &[plugin], Code::KeyRevoked);
}

/// Each version is judged by the generation that installed it.
#[test]
fn of_two_versions_the_one_that_is_believed_is_mended() {
    let broken = Broken::new();
    let later = broken.bench.package(CPU, "1.0.1");
    broken.bench.install(&later).unwrap();
    let plugin = broken.plugin();
    let since_gen = broken.installed.generation;
    broken.revoke(
        &broken.bench.publisher,
        Withdrawal::Compromised { since_gen },
    );
    change_byte(&plugin);
    broken
        .bench
        .install_refuses(&later, &options(), Code::KeyRevoked);
    let earlier = broken.bench.meta(broken.installed.manifest_digest);
    change_byte(&earlier);
    assert_eq!(
        broken.bench.install(&broken.bundle).unwrap().files_restored,
        1
    );
}

#[test]
fn a_package_that_today_s_policy_refuses_at_load_is_not_mended() {
    let broken = Broken::new();
    let plugin = broken.plugin();
    broken.bench.store.trust_policy(two_publishers()).unwrap();
    broken.stays_broken(&broken.bundle, &options(), &[plugin], Code::KeyUntrusted);
}

#[test]
fn a_package_whose_second_publisher_is_retired_is_mended() {
    let (broken, second) = Broken::signed_twice(1);
    broken.bench.store.trust_policy(two_publishers()).unwrap();
    broken.revoke(&second, Withdrawal::Superseded);
    broken.mends(&broken.bundle, &options(), Code::KeyUntrusted);
}

#[test]
fn a_package_whose_epoch_nobody_in_force_may_raise_is_mended() {
    let (broken, second) = Broken::signed_twice(5000);
    broken.revoke(&second, Withdrawal::Superseded);
    broken.mends(&broken.bundle, &options(), Code::ScopeDenied);
}

#[test]
fn a_repair_keeps_the_signatures_in_force() {
    let broken = Broken::new();
    let second = Publisher::new(broken.bench.path(), "second");
    broken
        .bench
        .store
        .trust_add(&second.record, &grant("org.guild"))
        .unwrap();
    let twice = with(&broken.bench, &broken.bundle, &second, &Addition::Release);
    broken.revoke(&broken.bench.publisher, Withdrawal::Superseded);
    // The second key is good, and isn't whom the package was installed from.
    broken.mends(&twice, &options(), Code::KeyUntrusted);
    broken.revoke(&second, Withdrawal::Superseded);
    broken.mends(&twice, &options(), Code::KeyRevoked);
    let envelope = Digest::of(&entries(&twice)["signatures.json"]);
    assert!(!broken.bench.meta(envelope).exists());
    // Where those in force are lost, another bundle can't bring them back.
    let lost = [broken.plugin(), broken.envelope()];
    broken.stays_broken(&twice, &options(), &lost, Code::KeyRevoked);
    assert_eq!(
        broken.bench.install(&broken.bundle).unwrap().files_restored,
        2
    );
}

#[test]
fn signatures_in_force_that_no_longer_suffice_are_not_mended_by_others() {
    let broken = Broken::new();
    let second = Publisher::new(broken.bench.path(), "second");
    broken
        .bench
        .store
        .trust_add(&second.record, &grant("org.guild"))
        .unwrap();
    let twice = with(&broken.bench, &broken.bundle, &second, &Addition::Release);
    let plugin = broken.plugin();
    let nothing = Withdrawal::Compromised { since_gen: 0 };
    broken.revoke(&broken.bench.publisher, nothing);
    broken.revoke(&second, Withdrawal::Superseded);
    broken.stays_broken(&twice, &options(), &[plugin], Code::KeyRevoked);
}

#[test]
fn a_repair_brings_only_the_package_that_is_asked_for() {
    let broken = Broken::new();
    let plugin = broken.plugin();
    broken.bench.store.raise_floor(&id(CPU), 2).unwrap();
    let wanting = |id: &str| {
        let mut options = options();
        options.verify.id = Some(id.parse().unwrap());
        options
    };
    let other = wanting("org.guild.kernels.other");
    broken.stays_broken(&broken.bundle, &other, &[plugin], Code::NotFound);
    let mended = broken
        .bench
        .install_with(&broken.bundle, &wanting(CPU))
        .unwrap();
    assert_eq!(mended.files_restored, 1);
}

#[test]
fn a_dry_run_counts_what_an_install_would_mend() {
    let broken = Broken::new();
    change_byte(&broken.plugin());
    let before = broken.bench.listing();
    let dry = InstallOptions {
        dry_run: true,
        ..options()
    };
    let would = broken.bench.install_with(&broken.bundle, &dry).unwrap();
    assert_eq!(broken.bench.listing(), before, "the store changed");
    assert_eq!(
        (would.files_restored, would.refused_as_new.is_none()),
        (1, true)
    );
    // More signatures would take the place of fewer.
    let second = Publisher::new(broken.bench.path(), "second");
    broken
        .bench
        .store
        .trust_add(&second.record, &grant("org.guild"))
        .unwrap();
    let twice = with(&broken.bench, &broken.bundle, &second, &Addition::Release);
    let before = broken.bench.listing();
    let would = broken.bench.install_with(&twice, &dry).unwrap();
    assert_eq!(broken.bench.listing(), before, "the store changed");
    let did = broken.bench.install(&twice).unwrap();
    for told in [&would, &did] {
        assert_eq!((told.files_restored, told.signatures_replaced), (1, true));
    }
    assert_eq!(would.generation + 1, did.generation);
}
