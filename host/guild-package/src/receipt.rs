//! Receipts: why a package was accepted, in one canonical JSON text (`docs/package-format.md`, section 17).
//!
//! No time, host or path stands in it, so equal inputs give equal bytes, and its SHA-256 in a run's report
//! leads from a token to the code that made it. It is evidence and nothing else: no check is ever left out
//! because there is a receipt.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::json;
use crate::key::KeyId;
use crate::manifest::ElfFacts;
use crate::name::{ArtifactPath, PackageId, PackageVersion};
use crate::preflight::ENTRY_SYMBOL;
use crate::probe::{GoldenResult, Probed, Sandbox};
use crate::store::incompatible;
use crate::text::{Invalid, PlainText};
use crate::trust::{Policy, TrustStore};
use crate::verify::AuthorizedManifest;

const RECEIPT: &str = "the receipt";
const SCHEMA: u64 = 1;

/// Why a package was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Always 1.
    pub schema: u64,
    /// What judged: name and version.
    pub tool: PlainText,
    /// The package.
    pub id: PackageId,
    /// Its version.
    pub version: PackageVersion,
    /// Its identity.
    pub manifest_sha256: Digest,
    /// The signatures that stood by the manifest.
    pub envelope_sha256: Digest,
    /// The trust file in force.
    pub trust_sha256: Digest,
    /// What was allowed: [`Terms`].
    pub policy_sha256: Digest,
    /// The keys that counted, ascending.
    pub signers: Vec<KeyId>,
    /// What was seen of the library before it ran.
    pub preflight: Preflight,
    /// What the plugin said about itself, by its digest.
    pub descriptor_sha256: Digest,
    /// What became of the golden vectors, in the manifest's order.
    pub golden: Vec<GoldenResult>,
    /// What shut the trial run in.
    pub sandbox: Sandbox,
    /// What in the host's surroundings could have put other code beside verified code: names, no values.
    pub ambient: Vec<PlainText>,
    /// What was decided.
    pub decision: Decision,
}

/// What was seen of the library before it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preflight {
    /// The plugin for this machine.
    pub path: ArtifactPath,
    /// Its digest.
    pub sha256: Digest,
    /// The symbol by which it is entered.
    pub entry: PlainText,
    /// The signed facts about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elf: Option<ElfFacts>,
}

/// What a host decided about a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may become active.
    Accepted,
}

/// What the caller and the trust file allowed. A receipt holds its digest.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Terms<'a> {
    /// An older version than the newest one.
    pub allow_downgrade: bool,
    /// Other publishers than those of the first install.
    pub accept_new_publisher: bool,
    /// No trial run that isn't shut in.
    pub sandbox_required: bool,
    /// What a package needs beyond one good signature.
    pub policy: &'a [Policy],
}

/// What a receipt is made from, beside the trial run.
pub(crate) struct Grounds<'a> {
    pub authorized: &'a AuthorizedManifest,
    pub trust: &'a TrustStore,
    pub allow_downgrade: bool,
    pub accept_new_publisher: bool,
}

impl Receipt {
    pub(crate) fn new(grounds: &Grounds<'_>, probed: &Probed) -> Result<Self> {
        let manifest = grounds.authorized.manifest();
        let Some((_, plugin)) = manifest.plugin() else {
            return Err(incompatible(manifest));
        };
        let terms = Terms {
            allow_downgrade: grounds.allow_downgrade,
            accept_new_publisher: grounds.accept_new_publisher,
            sandbox_required: probed.sandbox_required,
            policy: &grounds.trust.body().policy,
        };
        let plain = |text: &str| {
            text.parse()
                .map_err(|invalid: Invalid| Error::invalid(RECEIPT, &invalid))
        };
        Ok(Self {
            schema: SCHEMA,
            tool: plain(concat!("guild ", env!("CARGO_PKG_VERSION")))?,
            id: manifest.id.clone(),
            version: manifest.version.clone(),
            manifest_sha256: grounds.authorized.manifest_digest(),
            envelope_sha256: Digest::of(grounds.authorized.envelope_bytes()),
            trust_sha256: grounds.trust.digest(),
            policy_sha256: Digest::of(&json::encode("the policy", &terms)?),
            signers: grounds
                .authorized
                .signers()
                .iter()
                .map(|signer| signer.key)
                .collect(),
            preflight: Preflight {
                path: plugin.path.clone(),
                sha256: plugin.sha256,
                entry: plain(ENTRY_SYMBOL)?,
                elf: plugin.elf.clone(),
            },
            descriptor_sha256: probed.report.descriptor.digest()?,
            golden: probed.report.golden.clone(),
            sandbox: probed.sandbox,
            // The environment has an order of its own on every machine.
            ambient: BTreeSet::from_iter(probed.ambient.clone())
                .into_iter()
                .collect(),
            decision: Decision::Accepted,
        })
    }

    /// Reads a receipt.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any deviation from the one encoding.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let receipt: Self = json::decode_canonical(RECEIPT, bytes)?;
        match receipt.schema {
            SCHEMA => Ok(receipt),
            _ => Err(Error::malformed(RECEIPT, "schema is not 1")),
        }
    }

    /// The one encoding; its SHA-256 names the receipt.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it can't be read again.
    pub fn encode(&self) -> Result<Vec<u8>> {
        json::encode(RECEIPT, self)
    }
}
