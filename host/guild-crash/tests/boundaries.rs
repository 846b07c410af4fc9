//! Each command, ended or failed at each boundary, in a process of its own. The program that is run is built here, with
//! failpoints, and is not `guild`.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use guild_crash::{Operation, Side, Trial, Workshop};

const FAULTS: [&str; 6] = ["abort", "kill", "panic", "eio", "enospc", "short"];

/// Each command and the boundaries that it comes to, beside B0, B7 and B8.
const OPERATIONS: [(&str, &[usize]); 14] = [
    ("install", &[1, 2, 3, 4, 5, 6]),
    ("install over damage", &[1, 2, 3]),
    ("enable", &[4, 5, 6]),
    ("disable", &[4, 5, 6]),
    ("rollback", &[4, 5, 6]),
    ("remove", &[4, 5, 6]),
    ("trust add", &[4, 5, 6]),
    ("trust revoke", &[4, 5, 6]),
    ("trust rotate", &[4, 5, 6]),
    ("trust policy", &[4, 5, 6]),
    ("trust advisory", &[4, 5, 6]),
    ("floor", &[4, 5, 6]),
    ("gc", &[9]),
    ("remove, then gc", &[4, 5, 6, 9]),
];

/// The program with failpoints. The features of everything else are those of `cargo test --workspace`, so that little is
/// built, and only this program is linked with them.
fn child() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let target = own.ancestors().nth(3).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .args([
            "build",
            "--quiet",
            "--workspace",
            "--example",
            "crash-child",
        ])
        .args(["--features", "guild-crash/failpoints", "--target-dir"])
        .arg(target)
        .status()
        .unwrap();
    assert!(built.success());
    target.join("debug/examples/crash-child")
}

/// Everything that killed changes can leave.
fn litter(store: &Path) {
    let staging = store.join("staging/00000000deadbeef");
    fs::create_dir(&staging).unwrap();
    fs::write(staging.join("1"), "half a bundle").unwrap();
    fs::write(store.join("HEAD.tmp"), "9 half").unwrap();
    fs::write(store.join("gen/99-00000000.json"), "{}").unwrap();
    fs::write(store.join("trust/99.json"), "{}").unwrap();
}

struct Matrix<'a> {
    child: PathBuf,
    workshop: &'a Path,
    trial: Trial<'a>,
    operation: &'a str,
    runs: usize,
}

impl Matrix<'_> {
    /// Fails the command at the boundary's `times`th time. Whether there was one.
    fn fail(&mut self, boundary: usize, fault: &str, times: usize) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("kernels");
        self.trial.lay_out(&store).unwrap();
        litter(&store);
        let place = format!("{}: B{boundary}:{fault}:{times}", self.operation);
        let output = Command::new(&self.child)
            .args([self.workshop, &store])
            .arg(self.operation)
            .env("GUILD_FAILPOINT", format!("B{boundary}:{fault}:{times}"))
            .output()
            .unwrap();
        self.runs += 1;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let was_reached = said.contains("failpoint reached");
        let is_done = output.stdout == b"done\n";
        assert_eq!(is_done, output.status.success(), "{place}: {said}");
        assert!(was_reached || is_done, "{place}: {said}");
        if !was_reached {
            return false;
        }
        ended_as_planned(&place, fault, &output);
        self.is_on_the_right_side(&place, (boundary, fault), &store);
        let violation = self.trial.judge(&store, is_done).unwrap();
        assert!(violation.is_none(), "{place}: {}", violation.unwrap());
        true
    }

    /// Nothing before the rename of `HEAD` is in force, everything after it is.
    fn is_on_the_right_side(&self, place: &str, (boundary, fault): (usize, &str), store: &Path) {
        let side = self.trial.side(store).unwrap();
        let is_end = ["abort", "kill", "panic"].contains(&fault);
        let expected = match boundary {
            // Two changes, of which the first may have been made.
            _ if self.operation == "remove, then gc" => return,
            _ if side == Some(Side::Both) => return,
            0..=4 | 8 if is_end => Side::Before,
            5..=7 if is_end => Side::After,
            _ => return assert!(side.is_some(), "{place}"),
        };
        assert_eq!(side, Some(expected), "{place}");
    }
}

fn ended_as_planned(place: &str, fault: &str, output: &Output) {
    let (code, signal) = (output.status.code(), output.status.signal());
    let is_planned = match fault {
        "abort" => signal == Some(6),
        "kill" => signal == Some(9),
        "panic" => code == Some(101),
        "short" => code == Some(0),
        // A fault that comes after the last call of its kind, or in the cleaning up, harms nobody.
        _ => code == Some(0) || code == Some(3),
    };
    assert!(is_planned, "{place}: {}", output.status);
}

/// One command at all of its boundaries. How often it ran.
fn at_every_boundary(
    (name, boundaries): (&str, &[usize]),
    workshop: &Workshop,
    folder: &Path,
    child: &Path,
) -> usize {
    let operation = Operation::named(name).unwrap();
    let mut matrix = Matrix {
        child: child.to_owned(),
        workshop: folder,
        trial: Trial::new(workshop, operation).unwrap(),
        operation: name,
        runs: 0,
    };
    for boundary in (0..=9).filter(|b| [0, 7, 8].contains(b) || boundaries.contains(b)) {
        for fault in FAULTS {
            let mut times = 1;
            while matrix.fail(boundary, fault, times) {
                times += 1;
            }
            assert!(times > 1, "{name} never comes to B{boundary}");
        }
    }
    println!("{name:20} {} runs", matrix.runs);
    matrix.runs
}

#[test]
fn rows_60_61_63_64_67_every_command_ended_at_every_boundary() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = Workshop::new(folder.path()).unwrap();
    let child = child();
    let program = fs::read(&child).unwrap();
    let has_failpoints = program.windows(15).any(|text| text == b"GUILD_FAILPOINT");
    assert!(has_failpoints, "the name that tests/end-to-end looks for");
    let next = AtomicUsize::new(0);
    let work = || {
        let mut runs = 0;
        while let Some(operation) = OPERATIONS.get(next.fetch_add(1, Ordering::Relaxed)) {
            runs += at_every_boundary(*operation, &workshop, folder.path(), &child);
        }
        runs
    };
    let runs = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        work() + other.join().unwrap()
    });
    assert!(runs > 500, "only {runs} runs");
}
