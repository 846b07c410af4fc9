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

static SEED: LazyLock<SecretSeed> = LazyLock::new(|| SecretSeed::from_bytes([7; 32]));
static TRUST: LazyLock<TrustStore> = LazyLock::new(trust);

/// A store that trusts the one key.
fn trust() -> TrustStore {
    let public = SEED.public_key().expect("a seed has a key");
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

/// A file whose body is `data`, signed for `purpose`.
fn signed(purpose: Purpose, data: &[u8]) -> Vec<u8> {
    let signature = EnvelopeSignature::sign(&SEED, purpose, data).expect("it signs");
    let statement = SignedStatement {
        purpose,
        body: Base64Bytes(data.to_vec()),
        signatures: vec![signature],
    };
    statement.encode("a statement").expect("it has an encoding")
}

/// Whether `data` is a statement, or the body of one that is taken once it is signed.
///
/// # Panics
/// If the key of the tests is none.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    let are_statements = [
        VerifiedAdvisory::decode(data, &TRUST).is_ok(),
        VerifiedRotation::decode(data, &TRUST).is_ok(),
        VerifiedAdvisory::decode(&signed(Purpose::Revocation, data), &TRUST).is_ok(),
        VerifiedRotation::decode(&signed(Purpose::KeyRotation, data), &TRUST).is_ok(),
    ];
    are_statements.contains(&true)
}
