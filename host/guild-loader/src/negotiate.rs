//! From an entry function to a registration: versions, identity, functions, descriptions.
//!
//! Nothing that a plugin says is used before it is checked, and a registration is whole or it isn't
//! made: if any operation or runner is refused, the plugin is shut down and nothing of it remains.

use std::ops::Range;
use std::sync::Arc;

use guild_abi::abi::{
    GUILD_ABI_MINOR, GUILD_ABI_MINOR_FLOOR, GUILD_CLASS_EXACT, GUILD_CLASS_TOLERANT,
    GUILD_PHASE_DECODE, GUILD_PHASE_PREFILL, GUILD_PHASE_VERIFY, guild_op_desc, guild_plugin_v1,
};
use guild_abi::contract::core_op;
use guild_abi::counters::guild_counters_v1;
use guild_abi::runner::{guild_runner_desc, guild_runner_v1};
use guild_package::name::ProvidedName;
use guild_package::text::escape;
use guild_package::{Digest, Manifest, PackageVersion};

use crate::call::{OperationDescription, Plugin};
use crate::error::Fault;
use crate::record::Record;
use crate::registry::{
    Origin, PackageIdentity, RegisteredOperation, RegisteredPackage, RegisteredRunner, Registration,
};
use crate::table::Table;

/// Operations that one plugin may have.
const OPERATIONS_MAX: u32 = 4096;
/// Runners that one plugin may have.
const RUNNERS_MAX: u32 = 256;
/// Versions that one implementation may span.
const VERSION_SPAN_MAX: u32 = 16;
/// Names below it belong to the host.
const RESERVED_PREFIX: &str = "guild.";

/// What the host knows about a plugin before it runs.
pub(crate) struct Expected<'a> {
    /// The id under which it is registered.
    pub id: &'a str,
    /// The id that the plugin must state.
    pub plugin_id: &'a str,
    /// The version that it must state; `None` for code that is linked into the host.
    pub version: Option<&'a PackageVersion>,
    /// SHA-256 of the signed manifest; `None` for code that is linked into the host.
    pub digest: Option<Digest>,
    /// SHA-256 of the receipt of its acceptance, for reports.
    pub receipt: Option<Digest>,
    /// Where the code comes from.
    pub origin: Origin,
    /// Where the code is; `None` for code that is linked into the host.
    pub text: Option<&'a [Range<usize>]>,
    /// The signed manifest; `None` for code that is linked into the host.
    pub manifest: Option<&'a Manifest>,
}

/// Checks a plugin whose entry returned `OK`, starts it, and describes all that it has.
///
/// # Errors
/// The first rule that is broken, or the plugin's own error. The plugin is shut down then, unless its
/// functions can't be trusted.
pub(crate) fn negotiate(plugin: Plugin, expected: &Expected<'_>) -> Result<Registration, Fault> {
    let active_minor = agree_on_minor(
        GUILD_ABI_MINOR,
        GUILD_ABI_MINOR_FLOOR,
        plugin.table.abi_minor_built,
        plugin.table.abi_minor_min,
    )?;
    check_functions(&plugin.table, expected.text)?;
    let plugin = Started(Some(plugin));
    let described = plugin.get().and_then(|plugin| {
        let package = Arc::new(check_identity(plugin, expected)?);
        plugin.init(active_minor)?;
        describe_all(plugin, expected, &package)
    })?;
    Ok(Registration {
        plugin,
        package: described.0,
        operations: described.1,
        runners: described.2,
    })
}

/// A plugin that is shut down when it is dropped before it was kept.
pub(crate) struct Started(Option<Plugin>);

impl Started {
    /// The plugin stays for the life of the process: its table is handed out from now on.
    pub(crate) fn keep(mut self) {
        self.0 = None;
    }

    /// No plugin, for tests of the registry.
    #[cfg(test)]
    pub(crate) const fn nothing() -> Self {
        Self(None)
    }

    fn get(&self) -> Result<&Plugin, Fault> {
        self.0
            .as_ref()
            .ok_or_else(|| Fault::malformed(guild_plugin_v1::NAME, "it was shut down"))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(plugin) = self.0.take() {
            plugin.shut_down();
        }
    }
}

/// The version that both sides use, or why there is none.
fn agree_on_minor(
    host_minor: u32,
    host_floor: u32,
    plugin_built: u32,
    plugin_min: u32,
) -> Result<u32, Fault> {
    if plugin_min > host_minor || plugin_built < host_floor || plugin_min > plugin_built {
        return Err(Fault::AbiVersion {
            host_minor,
            host_floor,
            plugin_built,
            plugin_min,
        });
    }
    Ok(host_minor.min(plugin_built))
}

/// The functions that must be there are there, and all lie in the plugin's own code.
fn check_functions(table: &guild_plugin_v1, text: Option<&[Range<usize>]>) -> Result<(), Fault> {
    let with_operations = table.op_count > 0;
    let functions = [
        ("init", table.init.map(|f| f as usize), false),
        (
            "describe",
            table.describe.map(|f| f as usize),
            with_operations,
        ),
        (
            "supports",
            table.supports.map(|f| f as usize),
            with_operations,
        ),
        ("create", table.create.map(|f| f as usize), with_operations),
        ("scratch", table.scratch.map(|f| f as usize), false),
        ("prepack", table.prepack.map(|f| f as usize), false),
        (
            "prepare",
            table.prepare.map(|f| f as usize),
            with_operations,
        ),
        (
            "destroy",
            table.destroy.map(|f| f as usize),
            with_operations,
        ),
        (
            "get_extension",
            table.get_extension.map(|f| f as usize),
            false,
        ),
        ("quiesce", table.quiesce.map(|f| f as usize), false),
        ("shutdown", table.shutdown.map(|f| f as usize), false),
    ];
    check_each_function(guild_plugin_v1::NAME, &functions, text)
}

fn check_each_function(
    record: &'static str,
    functions: &[(&str, Option<usize>, bool)],
    text: Option<&[Range<usize>]>,
) -> Result<(), Fault> {
    for &(name, address, needed) in functions {
        match (address, text) {
            (None, _) if needed => {
                return Err(Fault::malformed(record, format!("`{name}` is missing")));
            }
            (Some(address), Some(text)) if !text.iter().any(|range| range.contains(&address)) => {
                return Err(Fault::malformed(
                    record,
                    format!("`{name}` points to {address:#x}, outside the plugin's own code"),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The plugin is the package that was asked for.
fn check_identity(plugin: &Plugin, expected: &Expected<'_>) -> Result<PackageIdentity, Fault> {
    let (id, version) = plugin.identity()?;
    let mismatch = |field, manifest: &str, plugin: &str| Fault::IdentityMismatch {
        field,
        manifest: manifest.to_owned(),
        plugin: escape(plugin),
    };
    if id != expected.plugin_id {
        return Err(mismatch("id", expected.plugin_id, &id));
    }
    let Ok(parsed) = version.parse::<PackageVersion>() else {
        let detail = format!("`version` is `{}`, not SemVer", escape(&version));
        return Err(Fault::malformed(guild_plugin_v1::NAME, detail));
    };
    match expected.version {
        Some(signed) if *signed != parsed => {
            Err(mismatch("version", &signed.to_string(), &version))
        }
        _ => Ok(PackageIdentity {
            id: expected.id.to_owned(),
            version,
            digest: expected.digest,
            receipt: expected.receipt,
            origin: expected.origin,
        }),
    }
}

type Described = (
    RegisteredPackage,
    Vec<RegisteredOperation>,
    Vec<RegisteredRunner>,
);

fn describe_all(
    plugin: &Plugin,
    expected: &Expected<'_>,
    package: &Arc<PackageIdentity>,
) -> Result<Described, Fault> {
    let table = Table::seal(plugin.table)?;
    let counters = extension_counters(plugin, expected)?;
    let operations = describe_operations(plugin, expected, package, table)?;
    let runners = describe_runners(plugin, expected, package, table)?;
    let registered = RegisteredPackage {
        identity: Arc::clone(package),
        table,
        counters,
        operations: operations
            .iter()
            .map(|operation| (operation.versioned_name(), operation.implementation.clone()))
            .collect(),
        runners: runners.iter().map(|runner| runner.id.clone()).collect(),
    };
    Ok((registered, operations, runners))
}

fn describe_operations(
    plugin: &Plugin,
    expected: &Expected<'_>,
    package: &Arc<PackageIdentity>,
    table: Table<guild_plugin_v1>,
) -> Result<Vec<RegisteredOperation>, Fault> {
    let count = plugin.table.op_count;
    if count > OPERATIONS_MAX {
        return Err(Fault::malformed(
            guild_plugin_v1::NAME,
            format!("`op_count` is {count}, at most {OPERATIONS_MAX} are allowed"),
        ));
    }
    (0..count)
        .map(|index| {
            let said = plugin.describe(index)?;
            check_operation(&said)?;
            check_operation_is_listed(&said, expected.manifest)?;
            Ok(RegisteredOperation {
                package: Arc::clone(package),
                table,
                index,
                name: said.name,
                op_min: said.op_min,
                op_max: said.op_max,
                implementation: said.implementation,
                contract: Digest::from_bytes(said.contract),
                caps: said.caps,
                phases: said.phases,
                exactness: said.exactness,
                rank: said.rank,
                formats: said.formats,
                replaces: said.replaces,
            })
        })
        .collect()
}

/// One description obeys the grammar and the contract that it names.
fn check_operation(said: &OperationDescription) -> Result<(), Fault> {
    let broken = |detail: String| Err(Fault::malformed(guild_op_desc::NAME, detail));
    let OperationDescription {
        name,
        implementation,
        op_min,
        op_max,
        ..
    } = said;
    if *op_min == 0 || op_min > op_max || op_max - op_min >= VERSION_SPAN_MAX {
        return broken(format!(
            "`{}` serves versions {op_min} to {op_max}; versions start at 1 and span at most {VERSION_SPAN_MAX}",
            escape(name)
        ));
    }
    check_name(guild_op_desc::NAME, &format!("{name}@{op_max}"), true)?;
    check_name(guild_op_desc::NAME, implementation, false)?;
    if !said.replaces.is_empty() {
        check_name(guild_op_desc::NAME, &said.replaces, true)?;
    }
    let known_phases = GUILD_PHASE_PREFILL | GUILD_PHASE_DECODE | GUILD_PHASE_VERIFY;
    if said.phases & known_phases == 0 {
        return broken(format!(
            "`{implementation}` serves no phase that this host knows"
        ));
    }
    if !matches!(said.exactness, GUILD_CLASS_EXACT | GUILD_CLASS_TOLERANT) {
        return broken(format!(
            "`{implementation}` has exactness {}, which is no class",
            said.exactness
        ));
    }
    if name.starts_with(RESERVED_PREFIX) {
        return check_core_contract(said);
    }
    Ok(())
}

/// An operation of the host's own name space must be one that the host knows, under the same contract.
/// A contract's hash covers one version, so every version that is served must have that hash.
fn check_core_contract(said: &OperationDescription) -> Result<(), Fault> {
    for version in said.op_min..=said.op_max {
        let operation = format!("{}@{version}", said.name);
        let Some(known) = core_op(&said.name, version) else {
            return Err(Fault::UnknownCoreOperation { operation });
        };
        if known.hash != said.contract {
            return Err(Fault::ContractMismatch {
                operation,
                implementation: said.implementation.clone(),
                expected: Digest::from_bytes(known.hash),
                found: Digest::from_bytes(said.contract),
            });
        }
    }
    Ok(())
}

fn describe_runners(
    plugin: &Plugin,
    expected: &Expected<'_>,
    package: &Arc<PackageIdentity>,
    table: Table<guild_plugin_v1>,
) -> Result<Vec<RegisteredRunner>, Fault> {
    let Some(extension) = plugin.runner_extension()? else {
        return Ok(Vec::new());
    };
    check_runners_table(&extension, expected.text)?;
    let sealed = Table::seal(extension)?;
    (0..extension.runner_count)
        .map(|index| {
            let said = plugin.runner_info(&extension, index)?;
            check_name(guild_runner_desc::NAME, &said.id, false)?;
            check_runner_is_listed(&said.id, expected.manifest)?;
            let architectures: Vec<String> = said
                .architectures
                .split_ascii_whitespace()
                .map(escape)
                .collect();
            Ok(RegisteredRunner {
                package: Arc::clone(package),
                table,
                extension: sealed,
                index,
                id: said.id,
                architectures,
            })
        })
        .collect()
}

fn check_runners_table(
    extension: &guild_runner_v1,
    text: Option<&[Range<usize>]>,
) -> Result<(), Fault> {
    let count = extension.runner_count;
    if count > RUNNERS_MAX {
        return Err(Fault::malformed(
            guild_runner_v1::NAME,
            format!("`runner_count` is {count}, at most {RUNNERS_MAX} are allowed"),
        ));
    }
    let needed = count > 0;
    let functions = [
        ("info", extension.info.map(|f| f as usize), needed),
        ("matches", extension.matches.map(|f| f as usize), needed),
        ("describe", extension.describe.map(|f| f as usize), needed),
    ];
    check_each_function(guild_runner_v1::NAME, &functions, text)
}

fn extension_counters(
    plugin: &Plugin,
    expected: &Expected<'_>,
) -> Result<Option<Table<guild_counters_v1>>, Fault> {
    let Some(extension) = plugin.counters_extension()? else {
        return Ok(None);
    };
    let functions = [
        ("operation", extension.operation.map(|f| f as usize), false),
        ("runner", extension.runner.map(|f| f as usize), false),
    ];
    check_each_function(guild_counters_v1::NAME, &functions, expected.text)?;
    Table::seal(extension).map(Some)
}

fn check_name(record: &'static str, name: &str, is_operation: bool) -> Result<(), Fault> {
    match name.parse::<ProvidedName>() {
        Ok(parsed) if parsed.is_operation() == is_operation => Ok(()),
        _ => Err(Fault::malformed(
            record,
            format!(
                "`{}` is not a valid {}",
                escape(name),
                if is_operation {
                    "operation name: expected `org.name.op` in lower case"
                } else {
                    "id: expected dotted lower-case labels"
                }
            ),
        )),
    }
}

/// A package offers nothing that its signed manifest doesn't list, and under no other contract.
fn check_operation_is_listed(
    said: &OperationDescription,
    manifest: Option<&Manifest>,
) -> Result<(), Fault> {
    let Some(manifest) = manifest else {
        return Ok(());
    };
    let found = Digest::from_bytes(said.contract);
    for version in said.op_min..=said.op_max {
        let name = format!("{}@{version}", said.name);
        let mut listed = manifest.provides.iter();
        match listed.find(|listed| listed.op.as_str() == name) {
            None => return Err(Fault::NotInManifest { name }),
            Some(listed) => match listed.contract_hash {
                Some(expected) if expected != found => {
                    return Err(Fault::ContractMismatch {
                        operation: name,
                        implementation: said.implementation.clone(),
                        expected,
                        found,
                    });
                }
                _ => {}
            },
        }
    }
    Ok(())
}

fn check_runner_is_listed(id: &str, manifest: Option<&Manifest>) -> Result<(), Fault> {
    match manifest {
        Some(manifest) if !manifest.runners.iter().any(|listed| listed.as_str() == id) => {
            Err(Fault::NotInManifest {
                name: id.to_owned(),
            })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule of the ABI: refuse iff the plugin needs more than the host speaks, or was built for
    /// less than the host accepts; otherwise both use the smaller number.
    #[test]
    fn versions_meet_in_the_middle_or_all_four_numbers_are_named() {
        assert_eq!(agree_on_minor(3, 1, 3, 0).unwrap(), 3);
        assert_eq!(agree_on_minor(3, 1, 7, 2).unwrap(), 3);
        assert_eq!(agree_on_minor(3, 1, 1, 0).unwrap(), 1);
        assert_eq!(agree_on_minor(3, 1, 9, 3).unwrap(), 3);
        for (built, min, upgrade) in [(9, 4, "Upgrade guild"), (0, 0, "Upgrade the package")] {
            let fault = agree_on_minor(3, 1, built, min).unwrap_err();
            assert_eq!((fault.code().name, fault.code().exit), ("INCOMPATIBLE", 20));
            let text = fault.to_string();
            assert!(text.contains("minor 1 to 3"), "{text}");
            assert!(text.contains(&format!("with minor {built}")), "{text}");
            assert!(text.contains(&format!("at least {min}")), "{text}");
            assert!(text.ends_with(upgrade), "{text}");
        }
    }

    #[test]
    fn a_plugin_that_needs_more_than_it_was_built_for_is_refused() {
        assert!(agree_on_minor(3, 0, 1, 2).is_err());
    }
}
