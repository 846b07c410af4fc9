//! What is known about a package before its library is mapped: whether it asks for this host, and whether
//! a host can enter it. Asked at install, so that no package gets in that would only fail every load.

use guild_abi::abi::{GUILD_ABI_MINOR, GUILD_KERNEL_ABI_VERSION_V1};

use crate::elf::Library;
use crate::error::{Error, Result};
use crate::manifest::{Artifact, Manifest};
use crate::name::AbiVersion;

/// The one symbol that a plugin exports.
pub const ENTRY_SYMBOL: &str = "guild_plugin_entry_v1";

/// The ABI of this host.
const HOST: AbiVersion = AbiVersion {
    major: GUILD_KERNEL_ABI_VERSION_V1 as u16,
    minor: GUILD_ABI_MINOR as u16,
};

/// This host is one that the manifest asks for: not older than `host_min`, and of `host_max`'s major
/// version or an older one. A newer minor version than that of `host_max` is compatible.
///
/// # Errors
/// [`Error::HostAbi`].
pub fn check_host(manifest: &Manifest) -> Result<()> {
    let abi = &manifest.abi;
    if HOST >= abi.host_min && HOST.major <= abi.host_max.major {
        return Ok(());
    }
    Err(Error::HostAbi {
        id: manifest.id.clone(),
        version: Box::new(manifest.version.clone()),
        host: HOST,
        host_min: abi.host_min,
        host_max: abi.host_max,
    })
}

/// The plugin `artifact`, whose file is `data`, can be entered.
///
/// # Errors
/// [`Error::EntryMissing`]; [`Error::Malformed`] if its tables lie outside the file.
pub(crate) fn check_entry(manifest: &Manifest, artifact: &Artifact, data: &[u8]) -> Result<()> {
    if Library::parse(artifact.path.as_str(), data)?.exports_function(ENTRY_SYMBOL)? {
        return Ok(());
    }
    Err(Error::EntryMissing {
        id: manifest.id.clone(),
        version: Box::new(manifest.version.clone()),
        library: artifact.path.clone(),
        symbol: ENTRY_SYMBOL,
    })
}
