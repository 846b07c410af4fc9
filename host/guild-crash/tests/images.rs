//! Every image that a power loss may leave of every command is whole, and no sync could be left out.

use guild_crash::{
    Effort, OPERATIONS, SyncCall, Workshop, check, first_run_without, second_run_without, syncs,
};

#[test]
fn rows_61_62_every_image_of_every_operation_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = Workshop::new(folder.path()).unwrap();
    let mut violations = Vec::new();
    for operation in &OPERATIONS {
        let outcome = check(&workshop, operation, &Effort::default()).unwrap();
        println!(
            "{:20} {:3} changes, {:8} legal, all {}, {:6} images, {:6} of second runs, {} violations",
            outcome.operation,
            outcome.changes,
            outcome.legal,
            outcome.all,
            outcome.images,
            outcome.second_run_images,
            outcome.violations.len()
        );
        assert!(outcome.all || outcome.images >= 5_000, "{outcome:?}");
        assert!(outcome.images >= 40, "{outcome:?}");
        let found = outcome.violations.iter();
        violations.extend(found.map(|violation| format!("{}: {violation}", operation.name)));
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

/// Syncs without which no image of this operation is broken: operation, what is synced (or how it starts, where the row
/// ends with `/`), earlier calls for the same, why the store makes it all the same.
const SPARE: &[(&str, &str, usize, &str)] = &[
    ("install", "directory objects/sha256/32", 0, SAME),
    (
        "install over damage",
        "directory objects/sha256/32",
        0,
        SAME,
    ),
    (
        "install over damage",
        "directory objects/sha256/44",
        0,
        SAME,
    ),
    ("install over damage", "directory objects/sha256", 0, SAME),
    ("install over damage", "directory meta/sha256/", 0, SAME),
    ("install over damage", "directory meta/sha256", 0, SAME),
    ("install over damage", "directory .", 0, HEAD),
    ("enable", "directory meta/sha256/", 0, RECEIPT),
    ("enable", "directory meta/sha256", 0, RECEIPT),
    ("rollback", "directory meta/sha256/", 0, RECEIPT),
    ("rollback", "directory meta/sha256", 0, RECEIPT),
    ("gc", "directory .", 0, HEAD),
    ("remove, then gc", "directory .", 1, TWICE),
    ("remove, then gc", "directory .", 2, TWICE),
];
const SAME: &str = "the file was there and durable, but an install can't know that: a killed one may have placed it, \
    as `a_killed_install_is_why_old_names_are_synced` shows";
const RECEIPT: &str = "the trial run found what it had found at the install, so the receipt was there and durable; on \
    another kernel or under another policy it is a new file";
const HEAD: &str = "HEAD was durable, but a command can't know that: a killed one may have renamed it, as the other \
    commands show";
const TWICE: &str = "the end of `remove` and the beginning of `gc` sync the same; each would do for the other, and \
    either command may come alone";

fn is_spare(operation: &str, sync: &SyncCall) -> bool {
    let mut rows = SPARE.iter();
    rows.any(|(name, of, earlier, _)| {
        let fits = sync.of == *of || (of.ends_with('/') && sync.of.starts_with(of));
        *name == operation && fits && *earlier == sync.earlier
    })
}

#[test]
fn without_any_one_sync_some_image_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = Workshop::new(folder.path()).unwrap();
    let mut unexpected = Vec::new();
    for operation in &OPERATIONS {
        let syncs = syncs(&workshop, operation).unwrap();
        let mut needed = 0;
        for sync in &syncs {
            let first = first_run_without(&workshop, operation, sync).unwrap();
            let violation =
                first.or_else(|| second_run_without(&workshop, operation, sync).unwrap());
            needed += usize::from(violation.is_some());
            if violation.is_none() != is_spare(operation.name, sync) {
                unexpected.push(format!("{}: {sync:?}: {violation:?}", operation.name));
            }
        }
        println!(
            "{:20} {needed} of {} syncs are needed",
            operation.name,
            syncs.len()
        );
    }
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

/// The second run of an install finds files in place whose names aren't durable.
#[test]
fn a_killed_install_is_why_old_names_are_synced() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = Workshop::new(folder.path()).unwrap();
    let install = OPERATIONS.iter().find(|it| it.name == "install").unwrap();
    let syncs = syncs(&workshop, install).unwrap();
    let is_of_content = |sync: &&SyncCall| {
        sync.of.starts_with("directory objects") || sync.of.starts_with("directory meta")
    };
    let mut count = 0;
    for sync in syncs.iter().filter(is_of_content) {
        if !is_spare("install", sync) {
            let violation = second_run_without(&workshop, install, sync).unwrap();
            assert!(violation.is_some(), "{sync:?}");
            count += 1;
        }
    }
    assert!(count >= 4, "only {count}");
}
