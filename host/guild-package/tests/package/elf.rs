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
        &bench.publisher.seed(),
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

fn hide_sections(library: &mut [u8]) {
    library[0x28..0x30].fill(0xff); // e_shoff
    library[0x3c..0x40].fill(0xff); // e_shnum, e_shstrndx
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
    let refuses = |source: &str| {
        let library = compile(&bench, source, &["-nostdlib"]);
        let (_, bundle) = sign_library(&bench, &library).unwrap();
        bench.install_refuses(&bundle, &options(), Code::PreflightRefused);
        bench.install(&bundle).unwrap_err().to_string()
    };
    let message = refuses("int f(void) { return 1; }");
    for words in ["p.so", "`guild_plugin_entry_v1`", "export macro"] {
        assert!(message.contains(words), "no {words} in: {message}");
    }
    refuses("");
    // Used but not defined, a longer and a shorter name, data, for this library alone.
    refuses("int guild_plugin_entry_v1(void); int f(void) { return guild_plugin_entry_v1(); }");
    refuses(
        "int guild_plugin_entry_v10(void) { return 1; } int guild_plugin_entry_v(void) { return 1; }",
    );
    refuses("int guild_plugin_entry_v1 = 1;");
    refuses(
        "static int guild_plugin_entry_v1(void) { return 1; } int f(void) { return guild_plugin_entry_v1(); }",
    );
    refuses(
        "__attribute__((visibility(\"hidden\"))) int guild_plugin_entry_v1(void) { return 1; }",
    );
}

/// Both hash tables say how many symbols there are, also when nobody can see the sections.
#[test]
fn the_entry_is_found_by_either_hash_table() {
    let source = "int other(void) { return 1; }\n\
                  __attribute__((weak)) int guild_plugin_entry_v1(void) { return other(); }\n";
    for style in ["sysv", "gnu", "both"] {
        let bench = Bench::new();
        let hash = format!("-Wl,--hash-style={style}");
        let library = compile(&bench, source, &["-nostdlib", &hash]);
        let mut bytes = std::fs::read(&library).unwrap();
        hide_sections(&mut bytes);
        std::fs::write(&library, &bytes).unwrap();
        let (_, bundle) = sign_library(&bench, &library).unwrap();
        bench.install(&bundle).unwrap();
    }
}

/// Each field that leads to the entry, made wrong: refused, and by which of the two codes.
#[test]
fn a_damaged_symbol_table_is_no_way_in() {
    let bench = Bench::new();
    let install = |library: &[u8]| {
        let path = bench.path().join("p.so");
        std::fs::write(&path, library).unwrap();
        let (_, bundle) = sign_library(&bench, &path).unwrap();
        bench.install(&bundle).map_err(|error| error.code())
    };
    let good = shared_library("note");
    let changed = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        install(&bytes).unwrap_err()
    };
    let value_of = |entry: usize| 0x200 + entry * 16 + 8;
    let outside = u64::MAX.to_le_bytes();
    assert_eq!(changed(value_of(7), &outside), Code::BundleMalformed); // symbol table
    assert_eq!(changed(value_of(8), &outside), Code::BundleMalformed); // hash table
    let many = u32::MAX.to_le_bytes();
    assert_eq!(changed(0x380, &many), Code::BundleMalformed); // buckets
    assert_eq!(changed(0x384, &many), Code::BundleMalformed); // symbols
    assert_eq!(changed(0x384, &[1]), Code::PreflightRefused); // only symbol 0
    assert_eq!(changed(0x358, &many), Code::PreflightRefused); // a name outside the strings
    assert_eq!(changed(0x35c, &[0x11]), Code::PreflightRefused); // data
    assert_eq!(changed(0x35e, &[0]), Code::PreflightRefused); // undefined
    assert_eq!(changed(value_of(8) - 8, &[0x55]), Code::PreflightRefused); // no hash table
    install(&good).unwrap();
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
    hide_sections(&mut bytes);
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
