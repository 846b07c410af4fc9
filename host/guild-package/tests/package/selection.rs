//! `enable`, `disable` and `rollback`: rows 46, 47 and 60, and what the commands do where nobody attacks.

use crate::unprobed::Unprobed;
use std::fs;
use std::time::Duration;

use guild_package::store::generation::ActiveMode;
use guild_package::store::{RollbackOptions, Selected};
use guild_package::trust::KeyStatus;
use guild_package::{Code, InstallOptions};

use crate::fixture::{Bench, options};
use crate::versions::{BACK, CPU, OTHER, change_byte, id, version};

/// What `--pin` and `--to` ask for.
fn to(generation: u64) -> RollbackOptions {
    RollbackOptions {
        to_generation: Some(generation),
        pin: false,
    }
}

#[test]
fn any_installed_version_is_enabled_and_serves_its_names() {
    let bench = Bench::with_two_versions();
    let selected = bench
        .store
        .enable(&id(CPU), Some(&version("1.0.0")), &Unprobed)
        .unwrap();
    let expected = Selected {
        id: id(CPU),
        previous: Some(version("1.0.1")),
        enabled: Some(version("1.0.0")),
        held: None,
        generation: 4,
        changed: true,
        probed: selected.probed.clone(),
        receipt: selected.receipt,
        in_use: Vec::new(),
    };
    assert_eq!(selected, expected);
    assert_eq!(bench.server().unwrap(), format!("{CPU} 1.0.0"));
    let again = bench
        .store
        .enable(&id(CPU), Some(&version("1.0.0")), &Unprobed)
        .unwrap();
    assert!(!again.changed && again.generation == 4);
    assert_eq!(
        bench
            .store
            .enable(&id(CPU), None, &Unprobed)
            .unwrap()
            .enabled,
        Some(version("1.0.1"))
    );
    for absent in [(OTHER, None), (CPU, Some(version("1.0.2")))] {
        let (package, version) = absent;
        bench.store_refuses(Code::NotFound, || {
            bench
                .store
                .enable(&id(package), version.as_ref(), &Unprobed)
        });
    }
}

#[test]
fn disabling_hands_the_names_to_the_next_package_and_enabling_takes_them_back() {
    let bench = Bench::with_two_versions();
    bench.install(&bench.package(OTHER, "2.0.0")).unwrap();
    bench
        .store
        .enable(&id(CPU), Some(&version("1.0.0")), &Unprobed)
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
    bench.store.enable(&id(CPU), None, &Unprobed).unwrap();
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
        bench.store.enable(&id(OTHER), None, &Unprobed)
    });
}

#[test]
fn a_rollback_goes_back_and_a_second_one_forward_again() {
    let bench = Bench::with_two_versions();
    let back = bench
        .store
        .rollback(Some(&id(CPU)), BACK, &Unprobed)
        .unwrap();
    assert_eq!(
        (back.previous, back.enabled),
        (Some(version("1.0.1")), Some(version("1.0.0")))
    );
    assert_eq!(back.generation, 4);
    assert!(back.probed.is_some(), "its code wasn't run");
    let forward = bench.store.rollback(None, BACK, &Unprobed).unwrap();
    assert_eq!(forward.enabled, Some(version("1.0.1")));
    // A disabled package goes back to what was enabled last.
    bench.store.disable(&id(CPU), None).unwrap();
    let again = bench.store.rollback(None, BACK, &Unprobed).unwrap();
    assert_eq!(again.enabled, Some(version("1.0.1")));
}

#[test]
fn a_rollback_to_a_generation_enables_what_it_had() {
    let bench = Bench::with_two_versions();
    let back = bench
        .store
        .rollback(Some(&id(CPU)), to(2), &Unprobed)
        .unwrap();
    assert_eq!(back.enabled, Some(version("1.0.0")));
    // Numbers go on: the old state is a new generation.
    assert_eq!(bench.store.generation().unwrap().n, 4);
    bench.store_refuses(Code::RollbackUnavailable, || {
        bench.store.rollback(Some(&id(CPU)), to(1), &Unprobed)
    });
    bench.store_refuses(Code::NotFound, || {
        bench.store.rollback(Some(&id(CPU)), to(5), &Unprobed)
    });
}

#[test]
fn a_pinned_rollback_holds_until_something_newer_comes() {
    let bench = Bench::with_two_versions();
    let pin = RollbackOptions { pin: true, ..BACK };
    bench
        .store
        .rollback(Some(&id(CPU)), pin, &Unprobed)
        .unwrap();
    bench
        .store
        .remove(&id(CPU), Some(&version("1.0.1")))
        .unwrap();
    let again = bench.install(&bench.package(CPU, "1.0.1")).unwrap();
    assert_eq!(again.enabled, Some(version("1.0.0")));
    assert_eq!(bench.enabled_version().unwrap(), "1.0.0");
    let held_back = |bench: &Bench| {
        let rows = bench.store.list().unwrap();
        rows.iter().map(|row| row.held_back).collect::<Vec<bool>>()
    };
    assert_eq!(held_back(&bench), [true, true]);
    let newer = bench.install(&bench.package(CPU, "1.0.2")).unwrap();
    assert_eq!(newer.enabled, Some(version("1.0.2")));
    // Not held any more.
    assert_eq!(held_back(&bench), [false, false, false]);
    assert!(bench.store.generation().unwrap().held.is_empty());
}

#[test]
fn a_store_without_an_earlier_version_has_nothing_to_go_back_to() {
    let bench = Bench::new();
    bench.store_refuses(Code::RollbackUnavailable, || {
        bench.store.rollback(None, BACK, &Unprobed)
    });
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let refused = bench.store_refuses(Code::RollbackUnavailable, || {
        bench.store.rollback(None, BACK, &Unprobed)
    });
    assert!(refused.to_string().contains("1.0.0"), "{refused}");
    let next = refused.next_step();
    assert!(
        next.contains(&format!("`guild kernel disable {CPU}`")),
        "{next}"
    );
}

/// A package that is disabled already may still run in a session that began before.
#[test]
fn a_disabled_package_that_a_session_has_says_so() {
    let bench = Bench::with_two_versions();
    let session = bench.store.enabled_with_leases("a long chat").unwrap();
    let drained = bench.store.disable(&id(CPU), Some(Duration::ZERO));
    assert_eq!(drained.unwrap_err().code(), Code::ActiveSessionBusy);
    let again = bench.store.disable(&id(CPU), None).unwrap();
    assert!(!again.changed);
    let [in_use] = again.in_use.as_slice() else {
        panic!("{:?}", again.in_use);
    };
    assert_eq!(in_use.version, version("1.0.1"));
    let who: Vec<String> = in_use.sessions.iter().map(ToString::to_string).collect();
    assert!(who.len() == 1 && who[0].contains("a long chat"), "{who:?}");
    drop(session);
    assert!(
        bench
            .store
            .disable(&id(CPU), None)
            .unwrap()
            .in_use
            .is_empty()
    );
}

/// The reason that stands in the message, and the versions that would do.
#[track_caller]
fn unavailable(bench: &Bench, reason: &str, would_do: &str) {
    let refused = bench.store_refuses(Code::RollbackUnavailable, || {
        bench.store.rollback(Some(&id(CPU)), BACK, &Unprobed)
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
        bench
            .store
            .enable(&id(CPU), Some(&version("1.0.0")), &Unprobed)
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
    bench
        .store
        .rollback(Some(&id(CPU)), BACK, &Unprobed)
        .unwrap();
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
    let object = bench.object(package.plugin_artifact().unwrap().sha256());
    change_byte(&object);
    bench.store_refuses(Code::RollbackUnavailable, || {
        bench.store.rollback(Some(&id(CPU)), BACK, &Unprobed)
    });
    fs::remove_file(&object).unwrap();
    unavailable(&bench, "missing", "1.0.1");
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
        bench
            .store
            .enable(&id(CPU), Some(&version("1.0.0")), &Unprobed)
    });
    unavailable(&bench, OTHER, "1.0.1");
    let candidates = bench.store.candidates(Some(&id(CPU))).unwrap();
    let refused: Vec<_> = candidates
        .iter()
        .map(|it| it.refusal.as_ref().map(guild_package::Error::code))
        .collect();
    assert_eq!(refused, [Some(Code::DependencyMissing), None]);
    bench.install_refuses(
        &bench.package(CPU, "1.1.0"),
        &options(),
        Code::DependencyMissing,
    );
    bench.install(&bench.package(CPU, "1.0.2")).unwrap();
    bench.store.disable(&id(OTHER), None).unwrap();
    bench
        .store
        .enable(&id(CPU), Some(&version("1.0.0")), &Unprobed)
        .unwrap();
}

#[test]
fn a_hold_keeps_the_highest_version_and_ends_with_a_choice() {
    let bench = Bench::with_two_versions();
    let pin = RollbackOptions { pin: true, ..BACK };
    assert_eq!(
        bench.store.rollback(None, pin, &Unprobed).unwrap().held,
        Some(version("1.0.1"))
    );
    // Nothing is left behind by going to where one is.
    let nowhere = RollbackOptions { pin: true, ..to(4) };
    bench.store_refuses(Code::Usage, || {
        bench.store.rollback(Some(&id(CPU)), nowhere, &Unprobed)
    });
    bench.store.disable(&id(CPU), None).unwrap();
    bench.store_refuses(Code::Usage, || {
        bench.store.rollback(Some(&id(CPU)), pin, &Unprobed)
    });
    let old = InstallOptions {
        allow_downgrade: true,
        ..options()
    };
    bench
        .install_with(&bench.package(CPU, "0.9.0"), &old)
        .unwrap();
    bench
        .store
        .enable(&id(CPU), Some(&version("0.9.0")), &Unprobed)
        .unwrap();
    let lower = bench
        .store
        .rollback(
            Some(&id(CPU)),
            RollbackOptions { pin: true, ..to(4) },
            &Unprobed,
        )
        .unwrap();
    assert_eq!(lower.held, Some(version("1.0.1")));
    let chosen = bench
        .store
        .enable(&id(CPU), Some(&version("1.0.1")), &Unprobed)
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
    bench.store.rollback(None, BACK, &Unprobed).unwrap();
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
