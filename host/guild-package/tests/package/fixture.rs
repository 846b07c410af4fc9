//! A publisher with a key, a store that trusts it, packages to install, and a listing of the store that
//! shows any change.

use crate::package_toml::PackageToml;
use crate::small_library::library;
use crate::unprobed::Unprobed;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use guild_package::bundle::{EmitEntry, emit};
use guild_package::envelope::{Envelope, EnvelopeSignature};
use guild_package::key::Algorithm;
use guild_package::name::ArtifactPath;
use guild_package::seed::{SecretSeed, SeedFile};
use guild_package::sign::{Purpose, sign};
use guild_package::store::RevokeOptions;
use guild_package::store::generation::{Generation, TrustReference};
use guild_package::trust::{Grant, Scope, TrustBody, Withdrawal};
use guild_package::{
    Code, Digest, InstallOptions, Installed, KeyRecord, KeygenOptions, Manifest, Result,
    SignOptions, Store, StoreOptions, TrustStore, VerifyOptions, keygen, sign_package,
    verify_bundle,
};

/// Seconds since 1970 at which fixture packages are signed and judged.
pub const NOW_S: u64 = 1_800_000_000;
pub const PLUGIN: &str = "lib/libcpu.so";
pub const DOC: &str = "doc/readme.txt";

/// A key and where its seed lies.
pub struct Publisher {
    pub record: KeyRecord,
    pub seed_file: PathBuf,
}

/// A folder with a publisher, a store that trusts it for `org.guild`, and room for bundles.
pub struct Bench {
    folder: tempfile::TempDir,
    pub publisher: Publisher,
    pub store: Store,
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let publisher = Publisher::new(folder.path(), "publisher");
        let store =
            Store::open(&folder.path().join("data/kernels"), StoreOptions::default()).unwrap();
        let bench = Self {
            folder,
            publisher,
            store,
        };
        bench
            .store
            .trust_add(&bench.publisher.record, &grant("org.guild"))
            .unwrap();
        bench
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn store_path(&self) -> PathBuf {
        self.folder.path().join("data/kernels")
    }

    /// Signs a staging folder with this id and version, and returns the bundle's bytes.
    pub fn package(&self, id: &str, version: &str) -> Vec<u8> {
        self.package_by(&self.publisher, id, version, "")
    }

    /// As [`Self::package`], by another key, with more lines at the top of `package.toml`.
    pub fn package_by(
        &self,
        publisher: &Publisher,
        id: &str,
        version: &str,
        lines: &str,
    ) -> Vec<u8> {
        let staging = stage(self.path(), id, version, lines);
        self.sign(publisher, staging.path())
    }

    /// Signs a staging folder, and returns the bundle's bytes.
    pub fn sign(&self, publisher: &Publisher, staging: &Path) -> Vec<u8> {
        let bundle = self.path().join("signed.gkernel");
        let key = publisher.record.id.to_string();
        let options = SignOptions {
            issued_at: Some(NOW_S - 1000),
            ..SignOptions::default()
        };
        sign_package(staging, &key, &publisher.seed(), &bundle, &options).unwrap();
        let bytes = fs::read(&bundle).unwrap();
        fs::remove_file(bundle).unwrap();
        bytes
    }

    pub fn bundle_file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.path().join("bundle.gkernel");
        fs::write(&path, bytes).unwrap();
        path
    }

    pub fn install(&self, bytes: &[u8]) -> Result<Installed> {
        self.install_with(bytes, &options())
    }

    pub fn install_with(&self, bytes: &[u8], options: &InstallOptions) -> Result<Installed> {
        self.store
            .install(&self.bundle_file(bytes), options, &Unprobed)
    }

    pub fn verify(&self, bytes: &[u8]) -> Result<Manifest> {
        let trust = self.store.trust().unwrap();
        let options = options().verify;
        verify_bundle(&self.bundle_file(bytes), &trust, &options)
            .map(|package| package.manifest().clone())
    }

    /// Both `verify` and `install` refuse `bytes` with `code`, and the store stays as it is.
    #[track_caller]
    pub fn refuses(&self, bytes: &[u8], code: Code) {
        let verified = self.verify(bytes).expect_err("verify accepted it");
        assert_eq!(verified.code(), code, "verify: {verified}");
        self.install_refuses(bytes, &options(), code);
    }

    /// `install` refuses `bytes` with `code`, and the store stays as it is.
    #[track_caller]
    pub fn install_refuses(&self, bytes: &[u8], options: &InstallOptions, code: Code) {
        let before = self.listing();
        let refused = self
            .install_with(bytes, options)
            .expect_err("install accepted it");
        assert_eq!(refused.code(), code, "install: {refused}");
        assert_eq!(self.listing(), before, "the store changed");
    }

    pub fn listing(&self) -> BTreeMap<PathBuf, String> {
        listing(&self.store_path())
    }

    /// Where the store has an artifact.
    pub fn object(&self, digest: Digest) -> PathBuf {
        self.content("objects", digest)
    }

    /// Where the store has a manifest, an envelope or a receipt.
    pub fn meta(&self, digest: Digest) -> PathBuf {
        self.content("meta", digest)
    }

    fn content(&self, area: &str, digest: Digest) -> PathBuf {
        let hex = digest.to_string();
        let (first, rest) = hex.split_at(2);
        let path = format!("{area}/sha256/{first}/{rest}");
        self.store_path().join(path)
    }

    /// A bundle around any manifest bytes, signed by the publisher.
    pub fn craft(&self, manifest: &[u8], artifacts: &[(&str, &[u8])]) -> Vec<u8> {
        let signature = self.publisher.sign(Purpose::Release, manifest);
        let envelope = Envelope::new(vec![signature]).encode().unwrap();
        bundle(manifest, artifacts, &envelope)
    }

    /// Withdraws a key, without a reason.
    pub fn revoke(&self, key: &Publisher, withdrawal: Withdrawal) {
        let options = RevokeOptions {
            withdrawal,
            reason: None,
            dry_run: false,
        };
        self.store.trust_revoke(&key.record.id, &options).unwrap();
    }

    /// Puts a trust file in force, as the command of a later version would.
    pub fn force_trust(&self, change: impl FnOnce(&mut TrustBody)) -> TrustStore {
        let trust = self.store.trust().unwrap();
        let mut body = trust.body().clone();
        (body.n, body.prev) = (body.n + 1, trust.digest());
        change(&mut body);
        let bytes = serde_json::to_vec(&body).unwrap();
        let reference = TrustReference {
            n: body.n,
            sha256: Digest::of(&bytes),
        };
        fs::write(
            self.store_path().join(format!("trust/{}.json", body.n)),
            &bytes,
        )
        .unwrap();
        self.force_generation(|generation| generation.trust = reference);
        TrustStore::decode(&bytes).unwrap()
    }

    /// Puts a generation in force.
    pub fn force_generation(&self, change: impl FnOnce(&mut Generation)) {
        self.force_generations([change]);
    }

    /// Puts generations in force one after the other, also where one of them could not be read.
    pub fn force_generations<C: FnOnce(&mut Generation)>(
        &self,
        changes: impl IntoIterator<Item = C>,
    ) {
        let store = self.store_path();
        let head = fs::read_to_string(store.join("HEAD")).unwrap();
        let mut digest = head.trim_end().split(' ').nth(1).unwrap().parse().unwrap();
        let mut next = self.store.generation().unwrap();
        for change in changes {
            next.prev = digest;
            next.n += 1;
            change(&mut next);
            let bytes = next.encode().unwrap();
            digest = Digest::of(&bytes);
            let name = format!("gen/{}-{}.json", next.n, digest.short());
            fs::write(store.join(name), &bytes).unwrap();
        }
        fs::remove_file(store.join("HEAD")).unwrap();
        fs::write(store.join("HEAD"), format!("{} {digest}\n", next.n)).unwrap();
    }
}

impl Publisher {
    pub fn new(folder: &Path, name: &str) -> Self {
        Self::like(folder, name, name)
    }

    /// Another key of the operator of the key `of`.
    pub fn like(folder: &Path, name: &str, of: &str) -> Self {
        let seed_file = folder.join(format!("{name}.seed"));
        let options = KeygenOptions {
            label: name.parse().unwrap(),
            operator: format!("{of} operator").parse().unwrap(),
            test_identity: true,
            passphrase: None,
        };
        let record = keygen(&seed_file, &folder.join(format!("{name}.json")), &options).unwrap();
        Self { record, seed_file }
    }

    pub fn seed(&self) -> SecretSeed {
        SeedFile::read(&self.seed_file).unwrap().plain().unwrap()
    }

    pub fn sign(&self, purpose: Purpose, body: &[u8]) -> EnvelopeSignature {
        EnvelopeSignature {
            keyid: self.record.id,
            alg: Algorithm::Ed25519,
            sig: sign(&self.seed(), purpose, body).unwrap(),
        }
    }
}

/// Fixed time, no expectations, nothing allowed.
pub fn options() -> InstallOptions {
    let verify = VerifyOptions {
        now_s: NOW_S,
        ..VerifyOptions::default()
    };
    InstallOptions {
        verify,
        ..InstallOptions::default()
    }
}

/// The exclusive lock of a whole file, as fcntl(2) describes it.
pub fn write_lock() -> nix::libc::flock {
    nix::libc::flock {
        l_type: nix::libc::F_WRLCK as i16,
        l_whence: nix::libc::SEEK_SET as i16,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

pub fn grant(prefix: &str) -> Grant {
    Grant {
        scopes: vec![Scope::publish(prefix.parse().unwrap()).unwrap()],
        everything_understood: false,
        not_before: None,
        not_after: None,
    }
}

/// Entry data by name.
pub fn entries(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let bundle = guild_package::bundle::Bundle::parse(bytes).unwrap();
    let mut entries = BTreeMap::new();
    entries.insert("manifest.json".to_owned(), bundle.manifest().unwrap());
    entries.insert("signatures.json".to_owned(), bundle.envelope().unwrap());
    for entry in bundle.artifacts() {
        let mut data = Vec::new();
        let keep = |piece: &[u8]| {
            data.extend_from_slice(piece);
            Ok(())
        };
        bundle.read_entry(entry, keep).unwrap();
        entries.insert(entry.name.to_string(), data);
    }
    entries
}

pub fn bundle(manifest: &[u8], artifacts: &[(&str, &[u8])], envelope: &[u8]) -> Vec<u8> {
    let names: Vec<ArtifactPath> = artifacts
        .iter()
        .map(|(name, _)| name.parse().unwrap())
        .collect();
    let pairs = names.iter().zip(artifacts);
    let entries: Vec<EmitEntry<'_>> = pairs
        .map(|(name, (_, data))| EmitEntry { name, data })
        .collect();
    let mut out = Vec::new();
    emit(&mut out, manifest, &entries, envelope).unwrap();
    out
}

/// Path, mode and content digest of everything below `root`.
pub fn listing(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let mode = metadata.mode();
            let content = match metadata.is_file() {
                true => Digest::of(&fs::read(&path).unwrap()).to_string(),
                false => "not a file".to_owned(),
            };
            if metadata.is_dir() {
                open.push(path.clone());
            }
            found.insert(
                path.strip_prefix(root).unwrap().to_owned(),
                format!("{mode:o} {content}"),
            );
        }
    }
    found
}

/// A staging folder below `folder`.
pub fn stage(folder: &Path, id: &str, version: &str, lines: &str) -> tempfile::TempDir {
    let staging = tempfile::tempdir_in(folder).unwrap();
    write_staging(staging.path(), id, version, lines);
    staging
}

fn write_staging(folder: &Path, id: &str, version: &str, lines: &str) {
    let tables = format!(
        r#"[[artifacts]]
path = "{DOC}"
role = "doc"

[[provides]]
op = "guild.core.moe_experts@1"
dtype = ["f32", "q4_k"]
layout = "row-major"
"#
    );
    let toml = PackageToml {
        top: lines,
        tables: &tables,
        ..PackageToml::of(id, version, PLUGIN)
    };
    fs::create_dir_all(folder.join("lib")).unwrap();
    fs::create_dir_all(folder.join("doc")).unwrap();
    fs::write(folder.join("package.toml"), toml.text()).unwrap();
    fs::write(folder.join(PLUGIN), shared_library(id, version)).unwrap();
    fs::write(folder.join(DOC), "a package for tests\n").unwrap();
}

/// A shared library that holds nothing but a dynamic table, the entry as its one symbol and a GUILD note.
pub fn shared_library(id: &str, version: &str) -> Vec<u8> {
    library(id, version, "libcpu.so.1", &["libm.so.6", "libc.so.6"])
}
