//! `enable`, `disable`, `rollback`, `remove`, `gc` and the log: rows 46, 48, 60, 66 and 78, and what the commands do
//! where nobody attacks.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use guild_package::limits::JSON_MAX_INTEGER;
use guild_package::store::generation::{ActiveMode, Generation};
use guild_package::store::{RevokeOptions, Revoked, RollbackOptions, Selected};
use guild_package::trust::{KeyStatus, Withdrawal};
use guild_package::{Code, Error, InstallOptions, PackageId, PackageVersion, Result};

use crate::fixture::{Bench, Publisher, grant, options};

const CPU: &str = "org.guild.kernels.cpu";
const OTHER: &str = "org.guild.kernels.other";
const BACK: RollbackOptions = RollbackOptions {
    to_generation: None,
    pin: false,
};

fn id(text: &str) -> PackageId {
    text.parse().unwrap()
}

fn version(text: &str) -> PackageVersion {
    text.parse().unwrap()
}

/// What `--pin` and `--to` ask for.
fn to(generation: u64) -> RollbackOptions {
    RollbackOptions {
        to_generation: Some(generation),
        pin: false,
    }
}

impl Bench {
    /// A store with both versions, of which 1.0.1 is enabled by generation 3.
    fn with_two_versions() -> Bench {
        let bench = Bench::new();
        bench.install(&bench.package(CPU, "1.0.0")).unwrap();
        bench.install(&bench.package(CPU, "1.0.1")).unwrap();
        bench
    }

    fn enabled_version(&self) -> Option<String> {
        let enabled = self.store.enabled().unwrap();
        let package = enabled.iter().find(|package| package.id().as_str() == CPU);
        package.map(|package| package.version().to_string())
    }

    /// The package that serves the operation of all fixture packages.
    fn server(&self) -> Option<String> {
        let active = self.store.active().unwrap();
        let (_, active) = active.first()?;
        Some(format!("{} {}", active.id, active.version))
    }

    #[track_caller]
    fn store_refuses<T: std::fmt::Debug>(
        &self,
        code: Code,
        act: impl FnOnce() -> Result<T>,
    ) -> Error {
        let before = self.listing();
        let refused = act().expect_err("it was accepted");
        assert_eq!(refused.code(), code, "{refused}");
        assert_eq!(self.listing(), before, "the store changed");
        refused
    }
}

#[test]
fn any_installed_version_is_enabled_and_serves_its_names() {
    let bench = Bench::with_two_versions();
    let selected = bench
        .store
        .enable(&id(CPU), Some(&version("1.0.0")))
        .unwrap();
    let expected = Selected {
        id: id(CPU),
        previous: Some(version("1.0.1")),
        enabled: Some(version("1.0.0")),
        held: None,
        generation: 4,
        changed: true,
    };
    assert_eq!(selected, expected);
    assert_eq!(bench.server().unwrap(), format!("{CPU} 1.0.0"));
    let again = bench
        .store
        .enable(&id(CPU), Some(&version("1.0.0")))
        .unwrap();
    assert!(!again.changed && again.generation == 4);
    assert_eq!(
        bench.store.enable(&id(CPU), None).unwrap().enabled,
        Some(version("1.0.1"))
    );
    for absent in [(OTHER, None), (CPU, Some(version("1.0.2")))] {
        let (package, version) = absent;
        bench.store_refuses(Code::NotFound, || {
            bench.store.enable(&id(package), version.as_ref())
        });
    }
}

#[test]
fn disabling_hands_the_names_to_the_next_package_and_enabling_takes_them_back() {
    let bench = Bench::with_two_versions();
    bench.install(&bench.package(OTHER, "2.0.0")).unwrap();
    bench
        .store
        .enable(&id(CPU), Some(&version("1.0.0")))
        .unwrap();
    assert_eq!(bench.server().unwrap(), format!("{CPU} 1.0.0"));
    let disabled = bench.store.disable(&id(CPU), None).unwrap();
    assert_eq!(
        (disabled.previous, disabled.enabled),
        (Some(version("1.0.0")), None)
    );
    assert_eq!(bench.enabled_version(), None);
    assert_eq!(bench.server().unwrap(), format!("{OTHER} 2.0.0"));
    assert!(!bench.store.disable(&id(CPU), None).unwrap().changed);
    bench.store.disable(&id(OTHER), None).unwrap();
    assert_eq!(bench.server(), None);
    bench.store.enable(&id(CPU), None).unwrap();
    assert_eq!(bench.server().unwrap(), format!("{CPU} 1.0.1"));
    bench.store_refuses(Code::NotFound, || {
        bench.store.disable(&id("org.guild.none"), None)
    });
}

#[test]
fn what_another_package_needs_stays() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let lines = format!("depends = [{{ id = \"{CPU}\", req = \"^1\", min_epoch = 1 }}]");
    let user = bench.package_by(&bench.publisher, OTHER, "1.0.0", &lines);
    bench.install(&user).unwrap();
    let refused = bench.store_refuses(Code::DependencyMissing, || {
        bench.store.disable(&id(CPU), None)
    });
    assert!(refused.to_string().contains(OTHER), "{refused}");
    bench.store_refuses(Code::DependencyMissing, || {
        bench.store.remove(&id(CPU), None)
    });
    bench.store.disable(&id(OTHER), None).unwrap();
    bench.store.disable(&id(CPU), None).unwrap();
    bench.store_refuses(Code::DependencyMissing, || {
        bench.store.enable(&id(OTHER), None)
    });
}

#[test]
fn a_rollback_goes_back_and_a_second_one_forward_again() {
    let bench = Bench::with_two_versions();
    let back = bench.store.rollback(Some(&id(CPU)), BACK).unwrap();
    assert_eq!(
        (back.previous, back.enabled),
        (Some(version("1.0.1")), Some(version("1.0.0")))
    );
    assert_eq!(back.generation, 4);
    let forward = bench.store.rollback(None, BACK).unwrap();
    assert_eq!(forward.enabled, Some(version("1.0.1")));
    // A disabled package goes back to what was enabled last.
    bench.store.disable(&id(CPU), None).unwrap();
    let again = bench.store.rollback(None, BACK).unwrap();
    assert_eq!(again.enabled, Some(version("1.0.1")));
}

#[test]
fn a_rollback_to_a_generation_enables_what_it_had() {
    let bench = Bench::with_two_versions();
    let back = bench.store.rollback(Some(&id(CPU)), to(2)).unwrap();
    assert_eq!(back.enabled, Some(version("1.0.0")));
    // Numbers go on: the old state is a new generation.
    assert_eq!(bench.store.generation().unwrap().n, 4);
    bench.store_refuses(Code::RollbackUnavailable, || {
        bench.store.rollback(Some(&id(CPU)), to(1))
    });
    bench.store_refuses(Code::NotFound, || {
        bench.store.rollback(Some(&id(CPU)), to(5))
    });
}

#[test]
fn a_pinned_rollback_holds_until_something_newer_comes() {
    let bench = Bench::with_two_versions();
    let pin = RollbackOptions { pin: true, ..BACK };
    bench.store.rollback(Some(&id(CPU)), pin).unwrap();
    bench
        .store
        .remove(&id(CPU), Some(&version("1.0.1")))
        .unwrap();
    let again = bench.install(&bench.package(CPU, "1.0.1")).unwrap();
    assert_eq!(again.enabled, Some(version("1.0.0")));
    assert_eq!(bench.enabled_version().unwrap(), "1.0.0");
    let newer = bench.install(&bench.package(CPU, "1.0.2")).unwrap();
    assert_eq!(newer.enabled, Some(version("1.0.2")));
    // Not held any more.
    assert!(bench.store.generation().unwrap().held.is_empty());
}

#[test]
fn a_store_without_an_earlier_version_has_nothing_to_go_back_to() {
    let bench = Bench::new();
    bench.store_refuses(Code::NotFound, || bench.store.rollback(None, BACK));
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let refused = bench.store_refuses(Code::RollbackUnavailable, || {
        bench.store.rollback(None, BACK)
    });
    assert!(refused.to_string().contains("1.0.0"), "{refused}");
}

/// The reason that stands in the message, and the versions that would do.
#[track_caller]
fn unavailable(bench: &Bench, reason: &str, would_do: &str) {
    let refused = bench.store_refuses(Code::RollbackUnavailable, || {
        bench.store.rollback(Some(&id(CPU)), BACK)
    });
    let message = refused.to_string();
    assert!(message.contains(reason), "{message}");
    assert!(
        message.ends_with(&format!("can be enabled: {would_do}")),
        "{message}"
    );
}

#[test]
fn row_46_a_rollback_never_goes_below_the_floor() {
    let bench = Bench::with_two_versions();
    bench.force_generation(|generation| {
        generation.floors.insert(id(CPU), 2);
    });
    unavailable(&bench, "floor", "none");
    bench.store_refuses(Code::DowngradeRefused, || {
        bench.store.enable(&id(CPU), Some(&version("1.0.0")))
    });
}

#[test]
fn a_rollback_never_goes_onto_a_compromised_key() {
    let bench = Bench::with_two_versions();
    bench.force_trust(|trust| {
        trust.keys[0].status = KeyStatus::Compromised;
        trust.keys[0].since_gen = 2;
    });
    // 1.0.0 came in generation 2, before the cut.
    bench.store.rollback(Some(&id(CPU)), BACK).unwrap();
    unavailable(&bench, "compromised", "1.0.0");
    // What is compromised can be disabled and removed.
    bench.store.disable(&id(CPU), None).unwrap();
    bench.store.remove(&id(CPU), None).unwrap();
}

#[test]
fn a_rollback_never_enables_a_damaged_version() {
    let bench = Bench::with_two_versions();
    let listed = bench.store.list().unwrap();
    let package = listed[0].package.as_ref().unwrap();
    let digest = package.plugin_artifact().unwrap().sha256().to_string();
    let object = bench
        .store_path()
        .join("objects/sha256")
        .join(&digest[..2])
        .join(&digest[2..]);
    change_byte(&object);
    bench.store_refuses(Code::RollbackUnavailable, || {
        bench.store.rollback(Some(&id(CPU)), BACK)
    });
    fs::remove_file(&object).unwrap();
    unavailable(&bench, "missing", "1.0.1");
}

/// Changes the last byte of a file and leaves its mode.
fn change_byte(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let permissions = fs::metadata(path).unwrap().permissions();
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, permissions).unwrap();
}

#[test]
fn row_53_what_was_removed_is_still_remembered() {
    let bench = Bench::with_two_versions();
    let one = bench
        .store
        .remove(&id(CPU), Some(&version("1.0.1")))
        .unwrap();
    assert_eq!(one.disabled, Some(version("1.0.1")));
    assert!(!one.was_last);
    assert_eq!(bench.enabled_version(), None);
    let rest = bench.store.remove(&id(CPU), None).unwrap();
    assert_eq!(
        (rest.versions, rest.disabled),
        (vec![version("1.0.0")], None)
    );
    assert!(rest.was_last);
    assert!(bench.store.list().unwrap().is_empty());
    bench.store_refuses(Code::NotFound, || bench.store.remove(&id(CPU), None));
    let other = bench.package_by(&bench.publisher, CPU, "1.0.0", "summary = \"other bytes\"");
    bench.install_refuses(&other, &options(), Code::VersionImmutable);
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    assert_eq!(bench.enabled_version().unwrap(), "1.0.0");
}

/// What `remove` and `disable` say of a session, until it is gone.
#[test]
fn row_78_a_package_in_use_stays_and_its_user_is_named() {
    let bench = Bench::with_two_versions();
    let mut leased = bench.store.enabled_with_leases("chat 7").unwrap();
    let (_, lease) = leased.pop().unwrap();
    let pid = std::process::id().to_string();
    for refused in [
        bench.store_refuses(Code::ActiveSessionBusy, || {
            bench.store.disable(&id(CPU), None)
        }),
        bench.store_refuses(Code::ActiveSessionBusy, || {
            bench.store.remove(&id(CPU), None)
        }),
    ] {
        let message = refused.to_string();
        assert!(
            message.contains(&pid) && message.contains("chat 7"),
            "{message}"
        );
    }
    // Another version of it isn't in use, and the selection may change under the session.
    bench.store.rollback(None, BACK).unwrap();
    assert_eq!(bench.enabled_version().unwrap(), "1.0.0");
    bench.store_refuses(Code::ActiveSessionBusy, || {
        bench.store.remove(&id(CPU), Some(&version("1.0.1")))
    });
    drop(lease);
    until_free(|| bench.store.remove(&id(CPU), Some(&version("1.0.1"))));
}

/// Tries again while a child of another test shares the lock until its exec.
#[track_caller]
fn until_free<T>(act: impl Fn() -> Result<T>) -> T {
    for _ in 0..200 {
        match act() {
            Err(Error::SessionsActive { .. }) => std::thread::sleep(Duration::from_millis(10)),
            other => return other.unwrap(),
        }
    }
    panic!("the lock never came free");
}

#[test]
fn draining_keeps_new_sessions_off_and_waits_for_the_old_one() {
    let bench = Bench::with_two_versions();
    let mut leased = bench.store.enabled_with_leases("long").unwrap();
    let (package, lease) = leased.pop().unwrap();
    let short = Some(Duration::from_millis(30));
    let busy = bench.store.disable(&id(CPU), short).unwrap_err();
    assert_eq!(busy.code(), Code::ActiveSessionBusy);
    assert!(busy.to_string().contains("It is disabled"), "{busy}");
    assert!(bench.store.enabled_with_leases("new").unwrap().is_empty());
    // The session goes on: its files are there.
    let plugin = package.plugin_artifact().unwrap();
    package
        .open_artifact(&plugin)
        .unwrap()
        .copy_verified(|_| Ok(()))
        .unwrap();
    bench.store.enable(&id(CPU), None).unwrap();
    let has_ended = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&has_ended);
    let end = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        ends.store(true, Ordering::Release);
        drop(lease);
    });
    bench
        .store
        .disable(&id(CPU), Some(Duration::from_secs(30)))
        .unwrap();
    assert!(has_ended.load(Ordering::Acquire), "nobody was waited for");
    end.join().unwrap();
}

/// Files below `objects` and `meta`.
fn stored_files(bench: &Bench) -> usize {
    let listing = bench.listing();
    let is_stored = |path: &Path| path.starts_with("objects") || path.starts_with("meta");
    let files = listing
        .iter()
        .filter(|(path, content)| is_stored(path) && !content.ends_with("file"));
    files.count()
}

#[test]
fn garbage_is_what_no_version_in_force_names() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let baseline = stored_files(&bench);
    assert_eq!(baseline, 4, "plugin, document, manifest and envelope");
    bench.install(&bench.package(CPU, "1.0.1")).unwrap();
    assert_eq!(bench.store.collect_garbage().unwrap().files, 0);
    // The document is both versions'.
    assert_eq!(stored_files(&bench), 7);
    bench.store.rollback(None, BACK).unwrap();
    bench
        .store
        .remove(&id(CPU), Some(&version("1.0.1")))
        .unwrap();
    let collected = bench.store.collect_garbage().unwrap();
    assert_eq!((collected.files, collected.in_use), (3, 0));
    assert!(collected.bytes > 0);
    assert_eq!(stored_files(&bench), baseline);
    for row in bench.store.list().unwrap() {
        row.package.unwrap();
    }
    // What was collected comes back with an install.
    bench.install(&bench.package(CPU, "1.0.1")).unwrap();
    assert_eq!(bench.enabled_version().unwrap(), "1.0.1");
}

#[test]
fn row_66_garbage_that_a_session_uses_stays() {
    let bench = Bench::with_two_versions();
    let mut leased = bench.store.enabled_with_leases("chat").unwrap();
    let (package, lease) = leased.pop().unwrap();
    // Only an outside hand takes a version away under its lease; the files stay all the same.
    bench.force_generation(|generation| {
        generation.packages.clear();
        generation.active.clear();
    });
    let collected = bench.store.collect_garbage().unwrap();
    assert_eq!((collected.in_use, collected.files), (1, 4));
    let plugin = package.plugin_artifact().unwrap();
    package
        .open_artifact(&plugin)
        .unwrap()
        .copy_verified(|_| Ok(()))
        .unwrap();
    drop(lease);
    let mut left = collected;
    for _ in 0..200 {
        left = bench.store.collect_garbage().unwrap();
        if left.in_use == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!((left.in_use, left.files), (0, 3));
    assert_eq!(stored_files(&bench), 0);
}

#[test]
fn garbage_is_not_guessed_where_a_manifest_is_damaged() {
    let bench = Bench::with_two_versions();
    let listed = bench.store.list().unwrap();
    let digest = listed[0]
        .package
        .as_ref()
        .unwrap()
        .manifest_digest()
        .to_string();
    let path = bench
        .store_path()
        .join("meta/sha256")
        .join(&digest[..2])
        .join(&digest[2..]);
    change_byte(&path);
    bench.store_refuses(Code::StoreCorrupt, || bench.store.collect_garbage());
}

#[test]
fn the_log_tells_what_each_generation_changed() {
    let bench = Bench::with_two_versions();
    bench.store.rollback(None, BACK).unwrap();
    bench
        .store
        .remove(&id(CPU), Some(&version("1.0.1")))
        .unwrap();
    let log = bench.store.log(usize::MAX).unwrap();
    let operations: Vec<_> = log
        .iter()
        .map(|entry| (entry.n, entry.op.to_string()))
        .collect();
    let expected = [
        (5, "remove"),
        (4, "rollback"),
        (3, "install"),
        (2, "install"),
        (1, "trust-add"),
        (0, "init"),
    ];
    assert_eq!(operations, expected.map(|(n, op)| (n, op.to_owned())));
    assert_eq!(log[0].removed[0].to_string(), format!("{CPU}@1.0.1"));
    assert_eq!(log[2].installed[0].to_string(), format!("{CPU}@1.0.1"));
    let (before, after) = (&log[1].selected[0].before, &log[1].selected[0].after);
    assert_eq!(
        (before, after),
        (&Some(version("1.0.1")), &Some(version("1.0.0")))
    );
    assert_eq!(
        (log[4].trust, log[5].trust, log[3].trust),
        (Some(1), Some(0), None)
    );
    assert_eq!(bench.store.log(2).unwrap(), log[..2]);
    let whole = bench.store.verify_chain().unwrap();
    assert_eq!((whole.generations, whole.trust_files), (6, 2));
}

/// Every file of the chain, changed or taken away, is found.
#[test]
fn row_67_a_broken_chain_is_named() {
    let bench = Bench::with_two_versions();
    for folder in ["gen", "trust"] {
        for entry in fs::read_dir(bench.store_path().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            change_byte(&path);
            let broken = bench.store.verify_chain().unwrap_err();
            assert_eq!(
                broken.code(),
                Code::StoreCorrupt,
                "{}: {broken}",
                path.display()
            );
            let name = path.file_name().unwrap().to_string_lossy();
            assert!(broken.to_string().contains(&*name), "{broken}");
            fs::remove_file(&path).unwrap();
            assert_eq!(
                bench.store.verify_chain().unwrap_err().code(),
                Code::StoreCorrupt
            );
            fs::write(&path, bytes).unwrap();
        }
    }
    bench.store.verify_chain().unwrap();
}

#[test]
fn a_chain_in_which_a_pin_or_floor_shrank_is_broken() {
    let shrinks: [fn(&mut Generation); 3] = [
        |generation| generation.pins.clear(),
        |generation| generation.floors.clear(),
        |generation| generation.time_seen = 0,
    ];
    for shrink in shrinks {
        let bench = Bench::with_two_versions();
        bench.force_generation(|generation| {
            generation.floors.insert(id(CPU), 1);
        });
        bench.store.verify_chain().unwrap();
        bench.force_generation(|generation| {
            generation.packages.clear();
            generation.active.clear();
            shrink(generation);
        });
        let broken = bench.store.verify_chain().unwrap_err();
        assert_eq!(broken.code(), Code::StoreCorrupt, "{broken}");
    }
}

fn revoke(bench: &Bench, withdrawal: Withdrawal, dry_run: bool) -> Result<Revoked> {
    let options = RevokeOptions {
        withdrawal,
        reason: Some("a test".parse().unwrap()),
        dry_run,
    };
    bench
        .store
        .trust_revoke(&bench.publisher.record.id, &options)
}

#[test]
fn a_superseded_key_installs_nothing_and_what_it_installed_loads() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let revoked = revoke(&bench, Withdrawal::Superseded, false).unwrap();
    assert_eq!((revoked.stopped.len(), revoked.generation), (0, 3));
    assert_eq!(bench.enabled_version().unwrap(), "1.0.0");
    bench.install_refuses(&bench.package(CPU, "1.0.1"), &options(), Code::KeyRevoked);
    let again = bench.store_refuses(Code::Usage, || {
        revoke(&bench, Withdrawal::Superseded, false)
    });
    assert!(again.to_string().contains("never taken back"), "{again}");
    // It may become stricter, and it isn't given back by adding the key.
    revoke(&bench, Withdrawal::Compromised { since_gen: 0 }, false).unwrap();
    let added = || {
        bench
            .store
            .trust_add(&bench.publisher.record, &grant("org.guild.more"))
    };
    bench.store_refuses(Code::KeyRevoked, added);
}

#[test]
fn a_compromised_key_s_packages_stop_from_a_generation_on() {
    let bench = Bench::with_two_versions();
    let from_three = Withdrawal::Compromised { since_gen: 2 };
    let before = bench.listing();
    let preview = revoke(&bench, from_three, true).unwrap();
    assert_eq!(bench.listing(), before, "a preview changed the store");
    let revoked = revoke(&bench, from_three, false).unwrap();
    for (stopped, generation) in [(preview.stopped, 3), (revoked.stopped, revoked.generation)] {
        let stopped: Vec<_> = stopped.iter().map(ToString::to_string).collect();
        assert_eq!(
            (stopped, generation < 5),
            (vec![format!("{CPU}@1.0.1")], true)
        );
    }
    assert_eq!(bench.store.enabled().unwrap_err().code(), Code::KeyRevoked);
    bench.store.rollback(None, BACK).unwrap();
    assert_eq!(bench.enabled_version().unwrap(), "1.0.0");
    for milder in [
        Withdrawal::Superseded,
        from_three,
        Withdrawal::Compromised { since_gen: 3 },
    ] {
        bench.store_refuses(Code::Usage, || revoke(&bench, milder, false));
    }
    bench.store_refuses(Code::Usage, || {
        revoke(&bench, Withdrawal::Compromised { since_gen: 99 }, false)
    });
    revoke(&bench, Withdrawal::Compromised { since_gen: 0 }, false).unwrap();
    assert_eq!(bench.store.enabled().unwrap_err().code(), Code::KeyRevoked);
}

#[test]
fn a_key_is_found_by_an_unambiguous_beginning() {
    let bench = Bench::new();
    let trust = bench.store.trust().unwrap();
    let id = bench.publisher.record.id;
    let text = id.to_string();
    for found in [&text[..], &text[..16]] {
        assert_eq!(trust.find(found).unwrap(), id);
    }
    for unknown in ["", "gk1-", &text[..15], "gk1-000000000000", "\u{1b}[31m"] {
        let error = trust.find(unknown).unwrap_err();
        assert_eq!(error.code(), Code::NotFound);
        assert!(!error.to_string().contains('\u{1b}'));
    }
}

#[test]
fn row_48_a_floor_only_rises_and_counts_for_every_way_in() {
    let bench = Bench::with_two_versions();
    let raised = bench.store.raise_floor(&id(CPU), 2).unwrap();
    assert_eq!(
        (raised.previous, raised.floor, raised.below.len()),
        (0, 2, 2)
    );
    assert_eq!(
        raised.enabled_below.unwrap().to_string(),
        format!("{CPU}@1.0.1")
    );
    for not_above in [0, 1, 2] {
        bench.store_refuses(Code::Usage, || bench.store.raise_floor(&id(CPU), not_above));
    }
    bench.install_refuses(
        &bench.package(CPU, "1.0.2"),
        &options(),
        Code::DowngradeRefused,
    );
    bench.store_refuses(Code::RollbackUnavailable, || {
        bench.store.rollback(None, BACK)
    });
    bench.store.remove(&id(CPU), None).unwrap();
    bench.install_refuses(
        &bench.package(CPU, "1.0.0"),
        &options(),
        Code::DowngradeRefused,
    );
    // A package that was never seen may have one.
    bench.store.raise_floor(&id(OTHER), 2).unwrap();
    bench.install_refuses(
        &bench.package(OTHER, "1.0.0"),
        &options(),
        Code::DowngradeRefused,
    );
}

/// Each file of the store, damaged in turn, is one fault with its version, and nothing else is.
#[test]
fn row_57_an_examination_names_what_is_damaged_and_changes_nothing() {
    let bench = Bench::with_two_versions();
    let whole = bench.store.examine().unwrap();
    assert_eq!((whole.versions, whole.files, whole.faults.len()), (2, 4, 0));
    assert!(whole.chain.is_some() && whole.strangers.is_empty());
    let listing = bench.listing();
    let content = |path: &&std::path::PathBuf| {
        (path.starts_with("objects") || path.starts_with("meta"))
            && bench.store_path().join(path).is_file()
    };
    let files: Vec<_> = listing.keys().filter(content).cloned().collect();
    assert_eq!(files.len(), 7);
    for file in files {
        let path = bench.store_path().join(&file);
        let bytes = fs::read(&path).unwrap();
        change_byte(&path);
        let before = bench.listing();
        let examined = bench.store.examine().unwrap();
        assert_eq!(bench.listing(), before);
        // The document is both versions'.
        let shared = bytes == b"a package for tests\n";
        let expected = if shared { 2 } else { 1 };
        assert_eq!(examined.faults.len(), expected, "{}", file.display());
        assert!(examined.faults.iter().all(|fault| fault.version.is_some()));
        fs::remove_file(&path).unwrap();
        assert_eq!(bench.store.examine().unwrap().faults.len(), expected);
        fs::write(&path, &bytes).unwrap();
        let mode = fs::Permissions::from_mode(0o644);
        fs::set_permissions(&path, mode).unwrap();
        let loose = bench.store.examine().unwrap().faults.len();
        assert_eq!(loose > 0, file.starts_with("objects"), "{}", file.display());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    }
    assert_eq!(bench.listing(), listing);
}

#[test]
fn what_is_no_part_of_the_store_is_listed_and_left_alone() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let strangers = [
        "HEAD.tmp",
        "./notes.txt",
        "gen/9-00000000.json",
        "gen/readme",
        "objects/sha256/zz/file",
        "meta/sha256/ab/short",
        "staging/0123456789abcdef",
        "trust/7.json",
    ];
    for path in strangers {
        let path = bench.store_path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"x").unwrap();
    }
    let examined = bench.store.examine().unwrap();
    let found: std::collections::BTreeSet<_> = examined
        .strangers
        .iter()
        .map(|path| path.as_str().trim_start_matches("./"))
        .collect();
    let expected = strangers.map(|path| path.trim_start_matches("./"));
    assert_eq!(found, expected.into_iter().collect());
    assert!(examined.faults.is_empty());
    // Garbage is what the store wrote, not what others put there.
    assert_eq!(bench.store.collect_garbage().unwrap().files, 0);
    assert!(bench.store_path().join("objects/sha256/zz/file").exists());
}

#[test]
fn a_folder_s_bundles_are_judged_as_an_install_would() {
    let bench = Bench::with_two_versions();
    bench.store.rollback(None, BACK).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stranger = Publisher::new(folder.path(), "stranger");
    for (name, bytes) in [
        ("a.gkernel", bench.package(CPU, "1.0.2")),
        ("b.gkernel", bench.package(CPU, "1.0.1")),
        ("c.gkmodule", bench.package(OTHER, "1.0.0")),
        ("d.gkernel", bench.package_by(&stranger, CPU, "1.0.3", "")),
        ("e.txt", b"no bundle".to_vec()),
        ("f.gkernel", b"no bundle".to_vec()),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let before = bench.listing();
    let offers = bench
        .store
        .offers(folder.path(), &options().verify)
        .unwrap();
    assert_eq!(bench.listing(), before);
    let seen: Vec<_> = offers
        .iter()
        .map(|offer| {
            let name = offer.file.file_name().unwrap().to_string_lossy();
            match &offer.package {
                Ok(offered) => format!("{name} {} {}", offered.version, offered.is_update()),
                Err(error) => format!("{name} {}", error.code().name()),
            }
        })
        .collect();
    let expected = [
        "a.gkernel 1.0.2 true",
        "b.gkernel 1.0.1 false",
        "c.gkmodule 1.0.0 false",
        "d.gkernel KEY_UNTRUSTED",
        "f.gkernel BUNDLE_MALFORMED",
    ];
    assert_eq!(seen, expected);
    let offered = offers[0].package.as_ref().unwrap();
    assert_eq!(offered.enabled, Some(version("1.0.0")));
    assert_eq!(offered.newest, Some(version("1.0.1")));
}

/// A version may not change to one that an enabled package forbids: not by `enable`, `rollback` or `install`.
#[test]
fn row_47_a_version_that_a_dependent_forbids_is_not_enabled() {
    let bench = Bench::with_two_versions();
    let lines = format!("depends = [{{ id = \"{CPU}\", req = \"~1.0.1\", min_epoch = 1 }}]");
    bench
        .install(&bench.package_by(&bench.publisher, OTHER, "1.0.0", &lines))
        .unwrap();
    bench.store_refuses(Code::DependencyMissing, || {
        bench.store.enable(&id(CPU), Some(&version("1.0.0")))
    });
    unavailable(&bench, OTHER, "1.0.0, 1.0.1");
    bench.install_refuses(
        &bench.package(CPU, "1.1.0"),
        &options(),
        Code::DependencyMissing,
    );
    bench.install(&bench.package(CPU, "1.0.2")).unwrap();
    bench.store.disable(&id(OTHER), None).unwrap();
    bench
        .store
        .enable(&id(CPU), Some(&version("1.0.0")))
        .unwrap();
}

/// Numbers that the strict reader refuses are never written.
#[test]
fn an_epoch_that_no_reader_takes_is_refused() {
    let bench = Bench::with_two_versions();
    for epoch in [JSON_MAX_INTEGER + 1, u64::MAX] {
        bench.store_refuses(Code::BundleMalformed, || {
            bench.store.raise_floor(&id(CPU), epoch)
        });
    }
    bench.store.raise_floor(&id(CPU), JSON_MAX_INTEGER).unwrap();
    assert_eq!(
        bench.store.generation().unwrap().floors[&id(CPU)],
        JSON_MAX_INTEGER
    );
}

#[test]
fn a_drain_that_ran_out_is_waited_for_again() {
    let bench = Bench::with_two_versions();
    let leased = bench.store.enabled_with_leases("long").unwrap();
    let short = Some(Duration::from_millis(20));
    for _ in 0..2 {
        let busy = bench.store.disable(&id(CPU), short).unwrap_err();
        assert_eq!(busy.code(), Code::ActiveSessionBusy);
    }
    drop(leased);
    // Longer than any clock runs: for ever, not a panic.
    let ended = bench.store.disable(&id(CPU), Some(Duration::MAX)).unwrap();
    assert!(!ended.changed);
}

#[test]
fn a_hold_keeps_the_highest_version_and_ends_with_a_choice() {
    let bench = Bench::with_two_versions();
    let pin = RollbackOptions { pin: true, ..BACK };
    assert_eq!(
        bench.store.rollback(None, pin).unwrap().held,
        Some(version("1.0.1"))
    );
    // Nothing is left behind by going to where one is.
    let nowhere = RollbackOptions { pin: true, ..to(4) };
    bench.store_refuses(Code::Usage, || {
        bench.store.rollback(Some(&id(CPU)), nowhere)
    });
    bench.store.disable(&id(CPU), None).unwrap();
    bench.store_refuses(Code::Usage, || bench.store.rollback(Some(&id(CPU)), pin));
    let old = InstallOptions {
        allow_downgrade: true,
        ..options()
    };
    bench
        .install_with(&bench.package(CPU, "0.9.0"), &old)
        .unwrap();
    bench
        .store
        .enable(&id(CPU), Some(&version("0.9.0")))
        .unwrap();
    let lower = bench
        .store
        .rollback(Some(&id(CPU)), RollbackOptions { pin: true, ..to(4) })
        .unwrap();
    assert_eq!(lower.held, Some(version("1.0.1")));
    let chosen = bench
        .store
        .enable(&id(CPU), Some(&version("1.0.1")))
        .unwrap();
    assert_eq!(chosen.held, None);
}

#[test]
fn a_choice_by_hand_follows_its_package_and_ends_with_it() {
    let bench = Bench::with_two_versions();
    bench.force_generation(|generation| {
        let active = generation.active.values_mut().next().unwrap();
        active.mode = ActiveMode::Manual;
    });
    bench.store.rollback(None, BACK).unwrap();
    let active = bench.store.active().unwrap()[0].1.clone();
    assert_eq!(
        (active.version, active.mode),
        (version("1.0.0"), ActiveMode::Manual)
    );
    bench.install(&bench.package(OTHER, "1.0.0")).unwrap();
    assert_eq!(bench.server().unwrap(), format!("{CPU} 1.0.0"));
    bench.store.disable(&id(CPU), None).unwrap();
    let active = bench.store.active().unwrap()[0].1.clone();
    assert_eq!((active.id, active.mode), (id(OTHER), ActiveMode::Auto));
}

#[test]
fn candidates_say_what_could_be_enabled_and_why_not() {
    let bench = Bench::with_two_versions();
    bench.install(&bench.package(CPU, "1.0.2")).unwrap();
    bench.store.disable(&id(CPU), None).unwrap();
    bench.store.raise_floor(&id(CPU), 2).unwrap();
    let candidates = bench.store.candidates(None).unwrap();
    assert_eq!(candidates.len(), 3);
    for candidate in &candidates {
        let code = candidate.refusal.as_ref().unwrap().code();
        assert_eq!(
            (candidate.enabled, candidate.was_enabled, code),
            (false, true, Code::DowngradeRefused)
        );
    }
    assert_eq!(
        bench.store.candidates(Some(&id(OTHER))).unwrap_err().code(),
        Code::NotFound
    );
}
