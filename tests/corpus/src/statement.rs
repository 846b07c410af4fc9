//! Arbitrary bytes as an advisory and a rotation; and as the body of each, well signed by a trusted key.

use guild_package::TrustStore;
use guild_package::advisory::VerifiedAdvisory;
use guild_package::envelope::EnvelopeSignature;
use guild_package::key::{Algorithm, KeyRecord};
use guild_package::rotation::VerifiedRotation;
use guild_package::seed::SecretSeed;
use guild_package::sign::Purpose;
use guild_package::statement::{Base64Bytes, SignedStatement};
use guild_package::trust::{Grant, Scope};
use std::sync::LazyLock;

/// The keys of `guild_crash::Workshop`: who signs, and who follows.
static SEEDS: LazyLock<[SecretSeed; 2]> =
    LazyLock::new(|| [[7; 32], [8; 32]].map(SecretSeed::from_bytes));
static TRUST: LazyLock<TrustStore> = LazyLock::new(trust);

/// A store that trusts the first key.
fn trust() -> TrustStore {
    let public = SEEDS[0].public_key().expect("a seed has a key");
    let record = KeyRecord {
        schema: 1,
        id: public.id(),
        alg: Algorithm::Ed25519,
        public,
        label: Default::default(),
        operator: Default::default(),
        test_identity: true,
    };
    let prefix = "org.guild".parse().expect("a prefix");
    let grant = Grant {
        scopes: vec![Scope::publish(prefix).expect("a scope")],
        everything_understood: false,
        not_before: None,
        not_after: None,
    };
    let empty = TrustStore::empty().expect("the first trust file");
    empty.with_key(&record, &grant, 1).expect("a second one")
}

/// A file whose body is `data`, signed for `purpose` with each of `seeds`.
fn signed(purpose: Purpose, data: &[u8], seeds: &[SecretSeed]) -> Vec<u8> {
    let sign = |seed| EnvelopeSignature::sign(seed, purpose, data).expect("it signs");
    let mut signatures: Vec<EnvelopeSignature> = seeds.iter().map(sign).collect();
    signatures.sort_by_key(|entry| entry.keyid);
    let statement = SignedStatement {
        purpose,
        body: Base64Bytes(data.to_vec()),
        signatures,
    };
    statement.encode("a statement").expect("it has an encoding")
}

/// Whether `data` is an advisory, a rotation, the body of the one and of the other, which is taken once it is signed.
///
/// # Panics
/// If the keys of the tests are none.
#[must_use]
pub fn readings(data: &[u8]) -> [bool; 4] {
    let advisory = signed(Purpose::Revocation, data, &SEEDS[..1]);
    let rotation = signed(Purpose::KeyRotation, data, &SEEDS[..]);
    [
        VerifiedAdvisory::decode(data, &TRUST).is_ok(),
        VerifiedRotation::decode(data, &TRUST).is_ok(),
        VerifiedAdvisory::decode(&advisory, &TRUST).is_ok(),
        VerifiedRotation::decode(&rotation, &TRUST).is_ok(),
    ]
}

/// Whether `data` is one of these.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    readings(data).contains(&true)
}
