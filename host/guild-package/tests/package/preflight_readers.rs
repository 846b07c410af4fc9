//! Row 74: two readers of one library. What the system loader would take otherwise than the preflight is
//! refused; what it never looks at is not looked at.

use guild_package::manifest::{Artifact, Role};
use guild_package::preflight::{Refusal, SegmentRule, check_library};
use guild_package::{Code, Manifest};
use serde_json::json;

use crate::library::{Bytes, ENTRY, LIBRARY, Lab, NOTE, changed, changed_from, refusal};

fn plugin(manifest: &Manifest) -> &Artifact {
    let mut artifacts = manifest.artifacts.iter();
    artifacts
        .find(|artifact| artifact.role == Role::Plugin)
        .unwrap()
}

#[test]
fn row_74_section_headers_are_ignored() {
    let lab = Lab::new();
    let good = lab.good();
    let mut stripped = good.clone();
    stripped[0x28..0x30].fill(0); // e_shoff
    stripped[0x3c..0x40].fill(0); // e_shnum, e_shstrndx
    lab.verify(&stripped).unwrap();
    let mut forged = good.clone();
    forged[0x28..0x30].fill(0xff);
    forged[0x3c..0x40].fill(0xff);
    lab.verify(&forged).unwrap();
    // Headers that are there and say something else: every one of them overwritten.
    let mut lying = good.clone();
    let start = u64::from_le_bytes(good[0x28..0x30].try_into().unwrap()) as usize;
    lying[start..].fill(0x41);
    lab.verify(&lying).unwrap();
    let mut junk = good;
    junk.extend([0xcc; 5000]);
    lab.verify(&junk).unwrap();
}

#[test]
fn row_74_a_library_that_is_cut_off_is_refused() {
    let lab = Lab::new();
    let good = lab.good();
    let manifest: Manifest = serde_json::from_value(lab.manifest(&good)).unwrap();
    let plugin = plugin(&manifest);
    let loaded = Bytes(good.clone()).loaded_end();
    for end in (0..loaded).step_by(64).chain([loaded - 1]) {
        let error = check_library(&manifest, plugin, &good[..end]).unwrap_err();
        assert_eq!(error.code(), Code::PreflightRefused, "{end}: {error}");
    }
    check_library(&manifest, plugin, &good[..loaded]).unwrap();
}

/// Any answer will do, but for a panic or a hang.
#[test]
fn row_74_no_byte_makes_the_reader_panic() {
    let lab = Lab::new();
    let good = lab.good();
    let manifest: Manifest = serde_json::from_value(lab.manifest(&good)).unwrap();
    let plugin = plugin(&manifest);
    let mut library = good.clone();
    let mut accepted = 0_usize;
    for at in 0..Bytes(good.clone()).loaded_end() {
        for value in [0, 0x7f, 0xff, good[at] ^ 1] {
            library[at] = value;
            accepted += usize::from(check_library(&manifest, plugin, &library).is_ok());
        }
        library[at] = good[at];
    }
    assert!(accepted > 0);
}

#[test]
fn row_74_segments_that_two_readers_see_differently() {
    let segment = |change: fn(&mut Bytes)| match changed(change) {
        Refusal::Segment { rule, .. } => rule,
        other => panic!("{other:?}"),
    };
    assert_eq!(segment(|l| l.load(1)[8 + 4] = 1), SegmentRule::OutsideFile);
    assert_eq!(
        segment(|l| l.load(1)[8..16].fill(0xff)),
        SegmentRule::OutsideFile
    );
    assert_eq!(
        segment(|l| l.load(1)[40..48].fill(0)),
        SegmentRule::LargerThanMemory
    );
    assert_eq!(
        segment(|l| l.load(1)[40..48].fill(0xff)),
        SegmentRule::LargerThanMemory
    );
    assert_eq!(segment(|l| l.load(1)[16] ^= 8), SegmentRule::Misaligned);
    assert_eq!(
        segment(|l| l.load(1)[16..24].fill(0)),
        SegmentRule::NotAscending
    );
    assert_eq!(
        segment(|l| l.load(0)[40 + 2] = 1),
        SegmentRule::OverlapsInMemory
    );
    assert_eq!(
        segment(|l| l.load(1)[8..16].fill(0)),
        SegmentRule::OverlapsInFile
    );
    // The dynamic table by its offset and by its address are two tables.
    let dynamic = changed(|l| l.header(2)[8] ^= 16);
    assert!(
        matches!(
            dynamic,
            Refusal::Table {
                table: "dynamic table",
                ..
            }
        ),
        "{dynamic:?}"
    );
    assert_eq!(
        segment(|l| l.header(0x6474_e551)[..4].copy_from_slice(&[2, 0, 0, 0])),
        SegmentRule::Twice
    );
    assert_eq!(
        segment(|l| l.header(0x6474_e552)[40 + 4] = 1),
        SegmentRule::NotLoaded
    );
    let many = changed(|l| l.0[56..58].copy_from_slice(&17_u16.to_le_bytes()));
    assert_eq!(many, Refusal::ProgramHeaders { found: 17, max: 16 });
    // A number that says: look into the section headers.
    let elsewhere = changed(|l| l.0[56..58].fill(0xff));
    assert_eq!(
        elsewhere,
        Refusal::ProgramHeaders {
            found: 0xffff,
            max: 16
        }
    );
}

#[test]
fn row_74_a_dynamic_table_that_two_readers_see_differently() {
    let endless = changed(|library| {
        for entry in library.dynamic() {
            if entry[..8] == [0; 8] {
                entry[..8].copy_from_slice(&0x15_u64.to_le_bytes()); // DT_DEBUG
            }
        }
    });
    assert!(
        matches!(endless, Refusal::DynamicUnterminated { .. }),
        "{endless:?}"
    );
    let twice =
        changed(|library| library.entry(0x6fff_fff9)[..8].copy_from_slice(&5_u64.to_le_bytes()));
    assert_eq!(twice, Refusal::TagTwice { tag: 5 });
    let table = |refusal: Refusal| match refusal {
        Refusal::Table { table, .. } => table,
        other => panic!("{other:?}"),
    };
    assert_eq!(table(changed(|l| l.entry(11)[8] = 25)), "symbol table"); // DT_SYMENT
    assert_eq!(table(changed(|l| l.entry(6)[12] = 1)), "symbol table"); // DT_SYMTAB
    assert_eq!(
        table(changed(|l| l.entry(0x6fff_fef5)[12] = 1)),
        "symbol hash table"
    );
    assert_eq!(table(changed(|l| l.entry(9)[8] = 16)), "relocation table"); // DT_RELAENT
    let part = changed(|l| l.entry(8)[8] += 1).to_string(); // DT_RELASZ
    assert!(part.contains("no whole number of entries"), "{part}");
    assert_eq!(table(changed(|l| l.entry(7)[12] = 1)), "relocation table"); // DT_RELA
    assert_eq!(
        table(changed(|l| l.entry(0x6fff_ffff)[8] += 1)),
        "table of needed versions"
    );
    // A table in memory that a relocation may write to.
    let writable = changed(|library| {
        let data = library.header(2)[16..24].to_vec();
        library.entry(6)[8..].copy_from_slice(&data);
    });
    assert!(
        matches!(
            writable,
            Refusal::Table {
                detail: "can be written while the library is loaded",
                ..
            }
        ),
        "{writable:?}"
    );
}

#[test]
fn row_74_a_library_has_the_signed_name() {
    let lab = Lab::new();
    let named =
        |name: &str| lab.compile(&format!("{NOTE}{ENTRY}"), &[&format!("-Wl,-soname,{name}")]);
    let library = named("libx.so.1");
    let mut tree = lab.manifest(&library);
    tree["artifacts"][0]["elf"]["soname"] = json!("libm.so.6");
    let bundle = lab
        .bench
        .craft(tree.to_string().as_bytes(), &[(LIBRARY, &library)]);
    let refusal = lab.refusal_of(&bundle);
    assert!(
        matches!(
            refusal,
            Refusal::Facts {
                field: "soname",
                ..
            }
        ),
        "{refusal:?}"
    );
}

#[test]
fn row_74_a_hash_table_that_leads_elsewhere() {
    let hash = |change: fn(&mut [u8])| {
        let refusal = changed(|library| change(library.hash_table()));
        assert!(
            matches!(
                refusal,
                Refusal::Table {
                    table: "symbol hash table",
                    ..
                }
            ),
            "{refusal:?}"
        );
    };
    hash(|table| table[..4].fill(0)); // no bucket
    hash(|table| table[..4].fill(0xff)); // more buckets than bytes
    hash(|table| table[8..12].fill(0xff)); // a filter larger than the file
    hash(|table| table[4..8].fill(0xff)); // buckets before the first hashed symbol
    hash(|table| {
        let filter = u32::from_le_bytes(table[8..12].try_into().unwrap()) as usize;
        table[16 + filter * 8..][..4].fill(0x7f); // a chain outside the file
    });
}

#[test]
fn row_74_an_older_hash_table_that_leads_elsewhere() {
    let lab = Lab::new();
    let source = format!("{NOTE}{ENTRY}");
    let library = lab.compile(&source, &["-Wl,--hash-style=sysv"]);
    lab.verify(&library).unwrap();
    let hash = |change: fn(&mut [u8])| {
        let refusal = changed_from(&lab, library.clone(), |library| {
            change(library.older_hash_table());
        });
        let text = refusal.to_string();
        assert!(
            text.contains("hash table is outside the file or leads outside"),
            "{text}"
        );
    };
    hash(|table| table[..4].fill(0)); // no bucket to divide by
    hash(|table| table.copy_within(4..8, 8)); // a bucket that leads to the symbol after the last
    hash(|table| table[8..12].fill(0x7f)); // and far outside
}

#[test]
fn row_74_records_of_versions_lead_forward() {
    let lab = Lab::new();
    let of_one = |name: &str, function: &str| {
        let source = format!("int {function}(void) {{ return 1; }}");
        lab.library_of_versions(name, "GLIBC_2.17", &source)
    };
    let needed = [of_one("libc.so.6", "one"), of_one("libm.so.6", "two")];
    let source = format!(
        "{NOTE}extern int one(void);\nextern int two(void);\nint guild_plugin_entry_v1(void) {{ return one() + two(); }}\n"
    );
    let [c, m] = needed.each_ref().map(|path| path.to_str().unwrap());
    let library = lab.compile(&source, &["-nostdlib", c, m]);
    lab.verify(&library).unwrap();
    for step in [1_u32, 8, 15] {
        let refusal = changed_from(&lab, library.clone(), |library| {
            let next = &mut library.needed_versions()[12..16];
            assert_ne!(next, [0; 4], "there is one record alone");
            next.copy_from_slice(&step.to_le_bytes());
        });
        let text = refusal.to_string();
        assert!(text.contains("leads into itself"), "{step}: {text}");
    }
}

#[test]
fn row_74_a_file_of_another_kind() {
    let lab = Lab::new();
    let good = Bytes(lab.good());
    assert_eq!(
        changed(|library| library.0[16] = 2),
        Refusal::NotShared { found: 2 }
    );
    let machine = changed(|library| {
        library.0[18] = if cfg!(target_arch = "x86_64") {
            183
        } else {
            62
        }
    });
    assert!(
        matches!(&machine, Refusal::Machine { arch, .. } if arch == std::env::consts::ARCH),
        "{machine:?}"
    );
    for (at, value) in [(0, 0), (4, 1), (5, 2), (54, 32)] {
        let mut library = good.0.clone();
        library[at] = value;
        let refusal = lab.refusal_unsigned(&library);
        assert!(
            matches!(refusal, Refusal::NotElf { .. }),
            "{at}: {refusal:?}"
        );
    }
    let interpreter = format!(
        "{NOTE}__attribute__((section(\".interp\"), used)) static const char path[] = \"/lib64/ld.so\";\n{ENTRY}"
    );
    assert_eq!(refusal(&interpreter, &[]), Refusal::Interpreter);
}
