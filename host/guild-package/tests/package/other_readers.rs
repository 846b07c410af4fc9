//! Readers that are not ours agree about our bundles: the `zip` crate, Python's zipfile and `unzip`.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::fixture::{Bench, entries};

#[test]
fn the_zip_crate_reads_the_same_entries() {
    let bench = Bench::new();
    let bytes = bench.package("org.guild.kernels.cpu", "1.0.0");
    let mut archive = ZipArchive::new(Cursor::new(&bytes)).unwrap();
    let mut read = BTreeMap::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        assert_eq!(entry.compression(), CompressionMethod::Stored);
        assert_eq!(entry.unix_mode(), Some(0o100_644));
        assert_eq!(entry.last_modified(), Some(DateTime::default()));
        assert!(entry.is_file() && entry.comment().is_empty());
        let mut data = Vec::new();
        entry.read_to_end(&mut data).unwrap();
        read.insert(entry.name().unwrap().into_owned(), data);
    }
    assert_eq!(archive.offset(), 0);
    assert_eq!(read, entries(&bytes));
}

/// Python's reader goes by the directory at the end, checks the CRC-32 of each entry, and prints name and data.
const PYTHON: &str = "
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as bundle:
    assert bundle.testzip() is None
    assert bundle.comment == b''
    for entry in bundle.infolist():
        assert entry.compress_type == zipfile.ZIP_STORED, entry
        assert entry.extra == b'' and entry.comment == b'', entry
        assert entry.external_attr >> 16 == 0o100644, entry
        print(entry.filename, bundle.read(entry).hex())
";

#[test]
fn pythons_zipfile_reads_the_same_entries() {
    let bench = Bench::new();
    let bytes = bench.package("org.guild.kernels.cpu", "1.0.0");
    let bundle = bench.bundle_file(&bytes);
    let Some(output) = other_reader("python3", &["-c", PYTHON], &bundle) else {
        return;
    };
    let printed = String::from_utf8(output.stdout).unwrap();
    let ours = entries(&bytes);
    let ours = ours.iter().map(|(name, data)| {
        let hex = data.iter().map(|byte| format!("{byte:02x}"));
        format!("{name} {}\n", hex.collect::<String>())
    });
    let mut read: Vec<&str> = printed.split_inclusive('\n').collect();
    read.sort_unstable();
    assert_eq!(read, ours.collect::<Vec<String>>());
}

#[test]
fn unzip_reads_the_same_entries() {
    let bench = Bench::new();
    let bytes = bench.package("org.guild.kernels.cpu", "1.0.0");
    let bundle = bench.bundle_file(&bytes);
    let Some(tested) = other_reader("unzip", &["-t"], &bundle) else {
        return;
    };
    let told = String::from_utf8(tested.stdout).unwrap();
    assert!(told.contains("No errors detected"), "{told}");
    let listed = other_reader("unzip", &["-Z1"], &bundle).unwrap().stdout;
    let listed = String::from_utf8(listed).unwrap();
    let ours = entries(&bytes);
    // In the bundle's own order: what is signed first, the signatures last.
    let mut names: Vec<&str> = listed.lines().collect();
    assert_eq!(names.first(), Some(&"manifest.json"));
    assert_eq!(names.last(), Some(&"signatures.json"));
    names.sort_unstable();
    assert!(names.iter().eq(ours.keys()), "{names:?}");
    // Its data, one entry after the other in the same order.
    let data = other_reader("unzip", &["-p"], &bundle).unwrap().stdout;
    let ours: Vec<u8> = listed.lines().flat_map(|name| ours[name].clone()).collect();
    assert_eq!(data, ours);
}

/// What a reader says of the bundle, which it must like; nothing where it isn't installed.
fn other_reader(program: &str, arguments: &[&str], bundle: &Path) -> Option<Output> {
    let output = Command::new(program).args(arguments).arg(bundle).output();
    let Ok(output) = output else {
        eprintln!("skipped: {program} isn't installed");
        return None;
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {complaint}");
    Some(output)
}

/// The same entries through another writer differ from ours in the writer's own fields at most, and are
/// accepted only if they do not differ at all.
#[test]
fn another_writers_archive_is_accepted_only_if_it_is_ours() {
    let bench = Bench::new();
    let bytes = bench.package("org.guild.kernels.cpu", "1.0.0");
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let data = entries(&bytes);
    for name in [
        "manifest.json",
        crate::fixture::DOC,
        crate::fixture::PLUGIN,
        "signatures.json",
    ] {
        writer.start_file(name, options).unwrap();
        writer.write_all(&data[name]).unwrap();
    }
    let other = writer.finish().unwrap().into_inner();
    let verified = bench.verify(&other);
    assert_eq!(verified.is_ok(), other == bytes, "{verified:?}");
    assert_eq!(other.len(), bytes.len());
}
