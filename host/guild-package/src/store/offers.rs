//! `outdated`: which bundles of a folder are newer than what is enabled. Offline: a folder is all that is looked at, and
//! whether there is something newer elsewhere nobody says.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::name::{PackageId, PackageVersion};
use crate::outside;
use crate::store::Store;
use crate::verify::{Occasion, VerifiedPackage, VerifyOptions};

/// What a bundle's name ends with.
const EXTENSIONS: [&str; 2] = ["gkernel", "gkmodule"];

/// A bundle, and what installing it would mean.
#[derive(Debug)]
pub struct Offer {
    /// The file.
    pub file: PathBuf,
    /// What it holds, or why `install` would refuse it.
    pub package: Result<Offered>,
}

/// A package that could be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The package.
    pub id: PackageId,
    /// The version that the bundle holds.
    pub version: PackageVersion,
    /// The version that is enabled.
    pub enabled: Option<PackageVersion>,
    /// The newest version that is installed.
    pub newest: Option<PackageVersion>,
    /// Whether a pinned rollback keeps an install of it from enabling it.
    pub held_back: bool,
}

impl Offered {
    /// Whether an installed package would become newer.
    #[must_use]
    pub fn is_update(&self) -> bool {
        self.newest
            .as_ref()
            .is_some_and(|newest| self.version > *newest)
    }
}

impl Store {
    /// The bundles in `folder`, ascending by name, each verified as an install would.
    ///
    /// # Errors
    /// [`Error::Io`] for the folder; [`Error::StoreCorrupt`] for the store. A bundle's refusal stands in its row.
    pub fn offers(&self, folder: &Path, options: &VerifyOptions) -> Result<Vec<Offer>> {
        let state = self.root.state()?;
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(Error::io("list", folder))? {
            let path = entry.map_err(Error::io("list", folder))?.path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
                files.push(path);
            }
        }
        files.sort();
        let offered = |file: &Path| {
            let occasion = Occasion::Install {
                options,
                history: &state.generation,
                accept_new_publisher: false,
            };
            let bundle = outside::open_regular(file)?;
            let package = VerifiedPackage::check(bundle, &state.trust, occasion)?;
            let (id, version) = (&package.manifest().id, &package.manifest().version);
            let installed = state.generation.packages.get(id);
            Ok(Offered {
                id: id.clone(),
                version: version.clone(),
                held_back: state.generation.is_held_back(id, version),
                enabled: installed.and_then(|installed| installed.enabled.clone()),
                newest: installed.and_then(|it| it.versions.keys().next_back().cloned()),
            })
        };
        let offers = files.into_iter().map(|file| Offer {
            package: offered(&file),
            file,
        });
        Ok(offers.collect())
    }
}
