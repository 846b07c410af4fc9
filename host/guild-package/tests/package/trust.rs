//! Rows 34 to 40 and 49 to 52: who may sign what, and when.

use crate::unprobed::Unprobed;
use guild_package::manifest::Kind;
use guild_package::store::{Store, StoreOptions};
use guild_package::trust::{KeyStatus, Right, Scope, TrustStore};
use guild_package::{Code, Digest, Error, InstallOptions, VerifyOptions};

use crate::fixture::{Bench, NOW_S, Publisher, grant, options};

#[test]
fn a_new_store_trusts_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("kernels"), StoreOptions::default()).unwrap();
    assert!(store.trust().unwrap().keys().is_empty());
    let bench = Bench::new();
    let bundle = bench.bundle_file(&bench.package("org.guild.kernels.cpu", "1.0.0"));
    let refused = store.install(&bundle, &options(), &Unprobed).unwrap_err();
    assert_eq!(refused.code(), Code::KeyUntrusted);
    assert!(
        refused
            .to_string()
            .contains(&bench.publisher.record.id.to_string())
    );
    assert!(refused.next_step().contains("guild kernel trust add"));
}

#[test]
fn row_34_a_key_signs_inside_its_scope_only() {
    let bench = Bench::new();
    let other = Publisher::new(bench.path(), "other");
    bench
        .store
        .trust_add(&other.record, &grant("org.acme.kernels"))
        .unwrap();
    for id in [
        "org.acme.kernelsx",
        "org.acme.kernels-x",
        "org.acme",
        "org.acmekernels.cpu",
        "com.org.acme.kernels",
    ] {
        bench.refuses(
            &bench.package_by(&other, id, "1.0.0", ""),
            Code::ScopeDenied,
        );
    }
    for id in [
        "org.acme.kernels",
        "org.acme.kernels.cpu",
        "org.acme.kernels.a.b",
    ] {
        assert!(
            bench
                .verify(&bench.package_by(&other, id, "1.0.0", ""))
                .is_ok(),
            "{id}"
        );
    }
}

#[test]
fn row_34_the_longest_scope_decides_alone() {
    let bench = Bench::new();
    let other = Publisher::new(bench.path(), "other");
    let scope = |prefix: &str| Scope::publish(prefix.parse().unwrap()).unwrap();
    let modules_only = Scope {
        kinds: vec![Kind::GkModule],
        ..scope("org.acme.kernels")
    };
    let no_publish = Scope {
        rights: vec![Right::Rotate],
        ..scope("org.acme.runners")
    };
    let other_machine = Scope {
        targets: vec!["linux-riscv64".parse().unwrap()],
        ..scope("org.acme.modules")
    };
    let mut rights = grant("org.acme");
    rights
        .scopes
        .extend([modules_only, no_publish, other_machine]);
    bench.store.trust_add(&other.record, &rights).unwrap();
    assert!(
        bench
            .verify(&bench.package_by(&other, "org.acme.tools", "1.0.0", ""))
            .is_ok()
    );
    for id in [
        "org.acme.kernels.cpu",
        "org.acme.runners.x",
        "org.acme.modules.x",
    ] {
        bench.refuses(
            &bench.package_by(&other, id, "1.0.0", ""),
            Code::ScopeDenied,
        );
    }
}

#[test]
fn scopes_are_given_with_care() {
    let bench = Bench::new();
    let other = Publisher::new(bench.path(), "other");
    let refuses = |grant| {
        bench
            .store
            .trust_add(&other.record, &grant)
            .unwrap_err()
            .code()
    };
    let before = bench.listing();
    let mut none = grant("org.acme");
    none.scopes.clear();
    assert_eq!(refuses(none), Code::Usage);
    assert_eq!(refuses(grant("*")), Code::Usage);
    let mut twice = grant("org.acme");
    twice.scopes.push(twice.scopes[0].clone());
    assert_eq!(refuses(twice), Code::Usage);
    assert_eq!(bench.listing(), before);

    let mut everything = grant("*");
    everything.everything_understood = true;
    bench.store.trust_add(&other.record, &everything).unwrap();
    assert!(
        bench
            .verify(&bench.package_by(&other, "net.example.x", "1.0.0", ""))
            .is_ok()
    );
    assert_eq!(refuses(everything_again()), Code::Usage);
    bench
        .store
        .trust_add(&other.record, &grant("org.acme"))
        .unwrap();
    let trust = bench.store.trust().unwrap();
    assert_eq!(trust.key(&other.record.id).unwrap().scopes.len(), 2);
    assert!(trust.key(&other.record.id).unwrap().test_identity);
}

fn everything_again() -> guild_package::trust::Grant {
    guild_package::trust::Grant {
        everything_understood: true,
        ..grant("*")
    }
}

#[test]
fn row_35_the_caller_says_which_package_it_wants() {
    let bench = Bench::new();
    let bytes = bench.package("org.guild.kernels.cpu", "1.0.0");
    let wanting = |change: fn(&mut VerifyOptions)| {
        let mut options = options();
        change(&mut options.verify);
        options
    };
    for wrong in [
        wanting(|verify| verify.id = Some("org.guild.kernels.cuda".parse().unwrap())),
        wanting(|verify| verify.version = Some("1.0.1".parse().unwrap())),
        wanting(|verify| verify.kind = Some(Kind::GkModule)),
    ] {
        bench.install_refuses(&bytes, &wrong, Code::NotFound);
    }
    let right = wanting(|verify| {
        verify.id = Some("org.guild.kernels.cpu".parse().unwrap());
        verify.version = Some("1.0.0".parse().unwrap());
        verify.kind = Some(Kind::GKernel);
    });
    bench.install_with(&bytes, &right).unwrap();
}

#[test]
fn row_36_another_publisher_does_not_take_over_an_id() {
    let bench = Bench::new();
    bench
        .install(&bench.package("org.guild.kernels.cpu", "1.0.0"))
        .unwrap();
    let other = Publisher::new(bench.path(), "other");
    bench
        .store
        .trust_add(&other.record, &grant("org.guild"))
        .unwrap();
    let next = bench.package_by(&other, "org.guild.kernels.cpu", "1.1.0", "");
    bench.install_refuses(&next, &options(), Code::KeyUntrusted);
    let accept = InstallOptions {
        accept_new_publisher: true,
        ..options()
    };
    bench.install_with(&next, &accept).unwrap();
    let generation = bench.store.generation().unwrap();
    let pinned = &generation.signers[&"org.guild.kernels.cpu".parse().unwrap()];
    assert_eq!(pinned, &[other.record.id]);
    // Now the first publisher is the stranger.
    bench.install_refuses(
        &bench.package("org.guild.kernels.cpu", "1.2.0"),
        &options(),
        Code::KeyUntrusted,
    );
}

#[test]
fn withdrawn_keys_install_nothing() {
    for status in [KeyStatus::Retired, KeyStatus::Compromised] {
        let bench = Bench::new();
        bench.force_trust(|body| {
            body.keys[0].status = status;
            body.keys[0].reason = Some("laptop lost".parse().unwrap());
        });
        let bytes = bench.package("org.guild.kernels.cpu", "1.0.0");
        bench.refuses(&bytes, Code::KeyRevoked);
        let message = bench.install(&bytes).unwrap_err().to_string();
        assert!(message.contains("laptop lost"), "{message}");
        // A withdrawal is never taken back by adding the key again.
        let again = bench
            .store
            .trust_add(&bench.publisher.record, &grant("org.other"))
            .unwrap_err();
        assert_eq!(again.code(), Code::KeyRevoked);
    }
}

#[test]
fn retired_keys_stay_good_for_what_is_installed_and_compromised_ones_do_not() {
    let bench = Bench::new();
    let installed = bench
        .install(&bench.package("org.guild.kernels.cpu", "1.0.0"))
        .unwrap();
    bench.force_trust(|body| body.keys[0].status = KeyStatus::Retired);
    assert_eq!(bench.store.enabled().unwrap().len(), 1);
    bench.force_trust(|body| {
        body.keys[0].status = KeyStatus::Compromised;
        body.keys[0].since_gen = 0;
    });
    assert_eq!(bench.store.enabled().unwrap_err().code(), Code::KeyRevoked);
    let listed = bench.store.list().unwrap();
    assert!(matches!(listed[0].package, Err(Error::KeyRevoked { .. })));
    // The cut-off is a generation of this store, not a clock.
    bench.force_trust(|body| body.keys[0].since_gen = installed.generation);
    assert_eq!(bench.store.enabled().unwrap().len(), 1);
    bench.force_trust(|body| body.keys[0].since_gen = installed.generation - 1);
    assert_eq!(bench.store.enabled().unwrap_err().code(), Code::KeyRevoked);
}

#[test]
fn row_40_a_higher_scheme_is_not_read_as_this_one() {
    let bench = Bench::new();
    let bytes = bench.package("org.guild.kernels.cpu", "1.0.0");
    let manifest =
        String::from_utf8(crate::fixture::entries(&bytes)["manifest.json"].clone()).unwrap();
    let text = manifest.replacen("\"min_scheme\":1", "\"min_scheme\":2", 1);
    bench.refuses(&bench.craft(text.as_bytes(), &[]), Code::BundleMalformed);
}

#[test]
fn row_49_trust_files_are_a_contiguous_chain() {
    let bench = Bench::new();
    let first = bench.store.trust().unwrap();
    assert_eq!(first.body().n, 1);
    assert_eq!(first.body().prev, TrustStore::empty().unwrap().digest());
    let other = Publisher::new(bench.path(), "other");
    bench
        .store
        .trust_add(&other.record, &grant("org.acme"))
        .unwrap();
    let second = bench.store.trust().unwrap();
    assert_eq!((second.body().n, second.body().prev), (2, first.digest()));
    let generation = bench.store.generation().unwrap();
    assert_eq!(
        (generation.trust.n, generation.trust.sha256),
        (2, second.digest())
    );

    let with = |change: fn(&mut guild_package::trust::TrustBody)| {
        let mut body = second.body().clone();
        change(&mut body);
        TrustStore::decode(&serde_json::to_vec(&body).unwrap())
    };
    assert!(with(|_| {}).is_ok());
    assert!(with(|body| body.n = 0).is_err());
    assert!(with(|body| body.prev = Digest::NONE).is_err());
    assert!(with(|body| body.schema = 2).is_err());
    assert!(with(|body| body.keys.swap(0, 1)).is_err());
    assert!(with(|body| body.keys[1] = body.keys[0].clone()).is_err());
    assert!(with(|body| body.keys[0].id = body.keys[1].id).is_err());
    assert!(with(|body| body.keys[0].scopes.clear()).is_err());
    let spaced = [second.bytes(), b"\n"].concat();
    assert!(TrustStore::decode(&spaced).is_err());
}

#[test]
fn row_51_expired_packages_and_keys_are_refused() {
    let bench = Bench::new();
    let expiring = |expires_at: u64| {
        let line = format!("expires_at = {expires_at}");
        bench.package_by(&bench.publisher, "org.guild.kernels.cpu", "1.0.0", &line)
    };
    bench.refuses(&expiring(NOW_S), Code::Expired);
    bench.refuses(&expiring(NOW_S - 1), Code::Expired);
    assert!(bench.verify(&expiring(NOW_S + 1)).is_ok());
    for (from, until, good) in [
        (NOW_S, NOW_S + 1, true),
        (NOW_S + 1, NOW_S + 2, false),
        (0, NOW_S, false),
    ] {
        let other = Publisher::new(bench.path(), &format!("until-{from}-{until}"));
        let mut window = grant("org.acme");
        (window.not_before, window.not_after) = (Some(from), Some(until));
        bench.store.trust_add(&other.record, &window).unwrap();
        let bytes = bench.package_by(&other, "org.acme.cpu", "1.0.0", "");
        match good {
            true => assert!(bench.verify(&bytes).is_ok()),
            false => bench.refuses(&bytes, Code::Expired),
        }
    }
}

#[test]
fn row_52_turning_the_clock_back_revives_nothing() {
    let bench = Bench::new();
    let line = format!("expires_at = {}", NOW_S + 100);
    let bytes = bench.package_by(&bench.publisher, "org.guild.kernels.cpu", "1.0.0", &line);
    let at = |now_s: u64| InstallOptions {
        verify: VerifyOptions {
            now_s,
            ..VerifyOptions::default()
        },
        ..InstallOptions::default()
    };
    bench
        .install_with(&bench.package("org.guild.other", "1.0.0"), &at(NOW_S + 200))
        .unwrap();
    bench.install_refuses(&bytes, &at(NOW_S + 200), Code::Expired);
    bench.install_refuses(&bytes, &at(NOW_S - 300_000_000), Code::Expired);
    assert_eq!(bench.store.generation().unwrap().time_seen, NOW_S + 200);
}
