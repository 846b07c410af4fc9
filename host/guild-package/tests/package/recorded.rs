//! What is said of a version that today's trust refuses: its files are still what they are.

use std::fs;

use guild_package::countersign::Addition;
use guild_package::envelope::Envelope;
use guild_package::sign::Purpose;
use guild_package::store::RevokeOptions;
use guild_package::trust::{Role, Withdrawal};
use guild_package::{Code, KeyId, ListedPackage};

use crate::external::{countersigner, review, with};
use crate::fixture::{Bench, DOC, PLUGIN, Publisher, bundle, entries, grant};
use crate::versions::{CPU, id, version};

fn only_row(bench: &Bench) -> ListedPackage {
    let mut rows = bench.store.list().unwrap();
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

#[test]
fn a_withdrawn_key_s_package_says_what_it_is_and_whose_signatures_it_has() {
    let bench = Bench::new();
    let (reviewer, builder) = (
        Publisher::new(bench.path(), "reviewer"),
        Publisher::new(bench.path(), "builder"),
    );
    let stranger = Publisher::new(bench.path(), "stranger");
    for key in [&reviewer, &builder] {
        let grant = countersigner(Role::Reviewer);
        bench.store.trust_add(&key.record, &grant).unwrap();
    }
    let bundle = bench.package(CPU, "1.0.0");
    let bundle = with(&bench, &bundle, &stranger, &Addition::Release);
    let bundle = with(&bench, &bundle, &reviewer, &review("good"));
    // It has no right to say so.
    let built = Addition::Statement {
        role: Role::Builder,
        statement: "same bytes".parse().unwrap(),
        issued_at: 1,
        expires_at: None,
    };
    let bundle = with(&bench, &bundle, &builder, &built);
    let bundle = with(&bench, &bundle, &stranger, &review("better"));
    let installed = bench.install(&bundle).unwrap();
    let options = RevokeOptions {
        withdrawal: Withdrawal::Compromised { since_gen: 0 },
        reason: None,
        dry_run: false,
    };
    let key = bench.publisher.record.id;
    bench.store.trust_revoke(&key, &options).unwrap();

    let row = only_row(&bench);
    assert!(row.package.is_err());
    assert_eq!(row.manifest_sha256, installed.manifest_digest);
    let said = |row: &ListedPackage| {
        let recorded = &row.recorded;
        let signers = recorded.signers.iter().map(|signer| signer.key);
        let others = recorded.countersigners.iter();
        let others = others.map(|it| (it.role, it.signer.key, it.statements[0].to_string()));
        (
            recorded.security_epoch,
            signers.collect::<Vec<_>>(),
            others.collect::<Vec<_>>(),
        )
    };
    let others = vec![
        (Role::Reviewer, reviewer.record.id, "good".to_owned()),
        (Role::Builder, builder.record.id, "same bytes".to_owned()),
    ];
    assert_eq!(said(&row), (Some(1), vec![key], others));

    // What is damaged says nothing.
    let generation = bench.store.generation().unwrap();
    let kept = generation.version(&id(CPU), &version("1.0.0")).unwrap();
    fs::remove_file(bench.meta(kept.envelope)).unwrap();
    let nobody = (Vec::new(), Vec::new());
    assert_eq!(
        said(&only_row(&bench)),
        (Some(1), nobody.0.clone(), nobody.1.clone())
    );
    fs::remove_file(bench.meta(kept.manifest)).unwrap();
    let row = only_row(&bench);
    assert_eq!(said(&row), (None, nobody.0, nobody.1));
    assert_eq!(row.manifest_sha256, installed.manifest_digest);
}

/// Nobody looked at it while the key wasn't known.
#[test]
fn a_wrong_signature_is_nobody_s() {
    let bench = Bench::new();
    let stranger = Publisher::new(bench.path(), "stranger");
    let parts = entries(&bench.package(CPU, "1.0.0"));
    let manifest = &parts["manifest.json"];
    let good = bench.publisher.sign(Purpose::Release, manifest);
    let bad = stranger.sign(Purpose::Release, b"something else");
    let envelope = Envelope::new(vec![good, bad]).encode().unwrap();
    let artifacts = [(DOC, &parts[DOC][..]), (PLUGIN, &parts[PLUGIN][..])];
    bench
        .install(&bundle(manifest, &artifacts, &envelope))
        .unwrap();
    let signers = |row: &ListedPackage| -> Vec<KeyId> {
        row.recorded
            .signers
            .iter()
            .map(|signer| signer.key)
            .collect()
    };
    let author = vec![bench.publisher.record.id];
    assert_eq!(signers(&only_row(&bench)), author);
    bench
        .store
        .trust_add(&stranger.record, &grant("org.guild"))
        .unwrap();
    let row = only_row(&bench);
    assert_eq!(
        row.package.as_ref().unwrap_err().code(),
        Code::SignatureInvalid
    );
    assert_eq!(signers(&row), author);
}
