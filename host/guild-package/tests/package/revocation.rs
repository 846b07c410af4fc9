//! Keys that are withdrawn and floors that are raised: row 48.

use crate::unprobed::Unprobed;
use guild_package::limits::JSON_MAX_INTEGER;
use guild_package::store::{RevokeOptions, Revoked};
use guild_package::trust::Withdrawal;
use guild_package::{Code, Result};

use crate::fixture::{Bench, grant, options};
use crate::versions::{BACK, CPU, OTHER, id};

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
    assert!(again.next_step().contains("never taken back"), "{again}");
    // It may become stricter, and it isn't given back by adding the key.
    revoke(&bench, Withdrawal::Compromised { since_gen: 0 }, false).unwrap();
    let added = || {
        bench
            .store
            .trust_add(&bench.publisher.record, &grant("org.guild.more"))
    };
    bench.store_refuses(Code::KeyRevoked, added);
}

/// Also where a stricter withdrawal follows that gives none.
#[test]
fn the_reason_of_a_withdrawal_stays() {
    let bench = Bench::with_two_versions();
    let key = bench.publisher.record.id;
    let withdraw = |withdrawal, reason: Option<&str>| {
        let options = RevokeOptions {
            withdrawal,
            reason: reason.map(|reason| reason.parse().unwrap()),
            dry_run: false,
        };
        let revoked = bench.store.trust_revoke(&key, &options).unwrap();
        let trust = bench.store.trust().unwrap();
        assert_eq!(trust.key(&key), Some(&revoked.key));
        let changes = bench.store.log(1).unwrap().remove(0).trust_changes;
        (
            revoked.key.reason.unwrap().to_string(),
            changes[0].to_string(),
        )
    };
    let compromised = |since_gen| Withdrawal::Compromised { since_gen };
    for (withdrawal, given, reason, words) in [
        (Withdrawal::Superseded, Some("old"), "old", "retired: old"),
        (
            compromised(2),
            None,
            "old",
            "compromised, believed up to generation 2: old",
        ),
        (
            compromised(1),
            Some("lost"),
            "lost",
            "compromised, believed up to generation 1: lost",
        ),
        (
            compromised(0),
            None,
            "lost",
            "compromised, believed in nothing: lost",
        ),
    ] {
        let (kept, line) = withdraw(withdrawal, given);
        assert_eq!(kept, reason);
        let expected = format!("key withdrawn {} (publisher): {words}", key.short());
        assert_eq!(line, expected);
    }
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
    let refused = bench.store.enabled().unwrap_err();
    assert_eq!(refused.code(), Code::KeyRevoked);
    // It names the package, and a command that takes it out of the way.
    let (text, next) = (refused.to_string(), refused.next_step());
    assert!(
        text.starts_with(&format!("{CPU} 1.0.1 is enabled")),
        "{text}"
    );
    assert!(
        next.contains(&format!("`guild kernel disable {CPU}`")),
        "{next}"
    );
    bench.store.rollback(None, BACK, &Unprobed).unwrap();
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
    // What has the epoch itself isn't below it.
    let at_it = bench.store.raise_floor(&id(CPU), 1).unwrap();
    assert_eq!((at_it.below.len(), at_it.enabled_below), (0, None));
    let raised = bench.store.raise_floor(&id(CPU), 2).unwrap();
    assert_eq!(
        (raised.previous, raised.floor, raised.below.len()),
        (1, 2, 2)
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
        bench.store.rollback(None, BACK, &Unprobed)
    });
    bench.store.remove(&id(CPU), None).unwrap();
    bench.install_refuses(
        &bench.package(CPU, "1.0.0"),
        &options(),
        Code::DowngradeRefused,
    );
    // A package that was removed is known all the same; one that was never seen may have a floor too.
    assert!(bench.store.raise_floor(&id(CPU), 3).unwrap().known);
    assert!(!bench.store.raise_floor(&id(OTHER), 2).unwrap().known);
    bench.install_refuses(
        &bench.package(OTHER, "1.0.0"),
        &options(),
        Code::DowngradeRefused,
    );
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
