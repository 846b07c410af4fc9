//! The probe for stores that are looked at alone: it runs nothing, and finds what the manifest promises. The packages of
//! this crate have no code that could run; tests of the store use the file too.

use guild_package::probe::{
    DescribedOperation, Descriptor, GoldenResult, Probe, ProbeReport, Probed, Sandbox, Subject,
};
use guild_package::text::Invalid;
use guild_package::{Digest, Error, Manifest, Result};

/// Accepts every package without running it.
pub struct Unprobed;

impl Probe for Unprobed {
    fn probe(&self, subject: &Subject<'_>) -> Result<Probed> {
        Ok(Probed {
            sandbox: Sandbox {
                landlock_abi: 0,
                seccomp: false,
            },
            sandbox_required: false,
            report: promised(subject.manifest())?,
            ambient: Vec::new(),
        })
    }
}

/// The report of a plugin that offers what its manifest lists.
///
/// # Errors
/// None that happens: a manifest's names are names.
pub fn promised(manifest: &Manifest) -> Result<ProbeReport> {
    let invalid = |invalid: Invalid| Error::Malformed {
        what: "manifest.json".to_owned(),
        detail: invalid.to_string(),
    };
    let implementation = || "test.unprobed".parse().map_err(invalid);
    let operation = |listed: &guild_package::manifest::Operation| {
        let (name, version) = listed.op.as_str().split_once('@').unwrap_or_default();
        let version = version.parse().unwrap_or_default();
        Ok(DescribedOperation {
            name: name.parse().map_err(invalid)?,
            first: version,
            last: version,
            implementation: implementation()?,
            contract: listed.contract_hash.unwrap_or(Digest::NONE),
            exactness: 1,
            phases: 7,
            formats: Vec::new(),
        })
    };
    let golden = |golden: &guild_package::manifest::Golden| {
        Ok(GoldenResult {
            op: golden.op.clone(),
            vector_sha256: golden.vector_sha256,
            tolerance: golden.tolerance,
            reproduced_by: vec![implementation()?],
            declined_by: Vec::new(),
        })
    };
    Ok(ProbeReport {
        descriptor: Descriptor {
            id: manifest.id.clone(),
            version: manifest.version.clone(),
            operations: manifest
                .provides
                .iter()
                .map(operation)
                .collect::<Result<_>>()?,
            runners: manifest.runners.clone(),
        },
        golden: manifest.golden.iter().map(golden).collect::<Result<_>>()?,
    })
}
