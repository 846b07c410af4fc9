//! A store with two versions of a package, and what tests of their selection look at.

use std::fs;
use std::path::Path;

use guild_package::store::RollbackOptions;
use guild_package::{Code, Error, PackageId, PackageVersion, Result};

use crate::fixture::Bench;

pub const CPU: &str = "org.guild.kernels.cpu";
pub const OTHER: &str = "org.guild.kernels.other";
pub const BACK: RollbackOptions = RollbackOptions {
    to_generation: None,
    pin: false,
};

pub fn id(text: &str) -> PackageId {
    text.parse().unwrap()
}

pub fn version(text: &str) -> PackageVersion {
    text.parse().unwrap()
}

impl Bench {
    /// A store with both versions, of which 1.0.1 is enabled by generation 3.
    pub fn with_two_versions() -> Bench {
        let bench = Bench::new();
        bench.install(&bench.package(CPU, "1.0.0")).unwrap();
        bench.install(&bench.package(CPU, "1.0.1")).unwrap();
        bench
    }

    pub fn enabled_version(&self) -> Option<String> {
        let enabled = self.store.enabled().unwrap();
        let package = enabled.iter().find(|package| package.id().as_str() == CPU);
        package.map(|package| package.version().to_string())
    }

    /// The package that serves the operation of all fixture packages.
    pub fn server(&self) -> Option<String> {
        let active = self.store.active().unwrap();
        let (_, active) = active.first()?;
        Some(format!("{} {}", active.id, active.version))
    }

    #[track_caller]
    pub fn store_refuses<T: std::fmt::Debug>(
        &self,
        code: Code,
        act: impl FnOnce() -> Result<T>,
    ) -> Error {
        let before = self.listing();
        let refused = act().expect_err("it was accepted");
        assert_eq!(refused.code(), code, "{refused}");
        assert_eq!(self.listing(), before, "the store changed");
        refused
    }
}

/// Changes the last byte of a file and leaves its mode.
pub fn change_byte(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let permissions = fs::metadata(path).unwrap().permissions();
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, permissions).unwrap();
}
