//! What is known about a package before its library is mapped: whether it asks for this host, and whether
//! its library is one that may be mapped. Asked when a bundle is verified, so that no package gets into a
//! store that would only fail every load, and by the loader again, about the very bytes that it maps.

use guild_abi::abi::{GUILD_ABI_MINOR, GUILD_KERNEL_ABI_VERSION_V1};

use crate::elf::{self, Library, Signed};
use crate::error::{Error, Result};
use crate::manifest::{Artifact, Manifest, Target};
use crate::name::AbiVersion;

pub use crate::elf::{GLIBC_CEILING, Refusal, SYSTEM_LIBRARIES, SegmentRule};

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

/// Whether `artifact` is for an architecture that this guild knows.
pub(crate) fn can_judge(manifest: &Manifest, artifact: &Artifact) -> bool {
    target_of(manifest, artifact).is_none_or(|target| elf::knows(target.arch.as_str()))
}

fn target_of<'a>(manifest: &'a Manifest, artifact: &Artifact) -> Option<&'a Target> {
    let index = usize::try_from(artifact.target?).ok()?;
    manifest.targets.get(index)
}

/// The plugin `artifact`, whose file is `data`, may be mapped: every rule of `docs/package-format.md`,
/// section 8.1. This is the one place where it is decided.
///
/// # Errors
/// [`Error::Preflight`] with the first rule that is broken.
pub fn check_library(manifest: &Manifest, artifact: &Artifact, data: &[u8]) -> Result<()> {
    let (Some(target), Some(facts)) = (target_of(manifest, artifact), artifact.elf.as_ref()) else {
        let detail = "a plugin has no target or no facts about its library";
        return Err(Error::malformed("manifest.json", detail));
    };
    let signed = Signed {
        manifest,
        arch: target.arch.as_str(),
        facts,
        entry: ENTRY_SYMBOL,
    };
    Library::parse(data)
        .and_then(|library| library.check(&signed))
        .map_err(|refusal| Error::Preflight {
            id: manifest.id.clone(),
            version: Box::new(manifest.version.clone()),
            library: artifact.path.clone(),
            refusal: Box::new(refusal),
        })
}
