//! Packages on trial.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::fixture::{Bench, Package};
use guild_loader::probe::{ChildProbe, Helper};
use guild_package::{Code, InstallOptions, Installed, Result};

/// Long enough for anything but a hang.
const WALL: Duration = Duration::from_secs(60);

/// A probe that starts the real binary.
pub fn probe() -> ChildProbe {
    ChildProbe::new(Helper::File(env!("CARGO_BIN_EXE_guild").into())).within(WALL)
}

pub fn install(bench: &Bench, package: &Package<'_>, probe: &ChildProbe) -> Result<Installed> {
    let (bundle, _) = bench.sign(package);
    bench
        .store
        .install(&bundle, &InstallOptions::default(), probe)
}

#[track_caller]
pub fn accepted(package: &Package<'_>) -> Installed {
    install(&Bench::new(), package, &probe()).unwrap()
}

#[track_caller]
pub fn refused(package: &Package<'_>, words: &[&str]) {
    refused_by(&probe(), package, words);
}

/// The install fails as a trial run does, says these words, and leaves the store as it was.
#[track_caller]
pub fn refused_by(probe: &ChildProbe, package: &Package<'_>, words: &[&str]) {
    let bench = Bench::new();
    let before = listing(bench.path());
    let error = install(&bench, package, probe).expect_err("it was installed");
    assert_eq!(error.code(), Code::ProbeFailed, "{error}");
    assert_eq!(error.code().exit_code(), 23);
    let text = error.in_full();
    for word in words {
        assert!(text.contains(word), "no `{word}` in: {text}");
    }
    assert_eq!(listing(bench.path()), before, "the store changed");
}

/// Every file of the store with its bytes.
fn listing(bench: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![bench.join("kernels")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(files.insert(path.clone(), fs::read(path).unwrap())),
            }
        }
    }
    files
}

/// A plugin that does this while it is mapped.
pub fn in_constructor(statements: &str) -> [(&'static str, String); 1] {
    [("IN_CONSTRUCTOR", statements.to_owned())]
}

/// A plugin that does this in `init`.
pub fn in_init(statements: &str) -> [(&'static str, String); 1] {
    [("IN_INIT", statements.to_owned())]
}
