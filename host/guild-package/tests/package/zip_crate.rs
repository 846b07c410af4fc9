//! The `zip` crate, a reader and writer that is not ours, agrees about our bundles.

use std::io::{Cursor, Read as _, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::fixture::{Bench, entries};

#[test]
fn the_zip_crate_reads_the_same_entries() {
    let bench = Bench::new();
    let bytes = bench.package("org.guild.kernels.cpu", "1.0.0");
    let mut archive = ZipArchive::new(Cursor::new(&bytes)).unwrap();
    let mut read = std::collections::BTreeMap::new();
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
