//! Rows 69, 70, 71 and 76: what a library may be that a host maps. The libraries are made by the system's
//! compiler, or changed afterwards where no linker makes such a one; every one is signed, so the refusal is
//! the library's own.

use guild_package::preflight::{Refusal, SegmentRule};
use guild_package::{Code, Error};
use serde_json::json;

use crate::fixture::options;
use crate::library::{
    Bytes, ENTRY, LIBRARY, Lab, NOTE, changed, changed_from, linked, misdescribed, refusal,
};

#[test]
fn good_libraries_are_accepted() {
    let lab = Lab::new();
    let source = format!("{NOTE}{ENTRY}");
    for arguments in [
        &[][..],
        &["-nostdlib"],
        &["-Wl,-z,now", "-Wl,-z,relro"],
        &["-Wl,-z,noseparate-code"],
        &["-Wl,-Bsymbolic"],
        &["-Wl,--hash-style=sysv"],
        &["-Wl,--hash-style=both"],
        &["-Wl,--no-as-needed", "-lm", "-lgcc_s", "-l:libstdc++.so.6"],
        &["-O2", "-g", "-ffunction-sections", "-Wl,--gc-sections"],
    ] {
        let library = lab.compile(&source, arguments);
        if let Err(error) = lab.verify(&library) {
            panic!("{arguments:?}: {error}");
        }
    }
    let library = lab.good();
    lab.bench.install(&lab.sign(&library)).unwrap();
}

#[test]
fn row_69_the_note_is_there_once() {
    assert_eq!(refusal(ENTRY, &[]), Refusal::NoteMissing);
    let second = NOTE.replace("GUILD_NOTE(", "#define guild_note another\nGUILD_NOTE(");
    let twice = format!("{NOTE}{second}{ENTRY}");
    let lab = Lab::new();
    let library = lab.compile(&twice, &[]);
    // Not even signed: the manifest has room for one.
    let error = lab.try_sign(&library).unwrap_err();
    assert!(
        error.to_string().contains("more than one GUILD note"),
        "{error}"
    );
}

#[test]
fn row_69_the_note_names_the_signed_package() {
    let named = |id, version| {
        refusal(
            &format!("#include <guild/note.h>\nGUILD_NOTE({id}, {version});{ENTRY}"),
            &[],
        )
    };
    let mismatch = |field, manifest: &str, note: &str| Refusal::NoteMismatch {
        field,
        manifest: manifest.to_owned(),
        note: note.to_owned(),
    };
    assert_eq!(
        named("\"org.guild.y\"", "\"1.0.0\""),
        mismatch("id", "org.guild.x", "org.guild.y")
    );
    assert_eq!(
        named("\"org.guild.x\"", "\"1.0.1\""),
        mismatch("version", "1.0.0", "1.0.1")
    );
    let other = "0".repeat(64);
    let refusal = misdescribed("/abi/table_hash", json!(other));
    assert!(
        matches!(&refusal, Refusal::NoteMismatch { field: "abi", manifest, .. } if *manifest == other),
        "{refusal:?}"
    );
}

/// `sign` takes the ABI of the note, not of the guild that signs.
#[test]
fn row_69_the_manifest_gets_the_abi_of_the_note() {
    let lab = Lab::new();
    let tree = lab.manifest(&lab.good());
    let header = include_str!("../../../../include/guild/note.h");
    let hash = tree["abi"]["table_hash"].as_str().unwrap();
    assert!(header.contains(&format!("\"{hash}\"")), "{hash}");
}

#[test]
fn row_69_a_note_of_another_form() {
    let malformed = |refusal: &Refusal| matches!(refusal, Refusal::NoteMalformed { .. });
    for change in [
        |note: &mut [u8]| note[8] = 2,     // type
        |note: &mut [u8]| note[20] = b'I', // Id=
        |note: &mut [u8]| note[34] = b' ', // no line break after the id
        |note: &mut [u8]| note[23] = 0xff, // not UTF-8
        |note: &mut [u8]| note[54] = b'g', // no hex
        |note: &mut [u8]| note[4] -= 1,    // without the last zero
    ] {
        let refusal =
            changed(|library| change(library.after(b"\x06\0\0\0c\0\0\0\x01\0\0\0GUILD", 0)));
        assert!(malformed(&refusal), "{refusal:?}");
    }
    let digest = misdescribed("/artifacts/0/elf/note_hash", json!("0".repeat(64)));
    assert!(
        matches!(
            digest,
            Refusal::Facts {
                field: "note_hash",
                ..
            }
        ),
        "{digest:?}"
    );
}

#[test]
fn row_70_code_that_runs_before_any_check() {
    const RESOLVER: &str =
        "static int one(void) { return 1; }\nstatic int (*pick(void))(void) { return one; }\n";
    let public = format!("{NOTE}{RESOLVER}int f(void) __attribute__((ifunc(\"pick\")));\n{ENTRY}");
    let symbol = "f".to_owned();
    assert_eq!(refusal(&public, &[]), Refusal::IndirectFunction { symbol });
    let hidden = format!(
        "{NOTE}{RESOLVER}__attribute__((visibility(\"hidden\"))) int f(void) __attribute__((ifunc(\"pick\")));\n\
         int guild_plugin_entry_v1(void) {{ return f(); }}\n"
    );
    for arguments in [&[][..], &["-Wl,-z,now"]] {
        let refusal = refusal(&hidden, arguments);
        assert!(
            matches!(refusal, Refusal::IndirectRelocation { .. }),
            "{refusal:?}"
        );
    }
}

#[test]
fn row_70_constructors_are_those_that_were_signed() {
    for (field, value) in [("init_count", 1), ("init_count", 9), ("fini_count", 0)] {
        let refusal = misdescribed(&format!("/artifacts/0/elf/{field}"), json!(value));
        assert!(
            matches!(&refusal, Refusal::Facts { field: found, signed, .. } if *found == field && *signed == value.to_string()),
            "{refusal:?}"
        );
    }
    // A constructor more in the library, under the manifest of the library without it.
    let lab = Lab::new();
    let tree = lab.manifest(&lab.good());
    let more = format!("{NOTE}__attribute__((constructor)) static void early(void) {{}}\n{ENTRY}");
    let library = lab.compile(&more, &[]);
    let mut signed = lab.manifest(&library);
    signed["artifacts"][0]["elf"]["init_count"] = tree["artifacts"][0]["elf"]["init_count"].clone();
    let bundle = lab
        .bench
        .craft(signed.to_string().as_bytes(), &[(LIBRARY, &library)]);
    assert!(matches!(
        lab.refusal_of(&bundle),
        Refusal::Facts {
            field: "init_count",
            ..
        }
    ));
}

/// The system loader believes these numbers, and writes or reads past what was looked at.
#[test]
fn row_70_counts_and_lengths_that_the_loader_believes_are_true() {
    const RELATIVE_COUNT: u64 = 0x6fff_fff9;
    const SIZE_OF_ENTRIES: u64 = 9;
    const FOR_DEBUGGERS: u64 = 21;
    const WITHOUT_ADDENDS: [u64; 4] = [17, 18, 19, 0x6fff_fffa];
    const VERSIONS_OF_SYMBOLS: u64 = 0x6fff_fff0;
    const OWN_VERSIONS: u64 = 0x6fff_fffc;
    let table = |refusal: Refusal, word: &str| {
        let text = refusal.to_string();
        assert!(
            matches!(refusal, Refusal::Table { .. }) && text.contains(word),
            "{text}"
        );
    };
    // More than there are, and others than relative ones.
    for count in [1 << 40, u64::MAX] {
        let more = changed(|library| {
            library.entry(RELATIVE_COUNT)[8..].copy_from_slice(&count.to_le_bytes());
        });
        table(more, "relative entries that it counts");
    }
    let first_is_none = changed(|library| {
        let symbolic = library.relocation().to_vec();
        library.relocations()[..24].copy_from_slice(&symbolic);
    });
    table(first_is_none, "relative entries that it counts");
    for tag in WITHOUT_ADDENDS {
        let other = changed(|library| {
            library.entry(RELATIVE_COUNT)[..8].copy_from_slice(&tag.to_le_bytes());
        });
        table(other, "entries without addends");
    }
    let unsized_entries = changed(|library| {
        library.entry(SIZE_OF_ENTRIES)[..8].copy_from_slice(&FOR_DEBUGGERS.to_le_bytes());
    });
    table(unsized_entries, "entries of no known size");
    // The table's length in memory says what a relocation may not change.
    let shorter = changed(|library| library.header(2)[40..48].fill(0));
    table(shorter, "another length in memory");
    // Each symbol's version is looked up by its number.
    let undeclared = changed(|library| library.symbol_versions()[2..4].fill(0x7f));
    table(undeclared, "the version of a symbol");
    let own = changed(|library| {
        library.entry(VERSIONS_OF_SYMBOLS)[..8].copy_from_slice(&OWN_VERSIONS.to_le_bytes());
    });
    table(own, "versions that the library has itself");
    // Under a system library's name the next one that needs it would get this one.
    let name = linked(&["-Wl,-soname,libstdc++.so.6"]);
    assert!(
        matches!(&name, Refusal::SystemName { name } if name == "libstdc++.so.6"),
        "{name:?}"
    );
}

/// The system loader ends the process where the entries for calls have no addends.
#[test]
fn row_70_entries_for_calls_have_the_form_of_all_others() {
    const FORM_OF_CALLS: u64 = 20;
    const ENTRIES_FOR_CALLS: u64 = 23;
    const FOR_DEBUGGERS: u64 = 21;
    let lab = Lab::new();
    let source = format!(
        "{NOTE}extern int getpid(void);\nint guild_plugin_entry_v1(void) {{ return getpid(); }}\n"
    );
    let library = lab.compile(&source, &["-Wl,-z,now"]);
    lab.verify(&library).unwrap();
    let other_form = |tag: u64, field: std::ops::Range<usize>, value: u64| {
        let refusal = changed_from(&lab, library.clone(), |library| {
            library.entry(tag)[field].copy_from_slice(&value.to_le_bytes());
        });
        let text = refusal.to_string();
        assert!(text.contains("entries of another form"), "{value}: {text}");
    };
    other_form(FORM_OF_CALLS, 8..16, 17);
    other_form(FORM_OF_CALLS, 8..16, 99);
    other_form(FORM_OF_CALLS, 8..16, u64::MAX);
    other_form(FORM_OF_CALLS, 0..8, FOR_DEBUGGERS);
    other_form(ENTRIES_FOR_CALLS, 0..8, FOR_DEBUGGERS);
}

#[test]
fn row_70_relocations_only_store_addresses_in_own_data() {
    let kind = changed(|library| library.relocation()[8] = 25);
    assert!(
        matches!(kind, Refusal::RelocationKind { kind: 25, .. }),
        "{kind:?}"
    );
    let symbol = changed(|library| library.relocation()[14] = 1);
    assert!(
        matches!(
            symbol,
            Refusal::RelocationSymbol {
                symbol: 0x1_0000..,
                ..
            }
        ),
        "{symbol:?}"
    );
    for target in [0_u64, 0x1000, 0x1000_0000, u64::MAX - 3] {
        let refusal = changed(|library| {
            library.relocation()[..8].copy_from_slice(&target.to_le_bytes());
        });
        assert!(
            matches!(refusal, Refusal::RelocationTarget { address, .. } if address == target),
            "{refusal:?}"
        );
    }
    let table = changed(|library| {
        let address = library.header(2)[16..24].to_vec();
        library.relocation()[..8].copy_from_slice(&address);
    });
    assert!(
        matches!(
            table,
            Refusal::RelocationTarget {
                detail: "changes the dynamic table",
                ..
            }
        ),
        "{table:?}"
    );
    let indirect = changed(|library| library.relocation()[8] = 37);
    assert!(
        matches!(indirect, Refusal::IndirectRelocation { .. }),
        "{indirect:?}"
    );
}

/// Packed relocations only store addresses too, so they are held to the same place.
#[test]
fn row_70_packed_relocations() {
    let lab = Lab::new();
    let source = format!(
        "{NOTE}static int one(void) {{ return 1; }}\n\
         static int (*const volatile table[80])(void) = {{ [0 ... 79] = one }};\n\
         int guild_plugin_entry_v1(void) {{ return table[7](); }}\n"
    );
    let good = lab.compile(&source, &["-Wl,-z,pack-relative-relocs"]);
    lab.verify(&good).unwrap();
    let packed = |change: fn(&mut [u8])| {
        let mut library = Bytes(good.clone());
        change(library.packed_relocations());
        lab.refusal(&library.0)
    };
    let outside = packed(|table| table[..8].copy_from_slice(&0x1000_u64.to_le_bytes()));
    assert!(
        matches!(
            outside,
            Refusal::RelocationTarget {
                address: 0x1000,
                ..
            }
        ),
        "{outside:?}"
    );
    let alone = packed(|table| table[0] |= 1);
    assert!(
        matches!(
            alone,
            Refusal::Table {
                detail: "has a bitmap without an address",
                ..
            }
        ),
        "{alone:?}"
    );
    // The last bitmap, with every bit set, leads beyond the data.
    let beyond = packed(|table| {
        let last = table.len() - 8;
        table[last..].fill(0xff);
    });
    assert!(
        matches!(beyond, Refusal::RelocationTarget { .. }),
        "{beyond:?}"
    );
}

#[test]
fn row_71_what_a_library_needs() {
    let foreign = linked(&["-Wl,--no-as-needed", "-l:libresolv.so.2"]);
    let library = "libresolv.so.2".to_owned();
    assert_eq!(foreign, Refusal::ForeignLibrary { library });
    let other = misdescribed("/artifacts/0/elf/needed", json!(["libm.so.6"]));
    assert!(
        matches!(
            other,
            Refusal::Facts {
                field: "needed",
                ..
            }
        ),
        "{other:?}"
    );
    let tags = [
        ("DT_RPATH", &["-Wl,-rpath,/tmp,--disable-new-dtags"][..]),
        ("DT_RUNPATH", &["-Wl,-rpath,$ORIGIN,--enable-new-dtags"]),
        ("DT_AUDIT", &["-Wl,--audit=/tmp/a.so"]),
        ("DT_DEPAUDIT", &["-Wl,--depaudit=/tmp/a.so"]),
        ("DT_FILTER", &["-Wl,-F,libm.so.6"]),
        ("DT_AUXILIARY", &["-Wl,-f,libm.so.6"]),
    ];
    for (expected, arguments) in tags {
        let refusal = linked(arguments);
        assert!(
            matches!(refusal, Refusal::ForbiddenTag { tag, .. } if tag == expected),
            "{expected}: {refusal:?}"
        );
    }
}

#[test]
fn row_71_versions_that_no_older_system_has() {
    let lab = Lab::new();
    let source = format!(
        "{NOTE}extern int newer(void);\nint guild_plugin_entry_v1(void) {{ return newer(); }}\n"
    );
    let with = |version: &str| {
        let libc = lab.library_of_versions("libc.so.6", version, "int newer(void) { return 1; }");
        lab.compile(&source, &["-nostdlib", libc.to_str().unwrap()])
    };
    lab.verify(&with("GLIBC_2.36")).unwrap();
    for version in ["GLIBC_2.37", "GLIBC_2.136", "GLIBC_PRIVATE"] {
        let refusal = lab.refusal(&with(version));
        assert!(
            matches!(&refusal, Refusal::LibraryVersion { library, version: found, .. } if library == "libc.so.6" && found == version),
            "{refusal:?}"
        );
    }
}

#[test]
fn row_76_memory_that_is_code_and_data() {
    let stack = linked(&["-Wl,-z,execstack"]);
    assert_eq!(stack, Refusal::ExecutableStack { flags: 7 });
    let absent = changed(|library| library.header(0x6474_e551)[0] = 0x50);
    let kind = "PT_GNU_STACK";
    assert_eq!(absent, Refusal::NoSegment { kind });
    let rule = SegmentRule::WriteExecute;
    let writable = changed(|library| library.load(1)[4] |= 2);
    assert!(matches!(writable, Refusal::Segment { rule: found, .. } if found == rule));
    let merged = linked(&["-nostdlib", "-Wl,-N"]);
    assert!(
        matches!(merged, Refusal::Segment { rule: found, .. } if found == rule),
        "{merged:?}"
    );
}

#[test]
fn row_76_flags_that_change_the_process() {
    let text = format!("{NOTE}__asm__(\".text\\n.quad guild_plugin_entry_v1\\n\");\n{ENTRY}");
    let text = refusal(&text, &["-Wl,-z,notext", "-nostdlib"]);
    assert!(
        matches!(
            text,
            Refusal::ForbiddenTag {
                tag: "DT_TEXTREL",
                ..
            }
        ),
        "{text:?}"
    );
    for (option, bit) in [
        ("interpose", 0x400),
        ("initfirst", 0x20),
        ("nodelete", 8),
        ("global", 2),
        ("nodlopen", 0x40),
    ] {
        let refusal = linked(&[&format!("-Wl,-z,{option}")]);
        assert!(
            matches!(refusal, Refusal::ForbiddenFlags { flags, .. } if flags == bit),
            "{option}: {refusal:?}"
        );
    }
    // The flag that means the same as the tag.
    let lab = Lab::new();
    let mut library = Bytes(lab.compile(&format!("{NOTE}{ENTRY}"), &["-Wl,-z,now"]));
    library.entry(30)[8] |= 4; // DT_FLAGS
    let flag = lab.refusal(&library.0);
    assert!(
        matches!(
            flag,
            Refusal::ForbiddenTag {
                tag: "DF_TEXTREL",
                ..
            }
        ),
        "{flag:?}"
    );
}

#[test]
fn row_76_others_see_the_entry_alone() {
    for more in [
        "int second(void) { return 2; }\n",
        "int second = 2;\n",
        "__attribute__((weak)) int second(void) { return 2; }\n",
        "__attribute__((visibility(\"protected\"))) int second(void) { return 2; }\n",
        "__thread int second = 2;\n",
    ] {
        let symbol = "second".to_owned();
        assert_eq!(
            refusal(&format!("{NOTE}{more}{ENTRY}"), &[]),
            Refusal::ExtraExport { symbol }
        );
    }
}

/// A refusal names package, library, rule and remedy, and leaves the store alone.
#[test]
fn a_refusal_says_what_to_do() {
    let lab = Lab::new();
    let library = lab.compile(&format!("{NOTE}{ENTRY}"), &["-Wl,-z,execstack"]);
    let bundle = lab.sign(&library);
    lab.bench
        .install_refuses(&bundle, &options(), Code::PreflightRefused);
    let error = lab.bench.install(&bundle).unwrap_err();
    assert_eq!(error.code().exit_code(), 22);
    assert!(matches!(error, Error::Preflight { .. }));
    let text = error.to_string();
    for words in [
        "p.so of org.guild.x 1.0.0",
        "executable stack",
        "-z noexecstack",
    ] {
        assert!(text.contains(words), "no {words} in: {text}");
    }
}
