//! A bundle of what is installed already, for writing its files again.

use std::fs::File;

use crate::bundle::Bundle;
use crate::digest::Digest;
use crate::error::Result;
use crate::trust::TrustStore;
use crate::verify::{Occasion, VerifiedPackage};

/// A bundle that brings the very manifest of an installed version, judged as at load. Its files may take the place of
/// damaged ones; it is never installed.
#[derive(Debug)]
pub(crate) struct KnownPackage(VerifiedPackage);

impl KnownPackage {
    /// All stages over an open file, as at load, so that nothing is asked of the caller's expectations; absent where
    /// `installed_gen`, which says what generation installed a manifest, knows none.
    ///
    /// # Errors
    /// The first check of section 8 that fails.
    pub(crate) fn check(
        file: File,
        trust: &TrustStore,
        installed_gen: impl FnOnce(Digest) -> Option<u64>,
    ) -> Result<Option<Self>> {
        let bundle = Bundle::parse(file)?;
        let Some(installed_gen) = installed_gen(Digest::of(&bundle.manifest()?)) else {
            return Ok(None);
        };
        let occasion = Occasion::Load { installed_gen };
        let package = VerifiedPackage::check_bundle(bundle, trust, occasion)?;
        Ok(Some(Self(package)))
    }

    /// The package, whose every byte is what was signed.
    pub(crate) const fn package(&self) -> &VerifiedPackage {
        &self.0
    }
}
