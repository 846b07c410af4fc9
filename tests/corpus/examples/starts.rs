//! Writes sound files for the parsers of the package manager, one folder a target: what a fuzzer starts from.
//!
//! usage: `cargo run -p guild-corpus --example starts -- tests/fuzz/corpus`
//!
//! The model files that the target `gguf` starts from are written by the example `corpus` of `guild-hostile`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use guild_crash::Workshop;
use guild_package::audit::{Attempt, AuditLog, Refusal, Refused};
use guild_package::bundle::Bundle;
use guild_package::sign::Purpose;
use guild_package::statement::SignedStatement;
use guild_package::trust::{Grant, Scope};
use guild_package::{Store, StoreOptions};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let folder = std::env::args_os()
        .nth(1)
        .ok_or("give a folder to write to")?;
    let folder = PathBuf::from(folder);
    let write = |target: &str, name: &str, bytes: &[u8]| -> Outcome<()> {
        let folder = folder.join(target);
        fs::create_dir_all(&folder)?;
        Ok(fs::write(folder.join(name), bytes)?)
    };
    let scratch = tempfile::tempdir()?;
    let workshop = Workshop::new(scratch.path())?;
    write(
        "key_record",
        "record",
        &fs::read(workshop.record_file("publisher"))?,
    )?;
    let bytes = fs::read(workshop.bundle("1.0.0"))?;
    let bundle = Bundle::parse(bytes.as_slice())?;
    write("bundle", "signed", &bytes)?;
    write("manifest", "signed", &bundle.manifest()?)?;
    write("envelope", "signed", &bundle.envelope()?)?;
    write("elf_preflight", "library", &library(&bundle)?)?;
    for (name, file, purpose) in [
        ("rotation", workshop.rotation_file(), Purpose::KeyRotation),
        ("advisory", workshop.advisory_file(), Purpose::Revocation),
    ] {
        let file = fs::read(file)?;
        let statement = SignedStatement::decode("the statement", purpose, &file)?;
        write("statement", name, &file)?;
        write("statement", &format!("{name}-body"), &statement.body.0)?;
    }
    write("audit", "segment", &audit_segment(scratch.path())?)?;
    for (number, bytes) in trust_files(scratch.path(), &workshop)?.iter().enumerate() {
        write("trust", &number.to_string(), bytes)?;
    }
    for file in golden_files()? {
        let name = file.file_name().ok_or("a file has a name")?;
        write("golden", &name.to_string_lossy(), &fs::read(&file)?)?;
    }
    Ok(())
}

/// The plugin in the bundle.
fn library(bundle: &Bundle<&[u8]>) -> Outcome<Vec<u8>> {
    let mut entries = bundle.artifacts().iter();
    let entry = entries
        .find(|entry| entry.name.to_string().ends_with(".so"))
        .ok_or("the bundle has a library")?;
    let mut bytes = Vec::new();
    bundle.read_entry(entry, |part| {
        bytes.extend_from_slice(part);
        Ok(())
    })?;
    Ok(bytes)
}

/// A log with two records, and one that is only counted.
fn audit_segment(scratch: &Path) -> Outcome<Vec<u8>> {
    let folder = scratch.join("audit");
    let log = AuditLog::open_or_make(&folder, false)?;
    for at in [1_800_000_000, 1_800_000_061, 1_800_000_062] {
        let refused = Refused::new("UNSIGNED");
        log.append(&Refusal::new(
            at,
            Attempt::Install,
            refused,
            "it is unsigned",
        ))?;
    }
    Ok(fs::read(folder.join("00000000.log"))?)
}

/// What a store believes at first, and after a key was added.
fn trust_files(scratch: &Path, workshop: &Workshop) -> Outcome<Vec<Vec<u8>>> {
    let path = scratch.join("data/kernels");
    let store = Store::open(&path, StoreOptions::default())?;
    let grant = Grant {
        scopes: vec![Scope::publish("org.guild".parse()?)?],
        everything_understood: false,
        not_before: None,
        not_after: None,
    };
    store.trust_add(workshop.publisher(), &grant)?;
    let file = |number: u32| fs::read(path.join(format!("trust/{number}.json")));
    Ok(vec![file(0)?, file(1)?])
}

/// The golden vectors of the shipped packages.
fn golden_files() -> Outcome<Vec<PathBuf>> {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packages");
    let folder = packages.join("org.guild.kernels.cpu/golden");
    let files = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    Ok(files.collect::<Result<_, _>>()?)
}
