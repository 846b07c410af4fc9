//! What comes back from a trial run, in strict JSON. It was written by a process that ran foreign code, so
//! it is read as hostile input, and it proves nothing about code that lies on purpose.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::json;
use crate::limits::{LIST_MAX, PROBE_ANSWER_MAX_BYTES};
use crate::manifest::{Manifest, Operation};
use crate::name::{PackageId, PackageVersion, ProvidedName};
use crate::text::PlainText;

/// The format of these texts.
const SCHEMA: u64 = 1;
const SANDBOX: &str = "the probe's first line";
const ANSWER: &str = "the probe's answer";

/// What kept the code from the rest of the system. The probe says it before it maps the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sandbox {
    /// Version of the kernel's Landlock that was in force; 0 without it.
    pub landlock_abi: u64,
    /// Whether system calls were filtered.
    pub seccomp: bool,
}

/// The probe's last line: a report, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Always 1.
    pub schema: u64,
    /// What was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ProbeReport>,
    /// Why the package was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
}

/// Why the probe refused a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// A stable code, such as `INCOMPATIBLE`.
    pub code: PlainText,
    /// What happened.
    pub message: PlainText,
}

/// What the plugin said and computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeReport {
    /// What the plugin said about itself.
    pub descriptor: Descriptor,
    /// What it computed, in the order of the manifest's golden vectors.
    pub golden: Vec<GoldenResult>,
}

/// What a plugin says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// Its package.
    pub id: PackageId,
    /// Its version.
    pub version: PackageVersion,
    /// Its operations, in its own order.
    pub operations: Vec<DescribedOperation>,
    /// Its runners, in its own order.
    pub runners: Vec<ProvidedName>,
}

/// One implementation of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescribedOperation {
    /// The operation, without a version.
    pub name: ProvidedName,
    /// First version served.
    pub first: u64,
    /// Last version served.
    pub last: u64,
    /// The implementation.
    pub implementation: ProvidedName,
    /// Digest of the contract that it was built against.
    pub contract: Digest,
    /// `GUILD_CLASS_EXACT` or `GUILD_CLASS_TOLERANT`.
    pub exactness: u64,
    /// `GUILD_PHASE_*` bits.
    pub phases: u64,
    /// Weight formats served.
    pub formats: Vec<u64>,
}

/// What became of one golden vector file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenResult {
    /// The operation.
    pub op: ProvidedName,
    /// The file.
    pub vector_sha256: Digest,
    /// What it was compared with: relative error in units of 1e-9, 0 for equal bits.
    pub tolerance: u64,
    /// Implementations that reproduced it.
    pub reproduced_by: Vec<ProvidedName>,
    /// Implementations that do not take such a call on this machine.
    pub declined_by: Vec<ProvidedName>,
}

impl Sandbox {
    /// Whether both parts were there.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        self.landlock_abi > 0 && self.seccomp
    }

    /// Reads the probe's first line.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any deviation.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        json::decode_canonical(SANDBOX, bytes)
    }

    /// The one encoding.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a number that JSON readers don't keep exactly.
    pub fn encode(&self) -> Result<Vec<u8>> {
        json::encode(SANDBOX, self)
    }
}

impl Answer {
    /// A report.
    #[must_use]
    pub const fn found(report: ProbeReport) -> Self {
        Self {
            schema: SCHEMA,
            report: Some(report),
            refused: None,
        }
    }

    /// A refusal.
    #[must_use]
    pub const fn refused(refusal: Refusal) -> Self {
        Self {
            schema: SCHEMA,
            report: None,
            refused: Some(refusal),
        }
    }

    /// Reads the probe's last line.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any deviation.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        if bytes.len() > PROBE_ANSWER_MAX_BYTES {
            return Err(Error::malformed(ANSWER, "it is larger than 1 MiB"));
        }
        let answer: Self = json::decode_canonical(ANSWER, bytes)?;
        let lists = answer.report.as_ref().map(|report| {
            let descriptor = &report.descriptor;
            let longest = descriptor.operations.len().max(descriptor.runners.len());
            longest.max(report.golden.len())
        });
        match (answer.schema, &answer.report, &answer.refused) {
            (SCHEMA, Some(_), None) if lists <= Some(LIST_MAX) => Ok(answer),
            (SCHEMA, None, Some(_)) => Ok(answer),
            (SCHEMA, Some(_), None) => Err(Error::malformed(ANSWER, "a list is longer than 1024")),
            _ => Err(Error::malformed(
                ANSWER,
                "it is neither a report nor a refusal of schema 1",
            )),
        }
    }

    /// The one encoding.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it can't be read again.
    pub fn encode(&self) -> Result<Vec<u8>> {
        json::encode(ANSWER, self)
    }
}

impl Descriptor {
    /// The one encoding, for its digest.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it can't be read again.
    pub fn digest(&self) -> Result<Digest> {
        Ok(Digest::of(&json::encode("the descriptor", self)?))
    }
}

impl ProbeReport {
    /// Where the report and the signed manifest differ, in words. A package offers all that its manifest
    /// lists, nothing else, and every golden vector was reproduced.
    pub(super) fn differs_from(&self, manifest: &Manifest) -> Option<String> {
        let Descriptor { id, version, .. } = &self.descriptor;
        if *id != manifest.id || *version != manifest.version {
            return Some(format!(
                "it says that it is {id} {version}, the signed manifest says {} {}",
                manifest.id, manifest.version
            ));
        }
        self.operations_differ(manifest)
            .or_else(|| self.runners_differ(manifest))
            .or_else(|| self.golden_differs(manifest))
    }

    fn operations_differ(&self, manifest: &Manifest) -> Option<String> {
        let listed: BTreeMap<&str, &Operation> = manifest
            .provides
            .iter()
            .map(|listed| (listed.op.as_str(), listed))
            .collect();
        let mut offered = BTreeSet::new();
        for operation in &self.descriptor.operations {
            for version in operation.first..=operation.last.min(operation.first + LIST_MAX as u64) {
                let name = format!("{}@{version}", operation.name);
                let Some(listed) = listed.get(name.as_str()) else {
                    return Some(format!(
                        "it offers {name}, which the signed manifest does not list"
                    ));
                };
                if listed
                    .contract_hash
                    .is_some_and(|hash| hash != operation.contract)
                {
                    return Some(format!(
                        "{} was built against another contract of {name} than the signed one",
                        operation.implementation
                    ));
                }
                offered.insert(name);
            }
        }
        let mut listed = manifest.provides.iter();
        let missing = listed.find(|listed| !offered.contains(listed.op.as_str()))?;
        Some(format!(
            "the signed manifest lists {}, which it does not offer on this machine",
            missing.op
        ))
    }

    fn runners_differ(&self, manifest: &Manifest) -> Option<String> {
        let offered = &self.descriptor.runners;
        if let Some(runner) = offered.iter().find(|id| !manifest.runners.contains(id)) {
            return Some(format!(
                "it offers the runner {runner}, which the signed manifest does not list"
            ));
        }
        let missing = manifest.runners.iter().find(|id| !offered.contains(id))?;
        Some(format!(
            "the signed manifest lists the runner {missing}, which it does not offer"
        ))
    }

    fn golden_differs(&self, manifest: &Manifest) -> Option<String> {
        let same = self.golden.len() == manifest.golden.len()
            && self
                .golden
                .iter()
                .zip(&manifest.golden)
                .all(|(found, signed)| {
                    found.op == signed.op
                        && found.vector_sha256 == signed.vector_sha256
                        && found.tolerance == signed.tolerance
                });
        if !same {
            return Some("its golden results are not those of the signed vectors".to_owned());
        }
        let idle = self
            .golden
            .iter()
            .find(|result| result.reproduced_by.is_empty())?;
        Some(format!(
            "no implementation of {} took the golden vector {} on this machine",
            idle.op, idle.vector_sha256
        ))
    }
}
