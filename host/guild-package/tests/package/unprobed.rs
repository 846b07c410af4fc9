//! The probe of tests that look at the store alone: it runs nothing, and finds what the manifest promises.

use guild_package::probe::{
    DescribedOperation, Descriptor, GoldenResult, Probe, ProbeReport, Probed, Sandbox, Subject,
};
use guild_package::{Digest, Manifest, Result};

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
            report: promised(subject.manifest()),
            ambient: Vec::new(),
        })
    }
}

/// The report of a plugin that offers what its manifest lists.
pub fn promised(manifest: &Manifest) -> ProbeReport {
    let implementation = || "test.unprobed".parse().unwrap();
    let operation = |listed: &guild_package::manifest::Operation| {
        let (name, version) = listed.op.as_str().split_once('@').unwrap();
        let version = version.parse().unwrap();
        DescribedOperation {
            name: name.parse().unwrap(),
            first: version,
            last: version,
            implementation: implementation(),
            contract: listed.contract_hash.unwrap_or(Digest::NONE),
            exactness: 1,
            phases: 7,
            formats: Vec::new(),
        }
    };
    ProbeReport {
        descriptor: Descriptor {
            id: manifest.id.clone(),
            version: manifest.version.clone(),
            operations: manifest.provides.iter().map(operation).collect(),
            runners: manifest.runners.clone(),
        },
        golden: manifest
            .golden
            .iter()
            .map(|golden| GoldenResult {
                op: golden.op.clone(),
                vector_sha256: golden.vector_sha256,
                reproduced_by: vec![implementation()],
                declined_by: Vec::new(),
            })
            .collect(),
    }
}
