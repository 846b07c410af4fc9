//! Feeds every target the inputs that are kept for it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use guild_corpus::{TARGETS, statement};

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn names(folder: &Path) -> io::Result<BTreeSet<String>> {
    let entries = fs::read_dir(folder)?;
    let stem = |entry: fs::DirEntry| {
        let path = entry.path();
        path.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    entries
        .filter_map(|entry| entry.map(stem).transpose())
        .collect()
}

#[test]
fn every_seed_runs_and_each_target_accepts_some_and_refuses_some() -> io::Result<()> {
    for (name, run) in TARGETS {
        let (mut accepted, mut refused) = (0, 0);
        for entry in fs::read_dir(here("seeds").join(name))? {
            let path = entry?.path();
            // A panic names no file.
            println!("{}", path.display());
            match run(&fs::read(&path)?) {
                true => accepted += 1,
                false => refused += 1,
            }
        }
        assert!(accepted > 0, "{name}: none of {refused} seeds is accepted");
        assert!(refused > 0, "{name}: none of {accepted} seeds is refused");
    }
    Ok(())
}

/// A file can be read in four ways, and a seed that is taken in one says nothing of the others.
#[test]
fn the_seeds_of_statements_reach_each_reading() -> io::Result<()> {
    let mut reached = [false; 4];
    for entry in fs::read_dir(here("seeds/statement"))? {
        let readings = statement::readings(&fs::read(entry?.path())?);
        for (reached, accepted) in reached.iter_mut().zip(readings) {
            *reached |= accepted;
        }
    }
    assert_eq!(reached, [true; 4]);
    Ok(())
}

#[test]
fn each_target_has_a_fuzz_target_and_seeds() -> io::Result<()> {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names(&here("seeds"))?, targets);
    assert_eq!(names(&here("../fuzz/fuzz_targets"))?, targets);
    Ok(())
}
