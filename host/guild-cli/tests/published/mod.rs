//! A store with a package, made from a workshop whose key is no secret.

use crate::home::Home;
use guild_crash::Workshop;
use guild_crash::unprobed::Unprobed;
use guild_package::{InstallOptions, Store, StoreOptions};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// Trusts the workshop's key with all rights in the store below the folder `data`, and installs a package by it there.
/// `options` make the program work on that store. The key's id; its seed is the file `seed`.
pub fn publish(home: &Home, data: &str, options: &str) -> String {
    let workshop = Workshop::new(home.path()).unwrap();
    let seed = format!("guild-seed-1 plain ed25519 {}\n", "07".repeat(32));
    let seed_file = home.path().join("seed");
    fs::write(&seed_file, seed).unwrap();
    fs::set_permissions(&seed_file, fs::Permissions::from_mode(0o600)).unwrap();
    let rights = "--right publish --right revoke --right epoch";
    home.json(&format!(
        "{options}kernel trust add publisher.json --scope org.guild {rights}"
    ));
    let store = home.path().join(data).join("kernels");
    let store = Store::open(&store, StoreOptions::default()).unwrap();
    // It has no code that a trial run could run.
    let bundle = workshop.bundle("1.0.0");
    store
        .install(&bundle, &InstallOptions::default(), &Unprobed)
        .unwrap();
    workshop.publisher().id.to_string()
}
