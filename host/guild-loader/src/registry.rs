//! Who serves what: the operations and runners of every loaded package, in a total order.
//!
//! A package is added whole or not at all. Installed packages come before built-in ones, then the higher
//! rank, then the smaller package id, then the smaller implementation id, so that the order doesn't depend
//! on the order of loading. Look-ups happen while a model loads and never in the token loop.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use guild_abi::abi::guild_plugin_v1;
use guild_abi::counters::guild_counters_v1;
use guild_abi::runner::guild_runner_v1;
use guild_package::Digest;

use crate::error::Fault;
use crate::negotiate::Started;
use crate::table::Table;

/// Where a package's code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// From the package store; outranks every built-in package.
    Installed,
    /// Linked into the host.
    Builtin,
}

/// A loaded package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageIdentity {
    /// Package id; `builtin.<id>` for one that is linked into the host.
    pub id: String,
    /// Package version.
    pub version: String,
    /// SHA-256 of the signed manifest; a built-in package has none.
    pub digest: Option<Digest>,
    /// Where its code comes from.
    pub origin: Origin,
}

impl PackageIdentity {
    /// The name for messages: `id@version`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}@{}", self.id, self.version)
    }
}

/// One implementation of an operation.
#[derive(Clone, Debug)]
pub struct RegisteredOperation {
    /// The package that provides it.
    pub package: Arc<PackageIdentity>,
    /// The plugin's functions.
    pub table: Table<guild_plugin_v1>,
    /// What the plugin's functions call it.
    pub index: u32,
    /// Operation without its version.
    pub name: String,
    /// First version served.
    pub op_min: u32,
    /// Last version served.
    pub op_max: u32,
    /// Implementation id.
    pub implementation: String,
    /// SHA-256 of the contract's canonical text.
    pub contract: Digest,
    /// `GUILD_CAP_*` bits.
    pub caps: [u64; 2],
    /// `GUILD_PHASE_*` bits.
    pub phases: u32,
    /// `GUILD_CLASS_EXACT` or `GUILD_CLASS_TOLERANT`.
    pub exactness: u32,
    /// Order among implementations; higher is preferred.
    pub rank: i32,
    /// Weight formats served, for listings.
    pub formats: Vec<u32>,
    /// Name and version of the chain that this fused operation replaces, or empty.
    pub replaces: String,
}

impl RegisteredOperation {
    /// The operation with its newest version: `guild.core.linear@1`.
    #[must_use]
    pub fn versioned_name(&self) -> String {
        format!("{}@{}", self.name, self.op_max)
    }

    /// Smaller comes first.
    fn precedence(&self) -> impl Ord + use<'_> {
        (
            self.package.origin,
            Reverse(self.rank),
            &self.package.id,
            &self.implementation,
        )
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.name == other.name && self.op_min <= other.op_max && other.op_min <= self.op_max
    }
}

/// One runner.
#[derive(Clone, Debug)]
pub struct RegisteredRunner {
    /// The package that provides it.
    pub package: Arc<PackageIdentity>,
    /// The plugin's functions; `self_` is the first argument of the runner's functions.
    pub table: Table<guild_plugin_v1>,
    /// The runner functions.
    pub extension: Table<guild_runner_v1>,
    /// What the runner functions call it.
    pub index: u32,
    /// Runner id.
    pub id: String,
    /// Architecture names that it may match.
    pub architectures: Vec<String>,
}

/// One loaded plugin.
#[derive(Clone, Debug)]
pub struct RegisteredPackage {
    /// The package.
    pub identity: Arc<PackageIdentity>,
    /// The plugin's functions.
    pub table: Table<guild_plugin_v1>,
    /// Its counters, if it has any.
    pub(crate) counters: Option<Table<guild_counters_v1>>,
    /// Name with version and implementation of each operation, by the plugin's index.
    pub(crate) operations: Vec<(String, String)>,
    /// Id of each runner, by the plugin's index.
    pub(crate) runners: Vec<String>,
}

/// All that one negotiated plugin brings. Dropped without being registered, it shuts the plugin down.
pub struct Registration {
    pub(crate) plugin: Started,
    pub(crate) package: RegisteredPackage,
    pub(crate) operations: Vec<RegisteredOperation>,
    pub(crate) runners: Vec<RegisteredRunner>,
}

/// The loaded packages. A plugin in it is never shut down or unmapped while the process lives.
#[derive(Debug, Default)]
pub struct Registry {
    packages: Vec<RegisteredPackage>,
    /// By operation name, each list in order of precedence.
    operations: BTreeMap<String, Vec<RegisteredOperation>>,
    /// In order of precedence.
    runners: Vec<RegisteredRunner>,
}

impl Registry {
    /// Adds a package whole, or leaves the registry as it was.
    ///
    /// # Errors
    /// [`Fault::Duplicate`] for the same package twice, or for an implementation or runner that the
    /// package itself or another one of the same origin already has; [`Fault::ContractMismatch`] for a
    /// provider with another contract than an earlier one's.
    pub fn register(&mut self, registration: Registration) -> Result<(), Fault> {
        self.check_package(&registration.package.identity)?;
        for (index, operation) in registration.operations.iter().enumerate() {
            let own = registration.operations.iter().take(index);
            self.check_operation(operation, own)?;
        }
        for (index, runner) in registration.runners.iter().enumerate() {
            let own = registration.runners.iter().take(index);
            check_runner(runner, self.runners.iter().chain(own))?;
        }
        self.add(registration);
        Ok(())
    }

    /// Implementations that serve `version` of operation `name`, best first.
    pub fn operations<'a>(
        &'a self,
        name: &str,
        version: u32,
    ) -> impl Iterator<Item = &'a RegisteredOperation> + use<'a> {
        let named = self.operations.get(name).map_or(&[][..], Vec::as_slice);
        named
            .iter()
            .filter(move |operation| (operation.op_min..=operation.op_max).contains(&version))
    }

    /// Every implementation: by operation name, then best first.
    pub fn all_operations(&self) -> impl Iterator<Item = &RegisteredOperation> {
        self.operations.values().flatten()
    }

    /// Every runner, best first.
    pub fn runners(&self) -> impl Iterator<Item = &RegisteredRunner> {
        self.runners.iter()
    }

    /// Every package, in the order of registration.
    pub fn packages(&self) -> impl Iterator<Item = &RegisteredPackage> {
        self.packages.iter()
    }

    fn check_package(&self, identity: &PackageIdentity) -> Result<(), Fault> {
        let earlier = self
            .packages()
            .find(|known| known.identity.id == identity.id);
        match earlier {
            Some(earlier) => Err(Fault::Duplicate {
                what: "package",
                name: identity.id.clone(),
                package: identity.label(),
                earlier: earlier.identity.label(),
            }),
            None => Ok(()),
        }
    }

    /// `own` are the operations of the same registration that come before.
    fn check_operation<'a>(
        &'a self,
        operation: &RegisteredOperation,
        own: impl Iterator<Item = &'a RegisteredOperation>,
    ) -> Result<(), Fault> {
        let named = self.operations.get(&operation.name).into_iter().flatten();
        for earlier in named
            .chain(own)
            .filter(|earlier| earlier.overlaps(operation))
        {
            if earlier.contract != operation.contract {
                return Err(Fault::ContractMismatch {
                    operation: operation.versioned_name(),
                    implementation: operation.implementation.clone(),
                    expected: earlier.contract,
                    found: operation.contract,
                });
            }
            if earlier.implementation == operation.implementation
                && earlier.package.origin == operation.package.origin
            {
                return Err(Fault::Duplicate {
                    what: "implementation",
                    name: operation.implementation.clone(),
                    package: operation.package.label(),
                    earlier: earlier.package.label(),
                });
            }
        }
        Ok(())
    }

    fn add(&mut self, registration: Registration) {
        let Registration {
            plugin,
            package,
            operations,
            runners,
        } = registration;
        for operation in operations {
            let named = self.operations.entry(operation.name.clone()).or_default();
            let place = named.partition_point(|known| known.precedence() < operation.precedence());
            named.insert(place, operation);
        }
        self.runners.extend(runners);
        self.runners.sort_by(|one, other| {
            (one.package.origin, &one.package.id, &one.id).cmp(&(
                other.package.origin,
                &other.package.id,
                &other.id,
            ))
        });
        self.packages.push(package);
        plugin.keep();
    }
}

fn check_runner<'a>(
    runner: &RegisteredRunner,
    mut earlier: impl Iterator<Item = &'a RegisteredRunner>,
) -> Result<(), Fault> {
    let twin = earlier
        .find(|known| known.id == runner.id && known.package.origin == runner.package.origin);
    match twin {
        Some(twin) => Err(Fault::Duplicate {
            what: "runner",
            name: runner.id.clone(),
            package: runner.package.label(),
            earlier: twin.package.label(),
        }),
        None => Ok(()),
    }
}
