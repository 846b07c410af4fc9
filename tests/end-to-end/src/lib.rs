//! The whole program: what the end-to-end tests share.
//!
//! Builds the real binary and the real plugins once per test process, makes a throw-away key, and
//! installs signed packages into a store of the test's own.
#![forbid(unsafe_code)]

use guild_cli::args::{KvFormat, MemoryArgs, ModelArgs, PackageArgs, Policy};
use guild_demo::build::Profile;
use guild_demo::guild::Guild;
use guild_demo::seed::ThrowAwayKey;
use guild_demo::{build, staging};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// A first-party package: id, what builds its library, library name.
pub type FirstParty = (&'static str, Source, &'static str);

/// What builds a package's library.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The Cargo member of this name.
    Cargo(&'static str),
    /// The commands in the block of `docs/adding-an-architecture.md` that starts with this line.
    Page(&'static str),
}

/// The CPU kernels.
pub const CPU: FirstParty = (
    "org.guild.kernels.cpu",
    Source::Cargo("guild-plugin-cpu-cdylib"),
    "libguild_cpu.so",
);
/// The Qwen runners.
pub const QWEN: FirstParty = (
    "org.guild.runners.qwen",
    Source::Cargo("guild-plugin-qwen-cdylib"),
    "libguild_qwen.so",
);
/// The llama runner in C, built as its page says.
pub const LLAMA: FirstParty = (
    "org.guild.runners.llama",
    Source::Page("mkdir -p STAGING/lib"),
    "libguild_llama.so",
);
/// The oracle.
pub const REFERENCE: FirstParty = (
    "org.guild.kernels.reference",
    Source::Cargo("guild-plugin-reference-cdylib"),
    "libguild_reference.so",
);

/// A small model in BF16, with golden values.
pub const SMALL_BF16: &str = "tests/models/qwen35moe-small-bf16.gguf";
/// A tiny quantised model.
pub const TINY_Q4_K_M: &str = "tests/models/qwen35moe-tiny-Q4_K_M.gguf";

/// A small llama model with a tied head, in BF16, with golden values.
pub const LLAMA_TIED: &str = "tests/models/llama-small-tied-bf16.gguf";
/// The same architecture with a head of its own and frequency factors.
pub const LLAMA_FACTORS: &str = "tests/models/llama-small-factors-bf16.gguf";

/// Whether the system's list of processor features has this one. The compiler's own question for some isn't stable.
#[must_use]
pub fn processor_has(feature: &str) -> bool {
    let list = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    list.split_ascii_whitespace().any(|word| word == feature)
}

/// A store with its key, and the binary that works on it. Its folder goes when it is dropped.
pub struct Site {
    /// The binary with this site's store.
    pub guild: Guild,
    /// The key; trusted for `org.guild`.
    pub key: ThrowAwayKey,
    folder: tempfile::TempDir,
}

/// The project's root folder.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the project as text for a command line.
#[must_use]
pub fn file(relative: &str) -> String {
    root().join(relative).to_string_lossy().into_owned()
}

/// The built binaries: the host and all plugins, in the profile of the tests.
#[must_use]
pub fn binaries() -> &'static Path {
    static BINARIES: OnceLock<PathBuf> = OnceLock::new();
    BINARIES.get_or_init(|| {
        let root = root();
        build::host(&root, Profile::Dev).unwrap();
        for (_, source, _) in [CPU, QWEN, REFERENCE] {
            if let Source::Cargo(member) = source {
                build::plugin(&root, member, Profile::Dev).unwrap();
            }
        }
        build::binaries(&root, Profile::Dev).unwrap()
    })
}

/// The commands in the block of `docs/adding-an-architecture.md` whose first line this is.
#[must_use]
pub fn page_commands(first_line: &str) -> String {
    let page = std::fs::read_to_string(root().join("docs/adding-an-architecture.md")).unwrap();
    let mut blocks = page.split("```sh\n").skip(1);
    let block = blocks.find(|block| block.lines().next() == Some(first_line));
    let block = block.and_then(|block| block.split("```").next());
    block
        .unwrap_or_else(|| panic!("the page has no block that starts with {first_line:?}"))
        .to_owned()
}

/// How a test opens a committed model in its own process: from installed packages, and else as the program does by default.
#[must_use]
pub fn model_args(model: &str, threads: u32, allow_reference: bool) -> ModelArgs {
    ModelArgs {
        model: root().join(model),
        threads: vec![threads],
        context: None,
        memory: MemoryArgs::default(),
        kv: KvFormat::F16,
        policy: Policy::Exact,
        packages: PackageArgs {
            external_only: true,
            allow_reference,
            ..PackageArgs::default()
        },
    }
}

/// Runs shell commands in the project's root folder; each must succeed.
pub fn shell(commands: &str) {
    let mut shell = Command::new("sh");
    shell.current_dir(root()).args(["-e", "-u", "-c", commands]);
    build::run(&mut shell).unwrap();
}

impl Site {
    /// An empty store, and a key that is trusted for `org.guild`.
    #[must_use]
    pub fn new() -> Site {
        let folder = tempfile::tempdir().unwrap();
        let guild = Guild::new(binaries().join("guild"), folder.path().join("data"));
        let key = ThrowAwayKey::new(&guild, folder.path()).unwrap();
        let public = key.public.to_string_lossy().into_owned();
        guild
            .json(&["kernel", "trust", "add", &public, "--scope", "org.guild"])
            .unwrap();
        Site { guild, key, folder }
    }

    /// A store with these packages installed.
    #[must_use]
    pub fn with(packages: &[FirstParty]) -> Site {
        let site = Site::new();
        for package in packages {
            let bundle = site.bundle(*package);
            site.guild.json(&["kernel", "install", &bundle]).unwrap();
        }
        site
    }

    /// Stages and signs a first-party package; returns the bundle's path.
    #[must_use]
    pub fn bundle(&self, package: FirstParty) -> String {
        let staged = self.stage(package);
        self.sign(&staged, package.0)
    }

    /// Stages a first-party package without signing it.
    #[must_use]
    pub fn stage(&self, (id, source, library): FirstParty) -> PathBuf {
        let built = match source {
            Source::Cargo(_) => binaries().join(library),
            Source::Page(first_line) => {
                let folder = self.path(&format!("built/{id}"));
                let commands = page_commands(first_line);
                shell(&commands.replace("STAGING", &folder.to_string_lossy()));
                folder.join("lib").join(library)
            }
        };
        self.stage_library(id, &built)
    }

    /// Stages the package `id` with this library.
    #[must_use]
    pub fn stage_library(&self, id: &str, library: &Path) -> PathBuf {
        let staged = self.path(&format!("staging/{id}"));
        staging::stage(&root().join("packages").join(id), library, &staged).unwrap();
        staged
    }

    /// The same store under another binary.
    #[must_use]
    pub fn under(&self, binary: PathBuf) -> Guild {
        Guild::new(binary, self.guild.data_dir().to_owned())
    }

    /// Signs a staging folder with the site's key; returns the new bundle's path.
    #[must_use]
    pub fn sign(&self, staged: &Path, name: &str) -> String {
        let bundle = self
            .path(&format!("{name}.gkernel"))
            .to_string_lossy()
            .into_owned();
        let (staged, seed) = (staged.to_string_lossy(), self.key.seed.to_string_lossy());
        let sign = [
            "kernel",
            "sign",
            &staged,
            "--key-id",
            &self.key.id,
            "--seed-file",
            &seed,
        ];
        self.guild
            .json(&[&sign[..], &["--bundle", &bundle]].concat())
            .unwrap();
        bundle
    }

    /// A path in the site's own folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command and returns what it printed and how it ended.
    #[must_use]
    pub fn output(&self, args: &[&str]) -> Output {
        self.guild.command(args).output().unwrap()
    }

    /// A command whose answer is text for people, ready to run.
    #[must_use]
    pub fn text_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binaries().join("guild"));
        command
            .arg("--data-dir")
            .arg(self.guild.data_dir())
            .args(args);
        command
    }

    /// The logits of `ids` as the bytes of the NumPy file.
    #[must_use]
    pub fn logits(
        &self,
        model: &str,
        ids: &str,
        more: &[&str],
        environment: &[(&str, &str)],
    ) -> Vec<u8> {
        let out = self.path("logits.npy");
        let (model, out_text) = (file(model), out.to_string_lossy());
        let args = [&["logits", &model, "--ids", ids, "--out", &out_text], more].concat();
        let output = self
            .guild
            .command(&args)
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
        std::fs::read(out).unwrap()
    }
}

impl Default for Site {
    fn default() -> Site {
        Site::new()
    }
}

/// The f32 values of a version 1 NumPy file.
#[must_use]
pub fn npy_values(bytes: &[u8]) -> Vec<f32> {
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    f32_values(&bytes[10 + header..])
}

/// The index of the largest value of a row; the first one of several. 0 for an empty row.
#[must_use]
pub fn argmax(row: &[f32]) -> usize {
    let best = |best, at| if row[at] > row[best] { at } else { best };
    (0..row.len()).fold(0, best)
}

/// The largest distance between two values that stand at the same place.
///
/// # Panics
/// When there are not as many on both sides.
#[must_use]
pub fn largest_difference(ours: &[f32], theirs: &[f32]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    let differences = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f32::max)
}

/// Little-endian f32 values.
#[must_use]
pub fn f32_values(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

/// A committed JSON file.
#[must_use]
pub fn json_file(relative: &str) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(root().join(relative)).unwrap()).unwrap()
}

/// A JSON array of token ids as a command line takes it.
#[must_use]
pub fn id_list(ids: &serde_json::Value) -> String {
    let ids = ids.as_array().unwrap().iter().map(ToString::to_string);
    ids.collect::<Vec<_>>().join(",")
}
