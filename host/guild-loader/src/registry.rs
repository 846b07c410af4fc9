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
    /// SHA-256 of the receipt of its acceptance; a built-in package has none.
    pub receipt: Option<Digest>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::blank;

    /// A package with one operation for each `(name, implementation, rank, contract)`.
    fn package(
        id: &str,
        origin: Origin,
        operations: &[(&str, &str, i32, u8)],
        runners: &[&str],
    ) -> Registration {
        let identity = Arc::new(PackageIdentity {
            id: id.to_owned(),
            version: "1.0.0".to_owned(),
            digest: None,
            receipt: None,
            origin,
        });
        let table = Table::seal(blank()).unwrap();
        let operation = |(index, &(name, implementation, rank, contract))| RegisteredOperation {
            package: Arc::clone(&identity),
            table,
            index,
            name: String::from(name),
            op_min: 1,
            op_max: 2,
            implementation: String::from(implementation),
            contract: Digest::from_bytes([contract; 32]),
            caps: [0; 2],
            phases: 7,
            exactness: 1,
            rank,
            formats: Vec::new(),
            replaces: String::new(),
        };
        let runner = |(index, &id): (u32, &&str)| RegisteredRunner {
            package: Arc::clone(&identity),
            table,
            extension: Table::seal(blank()).unwrap(),
            index,
            id: id.to_owned(),
            architectures: Vec::new(),
        };
        Registration {
            plugin: Started::nothing(),
            package: RegisteredPackage {
                identity: Arc::clone(&identity),
                table,
                counters: None,
                operations: Vec::new(),
                runners: Vec::new(),
            },
            operations: (0..).zip(operations).map(operation).collect(),
            runners: (0..).zip(runners).map(runner).collect(),
        }
    }

    fn order(registry: &Registry, name: &str, version: u32) -> Vec<String> {
        registry
            .operations(name, version)
            .map(|operation| format!("{} {}", operation.package.id, operation.implementation))
            .collect()
    }

    #[test]
    fn order_is_origin_then_rank_then_ids_whatever_came_first() {
        let packages = || {
            [
                package(
                    "builtin.a",
                    Origin::Builtin,
                    &[("t.op.x", "best", 99, 0)],
                    &[],
                ),
                package("org.b", Origin::Installed, &[("t.op.x", "two", 5, 0)], &[]),
                package(
                    "org.a",
                    Origin::Installed,
                    &[("t.op.x", "slow", 1, 0), ("t.op.x", "one", 5, 0)],
                    &[],
                ),
            ]
        };
        let expected = ["org.a one", "org.b two", "org.a slow", "builtin.a best"];
        let mut forwards = Registry::default();
        let mut backwards = Registry::default();
        for registration in packages() {
            forwards.register(registration).unwrap();
        }
        for registration in packages().into_iter().rev() {
            backwards.register(registration).unwrap();
        }
        assert_eq!(order(&forwards, "t.op.x", 1), expected);
        assert_eq!(order(&backwards, "t.op.x", 1), expected);
        assert_eq!(order(&forwards, "t.op.x", 2), expected);
        assert!(order(&forwards, "t.op.x", 3).is_empty());
        assert!(order(&forwards, "t.op.y", 1).is_empty());
    }

    /// Registers `second` after a good package; it must be refused and leave nothing.
    #[track_caller]
    fn refused(second: Registration, code: &str, word: &str) {
        let mut registry = Registry::default();
        let first = package(
            "org.a",
            Origin::Installed,
            &[("t.op.x", "one", 0, 0)],
            &["run"],
        );
        registry.register(first).unwrap();
        let fault = registry.register(second).unwrap_err();
        assert_eq!(fault.code().name, code, "{fault}");
        assert!(fault.to_string().contains(word), "{fault}");
        assert_eq!(registry.packages().count(), 1);
        assert_eq!(registry.all_operations().count(), 1);
        assert_eq!(registry.runners().count(), 1);
    }

    #[test]
    fn if_the_second_of_two_fails_nothing_remains() {
        let installed = Origin::Installed;
        let operations = [("t.op.new", "new", 0, 0), ("t.op.x", "one", 0, 0)];
        refused(
            package("org.b", installed, &operations, &[]),
            "PREFLIGHT_REFUSED",
            "implementation `one`",
        );
        let twins = [("t.op.new", "new", 0, 0), ("t.op.new", "new", 1, 0)];
        refused(
            package("org.b", installed, &twins, &[]),
            "PREFLIGHT_REFUSED",
            "implementation `new`",
        );
        let other = [("t.op.new", "new", 0, 0), ("t.op.x", "two", 0, 9)];
        refused(
            package("org.b", installed, &other, &[]),
            "INCOMPATIBLE",
            "another contract of `t.op.x@2`",
        );
        let operations = [("t.op.new", "new", 0, 0)];
        refused(
            package("org.b", installed, &operations, &["own", "run"]),
            "PREFLIGHT_REFUSED",
            "runner `run`",
        );
        refused(
            package("org.a", installed, &operations, &[]),
            "PREFLIGHT_REFUSED",
            "package `org.a`",
        );
    }

    #[test]
    fn an_installed_package_may_replace_a_builtin_one() {
        let mut registry = Registry::default();
        let operations = [("t.op.x", "one", 0, 0)];
        let installed = package("org.a", Origin::Installed, &operations, &["run"]);
        let builtin = package("builtin.org.a", Origin::Builtin, &operations, &["run"]);
        registry.register(builtin).unwrap();
        registry.register(installed).unwrap();
        assert_eq!(
            order(&registry, "t.op.x", 1),
            ["org.a one", "builtin.org.a one"]
        );
        let runners: Vec<_> = registry
            .runners()
            .map(|runner| &runner.package.id)
            .collect();
        assert_eq!(runners, ["org.a", "builtin.org.a"]);
    }
}
