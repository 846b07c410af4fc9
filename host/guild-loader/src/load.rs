//! Loading: every enabled package of a store, then the built-in ones.
//!
//! All or nothing. An enabled package that fails to load fails the load; it is never left out in silence.
//! What is left out by the caller's own options is listed with its reason.

use guild_package::{InstalledPackage, Lease, Store, preflight};

use crate::ambient::{self, AmbientFinding};
use crate::builtin::Builtin;
use crate::call::Plugin;
use crate::error::{Fault, LoadError};
use crate::library;
use crate::memfd::SealedImage;
use crate::negotiate::{Expected, negotiate};
use crate::registry::{Origin, Registration, Registry};

/// The scalar oracle. It is slow on purpose, so it binds only when it was asked for.
pub const REFERENCE_PACKAGE: &str = "org.guild.kernels.reference";

/// What to load beside and instead of the enabled packages.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Register no built-in package.
    pub external_only: bool,
    /// Let the reference package bind.
    pub allow_reference: bool,
    /// The plugins that are linked into this program.
    pub builtins: Vec<Builtin>,
    /// Ids of built-in packages that are switched off.
    pub disabled_builtins: Vec<String>,
}

/// A package that the caller's options left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Package id; `builtin.<id>` for a built-in one.
    pub id: String,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why a package was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// `external_only` was set.
    ExternalOnly,
    /// The built-in package was switched off by id.
    SwitchedOff,
    /// The reference package needs `allow_reference`.
    ReferenceNotAllowed,
}

/// Loaded packages and the leases on them. Sessions keep it alive, so that no package is removed under
/// them; the code itself stays mapped for the life of the process.
#[derive(Debug, Default)]
pub struct LoadedPackages {
    registry: Registry,
    left_out: Vec<LeftOut>,
    leases: Vec<Lease>,
    ambient: Vec<AmbientFinding>,
}

impl LoadedPackages {
    /// Who serves what.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What the options left out, for messages about a missing provider.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// What in the surroundings of this process could bring other code into it, for a warning. No policy of an
    /// installed package forbids it, else nothing would be loaded.
    #[must_use]
    pub fn ambient(&self) -> &[AmbientFinding] {
        &self.ambient
    }

    /// The leases, one for each installed package.
    #[must_use]
    pub fn leases(&self) -> &[Lease] {
        &self.leases
    }
}

/// Loads every enabled package of `store` and the built-in packages, and holds leases on the former.
/// Each package's signature is verified again under today's trust, and only the bytes that were
/// verified are mapped. Any thread.
///
/// # Errors
/// The first package that fails, by name, and its code. Nothing is registered then.
pub fn load_enabled(
    store: &Store,
    session_name: &str,
    options: &LoadOptions,
) -> Result<LoadedPackages, LoadError> {
    let enabled = store
        .enabled_with_leases(session_name)
        .map_err(|error| Fault::Package(error).of(""))?;
    let mut loaded = LoadedPackages {
        ambient: ambient::scan(),
        ..LoadedPackages::default()
    };
    // All are negotiated before one is registered, so a failure shuts down those that came before.
    let mut registrations = Vec::new();
    for (package, lease) in enabled {
        if package.id().as_str() == REFERENCE_PACKAGE && !options.allow_reference {
            loaded.leave_out(REFERENCE_PACKAGE, LeftOutReason::ReferenceNotAllowed);
            continue;
        }
        let label = format!("{}@{}", package.id(), package.version());
        let registration = check_ambient(&package, &loaded.ambient)
            .and_then(|()| load_installed(&package, &label))
            .map_err(|fault| fault.of(&label))?;
        registrations.push((label, registration));
        loaded.leases.push(lease);
    }
    for (label, registration) in registrations {
        loaded
            .registry
            .register(registration)
            .map_err(|fault| fault.of(label))?;
    }
    loaded.register_builtins(options)?;
    Ok(loaded)
}

/// Loads the built-in packages alone, for a program without a package store.
///
/// # Errors
/// As [`load_enabled`].
pub fn load_builtins(options: &LoadOptions) -> Result<LoadedPackages, LoadError> {
    let mut loaded = LoadedPackages {
        ambient: ambient::scan(),
        ..LoadedPackages::default()
    };
    loaded.register_builtins(options)?;
    Ok(loaded)
}

/// Registers one plugin that is linked into the host, as `builtin.<id>`, after all installed packages.
///
/// # Errors
/// As [`load_enabled`].
pub fn register_builtin(registry: &mut Registry, builtin: &Builtin) -> Result<(), LoadError> {
    let id = builtin_id(builtin.id());
    negotiate_builtin(builtin, &id)
        .and_then(|registration| registry.register(registration))
        .map_err(|fault| fault.of(id))
}

impl LoadedPackages {
    fn register_builtins(&mut self, options: &LoadOptions) -> Result<(), LoadError> {
        for builtin in &options.builtins {
            match reason_to_leave_out(builtin, options) {
                Some(reason) => self.leave_out(&builtin_id(builtin.id()), reason),
                None => register_builtin(&mut self.registry, builtin)?,
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, id: &str, reason: LeftOutReason) {
        self.left_out.push(LeftOut {
            id: id.to_owned(),
            reason,
        });
    }
}

fn reason_to_leave_out(builtin: &Builtin, options: &LoadOptions) -> Option<LeftOutReason> {
    if options.external_only {
        return Some(LeftOutReason::ExternalOnly);
    }
    if options
        .disabled_builtins
        .iter()
        .any(|id| id == builtin.id())
    {
        return Some(LeftOutReason::SwitchedOff);
    }
    let is_reference = builtin.id() == REFERENCE_PACKAGE;
    (is_reference && !options.allow_reference).then_some(LeftOutReason::ReferenceNotAllowed)
}

fn load_installed(package: &InstalledPackage, label: &str) -> Result<Registration, Fault> {
    let manifest = package.manifest();
    // Again, since another host may have installed it.
    preflight::check_host(manifest)?;
    let artifact = package.plugin_artifact()?;
    let image = SealedImage::copy(package.open_artifact(&artifact)?, label)?;
    package.check_library(&artifact, &image.read()?)?;
    let needed = artifact.elf().into_iter().flat_map(|facts| &facts.needed);
    library::open_system_libraries(needed.map(|name| name.as_str()));
    let library = library::map(image)?;
    let expected = Expected {
        id: package.id().as_str(),
        plugin_id: package.id().as_str(),
        version: Some(package.version()),
        digest: Some(package.manifest_digest()),
        receipt: package.receipt_digest(),
        origin: Origin::Installed,
        text: Some(&library.text),
        manifest: Some(manifest),
    };
    negotiate(Plugin::enter_mapped(label, library)?, &expected)
}

/// A package whose policy is strict is not loaded beside code that nobody verified.
fn check_ambient(package: &InstalledPackage, findings: &[AmbientFinding]) -> Result<(), Fault> {
    match findings.first() {
        Some(first) if package.is_strict_about_ambient() => Err(Fault::AmbientTainted {
            first: first.clone(),
            more: findings.len() - 1,
        }),
        _ => Ok(()),
    }
}

/// Why the surroundings of this process would keep `package` from being loaded, if they would.
#[must_use]
pub fn refused_by_surroundings(package: &InstalledPackage) -> Option<LoadError> {
    let label = format!("{}@{}", package.id(), package.version());
    let refused = check_ambient(package, &ambient::scan()).err();
    refused.map(|fault| fault.of(label))
}

fn negotiate_builtin(builtin: &Builtin, id: &str) -> Result<Registration, Fault> {
    let expected = Expected {
        id,
        plugin_id: builtin.id(),
        version: None,
        digest: None,
        receipt: None,
        origin: Origin::Builtin,
        text: None,
        manifest: None,
    };
    negotiate(Plugin::enter_builtin(id, builtin)?, &expected)
}

fn builtin_id(id: &str) -> String {
    format!("builtin.{id}")
}
