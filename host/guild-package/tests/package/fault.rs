//! Rows 61 to 64: every file operation of an install fails once, and every name and byte is durable
//! before anything that relies on it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use guild_package::store::StorePath;
use guild_package::store::fs::{RealFs, StoreFs};
use guild_package::{Code, Store, StoreOptions};

use crate::fixture::{Bench, options};

const CPU: &str = "org.guild.kernels.cpu";

/// Fails the operation number `fail_at`, and records what is not durable yet.
struct Faulty {
    real: RealFs,
    calls: AtomicUsize,
    fail_at: usize,
    error: io::ErrorKind,
    volatile: Mutex<Volatile>,
}

#[derive(Default)]
struct Volatile {
    files: BTreeSet<u64>,
    directories: BTreeSet<String>,
    commits: usize,
}

impl Faulty {
    fn new(path: &Path, fail_at: usize, error: io::ErrorKind) -> Arc<Self> {
        Arc::new(Self {
            real: RealFs::open_root(path).unwrap(),
            calls: AtomicUsize::new(0),
            fail_at,
            error,
            volatile: Mutex::default(),
        })
    }

    fn step(&self) -> io::Result<()> {
        match self.calls.fetch_add(1, Ordering::Relaxed) == self.fail_at {
            true => Err(self.error.into()),
            false => Ok(()),
        }
    }

    /// A rename may only move bytes that are durable, and `HEAD` only when all other names are.
    fn check_rename(&self, from: &StorePath, to: &StorePath) {
        let inode = self.real.open(from).unwrap().metadata().unwrap().ino();
        let mut volatile = self.volatile.lock().unwrap();
        assert!(
            !volatile.files.contains(&inode),
            "{to} is renamed before its bytes are durable"
        );
        if to.as_str() == "HEAD" {
            let names: Vec<_> = volatile
                .directories
                .iter()
                .filter(|name| !name.starts_with("staging"))
                .collect();
            assert!(
                names.is_empty(),
                "HEAD is renamed before {names:?} are durable"
            );
            volatile.commits += 1;
        }
        let parent = to
            .as_str()
            .rsplit_once('/')
            .map_or(".", |(parent, _)| parent);
        volatile.directories.insert(parent.to_owned());
    }
}

impl StoreFs for Faulty {
    fn open(&self, path: &StorePath) -> io::Result<File> {
        self.step()?;
        self.real.open(path)
    }
    fn create(&self, path: &StorePath) -> io::Result<File> {
        self.step()?;
        self.real.create(path)
    }
    fn open_lock(&self, path: &StorePath) -> io::Result<File> {
        self.step()?;
        self.real.open_lock(path)
    }
    fn reserve(&self, file: &File, bytes: u64) -> io::Result<()> {
        self.step()?;
        self.real.reserve(file, bytes)
    }
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        self.step()?;
        self.volatile
            .lock()
            .unwrap()
            .files
            .insert(file.metadata()?.ino());
        self.real.write(file, bytes)
    }
    fn sync_file(&self, file: &File) -> io::Result<()> {
        self.step()?;
        self.volatile
            .lock()
            .unwrap()
            .files
            .remove(&file.metadata()?.ino());
        self.real.sync_file(file)
    }
    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        self.step()?;
        self.real.set_mode(file, mode)
    }
    fn rename_new(&self, from: &StorePath, to: &StorePath) -> io::Result<()> {
        self.step()?;
        self.check_rename(from, to);
        self.real.rename_new(from, to)
    }
    fn rename_over(&self, from: &StorePath, to: &StorePath) -> io::Result<()> {
        self.step()?;
        self.check_rename(from, to);
        self.real.rename_over(from, to)
    }
    fn create_dir(&self, path: &StorePath) -> io::Result<()> {
        self.step()?;
        self.real.create_dir(path)?;
        let parent = path
            .as_str()
            .rsplit_once('/')
            .map_or(".", |(parent, _)| parent);
        self.volatile
            .lock()
            .unwrap()
            .directories
            .insert(parent.to_owned());
        Ok(())
    }
    fn sync_dir(&self, path: &StorePath) -> io::Result<()> {
        self.step()?;
        self.volatile
            .lock()
            .unwrap()
            .directories
            .remove(path.as_str());
        self.real.sync_dir(path)
    }
    fn remove_file(&self, path: &StorePath) -> io::Result<()> {
        self.step()?;
        self.real.remove_file(path)
    }
    fn remove_dir(&self, path: &StorePath) -> io::Result<()> {
        self.step()?;
        self.real.remove_dir(path)
    }
    fn list(&self, path: &StorePath) -> io::Result<Vec<(String, bool)>> {
        self.step()?;
        self.real.list(path)
    }
}

#[test]
fn rows_61_62_everything_is_durable_before_the_commit_and_the_commit_before_success() {
    let bench = Bench::new();
    let fs = Faulty::new(&bench.store_path(), usize::MAX, io::ErrorKind::Other);
    let store = Store::with_fs(fs.clone(), &bench.store_path(), StoreOptions::default()).unwrap();
    store
        .install(&bench.bundle_file(&bench.package(CPU, "1.0.0")), &options())
        .unwrap();
    let volatile = fs.volatile.lock().unwrap();
    assert_eq!(volatile.commits, 1);
    let left: Vec<_> = volatile
        .directories
        .iter()
        .filter(|name| !name.starts_with("staging"))
        .collect();
    assert!(left.is_empty(), "{left:?} are not durable at success");
}

#[test]
fn rows_61_62_a_new_store_is_durable() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("kernels")).unwrap();
    let path = folder.path().join("kernels");
    let fs = Faulty::new(&path, usize::MAX, io::ErrorKind::Other);
    Store::with_fs(fs.clone(), &path, StoreOptions::default()).unwrap();
    let volatile = fs.volatile.lock().unwrap();
    assert_eq!((volatile.commits, volatile.directories.len()), (1, 0));
}

/// After any single failure the store holds the old or the new state, whole; the same command then
/// succeeds; and the end is the one of an undisturbed run.
#[test]
fn rows_63_64_every_operation_may_fail_once() {
    let reference = Bench::new();
    let bytes = reference.package(CPU, "1.0.0");
    for error in [io::ErrorKind::Other, io::ErrorKind::StorageFull] {
        let mut fail_at = 0;
        loop {
            let bench = Bench::new();
            bench
                .store
                .trust_add(
                    &reference.publisher.record,
                    &crate::fixture::grant("org.guild"),
                )
                .unwrap();
            let before = bench.store.generation().unwrap();
            let fs = Faulty::new(&bench.store_path(), fail_at, error);
            let bundle = bench.bundle_file(&bytes);
            let result = Store::with_fs(fs.clone(), &bench.store_path(), StoreOptions::default())
                .and_then(|store| store.install(&bundle, &options()));
            let after = bench.store.generation().unwrap();
            match &result {
                Ok(_) => assert_eq!(after.n, before.n + 1, "operation {fail_at}"),
                Err(refused) => {
                    assert_eq!(refused.code(), Code::Io, "operation {fail_at}: {refused}");
                    assert!(
                        after == before || after.n == before.n + 1,
                        "operation {fail_at}"
                    );
                }
            }
            bench.install(&bytes).unwrap();
            assert_eq!(bench.store.generation().unwrap().n, before.n + 1);
            assert_eq!(bench.store.enabled().unwrap().len(), 1);
            let staging = std::fs::read_dir(bench.store_path().join("staging")).unwrap();
            assert_eq!(staging.count(), 0, "operation {fail_at}");
            if fs.calls.load(Ordering::Relaxed) <= fail_at {
                assert!(result.is_ok());
                break;
            }
            fail_at += 1;
        }
        assert!(fail_at > 40, "only {fail_at} operations were tried");
    }
}
