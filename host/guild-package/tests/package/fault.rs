//! Rows 60 to 64: every file operation of every command fails once, and every name and byte is durable
//! before anything that relies on it.

use crate::unprobed::Unprobed;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use guild_package::store::fs::{RealFs, StoreFs};
use guild_package::store::generation::Generation;
use guild_package::store::{Fault, RevokeOptions, RollbackOptions, StorePath};
use guild_package::trust::Withdrawal;
use guild_package::{Code, Result, Store, StoreOptions};

use crate::fixture::{Bench, options};
use crate::versions::{CPU, id, version};

/// Something happens at the operation number `fail_at`. Records what is not durable yet.
struct Faulty {
    real: RealFs,
    calls: AtomicUsize,
    fail_at: usize,
    event: Event,
    volatile: Mutex<Volatile>,
}

/// What happens.
enum Event {
    /// The operation fails.
    Error(io::ErrorKind),
    /// Somebody else does something before it.
    Meanwhile(Box<dyn Fn() + Send + Sync>),
}

#[derive(Default)]
struct Volatile {
    files: BTreeSet<u64>,
    directories: BTreeSet<String>,
    commits: usize,
}

impl Faulty {
    fn new(path: &Path, fail_at: usize, error: io::ErrorKind) -> Arc<Self> {
        Self::with(path, fail_at, Event::Error(error))
    }

    fn with(path: &Path, fail_at: usize, event: Event) -> Arc<Self> {
        Arc::new(Self {
            real: RealFs::open_root(path).unwrap(),
            calls: AtomicUsize::new(0),
            fail_at,
            event,
            volatile: Mutex::default(),
        })
    }

    fn step(&self) -> io::Result<()> {
        match (
            self.calls.fetch_add(1, Ordering::Relaxed) == self.fail_at,
            &self.event,
        ) {
            (true, Event::Error(error)) => Err((*error).into()),
            (true, Event::Meanwhile(act)) => {
                act();
                Ok(())
            }
            (false, _) => Ok(()),
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
        .install(
            &bench.bundle_file(&bench.package(CPU, "1.0.0")),
            &options(),
            &Unprobed,
        )
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
                .and_then(|store| store.install(&bundle, &options(), &Unprobed));
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

/// A command, on a store that has two versions of a package, the newer one enabled, and the files of a removed third.
type Operation = fn(&Store) -> Result<()>;

/// Each gives the same state when it is run on its own result, or is refused there.
const OPERATIONS: [(&str, Operation); 9] = [
    ("enable", |store| {
        store
            .enable(&id(CPU), Some(&version("1.0.0")), &Unprobed)
            .map(drop)
    }),
    ("disable", |store| store.disable(&id(CPU), None).map(drop)),
    ("drain", |store| {
        store.disable(&id(CPU), Some(Duration::ZERO)).map(drop)
    }),
    ("rollback", |store| {
        let options = RollbackOptions {
            to_generation: Some(2),
            pin: true,
        };
        store.rollback(Some(&id(CPU)), options, &Unprobed).map(drop)
    }),
    ("remove one", |store| {
        store.remove(&id(CPU), Some(&version("1.0.0"))).map(drop)
    }),
    ("remove all", |store| store.remove(&id(CPU), None).map(drop)),
    ("floor", |store| store.raise_floor(&id(CPU), 1).map(drop)),
    ("revoke", |store| {
        let options = RevokeOptions {
            withdrawal: Withdrawal::Compromised { since_gen: 2 },
            reason: None,
            dry_run: false,
        };
        let key = store.trust()?.keys()[0].id;
        store.trust_revoke(&key, &options).map(drop)
    }),
    ("gc", |store| store.collect_garbage().map(drop)),
];

/// The store that [`OPERATIONS`] begin with.
fn prepared() -> Bench {
    let bench = Bench::with_two_versions();
    bench.install(&bench.package(CPU, "1.0.2")).unwrap();
    bench
        .store
        .remove(&id(CPU), Some(&version("1.0.2")))
        .unwrap();
    bench
        .store
        .enable(&id(CPU), Some(&version("1.0.1")), &Unprobed)
        .unwrap();
    bench
}

/// A copy of a store, to break, and where it lies.
fn copied(bench: &Bench) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernels");
    copy(&bench.store_path(), &path);
    (folder, path)
}

/// A copy with the same modes.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
    std::fs::set_permissions(to, std::fs::metadata(from).unwrap().permissions()).unwrap();
}

/// The state and the stored files. When a command ran doesn't count.
fn content(path: &Path) -> (Generation, Vec<PathBuf>) {
    let store = Store::open(path, StoreOptions::default()).unwrap();
    let mut generation = store.generation().unwrap();
    generation.time_seen = 0;
    let mut files: Vec<_> = crate::fixture::listing(path).into_keys().collect();
    files.retain(|file| file.starts_with("objects") || file.starts_with("meta"));
    files.retain(|file| path.join(file).is_file());
    (generation, files)
}

/// One run in which call number `fail_at` fails, if there are so many. Whether there were.
fn fails_once(
    (name, operation): (&str, Operation),
    prepared: &Bench,
    expected: &(Generation, Vec<PathBuf>),
    (fail_at, error): (usize, io::ErrorKind),
) -> bool {
    let place = format!("{name}: call {fail_at}, {error}");
    let (_folder, path) = copied(prepared);
    let (before, _) = content(&path);
    let fs = Faulty::new(&path, fail_at, error);
    let store = Store::with_fs(fs.clone(), &path, StoreOptions::default());
    let result = store.and_then(|store| operation(&store));
    let (after, _) = content(&path);
    match &result {
        Ok(()) => assert_eq!(after, expected.0, "{place}"),
        Err(refused) => {
            assert_eq!(refused.code(), Code::Io, "{place}: {refused}");
            assert!(after == before || after == expected.0, "{place}");
        }
    }
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    store.verify_chain().unwrap();
    let examined = store.examine().unwrap();
    let sound = |fault: &Fault| fault.error.code() == Code::KeyRevoked;
    assert!(
        examined.faults.iter().all(sound),
        "{place}: {:?}",
        examined.faults
    );
    if after == before {
        operation(&store).unwrap_or_else(|refused| panic!("{place}: again: {refused}"));
    } else {
        // Whatever it says of its own result, it recovers and changes nothing.
        drop(operation(&store));
    }
    assert_eq!(&content(&path), expected, "{place}");
    let staging = std::fs::read_dir(path.join("staging")).unwrap();
    assert_eq!(staging.count(), 0, "{place}");
    fs.calls.load(Ordering::Relaxed) > fail_at
}

#[test]
fn rows_60_63_64_every_call_of_every_command_may_fail_once() {
    let prepared = prepared();
    for (name, operation) in OPERATIONS {
        let (_folder, path) = copied(&prepared);
        operation(&Store::open(&path, StoreOptions::default()).unwrap()).unwrap();
        let expected = content(&path);
        for error in [io::ErrorKind::Other, io::ErrorKind::StorageFull] {
            let mut fail_at = 0;
            while fails_once((name, operation), &prepared, &expected, (fail_at, error)) {
                fail_at += 1;
            }
            assert!(fail_at > 15, "{name}: only {fail_at} calls were tried");
        }
    }
}

#[test]
fn rows_61_62_every_command_is_durable_before_its_commit_and_at_success() {
    let prepared = prepared();
    for (name, operation) in OPERATIONS {
        let (_folder, path) = copied(&prepared);
        let fs = Faulty::new(&path, usize::MAX, io::ErrorKind::Other);
        let store = Store::with_fs(fs.clone(), &path, StoreOptions::default()).unwrap();
        operation(&store).unwrap();
        let volatile = fs.volatile.lock().unwrap();
        assert_eq!(volatile.commits, usize::from(name != "gc"), "{name}");
        let mut left = volatile.directories.iter();
        let left = left.find(|name| !name.starts_with("staging"));
        assert_eq!(left, None, "{name}");
    }
}

/// A reader, and the versions that it found whole.
type Reader = fn(&Store) -> Result<Vec<String>>;

const READERS: [(&str, Reader); 3] = [
    ("enabled", |store| {
        let enabled = store.enabled()?;
        Ok(enabled.iter().map(|it| it.version().to_string()).collect())
    }),
    ("lease", |store| {
        let leased = store.enabled_with_leases("reader")?;
        let versions = leased.iter().map(|(package, _lease)| {
            let artifacts = package.artifacts();
            let whole = artifacts.map(|artifact| {
                let object = package.open_artifact(&artifact)?;
                object.copy_verified(|_| Ok(()))
            });
            whole.collect::<Result<Vec<()>>>()?;
            Ok(package.version().to_string())
        });
        versions.collect()
    }),
    ("list", |store| {
        let listed = store.list()?.into_iter().map(|row| {
            row.package?;
            Ok(row.version.to_string())
        });
        listed.collect()
    }),
];

/// Before any call of a reader another process may go back, remove the version that was read about, and delete its
/// files: the reader sees the state before or the one after, whole.
#[test]
fn row_66_a_reader_survives_a_removal_at_any_moment() {
    let prepared = Bench::with_two_versions();
    for (name, read) in READERS {
        let mut at = 0;
        loop {
            let (_folder, path) = copied(&prepared);
            let other = Store::open(&path, StoreOptions::default()).unwrap();
            let removal = move || {
                other
                    .enable(&id(CPU), Some(&version("1.0.0")), &Unprobed)
                    .unwrap();
                // A lease that is there already keeps the version.
                drop(other.remove(&id(CPU), Some(&version("1.0.1"))));
                other.collect_garbage().unwrap();
            };
            let fs = Faulty::with(&path, at, Event::Meanwhile(Box::new(removal)));
            let store = Store::with_fs(fs.clone(), &path, StoreOptions::default()).unwrap();
            let versions = read(&store).unwrap_or_else(|error| panic!("{name}, {at}: {error}"));
            let either: [&[&str]; 3] = [&["1.0.0"], &["1.0.1"], &["1.0.0", "1.0.1"]];
            assert!(
                either.iter().any(|whole| versions == *whole),
                "{name}, {at}: {versions:?}"
            );
            if fs.calls.load(Ordering::Relaxed) <= at {
                break;
            }
            at += 1;
        }
        assert!(at > 8, "{name}: only {at} calls were tried");
    }
}
