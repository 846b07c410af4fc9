//! `fsck`: reads all that the state names and compares it with what it is named by.

use crate::error::{Error, Result};
use crate::name::{PackageId, PackageVersion};
use crate::store::Store;
use crate::store::contents::strangers;
use crate::store::generation::{Pin, VersionState};
use crate::store::installed::InstalledPackage;
use crate::store::lock::WriterLock;
use crate::store::log::WholeChain;
use crate::store::path::StorePath;
use crate::store::state::State;

/// What an examination found.
#[derive(Debug)]
pub struct Examined {
    /// The chain, if it is whole.
    pub chain: Option<WholeChain>,
    /// Installed versions.
    pub versions: usize,
    /// Artifacts that were read and hashed.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// What doesn't fit.
    pub faults: Vec<Fault>,
    /// What is there beside the state and its content. The next change removes the rests of an interrupted one.
    pub strangers: Vec<StorePath>,
}

/// Something that doesn't fit.
#[derive(Debug)]
pub struct Fault {
    /// The version it belongs to; absent for the store's own records.
    pub version: Option<Pin>,
    /// What is wrong, and what to do.
    pub error: Error,
}

impl Store {
    /// Reads the chain, and of every installed version the manifest, the envelope and all artifacts. Changes nothing.
    /// Holds the writer's lock, so that nothing changes meanwhile.
    ///
    /// # Errors
    /// [`Error::StoreLocked`]; [`Error::StoreCorrupt`] or [`Error::Io`] where the state in force can't be read at all.
    pub fn examine(&self) -> Result<Examined> {
        let _lock = WriterLock::take(&self.root, self.options.lock_wait_ms)?;
        let state = self.root.state()?;
        let mut examined = Examined {
            chain: None,
            versions: 0,
            files: 0,
            bytes: 0,
            faults: Vec::new(),
            strangers: strangers(&self.root, &state)?,
        };
        match self.verify_chain() {
            Ok(chain) => examined.chain = Some(chain),
            Err(error) => examined.faults.push(Fault {
                version: None,
                error,
            }),
        }
        for version in state.generation.installed() {
            self.examine_version(&state, version, &mut examined);
        }
        Ok(examined)
    }

    fn examine_version(
        &self,
        state: &State,
        (id, version, installed): (&PackageId, &PackageVersion, &VersionState),
        examined: &mut Examined,
    ) {
        examined.versions += 1;
        let mut fault = |error| {
            examined.faults.push(Fault {
                version: Some(Pin::new(id, version)),
                error,
            });
        };
        match InstalledPackage::open(&self.root, state, id, version, installed) {
            Ok(package) => {
                if let (Some(_), Err(error)) = (package.receipt_digest(), package.receipt()) {
                    fault(error);
                }
                for artifact in package.artifacts() {
                    examined.files += 1;
                    examined.bytes += artifact.size();
                    if let Err(error) = package.check_artifact(&artifact) {
                        fault(error);
                    }
                }
            }
            Err(error) => fault(error),
        }
    }
}
