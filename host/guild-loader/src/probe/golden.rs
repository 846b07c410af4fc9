//! Golden vectors on trial: every implementation of an operation that takes such calls must give the signed
//! bytes. The calls are made by the conformance kit, with one worker and with several, in guarded memory.
#![allow(unsafe_code)]

use guild_abi::abi::GUILD_CLASS_EXACT;
use guild_conformance::case::Case;
use guild_conformance::golden::Vectors;
use guild_conformance::{Operation, Verdict, reproduce};
use guild_package::manifest::{Artifact, Golden};
use guild_package::probe::GoldenResult;
use guild_package::text::escape;
use guild_package::{Digest, Manifest};

use crate::error::Fault;
use crate::registry::{RegisteredOperation, Registry};

/// Units of a manifest's tolerance in 1.
const TOLERANCE_UNITS: f64 = 1e9;

/// A plugin whose operations may be called: registered, and called by nobody else. Only this module's
/// caller has one, in a process that runs one package on one thread.
pub(super) struct OnTrial<'a>(&'a Registry);

impl<'a> OnTrial<'a> {
    /// The one package of this process.
    pub fn new(registry: &'a Registry) -> Self {
        Self(registry)
    }

    /// Runs every golden vector of the manifest, in its order.
    ///
    /// # Errors
    /// The first number that is wrong, file that can't be read, or operation that isn't there.
    pub fn reproduce(
        &self,
        manifest: &Manifest,
        files: &[(Artifact, Vec<u8>)],
    ) -> Result<Vec<GoldenResult>, Fault> {
        let results = manifest.golden.iter();
        results.map(|golden| self.one_file(golden, files)).collect()
    }

    fn one_file(
        &self,
        golden: &Golden,
        files: &[(Artifact, Vec<u8>)],
    ) -> Result<GoldenResult, Fault> {
        let vectors = read(golden, files)?;
        let cases = vectors.cases();
        let relative = golden.tolerance as f64 / TOLERANCE_UNITS;
        let mut result = GoldenResult {
            op: golden.op.clone(),
            vector_sha256: golden.vector_sha256,
            tolerance: golden.tolerance,
            reproduced_by: Vec::new(),
            declined_by: Vec::new(),
        };
        for operation in self.0.operations(&vectors.op, vectors.version) {
            let id = operation.implementation.parse();
            let id =
                id.map_err(|_| Fault::malformed("description", "an implementation has no id"))?;
            match implementation(operation, &cases, relative)? {
                Taken::All => result.reproduced_by.push(id),
                Taken::NotAll => result.declined_by.push(id),
            }
        }
        Ok(result)
    }
}

/// Whether an implementation took every call.
enum Taken {
    All,
    NotAll,
}

fn implementation(
    operation: &RegisteredOperation,
    cases: &[Case],
    relative: f64,
) -> Result<Taken, Fault> {
    // Who says that it is not exact can't be held to equal bits.
    if operation.exactness != GUILD_CLASS_EXACT && relative == 0.0 {
        return Ok(Taken::NotAll);
    }
    let described = Operation {
        index: operation.index,
        name: operation.name.clone(),
        implementation: operation.implementation.clone(),
        phases: operation.phases,
        caps: operation.caps[0],
        class: operation.exactness,
    };
    let mut taken = Taken::All;
    for case in cases {
        // SAFETY: the table is that of a registered plugin, which is never shut down; this process runs one
        // package and has this one thread, so nothing else calls it.
        let verdict = unsafe { reproduce(operation.table.get(), &described, case, relative) };
        match verdict {
            Verdict::Passed => {}
            Verdict::Declined(_) => taken = Taken::NotAll,
            Verdict::Failed(why) => {
                return Err(Fault::NotReproduced {
                    implementation: operation.implementation.clone(),
                    operation: operation.versioned_name(),
                    vector: escape(&case.name),
                    why: escape(&why),
                });
            }
        }
    }
    Ok(taken)
}

/// The vectors that the manifest names, for the operation that it names.
fn read(golden: &Golden, files: &[(Artifact, Vec<u8>)]) -> Result<Vectors, Fault> {
    let named = |(artifact, _): &&(Artifact, Vec<u8>)| artifact.sha256 == golden.vector_sha256;
    let (path, bytes) = match files.iter().find(named) {
        Some((artifact, bytes)) => (artifact.path.to_string(), bytes.as_slice()),
        None => (short(golden.vector_sha256), &[][..]),
    };
    let unreadable = |detail: String| Fault::GoldenUnreadable {
        path: path.clone(),
        detail,
    };
    let vectors = Vectors::decode(bytes).map_err(|malformed| unreadable(malformed.to_string()))?;
    let op = format!("{}@{}", vectors.op, vectors.version);
    match golden.op.as_str() == op {
        true => Ok(vectors),
        false => Err(unreadable(format!(
            "it is for {op}, the manifest says {}",
            golden.op
        ))),
    }
}

fn short(digest: Digest) -> String {
    digest.short().to_string()
}
