//! Stores that several users see: row 59. What root may do proves nothing here, so each look is taken by a
//! process of a user without rights.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use guild_package::seed::SeedFile;
use guild_package::{Code, Store, StoreOptions};

use crate::fixture::{Bench, grant, options};
use crate::unprobed::Unprobed;
use crate::versions::{CPU, OTHER, id};

/// Nobody on Debian, and a number without a name anywhere else.
const ORDINARY_USER: u32 = 65_534;
/// Tells the second process where the store is.
const FOLDER: &str = "GUILD_TEST_USERS_FOLDER";

/// Runs one of this program's ignored tests as an ordinary user. Says so and does nothing where this process may not
/// become one.
#[track_caller]
fn as_ordinary_user(test: &str, folder: &Path) {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    open_to_all(folder);
    // The program may lie where others can't read. Another process copies it: were this one to write it, a child that a
    // test beside starts meanwhile would hold it open, and a file that is open for writing can't be run.
    let program = folder.join("tests");
    let mut copy = Command::new("cp");
    copy.arg(std::env::current_exe().unwrap()).arg(&program);
    assert!(copy.status().unwrap().success());
    open_to_all(&program);
    let output = Command::new(&program)
        .args(["--ignored", "--exact", test, "--nocapture"])
        .env_clear()
        .env(FOLDER, folder)
        .current_dir("/")
        .uid(ORDINARY_USER)
        .gid(ORDINARY_USER)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn open_to_all(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn folder() -> PathBuf {
    PathBuf::from(std::env::var_os(FOLDER).unwrap())
}

fn existing(path: &Path) -> guild_package::Result<Store> {
    let options = StoreOptions {
        create: false,
        ..StoreOptions::default()
    };
    Store::open(path, options)
}

/// A store for everybody with one package, and a bundle of a package that depends on it.
fn shared_store(bench: &Bench) -> Store {
    let options = StoreOptions {
        shared: true,
        ..StoreOptions::default()
    };
    let store = Store::open(&bench.path().join("shared"), options).unwrap();
    store
        .trust_add(&bench.publisher.record, &grant("org.guild"))
        .unwrap();
    let bundle = bench.bundle_file(&bench.package(CPU, "1.0.0"));
    store
        .install(&bundle, &crate::fixture::options(), &Unprobed)
        .unwrap();
    let needs = format!("[[depends]]\nid = \"{CPU}\"\nreq = \"^1.0\"");
    let dependent = bench.package_by(&bench.publisher, OTHER, "1.0.0", &needs);
    fs::write(bench.path().join("dependent.gkernel"), dependent).unwrap();
    fs::write(
        bench.path().join("newer.gkernel"),
        bench.package(CPU, "1.0.1"),
    )
    .unwrap();
    fs::write(
        bench.path().join("key.json"),
        serde_json::to_vec(&bench.publisher.record).unwrap(),
    )
    .unwrap();
    store
}

#[test]
fn a_shared_store_is_read_by_everybody_and_changed_by_its_owner() {
    let bench = Bench::new();
    let store = shared_store(&bench);
    as_ordinary_user("users::ordinary_user_reads_a_shared_store", bench.path());
    // The lease of the other process ended with it.
    store.remove(&id(CPU), None).unwrap();
}

#[test]
#[ignore = "run by the test above, as another user"]
fn ordinary_user_reads_a_shared_store() {
    let path = folder().join("shared");
    let head = fs::read(path.join("HEAD")).unwrap();
    let store = existing(&path).unwrap();
    let packages = store.enabled_with_leases("a session").unwrap();
    assert_eq!(packages.len(), 1);
    let plugin = packages[0].0.plugin_artifact().unwrap();
    packages[0].0.open_artifact(&plugin).unwrap();
    let refused = store
        .install(&folder().join("newer.gkernel"), &options(), &Unprobed)
        .unwrap_err();
    assert_eq!(refused.code(), Code::Io, "{refused}");
    assert_eq!(fs::read(path.join("HEAD")).unwrap(), head);
    // Whoever may only read can't keep new sessions out.
    let manifest = packages[0].0.manifest_digest();
    let lock = fs::File::open(path.join(format!("leases/{manifest}.lock"))).unwrap();
    let exclusive = crate::fixture::write_lock();
    let taken = nix::fcntl::fcntl(&lock, nix::fcntl::FcntlArg::F_OFD_SETLK(&exclusive));
    assert_eq!(taken.unwrap_err(), nix::errno::Errno::EBADF);
}

#[test]
fn a_user_s_store_stands_above_the_shared_one() {
    let bench = Bench::new();
    let _store = shared_store(&bench);
    as_ordinary_user("users::ordinary_user_adds_to_a_shared_store", bench.path());
}

#[test]
#[ignore = "run by the test above, as another user"]
fn ordinary_user_adds_to_a_shared_store() {
    let own = tempfile::tempdir().unwrap();
    let record = guild_package::KeyRecord::read(&folder().join("key.json")).unwrap();
    let store = Store::open(&own.path().join("kernels"), StoreOptions::default()).unwrap();
    store.trust_add(&record, &grant("org.guild")).unwrap();
    let dependent = folder().join("dependent.gkernel");
    let alone = store
        .install(&dependent, &options(), &Unprobed)
        .unwrap_err();
    assert_eq!(alone.code(), Code::DependencyMissing);
    let store = store.above(existing(&folder().join("shared")).unwrap());
    store.install(&dependent, &options(), &Unprobed).unwrap();
    let versions = || -> Vec<String> {
        let enabled = store.enabled_with_leases("a session").unwrap();
        let name = |package: &guild_package::InstalledPackage| {
            format!("{} {}", package.id(), package.version())
        };
        enabled.iter().map(|(package, _)| name(package)).collect()
    };
    assert_eq!(
        versions(),
        [format!("{CPU} 1.0.0"), format!("{OTHER} 1.0.0")]
    );
    // A floor is for packages of either store.
    for (package, known) in [(CPU, true), (OTHER, true), ("org.guild.none", false)] {
        let raised = store.raise_floor(&id(package), 1).unwrap();
        assert_eq!(raised.known, known, "{package}");
    }
    // A version of the user's own replaces the one below; without it that one is back.
    store
        .install(&folder().join("newer.gkernel"), &options(), &Unprobed)
        .unwrap();
    assert_eq!(
        versions(),
        [format!("{CPU} 1.0.1"), format!("{OTHER} 1.0.0")]
    );
    let rows = store.list().unwrap();
    let marks: Vec<_> = rows.iter().map(|row| (row.below, row.enabled)).collect();
    assert_eq!(marks, [(false, true), (false, true), (true, false)]);
    let active = store.active().unwrap();
    assert_eq!(active[0].1.version.to_string(), "1.0.1");
    store.disable(&id(OTHER), None).unwrap();
    store.remove(&id(CPU), None).unwrap();
    assert_eq!(versions(), [format!("{CPU} 1.0.0")]);
    assert_eq!(store.active().unwrap()[0].1.version.to_string(), "1.0.0");
}

#[test]
fn row_59_a_private_store_and_one_of_somebody_else_are_not_read() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    open_to_all(&bench.path().join("data"));
    as_ordinary_user("users::ordinary_user_reads_no_private_store", bench.path());
    if rustix::process::geteuid().is_root() {
        chown(bench.store_path(), Some(1234), None).unwrap();
        let foreign = existing(&bench.store_path()).unwrap_err();
        assert_eq!(foreign.code(), Code::StoreCorrupt, "{foreign}");
    }
}

#[test]
#[ignore = "run by the test above, as another user"]
fn ordinary_user_reads_no_private_store() {
    let refused = existing(&folder().join("data/kernels")).unwrap_err();
    assert_eq!(refused.code(), Code::Io, "{refused}");
}

/// As [`as_ordinary_user`]: what somebody else owns can only be made by root.
#[test]
fn row_59_what_somebody_else_owns_is_not_believed() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can give a file away");
        return;
    }
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let package = &bench.store.enabled().unwrap()[0];
    let plugin = package.plugin_artifact().unwrap();
    let object = bench.object(plugin.sha256());
    chown(object, Some(ORDINARY_USER), None).unwrap();
    let refused = package.open_artifact(&plugin).unwrap_err();
    assert_eq!(refused.code(), Code::StoreCorrupt, "{refused}");
    let faults = bench.store.examine().unwrap().faults;
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].error.code(), Code::StoreCorrupt);
    // The same bundle again takes its place.
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    package.open_artifact(&plugin).unwrap();
    let seed = &bench.publisher.seed_file;
    chown(seed, Some(ORDINARY_USER), None).unwrap();
    let refused = SeedFile::read(seed).unwrap_err();
    assert_eq!(refused.code(), Code::Usage, "{refused}");
}

/// As where a machine lets nobody list `/home`.
#[test]
fn a_store_is_made_below_a_folder_that_its_owner_can_t_list() {
    let bench = Bench::new();
    let homes = bench.path().join("homes");
    let home = homes.join("own");
    fs::create_dir_all(&home).unwrap();
    if rustix::process::geteuid().is_root() {
        chown(&home, Some(ORDINARY_USER), Some(ORDINARY_USER)).unwrap();
        fs::set_permissions(&homes, fs::Permissions::from_mode(0o711)).unwrap();
    }
    let test = "users::ordinary_user_makes_a_store_below_a_closed_folder";
    as_ordinary_user(test, bench.path());
}

#[test]
#[ignore = "run by the test above, as another user"]
fn ordinary_user_makes_a_store_below_a_closed_folder() {
    let homes = folder().join("homes");
    assert!(fs::read_dir(&homes).is_err());
    let path = homes.join("own/share/kernels");
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    assert_eq!(store.generation().unwrap().n, 0);
}
