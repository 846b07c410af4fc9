//! Rows 45 to 48 and 53 to 65: the store.

use crate::unprobed::Unprobed;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use guild_package::probe::{Probe, Probed, Subject};
use guild_package::store::generation::{Active, ActiveMode};
use guild_package::{Code, Digest, InstallOptions, Result, Store, StoreOptions};

use crate::fixture::{Bench, DOC, NOW_S, PLUGIN, entries, options, shared_library};
use crate::package_toml::PackageToml;
use crate::small_library::note_text;

const CPU: &str = "org.guild.kernels.cpu";

#[test]
fn a_package_is_installed_enabled_and_read_back() {
    let bench = Bench::new();
    let bytes = bench.package(CPU, "1.0.0");
    let parts = entries(&bytes);
    let installed = bench.install(&bytes).unwrap();
    assert!(!installed.already_installed);
    assert_eq!(
        installed.manifest_digest,
        Digest::of(&parts["manifest.json"])
    );
    assert_eq!(installed.generation, 2);
    assert!(installed.signers[0].test_identity);

    let enabled = bench.store.enabled().unwrap();
    let [package] = enabled.as_slice() else {
        panic!("{} enabled", enabled.len())
    };
    assert_eq!(
        (
            package.id().as_str(),
            package.version().to_string().as_str()
        ),
        (CPU, "1.0.0")
    );
    assert_eq!(package.manifest_digest(), installed.manifest_digest);
    assert!(package.is_enabled());
    let plugin = package.plugin_artifact().unwrap();
    let elf = plugin.elf().unwrap();
    let needed: Vec<_> = elf.needed.iter().map(ToString::to_string).collect();
    assert_eq!(elf.soname.as_ref().unwrap().as_str(), "libcpu.so.1");
    assert_eq!(needed, ["libm.so.6", "libc.so.6"]);
    assert_eq!((elf.init_count, elf.fini_count), (3, 0));
    assert_eq!(
        elf.note_hash,
        Some(Digest::of(note_text(CPU, "1.0.0").as_bytes()))
    );
    let mut copy = Vec::new();
    let keep = |piece: &[u8]| {
        copy.extend_from_slice(piece);
        Ok(())
    };
    package
        .open_artifact(&plugin)
        .unwrap()
        .copy_verified(keep)
        .unwrap();
    assert_eq!(copy, parts[PLUGIN]);

    let active = bench.store.active().unwrap();
    assert_eq!(active[0].0.as_str(), "guild.core.moe_experts@1");
    assert_eq!(active[0].1.mode, ActiveMode::Auto);
    assert!(bench.store.list().unwrap()[0].enabled);
}

#[test]
fn an_upgrade_moves_selection_and_operations() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let upgraded = bench.install(&bench.package(CPU, "1.0.1")).unwrap();
    assert_eq!(upgraded.previous.unwrap().to_string(), "1.0.0");
    assert_eq!(
        bench.store.enabled().unwrap()[0].version().to_string(),
        "1.0.1"
    );
    assert_eq!(
        bench.store.active().unwrap()[0].1.version.to_string(),
        "1.0.1"
    );
    let listed: Vec<_> = bench
        .store
        .list()
        .unwrap()
        .iter()
        .map(|row| (row.version.to_string(), row.enabled))
        .collect();
    assert_eq!(
        listed,
        [("1.0.0".to_owned(), false), ("1.0.1".to_owned(), true)]
    );
    let generation = bench.store.generation().unwrap();
    let history = &generation.packages[&CPU.parse().unwrap()].history;
    assert_eq!(
        history.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["1.0.0", "1.0.1"]
    );
}

#[test]
fn a_choice_by_hand_survives_an_install() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    let operation = "guild.core.moe_experts@1".parse().unwrap();
    let chosen = Active {
        id: CPU.parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        mode: ActiveMode::Manual,
    };
    bench.force_generation(|generation| {
        generation.active.insert(operation, chosen.clone());
    });
    bench.install(&bench.package(CPU, "1.0.1")).unwrap();
    bench
        .install(&bench.package("org.guild.kernels.other", "1.0.0"))
        .unwrap();
    // The package that was chosen stays chosen, in the version of it that is enabled.
    let moved = Active {
        version: "1.0.1".parse().unwrap(),
        ..chosen
    };
    assert_eq!(bench.store.active().unwrap()[0].1, moved);
}

#[test]
fn row_53_a_version_never_changes() {
    let bench = Bench::new();
    let first = bench.package(CPU, "1.0.0");
    bench.install(&first).unwrap();
    let before = bench.listing();
    let again = bench.install(&first).unwrap();
    assert!(again.already_installed);
    assert_eq!(bench.listing(), before);

    let other = bench.package_by(&bench.publisher, CPU, "1.0.0", "summary = \"other bytes\"");
    bench.install_refuses(&other, &options(), Code::VersionImmutable);
    let message = bench.install(&other).unwrap_err().to_string();
    for bytes in [&first, &other] {
        let digest = Digest::of(&entries(bytes)["manifest.json"]).to_string();
        assert!(message.contains(&digest), "{message}");
    }
    // The pin outlives the package.
    bench.force_generation(|generation| {
        generation.packages.clear();
        generation.active.clear();
    });
    bench.install_refuses(&other, &options(), Code::VersionImmutable);
    assert!(!bench.install(&first).unwrap().already_installed);
}

#[test]
fn row_45_the_signed_version_counts_not_the_file_name() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.1")).unwrap();
    let path = bench.path().join("org.guild.kernels.cpu-2.0.0.gkernel");
    fs::write(&path, bench.package(CPU, "1.0.0")).unwrap();
    assert_eq!(
        bench
            .store
            .install(&path, &options(), &Unprobed)
            .unwrap_err()
            .code(),
        Code::DowngradeRefused
    );
}

#[test]
fn row_46_an_older_file_needs_leave_and_never_passes_the_floor() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.1")).unwrap();
    let older = bench.package(CPU, "1.0.0");
    bench.install_refuses(&older, &options(), Code::DowngradeRefused);
    bench.install_refuses(
        &bench.package(CPU, "1.0.1-rc.1"),
        &options(),
        Code::DowngradeRefused,
    );
    let allow = InstallOptions {
        allow_downgrade: true,
        ..options()
    };
    bench.force_generation(|generation| {
        generation.floors.insert(CPU.parse().unwrap(), 2);
    });
    bench.install_refuses(&older, &allow, Code::DowngradeRefused);
    bench.force_generation(|generation| {
        generation.floors.insert(CPU.parse().unwrap(), 1);
    });
    bench.install_with(&older, &allow).unwrap();
    assert_eq!(
        bench.store.enabled().unwrap()[0].version().to_string(),
        "1.0.0"
    );
}

#[test]
fn row_47_dependencies_are_held_to_version_and_epoch() {
    let bench = Bench::new();
    let depending = |req: &str, min_epoch: u64| {
        let line =
            format!("depends = [{{ id = \"{CPU}\", req = \"{req}\", min_epoch = {min_epoch} }}]");
        bench.package_by(&bench.publisher, "org.guild.runners.x", "1.0.0", &line)
    };
    bench.install_refuses(&depending("^1.0.0", 0), &options(), Code::DependencyMissing);
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    bench.install_refuses(&depending("^1.1.0", 0), &options(), Code::DependencyMissing);
    bench.install_refuses(&depending("^1.0.0", 2), &options(), Code::DependencyMissing);
    bench.install(&depending("^1.0.0", 1)).unwrap();
}

#[test]
fn row_48_a_refused_install_moves_no_clock_floor_or_pin() {
    let bench = Bench::new();
    let before = bench.store.generation().unwrap();
    let mut bytes = bench.package(CPU, "1.0.0");
    let place = bytes
        .windows(10)
        .position(|window| window == b"a package ")
        .unwrap();
    bytes[place] ^= 1;
    let mut late = options();
    late.verify.now_s = NOW_S * 2;
    bench.install_refuses(&bytes, &late, Code::BundleMalformed);
    assert_eq!(bench.store.generation().unwrap(), before);
}

#[test]
fn row_55_objects_are_private_copies_and_hashed_at_use() {
    let bench = Bench::new();
    let bytes = bench.package(CPU, "1.0.0");
    let source = bench.bundle_file(&bytes);
    let mut writer = fs::OpenOptions::new().write(true).open(&source).unwrap();
    bench.store.install(&source, &options(), &Unprobed).unwrap();
    std::io::Write::write_all(&mut writer, &[0; 100]).unwrap();
    let package = bench.store.enabled().unwrap().remove(0);
    let plugin = package.plugin_artifact().unwrap();
    assert!(
        package
            .open_artifact(&plugin)
            .unwrap()
            .copy_verified(|_| Ok(()))
            .is_ok()
    );

    // The object is changed behind the store's back, same size and mode.
    let object = bench.object(plugin.sha256());
    let mut data = fs::read(&object).unwrap();
    data[0] ^= 1;
    set_mode(&object, 0o644);
    fs::write(&object, &data).unwrap();
    assert_eq!(
        package.open_artifact(&plugin).unwrap_err().code(),
        Code::StoreCorrupt
    );
    set_mode(&object, 0o444);
    let refused = package
        .open_artifact(&plugin)
        .unwrap()
        .copy_verified(|_| Ok(()))
        .unwrap_err();
    assert_eq!(refused.code(), Code::DigestMismatch);

    set_mode(&object, 0o644);
    fs::write(&object, &data[1..]).unwrap();
    set_mode(&object, 0o444);
    assert_eq!(
        package.open_artifact(&plugin).unwrap_err().code(),
        Code::StoreCorrupt
    );
    fs::remove_file(&object).unwrap();
    assert_eq!(
        package.open_artifact(&plugin).unwrap_err().code(),
        Code::StoreCorrupt
    );
    let elsewhere = bench.path().join("elsewhere");
    fs::write(&elsewhere, entries(&bytes)[PLUGIN].as_slice()).unwrap();
    set_mode(&elsewhere, 0o444);
    symlink(&elsewhere, &object).unwrap();
    assert!(package.open_artifact(&plugin).is_err());
}

#[test]
fn an_artifact_of_another_package_is_not_opened() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    bench
        .install(&bench.package("org.guild.kernels.other", "1.0.0"))
        .unwrap();
    let enabled = bench.store.enabled().unwrap();
    let plugin = enabled[0].plugin_artifact().unwrap();
    assert_eq!(
        enabled[1].open_artifact(&plugin).unwrap_err().code(),
        Code::NotFound
    );
}

#[test]
fn an_object_that_is_there_already_is_hashed_again_and_mended() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    // The text is the same file in both versions.
    let text = bench.object(Digest::of(b"a package for tests\n"));
    set_mode(&text, 0o644);
    fs::write(&text, "a package for testS\n").unwrap();
    bench.install(&bench.package(CPU, "1.0.1")).unwrap();
    assert_eq!(fs::read(&text).unwrap(), b"a package for tests\n");
}

#[test]
fn installing_again_mends_what_is_missing_or_damaged() {
    let bench = Bench::new();
    let bytes = bench.package(CPU, "1.0.0");
    let first = bench.install(&bytes).unwrap();
    assert_eq!(first.files_restored, 0);
    let whole = bench.listing();
    let package = bench.store.enabled().unwrap().remove(0);
    let plugin = bench.object(package.plugin_artifact().unwrap().sha256());
    let text = bench.object(Digest::of(b"a package for tests\n"));
    let mends = |files: usize| {
        assert_ne!(bench.listing(), whole);
        let again = bench.install(&bytes).unwrap();
        assert!(again.already_installed);
        assert_eq!(
            (again.files_restored, again.generation),
            (files, first.generation)
        );
        assert_eq!(bench.listing(), whole);
    };
    fs::remove_file(&plugin).unwrap();
    fs::remove_file(bench.meta(first.manifest_digest)).unwrap();
    mends(2);
    set_mode(&plugin, 0o644);
    fs::write(&plugin, "short").unwrap();
    mends(1);
    let mut damaged = fs::read(&text).unwrap();
    damaged[0] ^= 1;
    set_mode(&text, 0o644);
    fs::write(&text, &damaged).unwrap();
    set_mode(&text, 0o444);
    mends(1);
    set_mode(&plugin, 0o666);
    mends(1);
    assert_eq!(bench.install(&bytes).unwrap().files_restored, 0);
}

/// The host speaks ABI 1.0.
#[test]
fn a_package_for_other_hosts_is_not_installed() {
    let bench = Bench::new();
    let bytes = bench.package(CPU, "1.0.0");
    let parts = entries(&bytes);
    let offer = |host_min: &str, host_max: &str| {
        let text = String::from_utf8(parts["manifest.json"].clone()).unwrap();
        let asks = format!(r#""host_min":"{host_min}","host_max":"{host_max}""#);
        let manifest = text.replace(r#""host_min":"1.0","host_max":"1.0""#, &asks);
        let artifacts = [(DOC, &parts[DOC][..]), (PLUGIN, &parts[PLUGIN][..])];
        bench.craft(manifest.as_bytes(), &artifacts)
    };
    for (host_min, host_max, next) in [
        ("1.1", "1.1", "Upgrade guild"),
        ("2.0", "2.0", "Upgrade guild"),
        ("0.1", "0.9", "newer version of the package"),
    ] {
        let bundle = offer(host_min, host_max);
        bench.install_refuses(&bundle, &options(), Code::Incompatible);
        let message = bench.install(&bundle).unwrap_err().in_full();
        assert!(
            message.contains("this one has 1.0") && message.contains(next),
            "{message}"
        );
        assert!(bench.verify(&bundle).is_ok(), "the bundle itself is good");
    }
    bench.install(&offer("0.9", "2.0")).unwrap();
}

#[test]
fn row_56_planted_links_are_not_followed() {
    for planted in [
        "objects",
        "meta",
        "objects/sha256",
        "meta/sha256",
        "gen",
        "trust",
        "staging",
    ] {
        for leads_outside in [true, false] {
            let bench = Bench::new();
            let bytes = bench.package(CPU, "1.0.0");
            let place = bench.store_path().join(planted);
            let aside = match leads_outside {
                true => bench.path().join("aside"),
                false => place.with_file_name("aside"),
            };
            fs::rename(&place, &aside).unwrap();
            let link = if leads_outside {
                aside.as_path()
            } else {
                Path::new("aside")
            };
            symlink(link, &place).unwrap();
            let before = crate::fixture::listing(&aside);
            assert!(bench.install(&bytes).is_err(), "{planted}");
            assert_eq!(crate::fixture::listing(&aside), before, "{planted}");
        }
    }
    // HEAD.tmp is a name that can be guessed: a link there is removed, not written through.
    let bench = Bench::new();
    let victim = bench.path().join("victim");
    fs::write(&victim, "untouched").unwrap();
    symlink(&victim, bench.store_path().join("HEAD.tmp")).unwrap();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    assert_eq!(fs::read(&victim).unwrap(), b"untouched");
}

#[test]
fn a_bundle_that_is_a_link_pipe_or_folder_is_refused() {
    let bench = Bench::new();
    let file = bench.bundle_file(&bench.package(CPU, "1.0.0"));
    let link = bench.path().join("link.gkernel");
    symlink(&file, &link).unwrap();
    assert_eq!(
        bench
            .store
            .install(&link, &options(), &Unprobed)
            .unwrap_err()
            .code(),
        Code::Io
    );
    assert_eq!(
        bench
            .store
            .install(bench.path(), &options(), &Unprobed)
            .unwrap_err()
            .code(),
        Code::Usage
    );
    let pipe = bench.path().join("pipe.gkernel");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    assert_eq!(
        bench
            .store
            .install(&pipe, &options(), &Unprobed)
            .unwrap_err()
            .code(),
        Code::Usage
    );
    let missing = bench.path().join("missing.gkernel");
    assert_eq!(
        bench
            .store
            .install(&missing, &options(), &Unprobed)
            .unwrap_err()
            .code(),
        Code::Io
    );
}

#[test]
fn row_59_modes_do_not_depend_on_the_umask_and_loose_ones_are_refused() {
    let bench = Bench::new();
    bench.install(&bench.package(CPU, "1.0.0")).unwrap();
    for (path, entry) in bench.listing() {
        let mode = u32::from_str_radix(entry.split(' ').next().unwrap(), 8).unwrap();
        let expected = match path.to_str().unwrap() {
            "LOCK" => 0o600,
            _ if mode & 0o170_000 == 0o040_000 => 0o700,
            _ => 0o444,
        };
        assert_eq!(mode & 0o7777, expected, "{}", path.display());
    }
    for loose in [0o770, 0o702, 0o777] {
        set_mode(&bench.store_path(), loose);
        let refused = Store::open(&bench.store_path(), StoreOptions::default()).unwrap_err();
        assert_eq!(refused.code(), Code::StoreCorrupt, "{loose:o}");
    }
}

#[test]
fn row_65_writers_take_turns() {
    let bench = Bench::new();
    let bundles: Vec<_> = (0..6)
        .map(|index| {
            let path = bench.path().join(format!("{index}.gkernel"));
            fs::write(
                &path,
                bench.package(&format!("org.guild.kernels.n{index}"), "1.0.0"),
            )
            .unwrap();
            path
        })
        .collect();
    std::thread::scope(|scope| {
        for bundle in &bundles {
            scope.spawn(|| {
                let store = Store::open(&bench.store_path(), StoreOptions::default()).unwrap();
                store.install(bundle, &options(), &Unprobed).unwrap();
            });
        }
    });
    assert_eq!(bench.store.enabled().unwrap().len(), 6);
    assert_eq!(bench.store.generation().unwrap().n, 7);
}

#[test]
fn a_dry_run_says_what_an_install_would_do_and_changes_nothing() {
    let bench = Bench::new();
    let bundle = bench.package(CPU, "1.0.0");
    let before = bench.listing();
    let dry = InstallOptions {
        dry_run: true,
        ..options()
    };
    let would = bench.install_with(&bundle, &dry).unwrap();
    assert_eq!(bench.listing(), before, "the store changed");
    let did = bench.install(&bundle).unwrap();
    assert_eq!(
        (would.enabled, would.receipt, would.generation + 1),
        (did.enabled, did.receipt, did.generation)
    );
    // What an install refuses, a dry run refuses.
    bench.install_refuses(&bench.package(CPU, "0.9.0"), &dry, Code::DowngradeRefused);
}

#[test]
fn row_65_a_busy_store_is_reported() {
    let bench = Bench::new();
    let lock = fs::OpenOptions::new()
        .write(true)
        .open(bench.store_path().join("LOCK"))
        .unwrap();
    let exclusive = crate::fixture::write_lock();
    nix::fcntl::fcntl(&lock, nix::fcntl::FcntlArg::F_OFD_SETLKW(&exclusive)).unwrap();
    let impatient = StoreOptions {
        lock_wait_ms: 30,
        ..StoreOptions::default()
    };
    let store = Store::open(&bench.store_path(), impatient).unwrap();
    let bundle = bench.bundle_file(&bench.package(CPU, "1.0.0"));
    assert_eq!(
        store
            .install(&bundle, &options(), &Unprobed)
            .unwrap_err()
            .code(),
        Code::StoreLocked
    );
    // Readers do not wait.
    assert!(store.enabled().unwrap().is_empty());
    drop(lock);
    bench.store.install(&bundle, &options(), &Unprobed).unwrap();
}

#[test]
fn a_missing_store_is_made_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernels");
    let look = StoreOptions {
        create: false,
        ..StoreOptions::default()
    };
    assert_eq!(Store::open(&path, look).unwrap_err().code(), Code::NotFound);
    assert!(!path.exists());
    Store::open(&path, StoreOptions::default()).unwrap();
    Store::open(&path, look).unwrap();
    fs::remove_file(path.join("FORMAT")).unwrap();
    fs::write(path.join("FORMAT"), "guild-store 2\n").unwrap();
    assert_eq!(
        Store::open(&path, look).unwrap_err().code(),
        Code::StoreCorrupt
    );
}

#[test]
fn symbols_lie_next_to_the_stripped_library() {
    let bench = Bench::new();
    let staging = tempfile::tempdir_in(bench.path()).unwrap();
    let toml = PackageToml {
        tables: "[[artifacts]]\npath = \"p.so.debug\"\nrole = \"debug-symbols\"\ntarget = 0\n",
        ..PackageToml::of(CPU, "1.0.0", "p.so")
    };
    fs::write(staging.path().join("package.toml"), toml.text()).unwrap();
    fs::write(staging.path().join("p.so"), shared_library(CPU, "1.0.0")).unwrap();
    fs::write(staging.path().join("p.so.debug"), "symbols").unwrap();
    let bundle = staging.path().join("out.gkernel");
    let key = bench.publisher.record.id.to_string();
    let sign = |key: &str| {
        let options = guild_package::SignOptions::default();
        guild_package::sign_package(
            staging.path(),
            key,
            &bench.publisher.seed(),
            &bundle,
            &options,
        )
    };
    assert_eq!(sign("gk1-000000000000").unwrap_err().code(), Code::Usage);
    sign(&key[..20]).unwrap();
    assert_eq!(
        sign(&key).unwrap_err().code(),
        Code::Io,
        "an existing bundle is not overwritten"
    );
    bench
        .store
        .install(&bundle, &InstallOptions::default(), &Unprobed)
        .unwrap();
    let package = bench.store.enabled().unwrap().remove(0);
    let symbols = package.debug_symbols_artifact().unwrap();
    assert_eq!(symbols.size(), 7);
    assert_eq!(package.artifacts().count(), 2);
    assert_ne!(DOC, symbols.path().as_str());
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// Changes one byte of the store's private copy of the bundle while the code is tried, which is after every check.
struct Changing<'a>(&'a Bench);

impl Probe for Changing<'_> {
    fn probe(&self, subject: &Subject<'_>) -> Result<Probed> {
        let staging = fs::read_dir(self.0.store_path().join("staging")).unwrap();
        let copy = staging.last().unwrap().unwrap().path().join("1");
        let mut bytes = fs::read(&copy).unwrap();
        let words = b"a package for tests";
        let at = bytes.windows(words.len()).position(|it| it == words);
        bytes[at.unwrap()] ^= 1;
        fs::write(copy, bytes).unwrap();
        Unprobed.probe(subject)
    }
}

/// What is written is hashed again: of the right size and of other bytes, it isn't published.
#[test]
fn row_24_a_copy_that_changes_after_its_check_is_not_installed() {
    let bench = Bench::new();
    let bundle = bench.bundle_file(&bench.package(CPU, "1.0.0"));
    bench.store_refuses(Code::DigestMismatch, || {
        bench.store.install(&bundle, &options(), &Changing(&bench))
    });
}
