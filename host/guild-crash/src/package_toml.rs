//! The text of a `package.toml` with one plugin, for this machine. Tests of other crates use the file too.

use std::env::consts::{ARCH, OS};

/// What differs between packages.
pub(crate) struct PackageToml<'a> {
    /// The package.
    pub id: &'a str,
    /// Its version.
    pub version: &'a str,
    /// Oldest and newest host.
    pub host: [&'a str; 2],
    /// The path of the library.
    pub plugin: &'a str,
    /// More lines before the first table.
    pub top: &'a str,
    /// More tables.
    pub tables: &'a str,
}

impl<'a> PackageToml<'a> {
    /// For a host of ABI 1.0.
    pub(crate) const fn of(id: &'a str, version: &'a str, plugin: &'a str) -> Self {
        Self {
            id,
            version,
            host: ["1.0", "1.0"],
            plugin,
            top: "",
            tables: "",
        }
    }

    /// The file's text.
    pub(crate) fn text(&self) -> String {
        let Self {
            id,
            version,
            host: [host_min, host_max],
            plugin,
            top,
            tables,
        } = self;
        format!(
            r#"schema = 1
kind = "gkernel"
id = "{id}"
version = "{version}"
security_epoch = 1
publisher = "nobody"
{top}

[abi]
host_min = "{host_min}"
host_max = "{host_max}"

[[targets]]
os = "{OS}"
arch = "{ARCH}"

[[artifacts]]
path = "{plugin}"
role = "plugin"
target = 0

{tables}"#
        )
    }
}
