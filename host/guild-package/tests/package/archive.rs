//! Rows 1 to 16: the archive. Hostile archives come from a second, independent zip writer in this file,
//! which can set every field.

use guild_package::bundle::{Bundle, EmitEntry, emit};
use guild_package::name::ArtifactPath;
use guild_package::{Code, Manifest};
use proptest::prelude::*;

use crate::fixture::{Bench, DOC, PLUGIN, bundle, entries};

/// One entry with every field that a zip header has, written from the zip specification.
#[derive(Clone)]
struct RawEntry {
    name: Vec<u8>,
    data: Vec<u8>,
    method: u16,
    flags: u16,
    attributes: u32,
    extra: Vec<u8>,
    comment: Vec<u8>,
    declared_size: Option<u32>,
    offset_shift: i64,
}

impl RawEntry {
    fn new(name: &str, data: &[u8]) -> Self {
        Self {
            name: name.as_bytes().to_vec(),
            data: data.to_vec(),
            method: 0,
            flags: 0,
            attributes: 0o100_644 << 16,
            extra: Vec::new(),
            comment: Vec::new(),
            declared_size: None,
            offset_shift: 0,
        }
    }
}

fn crc32(data: &[u8]) -> u32 {
    let step = |crc: u32, _| {
        if crc & 1 == 1 {
            0xedb8_8320 ^ (crc >> 1)
        } else {
            crc >> 1
        }
    };
    !data.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), step)
    })
}

fn raw_zip(prefix: &[u8], entries: &[RawEntry], end_comment: &[u8]) -> Vec<u8> {
    let mut out = prefix.to_vec();
    let mut directory = Vec::new();
    for entry in entries {
        let offset = (out.len() as i64 + entry.offset_shift) as u32;
        let size = entry.declared_size.unwrap_or(entry.data.len() as u32);
        let mut shared = Vec::new();
        for field in [10, entry.flags, entry.method, 0, 33] {
            shared.extend(field.to_le_bytes());
        }
        for field in [crc32(&entry.data), size, size] {
            shared.extend(field.to_le_bytes());
        }
        shared.extend((entry.name.len() as u16).to_le_bytes());
        shared.extend((entry.extra.len() as u16).to_le_bytes());
        out.extend(b"PK\x03\x04");
        out.extend(&shared);
        out.extend(&entry.name);
        out.extend(&entry.extra);
        out.extend(&entry.data);
        directory.extend(b"PK\x01\x02\x0a\x03");
        directory.extend(&shared);
        directory.extend((entry.comment.len() as u16).to_le_bytes());
        directory.extend([0; 4]);
        directory.extend(entry.attributes.to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(&entry.name);
        directory.extend(&entry.extra);
        directory.extend(&entry.comment);
    }
    let offset = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend((entries.len() as u16).to_le_bytes());
    out.extend((entries.len() as u16).to_le_bytes());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(offset.to_le_bytes());
    out.extend((end_comment.len() as u16).to_le_bytes());
    out.extend(end_comment);
    out
}

/// The entries of a good bundle, to be changed.
fn good(bench: &Bench) -> Vec<RawEntry> {
    let bytes = bench.package("org.guild.kernels.cpu", "1.0.0");
    let entries = entries(&bytes);
    ["manifest.json", DOC, PLUGIN, "signatures.json"]
        .map(|name| RawEntry::new(name, &entries[name]))
        .to_vec()
}

#[test]
fn an_independent_writer_gives_the_same_bytes() {
    let bench = Bench::new();
    let ours = bench.package("org.guild.kernels.cpu", "1.0.0");
    let data = entries(&ours);
    let raw = ["manifest.json", DOC, PLUGIN, "signatures.json"]
        .map(|name| RawEntry::new(name, &data[name]));
    assert!(raw_zip(b"", &raw, b"") == ours);
    bench.install(&ours).unwrap();
}

#[test]
fn row_01_duplicate_entries_are_refused() {
    let bench = Bench::new();
    for index in 0..4 {
        for data in [b"other".to_vec(), good(&bench)[index].data.clone()] {
            for place in [index, index + 1] {
                let mut entries = good(&bench);
                let mut twin = entries[index].clone();
                twin.data.clone_from(&data);
                entries.insert(place, twin);
                let bytes = raw_zip(b"", &entries, b"");
                assert!(Bundle::parse(bytes.as_slice()).is_err());
                bench.refuses(&bytes, Code::BundleMalformed);
            }
        }
    }
}

#[test]
fn row_02_bytes_before_the_archive_are_refused() {
    let bench = Bench::new();
    let plain = raw_zip(b"", &good(&bench), b"");
    for prefix in [
        b"\0".as_slice(),
        b"#!/bin/sh\n",
        b"\x7fELF\x02\x01\x01",
        b"PK\x03\x04",
    ] {
        bench.refuses(&[prefix, &plain].concat(), Code::BundleMalformed);
        bench.refuses(&raw_zip(prefix, &good(&bench), b""), Code::BundleMalformed);
    }
}

#[test]
fn row_03_bytes_after_the_archive_are_refused() {
    let bench = Bench::new();
    let plain = raw_zip(b"", &good(&bench), b"");
    for suffix in [
        b"\0".as_slice(),
        b"PK\x05\x06",
        &plain,
        &[0; 22],
        &plain[plain.len() - 22..],
    ] {
        bench.refuses(&[&plain, suffix].concat(), Code::BundleMalformed);
    }
    bench.refuses(&raw_zip(b"", &good(&bench), b"c"), Code::BundleMalformed);
}

#[test]
fn row_04_every_header_bit_counts() {
    let bench = Bench::new();
    let bytes = raw_zip(b"", &good(&bench), b"");
    assert!(Bundle::parse(bytes.as_slice()).is_ok());
    for index in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[index] ^= 1 << bit;
            assert!(
                Bundle::parse(changed.as_slice()).is_err(),
                "byte {index}, bit {bit}"
            );
        }
    }
}

#[test]
fn row_05_extra_fields_and_comments_are_refused() {
    let bench = Bench::new();
    for index in 0..4 {
        let mut entries = good(&bench);
        entries[index].extra = vec![0];
        bench.refuses(&raw_zip(b"", &entries, b""), Code::BundleMalformed);
        let mut entries = good(&bench);
        entries[index].comment = vec![b'c'];
        bench.refuses(&raw_zip(b"", &entries, b""), Code::BundleMalformed);
    }
}

#[test]
fn rows_06_07_hostile_entry_names_are_refused() {
    let bench = Bench::new();
    let names = [
        "../x",
        "/etc/x",
        "a\\b",
        "a//b",
        "a/./b",
        "a\0b",
        "a\nb",
        "DOC/readme.txt",
        "doc/",
        "",
        "c:x",
    ];
    for name in names {
        let mut entries = good(&bench);
        entries[1].name = name.as_bytes().to_vec();
        bench.refuses(&raw_zip(b"", &entries, b""), Code::BundleMalformed);
    }
    let mut entries = good(&bench);
    entries[1].name = b"doc/\xff".to_vec();
    bench.refuses(&raw_zip(b"", &entries, b""), Code::BundleMalformed);
}

#[test]
fn row_08_links_devices_and_other_modes_are_refused() {
    let bench = Bench::new();
    for mode in [
        0o120_777, 0o040_755, 0o020_644, 0o060_644, 0o010_644, 0o140_644, 0o100_755, 0o104_644, 0,
    ] {
        for index in 0..4 {
            let mut entries = good(&bench);
            entries[index].attributes = mode << 16;
            bench.refuses(&raw_zip(b"", &entries, b""), Code::BundleMalformed);
        }
    }
}

#[test]
fn row_09_overlapping_entries_are_refused() {
    let bench = Bench::new();
    for shift in [-1, 1, -40, 40] {
        for index in 1..4 {
            let mut entries = good(&bench);
            entries[index].offset_shift = shift;
            bench.refuses(&raw_zip(b"", &entries, b""), Code::BundleMalformed);
        }
    }
    // Two records that share the first entry's data.
    let mut entries = good(&bench);
    entries[1].offset_shift = -(30 + 13 + entries[0].data.len() as i64);
    bench.refuses(&raw_zip(b"", &entries, b""), Code::BundleMalformed);
}

#[test]
fn row_10_compression_and_flags_are_refused() {
    let bench = Bench::new();
    for method in [8, 12, 14, 93, 95, 99, 1] {
        let mut entries = good(&bench);
        entries[2].method = method;
        bench.refuses(&raw_zip(b"", &entries, b""), Code::BundleMalformed);
    }
    for bit in 0..16 {
        let mut entries = good(&bench);
        entries[2].flags = 1 << bit;
        bench.refuses(&raw_zip(b"", &entries, b""), Code::BundleMalformed);
    }
}

#[test]
fn rows_11_12_declared_sizes_are_not_believed() {
    let bench = Bench::new();
    let size = good(&bench)[2].data.len() as u32;
    let sizes = [
        0,
        1,
        size - 1,
        size + 1,
        1 << 30,
        (1 << 31) - 1,
        1 << 31,
        (1 << 31) + 1,
        u32::MAX - 1,
        u32::MAX,
    ];
    for declared in sizes {
        for index in 0..4 {
            let mut entries = good(&bench);
            if declared as usize == entries[index].data.len() {
                continue;
            }
            entries[index].declared_size = Some(declared);
            bench.refuses(&raw_zip(b"", &entries, b""), Code::BundleMalformed);
        }
    }
}

#[test]
fn row_11_entry_count_and_short_files_are_refused() {
    let bench = Bench::new();
    let many: Vec<RawEntry> = (0..257)
        .map(|index| RawEntry::new(&format!("a{index:03}"), b""))
        .collect();
    bench.refuses(&raw_zip(b"", &many, b""), Code::BundleMalformed);
    bench.refuses(&raw_zip(b"", &[], b""), Code::BundleMalformed);
    let bytes = raw_zip(b"", &good(&bench), b"");
    for length in 0..bytes.len() {
        assert!(Bundle::parse(&bytes[..length]).is_err(), "{length} bytes");
    }
    bench.refuses(b"", Code::BundleMalformed);
    bench.refuses(&bytes[..bytes.len() - 1], Code::BundleMalformed);
}

#[test]
fn row_14_entries_and_manifest_must_list_the_same_files() {
    let bench = Bench::new();
    let swap = |change: fn(&mut Vec<RawEntry>)| {
        let mut entries = good(&bench);
        change(&mut entries);
        raw_zip(b"", &entries, b"")
    };
    let malformed = [
        swap(|entries| entries.insert(2, RawEntry::new("doc/zzz", b"more"))),
        swap(|entries| drop(entries.remove(1))),
        swap(|entries| drop(entries.remove(2))),
        swap(|entries| entries[1].name = b"doc/readme.md".to_vec()),
        swap(|entries| entries.swap(1, 2)),
        swap(|entries| entries.swap(0, 1)),
        swap(|entries| drop(entries.remove(0))),
    ];
    for bytes in malformed {
        bench.refuses(&bytes, Code::BundleMalformed);
    }
    let exchanged = swap(|entries| {
        let data = entries[1].data.clone();
        entries[1].data = std::mem::replace(&mut entries[2].data, data);
    });
    bench.refuses(&exchanged, Code::DigestMismatch);
}

#[test]
fn row_15_no_file_name_is_exempt_from_hashing() {
    let bench = Bench::new();
    for name in [
        "doc/x.pyc",
        "doc/cache.lock",
        "doc/thumbs.db",
        "doc/x.sig",
        "doc/head",
        "doc/generation.json",
    ] {
        let mut entries = good(&bench);
        entries.insert(1, RawEntry::new(name, b"unsigned"));
        entries[1..3].sort_by(|a, b| a.name.cmp(&b.name));
        bench.refuses(&raw_zip(b"", &entries, b""), Code::BundleMalformed);
    }
}

#[test]
fn row_26_a_bundle_without_envelope_is_unsigned() {
    let bench = Bench::new();
    let mut entries = good(&bench);
    entries.pop();
    bench.refuses(&raw_zip(b"", &entries, b""), Code::Unsigned);
    bench.refuses(&raw_zip(b"", &entries[..1], b""), Code::Unsigned);
}

#[test]
fn the_writer_refuses_what_the_reader_would() {
    let names: [ArtifactPath; 2] = ["b".parse().unwrap(), "a".parse().unwrap()];
    let reserved: [ArtifactPath; 1] = ["signatures.json".parse().unwrap()];
    for names in [names.as_slice(), &reserved] {
        let entries: Vec<_> = names
            .iter()
            .map(|name| EmitEntry { name, data: b"" })
            .collect();
        assert!(emit(&mut Vec::new(), b"{}", &entries, b"{}").is_err());
    }
}

#[test]
fn row_31_one_flipped_byte_anywhere_is_refused() {
    let bench = Bench::new();
    let bytes = bench.package("org.guild.kernels.cpu", "1.0.0");
    let before = bench.listing();
    for index in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[index] ^= 1;
        assert!(
            bench.verify(&changed).is_err(),
            "byte {index} of {}",
            bytes.len()
        );
    }
    for index in (0..bytes.len()).step_by(97) {
        let mut changed = bytes.clone();
        changed[index] ^= 0x20;
        assert!(bench.install(&changed).is_err(), "byte {index}");
    }
    assert_eq!(bench.listing(), before);
}

/// A name the grammar allows that is not reserved.
fn artifact_name() -> impl Strategy<Value = String> {
    "[a-z0-9][a-z0-9._-]{0,20}(/[a-z0-9][a-z0-9._-]{0,8}){0,3}"
        .prop_filter("reserved", |name| !name.ends_with(".json"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(
        artifacts in prop::collection::btree_map(artifact_name(), prop::collection::vec(any::<u8>(), 0..300), 0..8),
        manifest in prop::collection::vec(any::<u8>(), 0..300),
        envelope in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let list: Vec<(&str, &[u8])> = artifacts.iter().map(|(name, data)| (name.as_str(), data.as_slice())).collect();
        let bytes = bundle(&manifest, &list, &envelope);
        let mut read = entries(&bytes);
        prop_assert_eq!(read.remove("manifest.json"), Some(manifest));
        prop_assert_eq!(read.remove("signatures.json"), Some(envelope));
        prop_assert_eq!(read, artifacts);
    }

    /// The acceptance rule itself: whatever is accepted is what the writer would have written.
    #[test]
    fn accepted_bytes_are_the_written_bytes(
        artifacts in prop::collection::btree_map(artifact_name(), prop::collection::vec(any::<u8>(), 0..40), 1..4),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let list: Vec<(&str, &[u8])> = artifacts.iter().map(|(name, data)| (name.as_str(), data.as_slice())).collect();
        let mut bytes = bundle(b"{}", &list, b"{}");
        for (place, value) in edits {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if Bundle::parse(bytes.as_slice()).is_ok() {
            let mut read = entries(&bytes);
            let (manifest, envelope) = (read.remove("manifest.json").unwrap(), read.remove("signatures.json").unwrap());
            let list: Vec<(&str, &[u8])> = read.iter().map(|(name, data)| (name.as_str(), data.as_slice())).collect();
            prop_assert_eq!(bundle(&manifest, &list, &envelope), bytes);
        }
    }

    #[test]
    fn any_bytes_end_in_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Bundle::parse(bytes.as_slice());
        prop_assert!(Manifest::decode(&bytes).is_err());
    }
}
