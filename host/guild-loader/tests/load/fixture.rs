//! From a C file of `tests/c-plugins` to an installed package: compiled, signed by a throw-away key and
//! installed into a throw-away store.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::package_toml::PackageToml;
use crate::unprobed::Unprobed;
use guild_loader::{LoadError, LoadOptions, LoadedPackages, load_enabled};
use guild_package::bundle::Bundle;
use guild_package::seed::SeedFile;
use guild_package::store::generation::{Generation, TrustReference};
use guild_package::trust::{Grant, Policy, Scope};
use guild_package::{
    Code, Digest, InstallOptions, Installed, KeyRecord, KeygenOptions, SignOptions, Store,
    StoreOptions, keygen, sign_package,
};

/// A store, a trusted key, and room to build.
pub struct Bench {
    folder: tempfile::TempDir,
    record: KeyRecord,
    pub store: Store,
}

/// What to build and how to sign it.
pub struct Package<'a> {
    /// File of `tests/c-plugins` without `.c`.
    pub source: &'a str,
    pub id: &'a str,
    pub version: &'a str,
    /// More macros for the compiler, as `NAME=VALUE`.
    pub defines: &'a [(&'a str, String)],
    /// Libraries to link with, as file names.
    pub libraries: &'a [&'a str],
    /// More arguments for the linker.
    pub link: &'a [&'a str],
    /// Operations that the manifest lists.
    pub operations: &'a [&'a str],
    /// Golden vectors.
    pub golden: &'a [GoldenFile],
    /// Oldest host that the manifest asks for.
    pub host_min: &'a str,
}

/// A file of golden vectors.
pub struct GoldenFile {
    pub op: &'static str,
    pub bytes: Vec<u8>,
    pub tolerance: u64,
}

impl<'a> Package<'a> {
    /// The package that `plugin.h` is, from another source.
    pub const fn of(source: &'a str) -> Self {
        Self {
            source,
            id: "org.test.plugin",
            version: "1.0.0",
            defines: &[],
            libraries: &[],
            link: &[],
            operations: &["guild.core.add@1", "org.test.double@1"],
            golden: &[],
            host_min: "1.0",
        }
    }
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = KeygenOptions {
            label: "loader test".parse().unwrap(),
            operator: "nobody".parse().unwrap(),
            test_identity: true,
            passphrase: None,
        };
        let record = keygen(
            &folder.path().join("seed"),
            &folder.path().join("key.json"),
            &options,
        )
        .unwrap();
        let store = Store::open(&folder.path().join("kernels"), StoreOptions::default()).unwrap();
        let grant = Grant {
            scopes: vec![Scope::publish("org".parse().unwrap()).unwrap()],
            everything_understood: false,
            not_before: None,
            not_after: None,
        };
        store.trust_add(&record, &grant).unwrap();
        Self {
            folder,
            record,
            store,
        }
    }

    /// A bench with one installed package.
    pub fn with(package: &Package<'_>) -> Self {
        let bench = Self::new();
        bench.install(package);
        bench
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Builds, signs and installs; returns the digest of the library.
    pub fn install(&self, package: &Package<'_>) -> Digest {
        let (bundle, library) = self.sign(package);
        self.install_bundle(&bundle).unwrap();
        library
    }

    /// The install fails with this code and words.
    #[track_caller]
    pub fn refuses_install(&self, package: &Package<'_>, code: Code, words: &[&str]) {
        let (bundle, _) = self.sign(package);
        let error = self.install_bundle(&bundle).expect_err("it was installed");
        assert_eq!(error.code(), code, "{error}");
        let text = error.in_full();
        for word in words {
            assert!(text.contains(word), "no `{word}` in: {text}");
        }
    }

    /// Puts the package where one with its id and version is installed, without asking whether it suits
    /// this host: as if another host had done it.
    pub fn install_unasked(&self, package: &Package<'_>) {
        let (bundle, _) = self.sign(package);
        let bytes = fs::read(bundle).unwrap();
        let bundle = Bundle::parse(bytes.as_slice()).unwrap();
        let [manifest, envelope] = [bundle.manifest().unwrap(), bundle.envelope().unwrap()]
            .map(|bytes| self.put("meta", &bytes));
        for entry in bundle.artifacts() {
            let mut data = Vec::new();
            let keep = |piece: &[u8]| {
                data.extend_from_slice(piece);
                Ok(())
            };
            bundle.read_entry(entry, keep).unwrap();
            self.put("objects", &data);
        }
        let mut next = self.store.generation().unwrap();
        next.n += 1;
        let state = next.packages.get_mut(&package.id.parse().unwrap()).unwrap();
        let version = state.versions.values_mut().next().unwrap();
        (version.manifest, version.envelope) = (manifest, envelope);
        *next.pins.values_mut().next().unwrap() = manifest;
        self.put_in_force(next);
    }

    /// Puts a policy in force that is strict about the surroundings of the process.
    pub fn be_strict_below(&self, prefix: &str) {
        let trust = self.store.trust().unwrap();
        let mut body = trust.body().clone();
        (body.n, body.prev) = (body.n + 1, trust.digest());
        body.policy = vec![Policy {
            prefix: prefix.parse().unwrap(),
            publish: 1,
            reviewer: 0,
            distinct_operators: false,
            strict_ambient: true,
            allow_ptx_jit: false,
        }];
        let bytes = serde_json::to_vec(&body).unwrap();
        let path = self.path().join(format!("kernels/trust/{}.json", body.n));
        fs::write(path, &bytes).unwrap();
        let mut next = self.store.generation().unwrap();
        next.n += 1;
        next.trust = TrustReference {
            n: body.n,
            sha256: Digest::of(&bytes),
        };
        self.put_in_force(next);
    }

    /// Writes a generation and makes it the current one.
    fn put_in_force(&self, mut next: Generation) {
        let head = self.path().join("kernels/HEAD");
        let text = fs::read_to_string(&head).unwrap();
        next.prev = text.trim_end().split(' ').nth(1).unwrap().parse().unwrap();
        let bytes = next.encode().unwrap();
        let digest = Digest::of(&bytes);
        let name = format!("kernels/gen/{}-{}.json", next.n, digest.short());
        fs::write(self.path().join(name), &bytes).unwrap();
        fs::remove_file(&head).unwrap();
        fs::write(head, format!("{} {digest}\n", next.n)).unwrap();
    }

    /// Writes a file of the store that is named by its digest.
    fn put(&self, area: &str, bytes: &[u8]) -> Digest {
        let digest = Digest::of(bytes);
        let path = self.content(area, digest);
        if path.exists() {
            return digest;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        digest
    }

    fn content(&self, area: &str, digest: Digest) -> PathBuf {
        let hex = digest.to_string();
        let folder = self.path().join(format!("kernels/{area}/sha256"));
        folder.join(&hex[..2]).join(&hex[2..])
    }

    fn install_bundle(&self, bundle: &Path) -> guild_package::Result<Installed> {
        self.store
            .install(bundle, &InstallOptions::default(), &Unprobed)
    }

    /// Builds and signs; returns the bundle and the digest of the library.
    pub fn sign(&self, package: &Package<'_>) -> (PathBuf, Digest) {
        let staging = tempfile::tempdir_in(self.path()).unwrap();
        let library = staging.path().join("plugin.so");
        compile(package, &library);
        for (number, golden) in package.golden.iter().enumerate() {
            let path = staging.path().join(format!("golden{number}.bin"));
            fs::write(path, &golden.bytes).unwrap();
        }
        fs::write(staging.path().join("package.toml"), package_toml(package)).unwrap();
        let bundle = self.path().join("out.gkernel");
        if bundle.exists() {
            fs::remove_file(&bundle).unwrap();
        }
        sign_package(
            staging.path(),
            &self.record.id.to_string(),
            &SeedFile::read(&self.path().join("seed"))
                .unwrap()
                .plain()
                .unwrap(),
            &bundle,
            &SignOptions::default(),
        )
        .unwrap();
        (bundle, Digest::of(&fs::read(library).unwrap()))
    }

    pub fn load(&self) -> Result<LoadedPackages, LoadError> {
        load_enabled(&self.store, "loader test", &LoadOptions::default())
    }

    /// The load fails with this code and words.
    #[track_caller]
    pub fn refuses(&self, code: &str, exit: u8, words: &[&str]) {
        let error = self.load().expect_err("it was loaded");
        assert_eq!(
            (error.code().name, error.code().exit),
            (code, exit),
            "{error}"
        );
        let text = error.in_full();
        for word in words {
            assert!(text.contains(word), "no `{word}` in: {text}");
        }
    }

    /// Flips one bit in the middle of an installed object.
    pub fn damage_object(&self, digest: Digest) {
        let path = self.content("objects", digest);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    }
}

fn compile(package: &Package<'_>, library: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new("cc");
    command
        .args(["-std=c99", "-O1", "-shared", "-fPIC", "-fexceptions", "-I"])
        .arg(root.join("include"))
        .arg(root.join(format!("tests/c-plugins/{}.c", package.source)));
    for (name, value) in package.defines {
        command.arg(format!("-D{name}={value}"));
    }
    command.arg("-Wl,--no-as-needed");
    for name in package.libraries {
        command.arg(format!("-l:{name}"));
    }
    command.args(package.link);
    let output = command.arg("-o").arg(library).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn package_toml(package: &Package<'_>) -> String {
    let mut tables = String::new();
    for operation in package.operations {
        write!(
            tables,
            "\n[[provides]]\nop = \"{operation}\"\ndtype = [\"f32\"]\nlayout = \"row-major\"\n"
        )
        .unwrap();
    }
    for (number, golden) in package.golden.iter().enumerate() {
        let GoldenFile { op, tolerance, .. } = golden;
        write!(
            tables,
            "\n[[artifacts]]\npath = \"golden{number}.bin\"\nrole = \"golden\"\n\n[[golden]]\nop = \"{op}\"\nvectors = \"golden{number}.bin\"\ntolerance = {tolerance}\n"
        )
        .unwrap();
    }
    let Package {
        id,
        version,
        host_min,
        ..
    } = *package;
    let toml = PackageToml {
        host: [host_min, host_min.max("1.0")],
        top: "runners = [\"test.runner.v1\"]",
        tables: &tables,
        ..PackageToml::of(id, version, "plugin.so")
    };
    toml.text()
}

/// Runs `body` in a child process, which is this test binary with the test `name` alone, after the shell
/// command `first`. Gives what became of it; `None` in the child itself.
pub fn child_of(name: &str, first: &str, body: impl FnOnce()) -> Option<Output> {
    const IN_CHILD: &str = "GUILD_LOADER_TEST_CHILD";
    if std::env::var_os(IN_CHILD).is_some() {
        body();
        return None;
    }
    let output = Command::new("sh")
        .args([
            "-c",
            &format!("{first} && exec \"$0\" --exact {name} --nocapture"),
        ])
        .arg(std::env::current_exe().unwrap())
        .env(IN_CHILD, "1")
        .output()
        .unwrap();
    Some(output)
}
