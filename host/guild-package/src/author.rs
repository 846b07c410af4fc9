//! From a staging folder to a signed bundle: `package.toml` says what the package is, the files it lists
//! say the rest (`docs/package-format.md`, section 5).

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use serde::Deserialize;

use crate::bundle::{EmitEntry, emit};
use crate::digest::Digest;
use crate::elf;
use crate::envelope::{Envelope, EnvelopeSignature};
use crate::error::{Error, Result};
use crate::limits::{BUNDLE_MAX_BYTES, PACKAGE_TOML_MAX_BYTES};
use crate::manifest::{
    Abi, Artifact, Dependency, ElfFacts, Golden, Kind, MANIFEST_SCHEMA, Manifest, Operation,
    Provenance, Role, SIGNATURE_SCHEME, Target,
};
use crate::name::{
    ArtifactPath, PackageId, PackageVersion, ProvidedName, VersionRequirement, Word,
};
use crate::outside;
use crate::ptx;
use crate::seed::SecretSeed;
use crate::sign::Purpose;
use crate::text::PlainText;
use crate::verify::system_time_s;

/// The author's file in a staging folder.
pub const PACKAGE_TOML: &str = "package.toml";

/// What [`sign_package`] takes besides paths.
#[derive(Clone, Debug, Default)]
pub struct SignOptions {
    /// The time to sign into the manifest, in seconds since 1970-01-01 UTC; the system's if absent.
    /// With a fixed time the same files give the same bundle.
    pub issued_at: Option<u64>,
    /// Digest of the ABI tables, where `package.toml` does not state one.
    pub abi_table_hash: Option<Digest>,
    /// Digests of operation contracts, where `package.toml` does not state one.
    pub contract_hashes: BTreeMap<ProvidedName, Digest>,
}

/// What was signed.
#[derive(Clone, Debug)]
pub struct SignedPackage {
    /// The manifest inside the bundle.
    pub manifest: Manifest,
    /// Its SHA-256: the package's identity.
    pub manifest_digest: Digest,
}

/// Reads the staging folder `package_dir`, signs it with `seed`, whose key id must be `key` (or a prefix of
/// it with 12 digits or more), and writes the new file `bundle`.
///
/// # Errors
/// [`Error::Usage`] or [`Error::Malformed`] for a staging folder that is no package, [`Error::Usage`] for
/// another key, [`Error::Io`] if a file cannot be read or `bundle` exists.
pub fn sign_package(
    package_dir: &Path,
    key: &str,
    seed: &SecretSeed,
    bundle: &Path,
    options: &SignOptions,
) -> Result<SignedPackage> {
    seed.check_id(key)?;
    let staged = Staged::read(package_dir, options)?;
    let manifest_bytes = staged.manifest.encode()?;
    let signature = EnvelopeSignature::sign(seed, Purpose::Release, &manifest_bytes)?;
    staged.write(bundle, &manifest_bytes, signature)
}

/// A staging folder, read: each file once, so what is signed is what is bundled.
pub(crate) struct Staged {
    pub manifest: Manifest,
    files: BTreeMap<ArtifactPath, Vec<u8>>,
}

impl Staged {
    /// Writes the bundle of the files under `manifest_bytes`, which `signature` signs.
    pub fn write(
        self,
        bundle: &Path,
        manifest_bytes: &[u8],
        signature: EnvelopeSignature,
    ) -> Result<SignedPackage> {
        let envelope = Envelope::new(vec![signature]);
        write_bundle(bundle, manifest_bytes, &self.files, &envelope)?;
        Ok(SignedPackage {
            manifest_digest: Digest::of(manifest_bytes),
            manifest: self.manifest,
        })
    }

    pub fn read(package_dir: &Path, options: &SignOptions) -> Result<Self> {
        let path = package_dir.join(PACKAGE_TOML);
        let bytes = outside::read_limited(&path, PACKAGE_TOML_MAX_BYTES)?;
        let package = PackageToml::decode(&bytes)?;
        let mut files = BTreeMap::new();
        let mut bytes_left = BUNDLE_MAX_BYTES;
        for listed in &package.artifacts {
            // The grammar of artifact paths has no way out of the folder.
            let data = outside::read_limited(&package_dir.join(listed.path.as_str()), bytes_left)?;
            bytes_left -= data.len() as u64;
            if files.insert(listed.path.clone(), data).is_some() {
                let what = format!("{PACKAGE_TOML} lists {} twice", listed.path);
                return Err(Error::usage(what, "List it once"));
            }
        }
        let manifest = package.into_manifest(&files, options)?;
        Ok(Self { manifest, files })
    }
}

/// Writes the new file `bundle`.
pub(crate) fn write_bundle(
    bundle: &Path,
    manifest_bytes: &[u8],
    files: &BTreeMap<ArtifactPath, Vec<u8>>,
    envelope: &Envelope,
) -> Result<()> {
    let envelope = envelope.encode()?;
    let entries: Vec<EmitEntry<'_>> = files
        .iter()
        .map(|(name, data)| EmitEntry { name, data })
        .collect();
    outside::create_durable(bundle, 0o644, |file| {
        let mut out = std::io::BufWriter::new(file);
        emit(&mut out, manifest_bytes, &entries, &envelope)?;
        out.flush().map_err(Error::io("write", bundle))
    })
}

/// `package.toml`: the manifest without what can be computed from the files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PackageToml {
    schema: u64,
    kind: Kind,
    id: PackageId,
    version: PackageVersion,
    security_epoch: u64,
    publisher: PlainText,
    expires_at: Option<u64>,
    summary: Option<PlainText>,
    license: Option<PlainText>,
    abi: Abi,
    targets: Vec<TargetToml>,
    artifacts: Vec<ArtifactToml>,
    #[serde(default)]
    provides: Vec<Operation>,
    #[serde(default)]
    runners: Vec<ProvidedName>,
    #[serde(default)]
    devices: Vec<ProvidedName>,
    #[serde(default)]
    golden: Vec<GoldenToml>,
    #[serde(default)]
    depends: Vec<DependencyToml>,
    replaces: Option<PackageId>,
    provenance: Option<Provenance>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetToml {
    os: Word,
    arch: Word,
    #[serde(default)]
    isa: Vec<Word>,
    #[serde(default)]
    processor_state: Vec<Word>,
    #[serde(default)]
    sm: Vec<u64>,
    cuda_min: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArtifactToml {
    path: ArtifactPath,
    role: Role,
    target: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GoldenToml {
    op: ProvidedName,
    vectors: ArtifactPath,
    tolerance: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DependencyToml {
    id: PackageId,
    req: VersionRequirement,
    #[serde(default)]
    min_epoch: u64,
}

impl PackageToml {
    fn decode(bytes: &[u8]) -> Result<Self> {
        let wrong =
            |detail: String| Error::usage(format!("{PACKAGE_TOML}: {detail}"), "Correct the file");
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
        let package: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        match package.schema {
            1 => Ok(package),
            other => Err(wrong(format!("schema is {other}, expected 1"))),
        }
    }

    fn into_manifest(
        self,
        files: &BTreeMap<ArtifactPath, Vec<u8>>,
        options: &SignOptions,
    ) -> Result<Manifest> {
        let mut artifacts = self
            .artifacts
            .iter()
            .map(|listed| listed.measure(files))
            .collect::<Result<Vec<_>>>()?;
        artifacts.sort_by(|a, b| a.path.cmp(&b.path));
        let golden = self
            .golden
            .into_iter()
            .map(|golden| golden.measure(files))
            .collect::<Result<Vec<_>>>()?;
        let mut abi = self.abi;
        // What the plugin was compiled against, where it says so, may be older than this guild.
        let compiled = self
            .artifacts
            .iter()
            .filter(|listed| listed.role == Role::Plugin)
            .find_map(|listed| compiled_against(files.get(&listed.path)?));
        abi.table_hash = abi.table_hash.or(compiled).or(options.abi_table_hash);
        let mut provides = self.provides;
        for operation in &mut provides {
            let known = options.contract_hashes.get(&operation.op).copied();
            operation.contract_hash = operation.contract_hash.or(known);
        }
        Ok(Manifest {
            schema: MANIFEST_SCHEMA,
            min_scheme: SIGNATURE_SCHEME,
            kind: self.kind,
            id: self.id,
            version: self.version,
            security_epoch: self.security_epoch,
            publisher: self.publisher,
            issued_at: options.issued_at.unwrap_or_else(system_time_s),
            expires_at: self.expires_at,
            summary: self.summary,
            license: self.license,
            abi,
            targets: self.targets.into_iter().map(Target::from).collect(),
            artifacts,
            provides,
            runners: self.runners,
            devices: self.devices,
            golden,
            depends: self.depends.into_iter().map(Dependency::from).collect(),
            replaces: self.replaces,
            provenance: self.provenance,
        })
    }
}

impl ArtifactToml {
    fn measure(&self, files: &BTreeMap<ArtifactPath, Vec<u8>>) -> Result<Artifact> {
        let data = file(files, &self.path)?;
        let name = self.path.as_str();
        let elf = match self.role {
            Role::Plugin => Some(library_facts(name, data)?),
            _ => None,
        };
        let ptx = match self.role {
            Role::Ptx => Some(ptx::read_facts(name, data)?),
            _ => None,
        };
        Ok(Artifact {
            path: self.path.clone(),
            sha256: Digest::of(data),
            size: data.len() as u64,
            role: self.role,
            target: self.target,
            elf,
            ptx,
        })
    }
}

/// Digest of the ABI tables that a library's note names.
fn compiled_against(data: &[u8]) -> Option<Digest> {
    elf::Library::parse(data).ok()?.abi_table_hash()
}

/// What can be read from a plugin's library. Whether a host would load it, verification asks.
fn library_facts(name: &str, data: &[u8]) -> Result<ElfFacts> {
    elf::Library::parse(data)
        .and_then(|library| library.facts())
        .map_err(|refusal| Error::malformed(name, refusal.to_string()))
}

impl GoldenToml {
    fn measure(self, files: &BTreeMap<ArtifactPath, Vec<u8>>) -> Result<Golden> {
        let vector_sha256 = Digest::of(file(files, &self.vectors)?);
        Ok(Golden {
            op: self.op,
            vector_sha256,
            tolerance: self.tolerance,
        })
    }
}

fn file<'files>(
    files: &'files BTreeMap<ArtifactPath, Vec<u8>>,
    path: &ArtifactPath,
) -> Result<&'files [u8]> {
    match files.get(path) {
        Some(data) => Ok(data),
        None => {
            let what =
                format!("{PACKAGE_TOML} names {path}, which it does not list as an artifact");
            Err(Error::usage(what, "Add it to [[artifacts]]"))
        }
    }
}

impl From<TargetToml> for Target {
    fn from(toml: TargetToml) -> Self {
        Self {
            os: toml.os,
            arch: toml.arch,
            isa: toml.isa,
            processor_state: toml.processor_state,
            sm: toml.sm,
            cuda_min: toml.cuda_min,
        }
    }
}

impl From<DependencyToml> for Dependency {
    fn from(toml: DependencyToml) -> Self {
        Self {
            id: toml.id,
            req: toml.req,
            min_epoch: toml.min_epoch,
        }
    }
}
