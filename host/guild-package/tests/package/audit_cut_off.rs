//! The audit log where an append ends between two of its steps.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use guild_package::audit::{Appended, AuditLog, FaultKind};

use crate::audit::{Place, START_S, refusal};

/// Tells a second process where the log is.
const FOLDER: &str = "GUILD_TEST_AUDIT_FOLDER";

#[test]
#[ignore = "run by the test below, with little room in each file"]
fn appends_one_more() {
    let dir = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let log = AuditLog::open(&dir).unwrap();
    let _ = log.append(&refusal(START_S + 2, 2));
}

/// The system ends the process in the middle of its first write that passes the limit.
#[test]
fn counts_outlive_a_process_that_ends_in_the_middle_of_a_write() {
    let place = Place::new();
    for _ in 0..3 {
        place.log().append(&refusal(START_S, 1)).unwrap();
    }
    let length = fs::metadata(place.segment(0)).unwrap().len();
    // A shell's limit counts in such blocks: the log fits, and no other record.
    let blocks = length.div_ceil(512);
    let line = format!(
        "ulimit -f {blocks}; exec \"$0\" --ignored --exact audit_cut_off::appends_one_more"
    );
    let status = Command::new("sh")
        .args(["-c", &line])
        .arg(std::env::current_exe().unwrap())
        .env(FOLDER, place.dir())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(25), "SIGXFSZ: {status}");
    let verified = place.log().verify().unwrap();
    assert_eq!((verified.records, verified.counted), (1, 2));
    assert!(verified.faults.is_empty(), "{:?}", verified.faults);
    // And the next one goes on.
    let appended = place.log().append(&refusal(START_S + 60, 1)).unwrap();
    assert_eq!(appended, Appended::Written);
    assert_eq!(place.refusals().last().unwrap().repeated, Some(2));
    assert!(!place.dir().join("next.tmp").exists());
}

/// The log deletes none before there are eight.
#[test]
fn an_old_segment_that_somebody_deleted_is_named() {
    let place = Place::new();
    place.log().append(&refusal(START_S, 1)).unwrap();
    fs::rename(place.segment(0), place.segment(3)).unwrap();
    let faults = place.faults();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!((faults[0].segment, faults[0].kind), (2, FaultKind::Missing));
}
