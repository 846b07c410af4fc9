//! The audit log with several writers, and with writers that are killed while they write.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use guild_package::Error;
use guild_package::audit::{Appended, AuditLog, FaultKind, Refusal};

use crate::audit::{Place, START_S, refusal};

/// Tells a second process where the log is, and from which package on its refusals are.
const FOLDER: &str = "GUILD_TEST_AUDIT_FOLDER";
const FIRST: &str = "GUILD_TEST_AUDIT_FIRST";
/// So many packages belong to one process.
const EACH: usize = 100_000;

/// No two are within a minute, whoever writes them.
fn apart(package: usize) -> Refusal {
    refusal(START_S + 60 * package as u64, package)
}

/// A process of this program that appends until it is killed, and says so after each.
fn writer(dir: &Path, first: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "audit_killed::appends_until_it_is_killed",
            "--nocapture",
        ])
        .env(FOLDER, dir)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "run by the tests below, and killed"]
fn appends_until_it_is_killed() {
    let dir = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let first: usize = std::env::var(FIRST).unwrap().parse().unwrap();
    for package in first..first + EACH {
        let log = AuditLog::open(&dir).unwrap();
        // The lock isn't handed round in turn: under load the other writer may take it each time.
        let appended = loop {
            match log.append(&apart(package)) {
                Err(Error::StoreLocked { .. }) => {}
                other => break other.unwrap(),
            }
        };
        assert_eq!(appended, Appended::Written);
        println!("appended {package}");
        std::io::stdout().flush().unwrap();
    }
}

/// Kills the writers after `time`; gives the packages that they said they had appended.
fn kill(mut writers: Vec<Child>, time: Duration) -> BTreeSet<usize> {
    let mut first = Vec::new();
    for writer in &mut writers {
        // Not before each has begun.
        let mut lines = BufReader::new(writer.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("appended") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "a writer ended");
        }
        first.push((line, lines));
    }
    std::thread::sleep(time);
    for writer in &mut writers {
        writer.kill().unwrap();
        writer.wait().unwrap();
    }
    let mut said = BTreeSet::new();
    for (line, rest) in first {
        let lines = std::iter::once(line).chain(rest.lines().map(Result::unwrap));
        let packages = lines.filter_map(|line| line.strip_prefix("appended ")?.trim().parse().ok());
        said.extend(packages.collect::<Vec<usize>>());
    }
    said
}

fn packages(place: &Place) -> BTreeSet<usize> {
    let at = place.refusals().into_iter().map(|refusal| refusal.at);
    at.map(|at| usize::try_from((at - START_S) / 60).unwrap())
        .collect()
}

#[test]
fn a_writer_that_is_killed_loses_nothing_that_it_had_appended() {
    let place = Place::new();
    place.log();
    let mut said = BTreeSet::new();
    for round in 0..25 {
        let writers = vec![writer(&place.dir(), round * EACH)];
        said.extend(kill(writers, Duration::from_micros(700 * round as u64)));
        let verified = place.log().verify().unwrap();
        let is_torn = verified
            .faults
            .iter()
            .all(|fault| fault.kind == FaultKind::Torn);
        assert!(is_torn, "{:?}", verified.faults);
        assert!(said.is_subset(&packages(&place)), "a record is missing");
    }
    assert!(said.len() >= 25);
    place.log().append(&apart(30 * EACH)).unwrap();
    assert!(place.faults().is_empty());
}

#[test]
fn two_processes_append_at_once() {
    let place = Place::new();
    place.log();
    let writers = (0..2).map(|n| writer(&place.dir(), n * EACH)).collect();
    let said = kill(writers, Duration::from_millis(300));
    let (one, other): (Vec<usize>, Vec<usize>) = said.iter().partition(|n| **n < EACH);
    assert!(!one.is_empty() && !other.is_empty());
    assert!(said.is_subset(&packages(&place)));
    place.log().append(&apart(30 * EACH)).unwrap();
    assert!(place.faults().is_empty());
}

#[test]
fn threads_with_logs_of_their_own_append_at_once() {
    let place = Place::new();
    let dir = place.dir();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let dir = &dir;
            scope.spawn(move || {
                for n in 0..20 {
                    let log = AuditLog::open_or_make(dir, false).unwrap();
                    log.append(&apart(4 * n + thread)).unwrap();
                }
            });
        }
    });
    assert_eq!(packages(&place), (0..80).collect());
    assert!(place.faults().is_empty());
}
