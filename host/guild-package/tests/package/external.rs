//! Signing where the key is, and more than one signature: rows 20 and 29.

use guild_package::countersign::{Addition, countersign_bundle};
use guild_package::external::{attach_signature, request_signature};
use guild_package::store::RevokeOptions;
use guild_package::trust::{Grant, Policy, Right, Role, Scope, Withdrawal};
use guild_package::verify::Countersigner;
use guild_package::{Code, Error, SignOptions, sign_package, verify_bundle};

use crate::fixture::{Bench, Publisher, grant, options, stage};
use crate::versions::CPU;

/// Ed25519 by the library itself, over the bytes of the request and nothing else: what a module does.
fn sign_elsewhere(publisher: &Publisher, request: &[u8]) -> [u8; 64] {
    use ed25519_dalek::Signer as _;
    elsewhere(publisher).sign(request).to_bytes()
}

/// The key, in the library's own form.
fn elsewhere(publisher: &Publisher) -> ed25519_dalek::SigningKey {
    let seed = std::fs::read_to_string(&publisher.seed_file).unwrap();
    let hex = seed.trim_end().rsplit(' ').next().unwrap();
    let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap();
    ed25519_dalek::SigningKey::from_bytes(&std::array::from_fn(byte))
}

#[test]
fn a_signature_from_elsewhere_makes_the_same_bundle() {
    let bench = Bench::new();
    let staging = stage(bench.path(), CPU, "1.0.0", "");
    let at = |name: &str| bench.path().join(name);
    let options = SignOptions::default();
    let asked = request_signature(staging.path(), &at("request"), &options).unwrap();
    let request = std::fs::read(at("request")).unwrap();
    assert_eq!(asked.request_sha256, guild_package::Digest::of(&request));
    std::fs::write(at("sig"), sign_elsewhere(&bench.publisher, &request)).unwrap();
    let attach = |signature: &str, bundle: &str| {
        let (request, signature) = (at("request"), at(signature));
        let files = (request.as_path(), signature.as_path());
        let key = &bench.publisher.record;
        attach_signature(staging.path(), key, files, &at(bundle), &options)
    };
    let signed = attach("sig", "external.gkernel").unwrap();
    assert_eq!(signed.manifest_digest, asked.manifest_digest);
    bench
        .install(&std::fs::read(at("external.gkernel")).unwrap())
        .unwrap();
    // The same as with the seed at hand.
    let same_time = SignOptions {
        issued_at: Some(signed.manifest.issued_at),
        ..options.clone()
    };
    let id = bench.publisher.record.id.to_string();
    let seed = bench.publisher.seed();
    sign_package(
        staging.path(),
        &id,
        &seed,
        &at("direct.gkernel"),
        &same_time,
    )
    .unwrap();
    assert_eq!(
        std::fs::read(at("external.gkernel")).unwrap(),
        std::fs::read(at("direct.gkernel")).unwrap()
    );

    // A signature by another key, over other bytes, or of another shape; a folder that changed.
    let other = Publisher::new(bench.path(), "other");
    for (bytes, code) in [
        (
            sign_elsewhere(&other, &request).to_vec(),
            Code::SignatureInvalid,
        ),
        (
            sign_elsewhere(&bench.publisher, b"x").to_vec(),
            Code::SignatureInvalid,
        ),
        (vec![7; 63], Code::Usage),
    ] {
        std::fs::write(at("bad"), bytes).unwrap();
        assert_eq!(attach("bad", "bad.gkernel").unwrap_err().code(), code);
        assert!(!at("bad.gkernel").exists());
    }
    std::fs::write(staging.path().join(crate::fixture::DOC), "changed").unwrap();
    assert_eq!(
        attach("sig", "late.gkernel").unwrap_err().code(),
        Code::Usage
    );
}

/// A request, and what comes of files that are given as its signature.
struct Asked {
    bench: Bench,
    staging: tempfile::TempDir,
    request: Vec<u8>,
}

impl Asked {
    fn new() -> Self {
        let bench = Bench::new();
        let staging = stage(bench.path(), CPU, "1.0.0", "");
        let path = bench.path().join("request");
        request_signature(staging.path(), &path, &SignOptions::default()).unwrap();
        Self {
            request: std::fs::read(path).unwrap(),
            bench,
            staging,
        }
    }

    fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        sign_elsewhere(&self.bench.publisher, bytes).to_vec()
    }

    /// Why `bytes` are refused.
    fn refused(&self, bytes: &[u8]) -> Error {
        let at = |name: &str| self.bench.path().join(name);
        std::fs::write(at("sig"), bytes).unwrap();
        let (request, signature, bundle) = (at("request"), at("sig"), at("bundle"));
        let refused = attach_signature(
            self.staging.path(),
            &self.bench.publisher.record,
            (&request, &signature),
            &bundle,
            &SignOptions::default(),
        );
        assert!(!bundle.exists());
        refused.unwrap_err()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What somebody may sign by mistake, and the words by which the message tells it.
#[test]
fn a_signature_of_another_kind_is_told_from_a_wrong_one() {
    use sha2::{Digest as _, Sha256, Sha512};
    let asked = Asked::new();
    let request = &asked.request[..];
    let manifest = &request[request.iter().position(|byte| *byte == b'{').unwrap()..];
    let key = elsewhere(&asked.bench.publisher);
    let prehashed = |bytes: &[u8]| {
        let signature = key.sign_prehashed(Sha512::new_with_prefix(bytes), None);
        signature.unwrap().to_bytes().to_vec()
    };
    let sign = |bytes: &[u8]| asked.sign(bytes);
    let in_hex = hex(&Sha256::digest(request));
    for (bytes, words) in [
        (prehashed(request), "Ed25519ph"),
        (prehashed(manifest), "Ed25519ph"),
        (sign(manifest), "the manifest alone"),
        (sign(&Sha512::digest(request)), "a SHA-512 digest"),
        (sign(in_hex.as_bytes()), "a SHA-256 digest"),
        (sign(&Sha256::digest(manifest)), "a SHA-256 digest"),
        (sign(&[request, b"\n"].concat()), "a line break"),
        (sign(b"x"), "another key or over other bytes"),
    ] {
        let error = asked.refused(&bytes);
        assert_eq!(error.code(), Code::SignatureInvalid);
        let text = error.to_string();
        assert!(text.contains(words), "no {words:?} in: {text}");
        assert!(text.contains("pure Ed25519 over the bytes of"), "{text}");
        assert!(error.next_step().contains("without a hash"), "{error:?}");
    }
}

#[test]
fn a_file_without_a_signature_is_told_by_what_it_holds() {
    let asked = Asked::new();
    let good = asked.sign(&asked.request);
    for (bytes, words) in [
        (good[..63].to_vec(), "it has 63 bytes"),
        (good[..32].to_vec(), "it has 32 bytes"),
        (hex(&good).into_bytes(), "the signature in hex"),
        (
            format!("{}\n", hex(&good[..32])).into_bytes(),
            "32 bytes in hex",
        ),
        (Vec::new(), "it is empty"),
        (b"-----BEGIN SSH SIGNATURE-----".to_vec(), "SSH"),
        (b"-----BEGIN PKCS7-----".to_vec(), "PEM"),
        (b"untrusted comment: x\n".to_vec(), "minisign"),
    ] {
        let error = asked.refused(&bytes);
        assert_eq!(error.code(), Code::Usage);
        let (text, next) = (error.to_string(), error.next_step());
        assert!(text.contains(words), "no {words:?} in: {text}");
        let expected = next.contains("64 bytes") && next.contains("pure Ed25519");
        assert!(expected, "{next}");
    }
}

pub fn countersigner(role: Role) -> Grant {
    let mut scope = Scope::publish("org.guild".parse().unwrap()).unwrap();
    scope.rights = vec![Right::Countersign(role)];
    Grant {
        scopes: vec![scope],
        ..grant("org.guild")
    }
}

pub fn review(statement: &str) -> Addition {
    Addition::Statement {
        role: Role::Reviewer,
        statement: statement.parse().unwrap(),
        issued_at: crate::fixture::NOW_S - 500,
        expires_at: None,
    }
}

/// `bundle` with an addition by `publisher`.
pub fn with(bench: &Bench, bundle: &[u8], publisher: &Publisher, addition: &Addition) -> Vec<u8> {
    let (path, out) = (bench.path().join("in"), bench.path().join("out"));
    std::fs::write(&path, bundle).unwrap();
    let _ = std::fs::remove_file(&out);
    let trust = bench.store.trust().unwrap();
    countersign_bundle(&path, &trust, &publisher.seed(), addition, &out).unwrap();
    std::fs::read(out).unwrap()
}

#[test]
fn row_20_a_threshold_counts_distinct_keys_and_operators() {
    let bench = Bench::new();
    let second = Publisher::new(bench.path(), "second");
    let reviewer = Publisher::new(bench.path(), "reviewer");
    bench
        .store
        .trust_add(&second.record, &grant("org.guild"))
        .unwrap();
    bench
        .store
        .trust_add(&reviewer.record, &countersigner(Role::Reviewer))
        .unwrap();
    let policy = Policy {
        prefix: "org.guild.kernels".parse().unwrap(),
        publish: 2,
        reviewer: 1,
        distinct_operators: true,
        strict_ambient: false,
        allow_ptx_jit: false,
    };
    bench.store.trust_policy(policy).unwrap();
    let one = bench.package(CPU, "1.0.0");
    bench.refuses(&one, Code::KeyUntrusted);
    let two = with(&bench, &one, &second, &Addition::Release);
    bench.refuses(&two, Code::KeyUntrusted);
    // A publisher is no reviewer, and the reviewer no publisher.
    let not_reviewed = with(&bench, &two, &second, &review("I wrote it"));
    bench.refuses(&not_reviewed, Code::KeyUntrusted);
    let not_published = with(&bench, &one, &reviewer, &review("good"));
    bench.refuses(&not_published, Code::KeyUntrusted);
    let whole = with(&bench, &two, &reviewer, &review("good"));
    bench.verify(&whole).unwrap();

    // A third key of an operator that counts already adds nothing.
    let mut twin = Publisher::new(bench.path(), "twin");
    twin.record.operator = bench.publisher.record.operator.clone();
    bench
        .store
        .trust_add(&twin.record, &grant("org.guild"))
        .unwrap();
    let twins = with(&bench, &one, &twin, &Addition::Release);
    let twins = with(&bench, &twins, &reviewer, &review("good"));
    bench.refuses(&twins, Code::KeyUntrusted);

    let installed = bench.install(&whole).unwrap();
    assert_eq!(installed.signers.len(), 2);
    // The reviewer is named; a publisher's own review isn't one.
    let by = |countersigners: &[Countersigner]| {
        let all = countersigners.iter();
        all.map(|it| (it.role, it.signer.key)).collect::<Vec<_>>()
    };
    let reviewed = vec![(Role::Reviewer, reviewer.record.id)];
    assert_eq!(by(&installed.countersigners), reviewed);
    let listed = bench.store.list().unwrap();
    assert_eq!(
        by(listed[0].package.as_ref().unwrap().countersigners()),
        reviewed
    );
    let path = bench.bundle_file(&whole);
    let trust = bench.store.trust().unwrap();
    let verified = verify_bundle(&path, &trust, &options().verify).unwrap();
    assert_eq!(by(verified.countersigners()), reviewed);
    // One manifest, however many signed it.
    let digest =
        |bytes: &[u8]| guild_package::Digest::of(&crate::fixture::entries(bytes)["manifest.json"]);
    assert_eq!(digest(&one), digest(&whole));
}

#[test]
fn row_29_a_statement_about_another_release_is_refused() {
    let bench = Bench::new();
    let reviewer = Publisher::new(bench.path(), "reviewer");
    bench
        .store
        .trust_add(&reviewer.record, &countersigner(Role::Reviewer))
        .unwrap();
    let (first, second) = (bench.package(CPU, "1.0.0"), bench.package(CPU, "1.0.1"));
    let reviewed = with(&bench, &first, &reviewer, &review("good"));
    let statements = guild_package::envelope::Envelope::decode(
        &crate::fixture::entries(&reviewed)["signatures.json"],
    )
    .unwrap()
    .countersignatures;
    let mut entries = crate::fixture::entries(&second);
    let envelope = entries.remove("signatures.json").unwrap();
    let mut envelope = guild_package::envelope::Envelope::decode(&envelope).unwrap();
    envelope.countersignatures = statements;
    let manifest = entries.remove("manifest.json").unwrap();
    let artifacts: Vec<_> = entries
        .iter()
        .map(|(name, data)| (name.as_str(), data.as_slice()))
        .collect();
    let moved = crate::fixture::bundle(&manifest, &artifacts, &envelope.encode().unwrap());
    bench.refuses(&moved, Code::BundleMalformed);
}

#[test]
fn nobody_vouches_for_what_no_known_key_signed() {
    let bench = Bench::new();
    let stranger = Publisher::new(bench.path(), "stranger");
    let foreign = bench.package_by(&stranger, CPU, "1.0.0", "");
    let (path, out) = (bench.path().join("in"), bench.path().join("out"));
    std::fs::write(&path, foreign).unwrap();
    let trust = bench.store.trust().unwrap();
    let seed = bench.publisher.seed();
    let refused = countersign_bundle(&path, &trust, &seed, &Addition::Release, &out).unwrap_err();
    assert_eq!(refused.code(), Code::KeyUntrusted);
    std::fs::write(&path, bench.package(CPU, "1.0.0")).unwrap();
    let twice = countersign_bundle(&path, &trust, &seed, &Addition::Release, &out).unwrap_err();
    assert_eq!(twice.code(), Code::Usage);
    assert!(!out.exists());
}

fn policy(prefix: &str, publish: u64, reviewer: u64) -> Policy {
    Policy {
        prefix: prefix.parse().unwrap(),
        publish,
        reviewer,
        distinct_operators: false,
        strict_ambient: false,
        allow_ptx_jit: false,
    }
}

/// A bench whose packages need one reviewer, and 1.0.0 as a reviewer countersigned it.
fn reviewed(grant: &Grant) -> (Bench, Publisher, Vec<u8>) {
    let bench = Bench::new();
    let reviewer = Publisher::new(bench.path(), "reviewer");
    bench.store.trust_add(&reviewer.record, grant).unwrap();
    let one_reviewer = policy("org.guild.kernels", 1, 1);
    bench.store.trust_policy(one_reviewer).unwrap();
    let one = bench.package(CPU, "1.0.0");
    let reviewed = with(&bench, &one, &reviewer, &review("good"));
    (bench, reviewer, reviewed)
}

#[test]
fn a_reviewer_is_judged_as_a_publisher_is() {
    // Outside its time a key vouches for nothing new.
    let late = Grant {
        not_after: Some(crate::fixture::NOW_S - 1),
        ..countersigner(Role::Reviewer)
    };
    let (bench, _, package) = reviewed(&late);
    bench.refuses(&package, Code::KeyUntrusted);
    // One that was superseded vouches for what is installed, and for nothing new.
    let (bench, reviewer, package) = reviewed(&countersigner(Role::Reviewer));
    bench.install(&package).unwrap();
    let withdraw = |withdrawal| {
        let options = RevokeOptions {
            withdrawal,
            reason: None,
            dry_run: false,
        };
        bench
            .store
            .trust_revoke(&reviewer.record.id, &options)
            .unwrap()
    };
    assert_eq!(withdraw(Withdrawal::Superseded).stopped.len(), 0);
    assert_eq!(bench.enabled_version().unwrap(), "1.0.0");
    let next = bench.package(CPU, "1.0.1");
    let next = with(&bench, &next, &reviewer, &review("good"));
    bench.install_refuses(&next, &options(), Code::KeyUntrusted);
    let lost = withdraw(Withdrawal::Compromised { since_gen: 0 });
    assert_eq!(lost.stopped.len(), 1);
}

#[test]
fn nobody_reviews_their_own_release() {
    let mut both = countersigner(Role::Reviewer);
    both.scopes[0].rights.push(Right::Publish);
    let (bench, reviewer, _) = reviewed(&both);
    let own = bench.package_by(&reviewer, CPU, "1.0.0", "");
    let own = with(&bench, &own, &reviewer, &review("good"));
    bench.refuses(&own, Code::KeyUntrusted);
}

#[test]
fn an_installed_version_takes_better_signatures_and_keeps_those_it_has() {
    let bench = Bench::new();
    let second = Publisher::new(bench.path(), "second");
    bench
        .store
        .trust_add(&second.record, &grant("org.guild"))
        .unwrap();
    let one = bench.package(CPU, "1.0.0");
    let two = with(&bench, &one, &second, &Addition::Release);
    bench.install(&one).unwrap();
    let stopped = bench.store.trust_policy(policy("org.guild", 2, 0)).unwrap();
    assert_eq!(stopped.stopped.len(), 1);
    assert!(bench.store.enabled().is_err());
    let again = bench.install(&two).unwrap();
    assert!(again.already_installed && again.signatures_replaced);
    assert_eq!(again.files_restored, 0);
    assert_eq!(bench.enabled_version().unwrap(), "1.0.0");
    let head = bench.store.generation().unwrap().n;
    let same = bench.install(&two).unwrap();
    assert_eq!((same.signatures_replaced, same.generation), (false, head));
    // As many by others are no better than those in force.
    let third = Publisher::new(bench.path(), "third");
    let third_trust = bench.store.trust_add(&third.record, &grant("org.guild"));
    let head = third_trust.unwrap().generation;
    let as_many = with(&bench, &one, &third, &Addition::Release);
    let as_many = bench.install(&as_many).unwrap();
    assert_eq!(
        (as_many.signatures_replaced, as_many.generation),
        (false, head)
    );
    bench.store.verify_chain().unwrap();
    // What is in force already makes no generation.
    let again = bench.store.trust_policy(policy("org.guild", 2, 0)).unwrap();
    assert_eq!((again.stopped.len(), again.generation), (0, head));
    assert_eq!(bench.store.generation().unwrap().n, head);
    // Fewer signatures, where they would do, take nothing away.
    bench.store.trust_policy(policy("org.guild", 1, 0)).unwrap();
    let fewer = bench.install(&one).unwrap();
    assert_eq!(
        (fewer.signatures_replaced, fewer.files_restored),
        (false, 0)
    );
    assert_eq!(bench.store.enabled().unwrap()[0].signers().len(), 2);
}
