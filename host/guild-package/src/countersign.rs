//! Countersignatures: what somebody other than the publisher says about one release. A statement names
//! the manifest and the exact release signatures it relies on, so it cannot be moved to another package.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::author;
use crate::digest::Digest;
use crate::envelope::{Envelope, EnvelopeSignature, add_signature};
use crate::error::{Error, NotCounted, Result, Uncounted};
use crate::key::KeyId;
use crate::manifest::Manifest;
use crate::seed::SecretSeed;
use crate::sign::Purpose;
use crate::statement::SignedStatement;
use crate::text::PlainText;
use crate::trust::{Right, Role, TrustStore, TrustedKey};
use crate::verify::{Occasion, SignedBundle};

const STATEMENT: &str = "a countersignature's body";

/// The signed statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The release.
    pub manifest_sha256: Digest,
    /// SHA-256 of each release signature relied on, ascending.
    pub over: Vec<Digest>,
    /// In which role the signer speaks.
    pub role: Role,
    /// What the signer says.
    pub statement: PlainText,
    /// When, in seconds since 1970-01-01 UTC.
    pub issued_at: u64,
    /// Until when it counts, in seconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

/// Signs `statement`, to be appended to an envelope's countersignatures.
///
/// # Errors
/// As [`SignedStatement::sign`].
pub fn countersign(seed: &SecretSeed, statement: &Statement) -> Result<SignedStatement> {
    SignedStatement::sign(STATEMENT, Purpose::Countersign, statement, &[seed])
}

/// What somebody adds to a bundle.
#[derive(Clone, Debug)]
pub enum Addition {
    /// One more release signature: a second publisher, where a policy asks for two.
    Release,
    /// A statement about the release.
    Statement {
        /// In which role.
        role: Role,
        /// What is said.
        statement: PlainText,
        /// When, in seconds since 1970-01-01 UTC.
        issued_at: u64,
        /// Until when it counts.
        expires_at: Option<u64>,
    },
}

/// Adds a signature by `seed` to the bundle at `path`, and writes the new file `out`. The bundle must be signed by a
/// key that `trust` knows, and every file in it intact; how many signatures a policy wants isn't asked.
///
/// # Errors
/// The first check of section 8, up to step 5, that fails, and step 15; [`Error::Usage`] for a second release
/// signature by the same key.
pub fn countersign_bundle(
    path: &Path,
    trust: &TrustStore,
    seed: &SecretSeed,
    addition: &Addition,
    out: &Path,
) -> Result<Manifest> {
    let signed = SignedBundle::read(path, trust)?;
    let mut envelope = signed.envelope().clone();
    match addition {
        Addition::Release => {
            let signature = EnvelopeSignature::sign(seed, Purpose::Release, signed.bytes())?;
            add_signature(&mut envelope.signatures, signature)?;
        }
        Addition::Statement {
            role,
            statement,
            issued_at,
            expires_at,
        } => {
            let mut over: Vec<Digest> = signature_digests(&envelope);
            over.sort();
            let statement = Statement {
                manifest_sha256: Digest::of(signed.bytes()),
                over,
                role: *role,
                statement: statement.clone(),
                issued_at: *issued_at,
                expires_at: *expires_at,
            };
            envelope
                .countersignatures
                .push(countersign(seed, &statement)?);
        }
    }
    author::write_bundle(out, signed.bytes(), &signed.files()?, &envelope)?;
    Ok(signed.into_manifest())
}

fn signature_digests(envelope: &Envelope) -> Vec<Digest> {
    let signatures = envelope.signatures.iter();
    signatures.map(|entry| entry.sig.digest()).collect()
}

/// A key that countersigned, and what it says: nothing, or one text a statement.
pub(crate) struct Voice<'trust> {
    pub key: &'trust TrustedKey,
    pub statements: Vec<PlainText>,
}

/// The distinct keys that countersigned in each role.
type Voices<'trust> = BTreeMap<(Role, KeyId), Voice<'trust>>;

/// Who countersigned a release.
pub(crate) struct Countersigners<'trust> {
    /// Those that count on this occasion.
    pub counted: Voices<'trust>,
    /// Signatures that don't, each with its role, but for those that no known key vouches for: nobody read what they say.
    pub uncounted: Vec<(Option<Role>, Uncounted)>,
}

/// A statement about a release, with the known keys whose signatures under it are good and the ids of the others.
struct Read<'trust> {
    statement: Option<Statement>,
    signers: Vec<&'trust TrustedKey>,
    unknown: Vec<KeyId>,
}

/// Who countersigned this release. A statement by unknown keys counts for nothing; one by a known key that does not verify
/// or names another release is an error.
///
/// # Errors
/// [`Error::SignatureInvalid`] or [`Error::Malformed`].
pub(crate) fn countersigners<'trust>(
    envelope: &Envelope,
    (manifest, manifest_sha256): (&Manifest, Digest),
    trust: &'trust TrustStore,
    occasion: Occasion<'_>,
) -> Result<Countersigners<'trust>> {
    let mut found = Countersigners {
        counted: BTreeMap::new(),
        uncounted: Vec::new(),
    };
    for countersignature in &envelope.countersignatures {
        let read = read(countersignature, envelope, manifest_sha256, trust)?;
        let role = read.statement.as_ref().map(|statement| statement.role);
        let mut pass_over = |key: KeyId, why| found.uncounted.push((role, Uncounted { key, why }));
        for key in read.unknown {
            pass_over(key, NotCounted::Unknown);
        }
        let Some(statement) = read.statement else {
            continue;
        };
        // Times are judged at install only, as a publisher's are.
        let ends = statement.expires_at;
        let is_over = |now_s| ends.is_some_and(|ends| now_s >= ends);
        let is_over = occasion.now_s().is_some_and(is_over);
        let right = Right::Countersign(statement.role);
        for key in read.signers {
            let refusal = match is_over {
                true => Some(NotCounted::StatementOver),
                false => occasion.not_counted(key, right, manifest),
            };
            match refusal {
                Some(why) => pass_over(key.id, why),
                None => add(&mut found.counted, key, &statement),
            }
        }
    }
    Ok(found)
}

/// The distinct known keys whose good signatures stand under a statement about this release, whether or not they count.
pub(crate) fn all_voices<'trust>(
    envelope: &Envelope,
    manifest_sha256: Digest,
    trust: &'trust TrustStore,
) -> Voices<'trust> {
    let mut voices = BTreeMap::new();
    for countersignature in &envelope.countersignatures {
        let read = read(countersignature, envelope, manifest_sha256, trust);
        if let Ok(Read {
            statement: Some(statement),
            signers,
            ..
        }) = read
        {
            for key in signers {
                add(&mut voices, key, &statement);
            }
        }
    }
    voices
}

fn add<'trust>(voices: &mut Voices<'trust>, key: &'trust TrustedKey, statement: &Statement) {
    let voice = voices
        .entry((statement.role, key.id))
        .or_insert_with(|| Voice {
            key,
            statements: Vec::new(),
        });
    if !statement.statement.as_str().is_empty() {
        voice.statements.push(statement.statement.clone());
    }
}

/// Checks the signatures by known keys, and parses the statement if there is one.
fn read<'trust>(
    countersignature: &SignedStatement,
    envelope: &Envelope,
    manifest_sha256: Digest,
    trust: &'trust TrustStore,
) -> Result<Read<'trust>> {
    let mut read = Read {
        statement: None,
        signers: Vec::new(),
        unknown: Vec::new(),
    };
    for entry in &countersignature.signatures {
        match trust.key(&entry.keyid) {
            Some(key) => {
                key.verify(entry, Purpose::Countersign, &countersignature.body.0)?;
                read.signers.push(key);
            }
            None => read.unknown.push(entry.keyid),
        }
    }
    if read.signers.is_empty() {
        return Ok(read);
    }
    let statement: Statement = countersignature.content(STATEMENT)?;
    let releases = signature_digests(envelope);
    let about_this = statement.manifest_sha256 == manifest_sha256
        && !statement.over.is_empty()
        && statement.over.iter().all(|over| releases.contains(over));
    if !about_this {
        return Err(Error::malformed(STATEMENT, "it is about another release"));
    }
    read.statement = Some(statement);
    Ok(read)
}
