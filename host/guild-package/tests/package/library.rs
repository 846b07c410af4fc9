//! Libraries that the system's compiler makes, and places in their files to change.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use guild_package::preflight::Refusal;
use guild_package::{Code, Error, Manifest, Result, SignOptions, sign_package};
use serde_json::Value;

use crate::fixture::{Bench, entries, options};

/// The library's name in its bundle.
pub const LIBRARY: &str = "p.so";
/// A note of the package that [`Lab`] signs.
pub const NOTE: &str = "#include <guild/note.h>\nGUILD_NOTE(\"org.guild.x\", \"1.0.0\");\n";
/// An entry that does nothing.
pub const ENTRY: &str = "\nint guild_plugin_entry_v1(void) { return 0; }\n";

/// A bench and what makes libraries for it.
pub struct Lab {
    pub bench: Bench,
}

impl Lab {
    pub fn new() -> Self {
        Self {
            bench: Bench::new(),
        }
    }

    /// A plugin that obeys every rule and has a table of each kind.
    pub fn good(&self) -> Vec<u8> {
        let source = format!(
            "{NOTE}extern int getpid(void);\nstatic int (*const function)(void) = getpid;\n\
             int guild_plugin_entry_v1(void) {{ return (*(int (*const volatile *)(void))&function)(); }}\n"
        );
        self.compile(&source, &["-Wl,-z,now"])
    }

    /// Compiles C code to a shared library.
    pub fn compile(&self, source: &str, arguments: &[&str]) -> Vec<u8> {
        let library = self.bench.path().join("x.so");
        let code = self.bench.path().join("x.c");
        fs::write(&code, source).unwrap();
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-I"]);
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"));
        command.arg("-o").args([&library, &code]).args(arguments);
        run(&mut command);
        fs::read(library).unwrap()
    }

    /// A library of this name whose symbols all have one version.
    pub fn library_of_versions(&self, name: &str, version: &str, source: &str) -> PathBuf {
        let [library, code, script] =
            [name, "versions.c", "versions.map"].map(|name| self.bench.path().join(name));
        fs::write(&code, source).unwrap();
        fs::write(&script, format!("{version} {{ global: *; }};\n")).unwrap();
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-nostdlib"]);
        command.arg(format!("-Wl,-soname,{name}"));
        command.arg(format!("-Wl,--version-script={}", script.display()));
        run(command.arg("-o").args([&library, &code]));
        library
    }

    /// A bundle of a package with this library alone.
    pub fn try_sign(&self, library: &[u8]) -> Result<Vec<u8>> {
        let staging = tempfile::tempdir_in(self.bench.path()).unwrap();
        let toml = format!(
            "schema = 1\nkind = \"gkmodule\"\nid = \"org.guild.x\"\nversion = \"1.0.0\"\nsecurity_epoch = 0\npublisher = \"t\"\n\
             [abi]\nhost_min = \"1.0\"\nhost_max = \"1.0\"\n[[targets]]\nos = \"linux\"\narch = \"{}\"\n\
             [[artifacts]]\npath = \"{LIBRARY}\"\nrole = \"plugin\"\ntarget = 0\n",
            std::env::consts::ARCH
        );
        fs::write(staging.path().join("package.toml"), toml).unwrap();
        fs::write(staging.path().join(LIBRARY), library).unwrap();
        let publisher = &self.bench.publisher;
        let key = publisher.record.id.to_string();
        let out = staging.path().join("out");
        let options = SignOptions::default();
        sign_package(staging.path(), &key, &publisher.seed(), &out, &options)?;
        Ok(fs::read(out).unwrap())
    }

    pub fn sign(&self, library: &[u8]) -> Vec<u8> {
        self.try_sign(library).unwrap()
    }

    /// The manifest that `sign` makes for this library.
    pub fn manifest(&self, library: &[u8]) -> Value {
        serde_json::from_slice(&entries(&self.sign(library))["manifest.json"]).unwrap()
    }

    pub fn verify(&self, library: &[u8]) -> Result<Manifest> {
        self.bench.verify(&self.sign(library))
    }

    /// Why the library is refused once it is signed, by `verify` and by `install`.
    #[track_caller]
    pub fn refusal(&self, library: &[u8]) -> Refusal {
        match self.try_sign(library) {
            Ok(bundle) => self.refusal_of(&bundle),
            // Not even its facts can be read; a signed manifest could still lie about it.
            Err(_) => self.refusal_unsigned(library),
        }
    }

    /// Why the library is refused under a manifest that describes another one.
    #[track_caller]
    pub fn refusal_unsigned(&self, library: &[u8]) -> Refusal {
        let mut tree = self.manifest(&self.good());
        tree["artifacts"][0]["sha256"] = guild_package::Digest::of(library).to_string().into();
        tree["artifacts"][0]["size"] = library.len().into();
        let bundle = self
            .bench
            .craft(tree.to_string().as_bytes(), &[(LIBRARY, library)]);
        self.refusal_of(&bundle)
    }

    #[track_caller]
    pub fn refusal_of(&self, bundle: &[u8]) -> Refusal {
        let verified = self.bench.verify(bundle).expect_err("verify accepted it");
        self.bench
            .install_refuses(bundle, &options(), Code::PreflightRefused);
        match verified {
            Error::Preflight { refusal, .. } => *refusal,
            other => panic!("refused otherwise: {other}"),
        }
    }
}

/// The refusal of this source, compiled with these arguments.
pub fn refusal(source: &str, arguments: &[&str]) -> Refusal {
    let lab = Lab::new();
    let library = lab.compile(source, arguments);
    lab.refusal(&library)
}

/// The refusal of a good plugin that is linked with these arguments.
pub fn linked(arguments: &[&str]) -> Refusal {
    refusal(&format!("{NOTE}{ENTRY}"), arguments)
}

/// The refusal of a good plugin whose file was changed.
pub fn changed(change: impl FnOnce(&mut Bytes)) -> Refusal {
    let lab = Lab::new();
    changed_from(&lab, lab.good(), change)
}

/// The refusal of a library whose file was changed.
pub fn changed_from(lab: &Lab, library: Vec<u8>, change: impl FnOnce(&mut Bytes)) -> Refusal {
    let mut library = Bytes(library);
    change(&mut library);
    lab.refusal(&library.0)
}

/// The refusal of a good plugin under a signed manifest that describes it wrongly.
pub fn misdescribed(pointer: &str, value: Value) -> Refusal {
    let lab = Lab::new();
    let library = lab.good();
    let mut tree = lab.manifest(&library);
    *tree.pointer_mut(pointer).unwrap() = value;
    let bundle = lab
        .bench
        .craft(tree.to_string().as_bytes(), &[(LIBRARY, &library)]);
    lab.refusal_of(&bundle)
}

fn run(command: &mut Command) {
    let output = command.output().expect("the project needs a C compiler");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

/// A library's file, found through its program headers.
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    fn u64_at(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.0[at..at + 8].try_into().unwrap())
    }

    /// Where the program headers of a kind are.
    fn headers(&self, kind: u32) -> Vec<usize> {
        let count = usize::from(self.0[56]);
        let all = (0..count).map(|index| 64 + index * 56);
        all.filter(|&at| self.0[at..at + 4] == kind.to_le_bytes())
            .collect()
    }

    /// The first program header of a kind.
    pub fn header(&mut self, kind: u32) -> &mut [u8] {
        let at = self.headers(kind)[0];
        &mut self.0[at..at + 56]
    }

    /// A loaded segment's program header.
    pub fn load(&mut self, index: usize) -> &mut [u8] {
        let at = self.headers(1)[index];
        &mut self.0[at..at + 56]
    }

    /// Where the last loaded segment ends in the file.
    pub fn loaded_end(&self) -> usize {
        let ends = self.headers(1).into_iter();
        let ends = ends.map(|at| self.u64_at(at + 8) + self.u64_at(at + 32));
        ends.max().unwrap() as usize
    }

    /// The entries of the dynamic table.
    pub fn dynamic(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let at = self.headers(2)[0];
        let (start, bytes) = (self.u64_at(at + 8) as usize, self.u64_at(at + 32) as usize);
        self.0[start..start + bytes].chunks_exact_mut(16)
    }

    /// The entry of a tag.
    pub fn entry(&mut self, tag: u64) -> &mut [u8] {
        let mut entries = self.dynamic();
        let found = entries.find(|entry| entry[..8] == tag.to_le_bytes());
        found.unwrap_or_else(|| panic!("no tag {tag:#x}"))
    }

    /// A relocation that names a symbol.
    pub fn relocation(&mut self) -> &mut [u8] {
        let mut all = self.relocations().chunks_exact_mut(24);
        all.find(|one| one[12..16] != [0; 4])
            .expect("no relocation names a symbol")
    }

    /// The relocations with addends.
    pub fn relocations(&mut self) -> &mut [u8] {
        let (start, bytes) = (self.value(7), self.value(8));
        &mut self.0[start..start + bytes]
    }

    /// The version of each symbol and what follows.
    pub fn symbol_versions(&mut self) -> &mut [u8] {
        let start = self.value(0x6fff_fff0);
        &mut self.0[start..]
    }

    /// The packed relocations.
    pub fn packed_relocations(&mut self) -> &mut [u8] {
        let (start, bytes) = (self.value(36), self.value(35));
        &mut self.0[start..start + bytes]
    }

    /// The bytes from the newer hash table on.
    pub fn hash_table(&mut self) -> &mut [u8] {
        let start = self.value(0x6fff_fef5);
        &mut self.0[start..]
    }

    /// The bytes from the older hash table on.
    pub fn older_hash_table(&mut self) -> &mut [u8] {
        let start = self.value(4);
        &mut self.0[start..]
    }

    /// The bytes from the records of needed versions on.
    pub fn needed_versions(&mut self) -> &mut [u8] {
        let start = self.value(0x6fff_fffe);
        &mut self.0[start..]
    }

    /// The value of a tag. Tables lie in the first segment, where addresses are offsets.
    fn value(&mut self, tag: u64) -> usize {
        u64::from_le_bytes(self.entry(tag)[8..16].try_into().unwrap()) as usize
    }

    /// The bytes from `pattern` on.
    pub fn after(&mut self, pattern: &[u8], skip: usize) -> &mut [u8] {
        let at = self
            .0
            .windows(pattern.len())
            .position(|window| window == pattern);
        &mut self.0[at.expect("the pattern isn't there") + skip..]
    }
}
