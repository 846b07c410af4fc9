//! Making a store where something stands in the way: nothing there is replaced, and no other error is taken for "there is
//! none yet".

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use guild_package::store::StorePath;
use guild_package::{Code, Store, StoreOptions};

use crate::fixture::{Bench, listing};
use crate::versions::CPU;

/// A folder for a store, with something in it.
fn place(fill: impl FnOnce(&Path)) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("kernels");
    fs::create_dir(&store).unwrap();
    fill(&store);
    (folder, store)
}

#[track_caller]
fn is_not_made(store: &Path, code: Code) {
    let mut before = listing(store);
    before.remove(Path::new("LOCK"));
    let refused = Store::open(store, StoreOptions::default()).unwrap_err();
    assert_eq!(refused.code(), code, "{refused}");
    let mut after = listing(store);
    // The writer's lock is made before anything is looked at.
    after.remove(Path::new("LOCK"));
    assert_eq!(after, before, "something was made or removed");
}

#[test]
fn a_file_where_a_folder_belongs_is_no_empty_folder() {
    let (_folder, store) = place(|store| fs::write(store.join("objects"), "").unwrap());
    is_not_made(&store, Code::Io);
}

#[test]
fn a_folder_below_a_file_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    let refused = Store::open(&file.join("kernels"), StoreOptions::default()).unwrap_err();
    assert_eq!(refused.code(), Code::Io, "{refused}");
    let text = refused.to_string();
    assert!(text.contains("create"), "{text}");
    assert_eq!(fs::read(&file).unwrap(), b"mine");
}

/// A new store has nothing but its first files, so only `HEAD` itself says that it is one.
#[test]
fn a_head_that_is_a_link_is_not_a_missing_one() {
    let bench = Bench::new();
    let store = bench.path().join("new/kernels");
    Store::open(&store, StoreOptions::default()).unwrap();
    let head = store.join("HEAD");
    fs::rename(&head, bench.path().join("elsewhere")).unwrap();
    symlink(bench.path().join("elsewhere"), &head).unwrap();
    is_not_made(&store, Code::Io);
    assert!(head.is_symlink());
}

#[test]
fn what_has_no_place_among_digests_is_a_stranger() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    assert_eq!(bench.store.examine().unwrap().strangers, []);
    let objects = bench.store_path().join("objects/sha256");
    // A digest cut at another place, and a folder under the name of one.
    let other_cut = format!("abc/{}", "0".repeat(61));
    let folder = format!("ab/{}", "0".repeat(62));
    for name in [&other_cut, &folder] {
        fs::create_dir_all(objects.join(name).parent().unwrap()).unwrap();
    }
    fs::write(objects.join(&other_cut), "").unwrap();
    fs::create_dir(objects.join(&folder)).unwrap();
    let strangers = bench.store.examine().unwrap().strangers;
    let mut names: Vec<&str> = strangers.iter().map(StorePath::as_str).collect();
    names.sort_unstable();
    let expected = [folder, other_cut].map(|name| format!("objects/sha256/{name}"));
    assert_eq!(names, expected);
}

#[test]
fn sessions_are_those_that_hold_a_package() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    assert_eq!(bench.store.sessions().unwrap(), []);
    let package = bench.store.enabled().unwrap().remove(0);
    let lease = bench.store.lease(&package, "chat").unwrap();
    let sessions = bench.store.sessions().unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].pid, u64::from(std::process::id()));
    drop(lease);
    assert_eq!(bench.store.sessions().unwrap(), []);
}
