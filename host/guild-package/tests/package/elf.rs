//! ELF facts of libraries that the system's compiler made: what must come out is what the compiler was
//! asked for.

use std::path::Path;
use std::process::Command;

use guild_package::manifest::{ElfFacts, Role};
use guild_package::{Code, SignOptions, SignedPackage, sign_package};

use crate::fixture::{Bench, options, shared_library};

fn facts_of(bench: &Bench, library: &Path) -> guild_package::Result<ElfFacts> {
    let (signed, _) = sign_library(bench, library)?;
    let mut artifacts = signed.manifest.artifacts.into_iter();
    let plugin = artifacts.find(|artifact| artifact.role == Role::Plugin);
    Ok(plugin.unwrap().elf.unwrap())
}

/// A package of this library alone, and its bundle.
fn sign_library(bench: &Bench, library: &Path) -> guild_package::Result<(SignedPackage, Vec<u8>)> {
    let staging = tempfile::tempdir_in(bench.path()).unwrap();
    let toml = format!(
        "schema = 1\nkind = \"gkmodule\"\nid = \"org.guild.x\"\nversion = \"1.0.0\"\nsecurity_epoch = 0\npublisher = \"t\"\n\
         [abi]\nhost_min = \"1.0\"\nhost_max = \"1.0\"\n[[targets]]\nos = \"linux\"\narch = \"{}\"\n\
         [[artifacts]]\npath = \"p.so\"\nrole = \"plugin\"\ntarget = 0\n",
        std::env::consts::ARCH
    );
    std::fs::write(staging.path().join("package.toml"), toml).unwrap();
    std::fs::copy(library, staging.path().join("p.so")).unwrap();
    let key = bench.publisher.record.id.to_string();
    let out = staging.path().join("out");
    let signed = sign_package(
        staging.path(),
        &key,
        &bench.publisher.seed_file,
        &out,
        &SignOptions::default(),
    )?;
    Ok((signed, std::fs::read(out).unwrap()))
}

fn compile(bench: &Bench, source: &str, arguments: &[&str]) -> std::path::PathBuf {
    let (code, library) = (bench.path().join("x.c"), bench.path().join("x.so"));
    std::fs::write(&code, source).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &code])
        .args(arguments)
        .output()
        .expect("the project needs a C compiler");
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    library
}

#[test]
fn a_quiet_library_has_nothing_to_run() {
    let bench = Bench::new();
    let library = compile(&bench, "int f(void) { return 1; }", &["-nostdlib"]);
    let facts = facts_of(&bench, &library).unwrap();
    let quiet = ElfFacts {
        soname: None,
        needed: vec![],
        init_count: 0,
        fini_count: 0,
        note_hash: None,
    };
    assert_eq!(facts, quiet);
}

#[test]
fn a_library_without_the_entry_is_not_installed() {
    let bench = Bench::new();
    let library = compile(&bench, "int f(void) { return 1; }", &["-nostdlib"]);
    let (_, bundle) = sign_library(&bench, &library).unwrap();
    bench.install_refuses(&bundle, &options(), Code::PreflightRefused);
    let source = "int guild_plugin_entry_v1(void) { return 1; }";
    let library = compile(&bench, source, &["-nostdlib"]);
    let (_, bundle) = sign_library(&bench, &library).unwrap();
    bench.install(&bundle).unwrap();
}

#[test]
fn names_and_constructors_are_found() {
    let bench = Bench::new();
    let source = "__attribute__((constructor)) void a(void) {}\n__attribute__((constructor)) void b(void) {}\n\
                  __attribute__((destructor)) void c(void) {}\n";
    let link = [
        "-nostdlib",
        "-Wl,-soname,libfirst.so.3",
        "-Wl,--no-as-needed",
        "-lm",
        "-lc",
    ];
    let facts = facts_of(&bench, &compile(&bench, source, &link)).unwrap();
    assert_eq!(facts.soname.unwrap().as_str(), "libfirst.so.3");
    let needed: Vec<_> = facts.needed.iter().map(ToString::to_string).collect();
    assert_eq!(needed, ["libm.so.6", "libc.so.6"]);
    assert_eq!((facts.init_count, facts.fini_count), (2, 1));
}

#[test]
fn row_74_section_headers_are_not_looked_at() {
    let bench = Bench::new();
    let library = compile(
        &bench,
        "int f(void) { return 1; }",
        &["-nostdlib", "-Wl,-soname,libx.so"],
    );
    let mut bytes = std::fs::read(&library).unwrap();
    bytes[0x28..0x30].fill(0xff); // e_shoff
    bytes[0x3c..0x40].fill(0xff); // e_shnum, e_shstrndx
    std::fs::write(&library, &bytes).unwrap();
    assert_eq!(
        facts_of(&bench, &library).unwrap().soname.unwrap().as_str(),
        "libx.so"
    );
}

#[test]
fn broken_libraries_are_refused() {
    let bench = Bench::new();
    let path = bench.path().join("p.so");
    let good = shared_library("note");
    let refuses = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        assert!(facts_of(&bench, &path).is_err());
    };
    refuses(b"");
    refuses(b"not a library");
    refuses(&good[..100]);
    let changed = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    refuses(&changed(16, &2_u16.to_le_bytes())); // an executable
    refuses(&changed(4, &[1])); // 32 bits
    refuses(&changed(56, &1000_u16.to_le_bytes())); // program headers outside the file
    refuses(&changed(0x200 + 8, &u64::MAX.to_le_bytes())); // a name outside the string table
    refuses(&changed(0x200 + 3 * 16 + 8, &u64::MAX.to_le_bytes())); // the string table's address
    refuses(&changed(0x200 + 4 * 16 + 8, &u64::MAX.to_le_bytes())); // its size
    refuses(&changed(64 + 56 + 8, &u64::MAX.to_le_bytes())); // the dynamic table's offset
    std::fs::write(&path, &good).unwrap();
    assert!(facts_of(&bench, &path).is_ok());
}
