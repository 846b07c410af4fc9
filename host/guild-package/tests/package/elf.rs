//! ELF facts of libraries that the system's compiler made: what must come out is what the compiler was
//! asked for.

use guild_package::manifest::{ElfFacts, Role};
use guild_package::{Code, Manifest};

use crate::fixture::{entries, options, shared_library};
use crate::library::{Lab, NOTE};
use crate::small_library::library;

fn facts_of(lab: &Lab, library: &[u8]) -> guild_package::Result<ElfFacts> {
    let bundle = lab.try_sign(library)?;
    let manifest = Manifest::decode(&entries(&bundle)["manifest.json"])?;
    let mut artifacts = manifest.artifacts.into_iter();
    let plugin = artifacts.find(|artifact| artifact.role == Role::Plugin);
    Ok(plugin.unwrap().elf.unwrap())
}

fn hide_sections(library: &mut [u8]) {
    library[0x28..0x30].fill(0xff); // e_shoff
    library[0x3c..0x40].fill(0xff); // e_shnum, e_shstrndx
}

#[test]
fn a_quiet_library_has_nothing_to_run() {
    let lab = Lab::new();
    let library = lab.compile("int f(void) { return 1; }", &["-nostdlib"]);
    let facts = facts_of(&lab, &library).unwrap();
    let quiet = ElfFacts {
        soname: None,
        needed: vec![],
        init_count: 0,
        fini_count: 0,
        note_hash: None,
    };
    assert_eq!(facts, quiet);
}

/// A linker refuses to make such a library; the loader of a program runs them all the same.
#[test]
fn functions_that_run_before_all_others_count_too() {
    let lab = Lab::new();
    let mut library = library("org.guild.x", "1.0.0", "p.so", &[]);
    assert_eq!(facts_of(&lab, &library).unwrap().init_count, 3);
    // The array's length under the name of the other array's.
    let [init, before_init] = [27_u64, 33].map(u64::to_le_bytes);
    let at = library.windows(8).position(|tag| tag == init).unwrap();
    library[at..at + 8].copy_from_slice(&before_init);
    assert_eq!(facts_of(&lab, &library).unwrap().init_count, 3);
}

#[test]
fn a_library_without_the_entry_is_not_installed() {
    let lab = Lab::new();
    let refuses = |source: &str| {
        let library = lab.compile(source, &["-nostdlib"]);
        let bundle = lab.sign(&library);
        lab.bench
            .install_refuses(&bundle, &options(), Code::PreflightRefused);
        lab.bench.install(&bundle).unwrap_err().to_string()
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
    let source = format!(
        "{NOTE}static int other(void) {{ return 1; }}\n\
         __attribute__((weak)) int guild_plugin_entry_v1(void) {{ return other(); }}\n"
    );
    for style in ["sysv", "gnu", "both"] {
        let lab = Lab::new();
        let hash = format!("-Wl,--hash-style={style}");
        let mut library = lab.compile(&source, &["-nostdlib", &hash]);
        hide_sections(&mut library);
        lab.bench.install(&lab.sign(&library)).unwrap();
    }
}

/// Each field that leads to the entry, made wrong.
#[test]
fn a_damaged_symbol_table_is_no_way_in() {
    let lab = Lab::new();
    let install = |library: &[u8]| {
        let installed = lab.bench.install(&lab.sign(library));
        installed.map_err(|error| error.code())
    };
    let good = shared_library("org.guild.x", "1.0.0");
    let changed = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        install(&bytes).unwrap_err()
    };
    let value_of = |entry: usize| 0x200 + entry * 16 + 8;
    let outside = u64::MAX.to_le_bytes();
    assert_eq!(changed(value_of(7), &outside), Code::PreflightRefused); // symbol table
    assert_eq!(changed(value_of(8), &outside), Code::PreflightRefused); // hash table
    let many = u32::MAX.to_le_bytes();
    assert_eq!(changed(0x380, &many), Code::PreflightRefused); // buckets
    assert_eq!(changed(0x384, &many), Code::PreflightRefused); // symbols
    assert_eq!(changed(0x384, &[1]), Code::PreflightRefused); // only symbol 0
    assert_eq!(changed(0x358, &many), Code::PreflightRefused); // a name outside the strings
    assert_eq!(changed(0x35c, &[0x11]), Code::PreflightRefused); // data
    assert_eq!(changed(0x35e, &[0]), Code::PreflightRefused); // undefined
    assert_eq!(changed(value_of(8) - 8, &[0x55]), Code::PreflightRefused); // no hash table
    install(&good).unwrap();
}

#[test]
fn names_and_constructors_are_found() {
    let lab = Lab::new();
    let source = "__attribute__((constructor)) void a(void) {}\n__attribute__((constructor)) void b(void) {}\n\
                  __attribute__((destructor)) void c(void) {}\n";
    let link = [
        "-nostdlib",
        "-Wl,-soname,libfirst.so.3",
        "-Wl,--no-as-needed",
        "-lm",
        "-lc",
    ];
    let facts = facts_of(&lab, &lab.compile(source, &link)).unwrap();
    assert_eq!(facts.soname.unwrap().as_str(), "libfirst.so.3");
    let needed: Vec<_> = facts.needed.iter().map(ToString::to_string).collect();
    assert_eq!(needed, ["libm.so.6", "libc.so.6"]);
    assert_eq!((facts.init_count, facts.fini_count), (2, 1));
}

#[test]
fn row_74_section_headers_are_not_looked_at() {
    let lab = Lab::new();
    let mut library = lab.compile(
        "int f(void) { return 1; }",
        &["-nostdlib", "-Wl,-soname,libx.so"],
    );
    hide_sections(&mut library);
    assert_eq!(
        facts_of(&lab, &library).unwrap().soname.unwrap().as_str(),
        "libx.so"
    );
}

#[test]
fn broken_libraries_are_refused() {
    let lab = Lab::new();
    let good = shared_library("org.guild.x", "1.0.0");
    let refuses = |bytes: &[u8]| assert!(facts_of(&lab, bytes).is_err());
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
    assert!(facts_of(&lab, &good).is_ok());
}
