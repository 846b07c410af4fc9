//! `remove`, `gc` and sessions that are in the way: rows 53, 66 and 78.

use crate::unprobed::Unprobed;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use guild_package::{Code, Error, Result};

use crate::fixture::{Bench, options};
use crate::versions::{BACK, CPU, change_byte, id, version};

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

/// What is removed can't be gone back to, and what stays is remembered as it was.
#[test]
fn a_removed_version_leaves_the_history() {
    let bench = Bench::with_two_versions();
    bench
        .store
        .remove(&id(CPU), Some(&version("1.0.0")))
        .unwrap();
    let state = bench.store.generation().unwrap();
    assert_eq!(state.packages[&id(CPU)].history, [version("1.0.1")]);
    assert_eq!(bench.server().unwrap(), format!("{CPU} 1.0.1"));
    bench.store_refuses(Code::RollbackUnavailable, || {
        bench.store.rollback(None, BACK, &Unprobed)
    });
}

/// Whoever disables a package that is disabled hears which sessions have it still.
#[test]
fn sessions_of_a_disabled_package_are_named() {
    let bench = Bench::with_two_versions();
    let lease = bench.store.enabled_with_leases("chat 8").unwrap();
    bench.store.rollback(None, BACK, &Unprobed).unwrap();
    bench.store.disable(&id(CPU), None).unwrap();
    let again = bench.store.disable(&id(CPU), None).unwrap();
    assert!(!again.changed);
    let in_use: Vec<_> = again
        .in_use
        .iter()
        .map(|it| (it.version.to_string(), it.sessions[0].session.to_string()))
        .collect();
    assert_eq!(in_use, [("1.0.1".to_owned(), "chat 8".to_owned())]);
    drop(lease);
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
    bench.store.rollback(None, BACK, &Unprobed).unwrap();
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
    assert!(busy.next_step().contains("It is disabled"), "{busy}");
    assert!(bench.store.enabled_with_leases("new").unwrap().is_empty());
    // The session goes on: its files are there.
    let plugin = package.plugin_artifact().unwrap();
    package
        .open_artifact(&plugin)
        .unwrap()
        .copy_verified(|_| Ok(()))
        .unwrap();
    bench.store.enable(&id(CPU), None, &Unprobed).unwrap();
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
    assert_eq!(
        baseline, 5,
        "plugin, document, manifest, envelope and receipt"
    );
    bench.install(&bench.package(CPU, "1.0.1")).unwrap();
    assert_eq!(bench.store.collect_garbage().unwrap().files, 0);
    // The document is both versions'.
    assert_eq!(stored_files(&bench), 9);
    bench.store.rollback(None, BACK, &Unprobed).unwrap();
    bench
        .store
        .remove(&id(CPU), Some(&version("1.0.1")))
        .unwrap();
    let collected = bench.store.collect_garbage().unwrap();
    assert_eq!((collected.files, collected.in_use), (4, 0));
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
    assert_eq!((collected.in_use, collected.files), (1, 6));
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
    let package = listed[0].package.as_ref().unwrap();
    change_byte(&bench.meta(package.manifest_digest()));
    bench.store_refuses(Code::StoreCorrupt, || bench.store.collect_garbage());
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
    let end = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        drop(leased);
    });
    // Longer than any clock runs: for ever, not a panic. Who had it at first has it no more.
    let ended = bench.store.disable(&id(CPU), Some(Duration::MAX)).unwrap();
    assert!(!ended.changed && ended.in_use.is_empty());
    end.join().unwrap();
}
