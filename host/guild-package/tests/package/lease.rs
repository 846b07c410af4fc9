//! Row 66 and the leases of sessions.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use guild_package::store::LeaseNote;
use guild_package::{Code, Error};

use crate::fixture::Bench;

const CPU: &str = "org.guild.kernels.cpu";

fn lock_file(bench: &Bench) -> fs::File {
    let manifest = bench.store.enabled().unwrap()[0].manifest_digest();
    let path = bench.store_path().join(format!("leases/{manifest}.lock"));
    fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap()
}

/// Whether the lock comes free. Another test of this process may start a compiler at this moment, and a
/// child shares every lock until its exec, so a busy lock is tried again for a while.
fn comes_free(file: &fs::File) -> bool {
    (0..100).any(|_| {
        let free = is_free(file);
        if !free {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        free
    })
}

fn is_free(file: &fs::File) -> bool {
    let lock = crate::fixture::write_lock();
    nix::fcntl::fcntl(file, nix::fcntl::FcntlArg::F_OFD_SETLK(&lock)).is_ok()
}

fn notes(bench: &Bench) -> Vec<LeaseNote> {
    let entries = fs::read_dir(bench.store_path().join("leases")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let notes = paths.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    notes
        .map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
        .collect()
}

#[test]
fn a_lease_keeps_writers_off_and_ends_with_its_value() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let package = bench.store.enabled().unwrap().remove(0);
    let first = bench.store.lease(&package, "chat 1").unwrap();
    let second = bench.store.lease(&package, "chat 2").unwrap();
    assert_eq!(first.manifest_digest(), package.manifest_digest());
    assert!(!is_free(&lock_file(&bench)));
    let mut sessions: Vec<_> = notes(&bench)
        .iter()
        .map(|note| note.session.to_string())
        .collect();
    sessions.sort();
    assert_eq!(sessions, ["chat 1", "chat 2"]);
    assert!(
        notes(&bench)
            .iter()
            .all(|note| note.pid == u64::from(std::process::id()) && note.start > 0)
    );
    drop(first);
    assert!(!is_free(&lock_file(&bench)));
    drop(second);
    assert!(comes_free(&lock_file(&bench)));
    assert!(notes(&bench).is_empty());
    assert!(bench.store.lease(&package, "line\nbreak").is_err());
}

#[test]
fn row_66_a_lease_on_a_replaced_version_is_not_given() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let old = bench.store.enabled().unwrap().remove(0);
    let held = bench.store.lease(&old, "before").unwrap();
    bench.install(&bench.package(CPU, "1.0.1")).unwrap();
    // The session that came first keeps its version; a new one is told to look again.
    assert_eq!(
        bench.store.lease(&old, "after").unwrap_err().code(),
        Code::NotFound
    );
    assert_eq!(notes(&bench).len(), 1);
    let leased = bench.store.enabled_with_leases("after").unwrap();
    assert_eq!(leased[0].0.version().to_string(), "1.0.1");
    drop(held);
}

#[test]
fn row_66_readers_and_a_writer_race_without_a_gap() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let upgrades: Vec<_> = (1..8)
        .map(|patch| bench.package(CPU, &format!("1.0.{patch}")))
        .collect();
    let reads = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..40 {
                        let leased = match bench.store.enabled_with_leases("race") {
                            // Three changes in three attempts: the caller is told to try again.
                            Err(Error::NotFound { .. }) => continue,
                            other => other.unwrap(),
                        };
                        reads.fetch_add(1, Ordering::Relaxed);
                        let plugin = leased[0].0.plugin_artifact().unwrap();
                        leased[0]
                            .0
                            .open_artifact(&plugin)
                            .unwrap()
                            .copy_verified(|_| Ok(()))
                            .unwrap();
                    }
                })
            })
            .collect();
        for bytes in &upgrades {
            bench.install(bytes).unwrap();
        }
        readers
            .into_iter()
            .for_each(|reader| reader.join().unwrap());
    });
    assert!(reads.into_inner() > 0);
    assert!(notes(&bench).is_empty());
}

#[test]
fn notes_of_ended_sessions_are_removed_by_the_next_writer() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let package = bench.store.enabled().unwrap().remove(0);
    let held = bench.store.lease(&package, "alive").unwrap();
    let stale = bench
        .store_path()
        .join(format!("leases/{}.1-0000000000000000.json", "0".repeat(64)));
    fs::write(&stale, "{}").unwrap();
    bench
        .install(&bench.package("org.guild.other", "1.0.0"))
        .unwrap();
    assert!(!stale.exists());
    assert_eq!(notes(&bench).len(), 1);
    drop(held);
}
