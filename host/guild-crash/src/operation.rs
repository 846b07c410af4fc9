//! The commands that are checked, and the store that each begins with.

use std::path::Path;
use std::sync::Arc;

use guild_package::store::fs::StoreFs;
use guild_package::store::{AdvisoryOptions, RevokeOptions, RollbackOptions};
use guild_package::trust::{Policy, Withdrawal};
use guild_package::{Error, PackageId, PackageVersion, Store, StoreOptions};

use crate::disk::{Content, Disk};
use crate::error::{CrashError, Result};
use crate::memory_fs::MemoryFs;
use crate::unprobed::Unprobed;
use crate::workshop::{PACKAGE, Workshop, grant, install_options, publisher_grant};

/// A command. Run again on its own result it changes nothing, or is refused.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its name.
    pub name: &'static str,
    pub(crate) base: Base,
    run: fn(&Workshop, &Store) -> Result<()>,
}

/// The store that an operation begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// None.
    Empty,
    /// Two versions of a package, the newer one enabled, and the files of a removed third.
    Stocked,
    /// The same, and one artifact of the enabled version has other bytes.
    Damaged,
}

/// Every command that writes.
pub const OPERATIONS: [Operation; 15] = [
    Operation {
        name: "create",
        base: Base::Empty,
        run: |_, _| Ok(()),
    },
    Operation {
        name: "install",
        base: Base::Stocked,
        run: |workshop, store| install(workshop, store, "1.0.3"),
    },
    Operation {
        name: "install over damage",
        base: Base::Damaged,
        run: |workshop, store| install(workshop, store, "1.0.1"),
    },
    Operation {
        name: "enable",
        base: Base::Stocked,
        run: |_, store| {
            store.enable(&id()?, Some(&version("1.0.0")?), &Unprobed)?;
            Ok(())
        },
    },
    Operation {
        name: "disable",
        base: Base::Stocked,
        run: |_, store| {
            store.disable(&id()?, None)?;
            Ok(())
        },
    },
    Operation {
        name: "rollback",
        base: Base::Stocked,
        run: rollback,
    },
    Operation {
        name: "remove",
        base: Base::Stocked,
        run: |_, store| {
            store.remove(&id()?, None)?;
            Ok(())
        },
    },
    Operation {
        name: "trust add",
        base: Base::Stocked,
        run: |workshop, store| {
            store.trust_add(workshop.other(), &grant("org.guild")?)?;
            Ok(())
        },
    },
    Operation {
        name: "trust revoke",
        base: Base::Stocked,
        run: revoke,
    },
    Operation {
        name: "trust rotate",
        base: Base::Stocked,
        run: |workshop, store| {
            store.trust_rotate(&workshop.rotation_file(), false)?;
            Ok(())
        },
    },
    Operation {
        name: "trust policy",
        base: Base::Stocked,
        run: |_, store| {
            store.trust_policy(policy()?)?;
            Ok(())
        },
    },
    Operation {
        name: "trust advisory",
        base: Base::Stocked,
        run: advisory,
    },
    Operation {
        name: "floor",
        base: Base::Stocked,
        run: |_, store| {
            store.raise_floor(&id()?, 1)?;
            Ok(())
        },
    },
    Operation {
        name: "gc",
        base: Base::Stocked,
        run: |_, store| {
            store.collect_garbage()?;
            Ok(())
        },
    },
    Operation {
        name: "remove, then gc",
        base: Base::Stocked,
        run: remove_then_collect,
    },
];

impl Operation {
    /// The operation of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        OPERATIONS.iter().find(|operation| operation.name == name)
    }

    /// Runs the command on an open store.
    ///
    /// # Errors
    /// As the command.
    pub fn run_on(
        &self,
        workshop: &Workshop,
        store: &Store,
    ) -> std::result::Result<(), CrashError> {
        (self.run)(workshop, store)
    }

    /// Opens the store, makes it where this is the command that does, and runs the command.
    pub(crate) fn run(&self, workshop: &Workshop, fs: Arc<MemoryFs>) -> Result<()> {
        (self.run)(workshop, &self.open(fs)?)
    }

    /// Opens the store that the command works on.
    pub(crate) fn open(&self, fs: Arc<MemoryFs>) -> Result<Store> {
        Ok(open(fs, self.base == Base::Empty)?)
    }

    /// The disk before the command, all of it durable.
    pub(crate) fn prepare(&self, workshop: &Workshop) -> Result<Disk> {
        if self.base == Base::Empty {
            return Ok(Disk::new());
        }
        let fs = Arc::new(MemoryFs::new(Disk::new(), None));
        let store = open(fs.clone(), true)?;
        store.trust_add(workshop.publisher(), &publisher_grant()?)?;
        for version in ["1.0.0", "1.0.1", "1.0.2"] {
            install(workshop, &store, version)?;
        }
        store.remove(&id()?, Some(&version("1.0.2")?))?;
        store.enable(&id()?, Some(&version("1.0.1")?), &Unprobed)?;
        let mut disk = fs.disk().settled();
        if self.base == Base::Damaged {
            damage(&store, &mut disk)?;
        }
        Ok(disk)
    }
}

/// Changes a byte of an artifact that the enabled version alone has.
fn damage(store: &Store, disk: &mut Disk) -> Result<()> {
    for package in store.enabled()? {
        let plugin = package.plugin_artifact()?.sha256().to_string();
        let path = format!("objects/sha256/{}/{}", &plugin[..2], &plugin[2..]);
        let path = Path::new(&path);
        let failed = |source| Error::Io {
            action: "damage",
            path: path.to_owned(),
            source,
        };
        let file = disk.find(&path.to_string_lossy()).map_err(failed)?;
        let content = disk.file(file).map_err(failed)?;
        let mut bytes = content.bytes.to_vec();
        if let Some(last) = bytes.last_mut() {
            *last ^= 1;
        }
        let mode = content.mode;
        disk.set_content(file, Content::new(bytes, mode));
    }
    Ok(())
}

pub(crate) fn open(fs: Arc<dyn StoreFs>, create: bool) -> guild_package::Result<Store> {
    let options = StoreOptions {
        create,
        lock_wait_ms: 0,
        ..StoreOptions::default()
    };
    Store::with_fs(fs, Path::new("memory"), options)
}

fn install(workshop: &Workshop, store: &Store, version: &str) -> Result<()> {
    store.install(&workshop.bundle(version), &install_options(), &Unprobed)?;
    Ok(())
}

fn rollback(_: &Workshop, store: &Store) -> Result<()> {
    // To a generation: without one, the second run would go forward again.
    let options = RollbackOptions {
        to_generation: Some(2),
        pin: false,
    };
    store.rollback(Some(&id()?), options, &Unprobed)?;
    Ok(())
}

fn revoke(workshop: &Workshop, store: &Store) -> Result<()> {
    let options = RevokeOptions {
        withdrawal: Withdrawal::Compromised { since_gen: 2 },
        reason: None,
        dry_run: false,
    };
    store.trust_revoke(&workshop.publisher().id, &options)?;
    Ok(())
}

/// What `guild kernel trust policy org.guild --distinct-operators` asks for.
fn policy() -> Result<Policy> {
    Ok(Policy {
        prefix: "org.guild".parse()?,
        publish: 1,
        reviewer: 0,
        distinct_operators: true,
        strict_ambient: false,
        allow_ptx_jit: false,
    })
}

/// It withdraws a key and raises a floor.
fn advisory(workshop: &Workshop, store: &Store) -> Result<()> {
    let options = AdvisoryOptions {
        since_gen: Some(2),
        dry_run: false,
    };
    store.trust_advisory(&workshop.advisory_file(), &options)?;
    Ok(())
}

/// A second run finds the package gone, and its `gc` relies on what a killed `remove` left.
fn remove_then_collect(_: &Workshop, store: &Store) -> Result<()> {
    if store.generation()?.packages.contains_key(&id()?) {
        store.remove(&id()?, None)?;
    }
    store.collect_garbage()?;
    Ok(())
}

fn id() -> Result<PackageId> {
    Ok(PACKAGE.parse()?)
}

fn version(text: &str) -> Result<PackageVersion> {
    Ok(text.parse()?)
}
