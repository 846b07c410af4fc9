//! One key follows another: rows 21 and 32.

use guild_package::key::KeyRecord;
use guild_package::rotation::{RotationBody, write_rotation};
use guild_package::sign::Purpose;
use guild_package::statement::{Base64Bytes, SignedStatement};
use guild_package::store::RevokeOptions;
use guild_package::trust::{Grant, KeyStatus, Right, RightLeft, Scope, Withdrawal};
use guild_package::{Code, Error, Result, TrustStore};

use crate::fixture::{Bench, Publisher, options};
use crate::versions::{CPU, OTHER};

/// A store that trusts a key which may name a successor, with version 1.0.0 by it, and the successor.
struct Handover {
    bench: Bench,
    old: Publisher,
    new: Publisher,
}

impl Handover {
    fn new() -> Self {
        let bench = Bench::new();
        let old = Publisher::new(bench.path(), "old");
        let mut new = Publisher::new(bench.path(), "new");
        new.record.operator = old.record.operator.clone();
        let grant = Grant {
            scopes: vec![scope("org.guild.kernels", &[Right::Publish, Right::Rotate])],
            everything_understood: false,
            not_before: None,
            not_after: None,
        };
        bench.store.trust_add(&old.record, &grant).unwrap();
        let package = bench.package_by(&old, CPU, "1.0.0", "");
        bench.install(&package).unwrap();
        Self { bench, old, new }
    }

    fn body(&self) -> RotationBody {
        RotationBody {
            schema: 1,
            from: self.old.record.id,
            to: self.new.record.clone(),
            scopes: vec!["org.guild.kernels".parse().unwrap()],
            rights_left: vec![RightLeft::VerifyInstalled],
            issued_at: 1_800_000_000,
        }
    }

    fn rotate(&self, body: &RotationBody) -> Result<TrustStore> {
        let path = self.bench.path().join("rotation.json");
        let _ = std::fs::remove_file(&path);
        write_rotation(&path, body, &self.old.seed(), &self.new.seed()).unwrap();
        self.bench.store.trust_rotate(&path, false)?;
        self.bench.store.trust()
    }

    /// Takes a statement that `write_rotation` wouldn't write.
    fn rotate_statement(&self, statement: &SignedStatement) -> Result<u64> {
        let path = self.bench.path().join("rotation.json");
        std::fs::write(&path, statement.encode("a test's").unwrap()).unwrap();
        Ok(self.bench.store.trust_rotate(&path, false)?.generation)
    }

    fn statement(&self, purpose: Purpose, signers: &[&Publisher]) -> SignedStatement {
        let seeds: Vec<_> = signers.iter().map(|signer| signer.seed()).collect();
        let seeds: Vec<_> = seeds.iter().collect();
        SignedStatement::sign("a test's", purpose, &self.body(), &seeds).unwrap()
    }
}

fn scope(prefix: &str, rights: &[Right]) -> Scope {
    let mut scope = Scope::publish(prefix.parse().unwrap()).unwrap();
    scope.rights = rights.to_vec();
    scope
}

fn status(trust: &TrustStore, record: &KeyRecord) -> KeyStatus {
    trust.key(&record.id).unwrap().status
}

#[test]
fn a_successor_publishes_in_its_predecessor_s_place() {
    let handover = Handover::new();
    let bench = &handover.bench;
    let next = bench.package_by(&handover.new, CPU, "1.0.1", "");
    bench.install_refuses(&next, &options(), Code::KeyUntrusted);
    // Its key trusted by itself is another publisher; a rotation would help, and is named.
    let twin = Handover::new();
    let grant = crate::fixture::grant("org.guild.kernels");
    twin.bench
        .store
        .trust_add(&twin.new.record, &grant)
        .unwrap();
    let early = twin.bench.package_by(&twin.new, CPU, "1.0.1", "");
    let refused = twin.bench.install(&early).unwrap_err();
    let (text, step) = (refused.to_string(), refused.next_step());
    assert!(
        text.contains("follows none of these by a rotation"),
        "{text}"
    );
    let (old, new) = (twin.old.record.id, twin.new.record.id);
    let rotation = format!("a rotation from {old} to {new}");
    assert!(
        step.contains(&rotation) && step.contains("`guild kernel trust rotate FILE`"),
        "{step}"
    );
    let trust = handover.rotate(&handover.body()).unwrap();
    assert_eq!(status(&trust, &handover.old.record), KeyStatus::Retired);
    assert_eq!(status(&trust, &handover.new.record), KeyStatus::Active);
    // What the old key installed loads; its later releases are refused, those of the new one are not, though the
    // package was installed from the old one first.
    assert_eq!(bench.enabled_version().unwrap(), "1.0.0");
    let late = bench.package_by(&handover.old, CPU, "1.0.2", "");
    bench.install_refuses(&late, &options(), Code::KeyRevoked);
    bench.install(&next).unwrap();
    assert_eq!(bench.enabled_version().unwrap(), "1.0.1");
    bench.store.verify_chain().unwrap();
    // And nowhere else.
    let elsewhere = bench.package_by(&handover.new, "org.guild.runners.new", "1.0.0", "");
    bench.install_refuses(&elsewhere, &options(), Code::ScopeDenied);
    // A key that is withdrawn names nobody.
    let later = RotationBody {
        issued_at: 1_800_000_001,
        ..handover.body()
    };
    bench.store_refuses(Code::KeyRevoked, || handover.rotate(&later));
}

#[test]
fn a_rotation_is_previewed_and_taken_twice_without_a_second_effect() {
    let handover = Handover::new();
    let store = &handover.bench.store;
    let path = handover.bench.path().join("rotation.json");
    let body = RotationBody {
        rights_left: Vec::new(),
        ..handover.body()
    };
    write_rotation(&path, &body, &handover.old.seed(), &handover.new.seed()).unwrap();
    let before = (handover.bench.listing(), store.generation().unwrap().n);
    let preview = store.trust_rotate(&path, true).unwrap();
    assert_eq!(handover.bench.listing(), before.0, "a preview changed it");
    assert_eq!((preview.is_new, preview.generation), (true, before.1));
    let taken = store.trust_rotate(&path, false).unwrap();
    assert_eq!((taken.is_new, taken.generation), (true, before.1 + 1));
    for rotated in [&preview, &taken] {
        assert_eq!(
            (rotated.stopped.len(), rotated.old_status),
            (1, KeyStatus::Compromised)
        );
    }
    // Again, and when the new key is withdrawn too.
    for dry_run in [true, false, false] {
        let before = handover.bench.listing();
        let again = store.trust_rotate(&path, dry_run).unwrap();
        assert_eq!(handover.bench.listing(), before, "the store changed");
        assert_eq!((again.is_new, again.stopped.len()), (false, 0));
        assert_eq!(again.generation, store.generation().unwrap().n);
        let trust = store.trust().unwrap();
        if status(&trust, &handover.new.record) == KeyStatus::Active && !dry_run {
            let options = RevokeOptions {
                withdrawal: Withdrawal::Superseded,
                reason: None,
                dry_run: false,
            };
            store
                .trust_revoke(&handover.new.record.id, &options)
                .unwrap();
        }
    }
    // What is refused is refused in a preview too.
    let other = Handover::new();
    other.bench.store_refuses(Code::KeyUntrusted, || {
        other.bench.store.trust_rotate(&path, true)
    });
}

#[test]
fn a_stranger_doesn_t_take_over_what_a_successor_may() {
    let handover = Handover::new();
    handover.rotate(&handover.body()).unwrap();
    let stranger = Publisher::new(handover.bench.path(), "stranger");
    let grant = crate::fixture::grant("org.guild");
    handover
        .bench
        .store
        .trust_add(&stranger.record, &grant)
        .unwrap();
    let taken = handover.bench.package_by(&stranger, CPU, "1.0.1", "");
    let refused = handover.bench.install(&taken).unwrap_err();
    assert!(
        matches!(refused, Error::PublisherChanged { .. }),
        "{refused}"
    );
    // Who did follow is named, and is asked for a release.
    let (text, step) = (refused.to_string(), refused.next_step());
    let (old, new) = (handover.old.record.id, handover.new.record.id);
    assert!(
        text.contains(&format!("{old}, followed by {new}")),
        "{text}"
    );
    assert!(
        step.contains(&format!("{new}")) && step.contains("--accept-new-publisher"),
        "{step}"
    );
}

#[test]
fn a_key_without_any_right_left_stops_at_the_next_load() {
    let handover = Handover::new();
    let body = RotationBody {
        rights_left: Vec::new(),
        ..handover.body()
    };
    let path = handover.bench.path().join("rotation.json");
    write_rotation(&path, &body, &handover.old.seed(), &handover.new.seed()).unwrap();
    let rotated = handover.bench.store.trust_rotate(&path, false).unwrap();
    let stopped: Vec<_> = rotated.stopped.iter().map(ToString::to_string).collect();
    assert_eq!(stopped, [format!("{CPU}@1.0.0")]);
    let refused = handover.bench.store.enabled().unwrap_err();
    assert_eq!(refused.code(), Code::KeyRevoked);
}

#[test]
fn row_32_a_rotation_needs_both_signatures() {
    let handover = Handover::new();
    let (old, new) = (&handover.old, &handover.new);
    let stranger = Publisher::new(handover.bench.path(), "stranger");
    let refuses = |statement: &SignedStatement, code: Code| {
        handover
            .bench
            .store_refuses(code, || handover.rotate_statement(statement))
    };
    let purpose = Purpose::KeyRotation;
    refuses(&handover.statement(purpose, &[old]), Code::SignatureInvalid);
    refuses(&handover.statement(purpose, &[new]), Code::KeyUntrusted);
    refuses(
        &handover.statement(purpose, &[old, &stranger]),
        Code::SignatureInvalid,
    );
    refuses(
        &handover.statement(purpose, &[old, new, &stranger]),
        Code::BundleMalformed,
    );
    // Each half is there and wrong.
    for index in [0, 1] {
        let mut forged = handover.statement(purpose, &[old, new]);
        let mut sig = *forged.signatures[index].sig.as_bytes();
        sig[7] ^= 1;
        forged.signatures[index].sig = guild_package::sign::Signature::from_bytes(sig);
        refuses(&forged, Code::SignatureInvalid);
    }
    // The bytes are others than were signed.
    let mut changed = handover.statement(purpose, &[old, new]);
    let text = String::from_utf8(changed.body.0.clone()).unwrap();
    changed.body = Base64Bytes(text.replace("kernels", "kernelz").into_bytes());
    refuses(&changed, Code::SignatureInvalid);
    // It goes through whole.
    handover
        .rotate_statement(&handover.statement(purpose, &[old, new]))
        .unwrap();
}

#[test]
fn row_21_a_signature_for_another_purpose_rotates_nothing() {
    let handover = Handover::new();
    let (old, new) = (&handover.old, &handover.new);
    for purpose in [
        Purpose::Release,
        Purpose::Countersign,
        Purpose::Revocation,
        Purpose::TrustRoot,
        Purpose::Checkpoint,
    ] {
        let mut statement = handover.statement(purpose, &[old, new]);
        handover.bench.store_refuses(Code::BundleMalformed, || {
            handover.rotate_statement(&statement)
        });
        statement.purpose = Purpose::KeyRotation;
        handover.bench.store_refuses(Code::SignatureInvalid, || {
            handover.rotate_statement(&statement)
        });
    }
}

#[test]
fn a_key_hands_on_no_more_than_it_may() {
    let handover = Handover::new();
    for scopes in [
        &["org.guild"][..],
        &["org.guild.kernels", "org.guild.x"],
        &["*"],
    ] {
        let mut scopes: Vec<_> = scopes.iter().map(|scope| scope.parse().unwrap()).collect();
        scopes.sort();
        let body = RotationBody {
            scopes,
            ..handover.body()
        };
        handover
            .bench
            .store_refuses(Code::ScopeDenied, || handover.rotate(&body));
    }
    // The bench's own publisher lacks the right.
    let publisher = &handover.bench.publisher;
    let body = RotationBody {
        from: publisher.record.id,
        scopes: vec!["org.guild".parse().unwrap()],
        ..handover.body()
    };
    let path = handover.bench.path().join("other.json");
    write_rotation(&path, &body, &publisher.seed(), &handover.new.seed()).unwrap();
    handover.bench.store_refuses(Code::ScopeDenied, || {
        handover.bench.store.trust_rotate(&path, false)
    });
    // A successor that was withdrawn before doesn't come back.
    let grant = crate::fixture::grant(OTHER);
    let new = handover.new.record.clone();
    handover.bench.store.trust_add(&new, &grant).unwrap();
    let options = RevokeOptions {
        withdrawal: Withdrawal::Superseded,
        reason: None,
        dry_run: false,
    };
    handover
        .bench
        .store
        .trust_revoke(&new.id, &options)
        .unwrap();
    handover
        .bench
        .store_refuses(Code::KeyRevoked, || handover.rotate(&handover.body()));
}

#[test]
fn a_successor_is_held_by_the_same_operator_and_good_for_the_same_time() {
    let handover = Handover::new();
    let mut body = handover.body();
    body.to.operator = "somebody else".parse().unwrap();
    let refused = handover
        .bench
        .store_refuses(Code::ScopeDenied, || handover.rotate(&body));
    assert!(refused.to_string().contains("somebody else"), "{refused}");

    // A key that was trusted for a time is followed for that time.
    let until_s = crate::fixture::NOW_S + 1000;
    let grant = Grant {
        not_after: Some(until_s),
        ..crate::fixture::grant("org.guild.until")
    };
    let old = handover.old.record.clone();
    handover.bench.store.trust_add(&old, &grant).unwrap();
    let trust = handover.rotate(&handover.body()).unwrap();
    let new = trust.key(&handover.new.record.id).unwrap();
    assert_eq!(new.not_after, Some(until_s));
}

#[test]
fn a_successor_that_has_the_scope_with_other_rights_is_refused() {
    let handover = Handover::new();
    let grant = Grant {
        scopes: vec![scope("org.guild.kernels", &[Right::Publish])],
        ..crate::fixture::grant("org.guild")
    };
    let new = handover.new.record.clone();
    handover.bench.store.trust_add(&new, &grant).unwrap();
    let refused = handover
        .bench
        .store_refuses(Code::ScopeDenied, || handover.rotate(&handover.body()));
    assert!(refused.to_string().contains("other rights"), "{refused}");
}
