//! Each command on a disk that becomes full at each of its calls.

use guild_crash::{OPERATIONS, Trial, Workshop};

#[test]
fn row_64_a_disk_may_be_full_at_any_call() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = Workshop::new(folder.path()).unwrap();
    let mut violations = Vec::new();
    for operation in &OPERATIONS {
        let trial = Trial::new(&workshop, operation).unwrap();
        let found = trial.on_full_disks().unwrap();
        println!(
            "{:20} {:3} runs, {:3} refused, {:3} at a reservation",
            operation.name, found.runs, found.refused, found.at_reservation
        );
        assert_eq!(found.refused, found.runs, "{}", operation.name);
        let writes_nothing = operation.name == "gc";
        assert_eq!(found.runs == 0, writes_nothing, "{}", operation.name);
        // A file of a package has a size from the beginning, so its room is reserved before it is written. The receipts
        // of these `enable` and `rollback` are there already.
        let reserves = ["install", "install over damage"];
        assert_eq!(
            found.at_reservation > 0,
            reserves.contains(&operation.name),
            "{}",
            operation.name
        );
        let found = found.violations.iter();
        violations.extend(found.map(|violation| format!("{}: {violation}", operation.name)));
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}
