//! `guild kernel selftest --crash`: makes what a crash may leave of a package store, and checks it. Uses keys and packages
//! of its own in a folder of its own; the user's store isn't touched.

use crate::args::SelftestArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Ending;
use crate::output::Output;
use guild_crash::{
    CrashError, Effort, Kills, Leash, OPERATIONS, Operation, PACKAGE, Random, Trial, Violation,
    Workshop, check,
};
use guild_package::{Store, StoreOptions};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The first word of the process that a trial kills. No command has it, so that no help shows it.
pub const TRIAL: &str = "__trial";
/// The word behind it for an operation that is no command.
const RUN_ONE: &str = "run-one";

/// Images of a sample.
const SAMPLE: u64 = 5_000;

/// How often, and after which pause, a folder is removed that something else still writes to.
const REMOVALS: usize = 20;
const REMOVAL_PAUSE: Duration = Duration::from_millis(50);

/// What was found of one operation.
struct Row {
    outcome: guild_crash::Outcome,
    kills: Kills,
}

/// Checks every operation, and ends with 1 where something doesn't hold.
pub fn run(args: &SelftestArgs, output: Output) -> Outcome<()> {
    let folder = Temporary::new()?;
    let leash = Leash::default();
    let (path, last) = (folder.0.clone(), leash.clone());
    let ending = Ending::clean_up(move || {
        last.cut();
        remove(&path);
    })?;
    let rows = check_all(args, &folder.0, &leash, output);
    ending.wait_for_the_end();
    answer(args, &rows?, output)
}

/// The process that a trial kills: [`RUN_ONE`] with an operation, a workshop and a store, or the words of a command. It
/// ends with the process that started it.
pub fn serve(words: &[OsString]) -> Option<Exit> {
    // Where the system can't, a process that outlives the other one ends by itself.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let [word, operation, workshop, store] = words else {
        return None;
    };
    if word != RUN_ONE {
        return None;
    }
    let output = Output::new(false);
    let operation = operation.to_string_lossy();
    match run_one(&operation, Path::new(workshop), Path::new(store), output) {
        Ok(()) => Some(Exit::Ok),
        Err(failure) => {
            output.failure(&failure);
            Some(failure.exit)
        }
    }
}

fn check_all(
    args: &SelftestArgs,
    folder: &Path,
    leash: &Leash,
    output: Output,
) -> Outcome<Vec<Row>> {
    let workshop = Workshop::new(folder)?;
    output.data("operation\timages\tsecond runs\tkilled\tviolations")?;
    let progress = output.progress(OPERATIONS.len() as u64, "operations checked");
    let mut rows = Vec::new();
    for operation in &OPERATIONS {
        let row = check_one(args, &workshop, operation, (folder, leash))?;
        output.data_beside(&progress, line(&row))?;
        for violation in row.violations() {
            progress.suspend(|| output.say(format!("{}: {violation}", operation.name)));
        }
        rows.push(row);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(rows)
}

fn check_one(
    args: &SelftestArgs,
    workshop: &Workshop,
    operation: &Operation,
    (folder, leash): (&Path, &Leash),
) -> Outcome<Row> {
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let effort = Effort {
        all_up_to: args.images.into(),
        sample: count(args.images.min(SAMPLE)),
        seed: args.seed,
        ..Effort::default()
    };
    let outcome = check(workshop, operation, &effort)?;
    let program =
        std::env::current_exe().map_err(|error| Failure::io(Path::new("this program"), &error))?;
    let words = words(operation, workshop);
    let command = |data: &Path| {
        let mut command = Command::new(&program);
        command.env_clear().arg(TRIAL);
        match &words {
            Some(words) => command
                .args(["--no-config", "--data-dir"])
                .arg(data)
                .arg("kernel")
                .args(words),
            None => command
                .args([RUN_ONE, operation.name])
                .arg(folder)
                .arg(data.join("kernels")),
        };
        command
    };
    let trial = Trial::new(workshop, operation)?;
    let mut random = Random::new(args.seed);
    let kills = trial.kill_at_random(folder, count(args.kills), &mut random, leash, &command)?;
    Ok(Row { outcome, kills })
}

/// One operation of the list on the store of a trial, in a process that may be killed at any moment. The packages of a
/// trial have no code, so nothing of them is run.
fn run_one(operation: &str, workshop: &Path, store: &Path, output: Output) -> Outcome<()> {
    let operation = Operation::named(operation)
        .ok_or_else(|| Failure::new(Exit::Usage, "there is no such operation"))?;
    let workshop = Workshop::at(workshop)?;
    if words(operation, &workshop).is_some() {
        return Err(Failure::new(Exit::Usage, "it is a command of its own"));
    }
    let store = Store::open(store, StoreOptions::default())?;
    // A store that trusts anybody else is somebody's, and nothing enters that without a trial run.
    let own = [workshop.publisher().id, workshop.other().id];
    if store
        .trust()?
        .keys()
        .iter()
        .any(|key| !own.contains(&key.id))
    {
        return Err(Failure::new(Exit::Usage, "the store isn't one of a trial"));
    }
    operation.run_on(&workshop, &store)?;
    output.data("done")
}

/// The words of the `guild kernel` command that is the operation; absent for one that would run a package's code, or is
/// no single command.
fn words(operation: &Operation, workshop: &Workshop) -> Option<Vec<OsString>> {
    let line = match operation.name {
        "trust add" => vec![
            "trust".into(),
            "add".into(),
            workshop.record_file("other").into(),
            "--scope".into(),
            "org.guild".into(),
        ],
        "trust rotate" => vec![
            "trust".into(),
            "rotate".into(),
            workshop.rotation_file().into(),
        ],
        "trust advisory" => vec![
            "trust".into(),
            "advisory".into(),
            workshop.advisory_file().into(),
            "--since-gen".into(),
            "2".into(),
        ],
        name => {
            let key = workshop.publisher().id;
            let text = match name {
                "disable" => format!("disable {PACKAGE}"),
                "remove" => format!("remove {PACKAGE}"),
                "trust revoke" => format!("trust revoke {key} --compromised --since-gen 2"),
                "trust policy" => "trust policy org.guild --distinct-operators".to_owned(),
                "floor" => format!("floor {PACKAGE} 1"),
                "gc" => "gc".to_owned(),
                _ => return None,
            };
            text.split(' ').map(OsString::from).collect()
        }
    };
    Some(line)
}

impl Row {
    fn violations(&self) -> impl Iterator<Item = &Violation> {
        self.outcome.violations.iter().chain(&self.kills.violations)
    }
}

fn line(row: &Row) -> String {
    let Row { outcome, kills } = row;
    let of = if outcome.all { "all" } else { "a sample" };
    format!(
        "{}\t{} ({of})\t{}\t{} of {}\t{}",
        outcome.operation,
        outcome.images,
        outcome.second_run_images,
        kills.killed,
        kills.runs,
        row.violations().count()
    )
}

fn answer(args: &SelftestArgs, rows: &[Row], output: Output) -> Outcome<()> {
    let violations: usize = rows.iter().map(|row| row.violations().count()).sum();
    if let Some(least) = always_made(args.images, rows) {
        output.say(format!(
            "--images {} is less than is made at least: up to {least} images of a command lack one thing or have one, and those are always made",
            args.images
        ));
    }
    let operations: Vec<Value> = rows.iter().map(object).collect();
    let fields = json!({
        "operations": operations,
        "violations": violations,
        "seed": args.seed,
    });
    let images: usize = rows
        .iter()
        .map(|row| row.outcome.images + row.outcome.second_run_images)
        .sum();
    let killed: usize = rows.iter().map(|row| row.kills.killed).sum();
    if violations == 0 {
        output.say(format!(
            "Whole after each of {images} power losses and {killed} kills"
        ));
        return output.object(fields);
    }
    let message = format!("{violations} crashes leave a store that isn't whole");
    Err(Failure::new(Exit::Internal, message)
        .hint("this is a fault in guild or in the file system below the temporary folder; report it with the seed")
        .with_fields(fields))
}

/// The most images of one command that were made though `asked` is less.
fn always_made(asked: u64, rows: &[Row]) -> Option<u64> {
    let sampled = rows.iter().filter(|row| !row.outcome.all);
    let images = sampled.map(|row| row.outcome.images as u64);
    images.filter(|images| *images > asked).max()
}

fn object(row: &Row) -> Value {
    let Row { outcome, kills } = row;
    let violations: Vec<String> = row.violations().map(Violation::to_string).collect();
    json!({
        "operation": outcome.operation,
        "changes": outcome.changes,
        "all": outcome.all,
        "images": outcome.images,
        "second_run_images": outcome.second_run_images,
        "kills": kills.runs,
        "killed": kills.killed,
        "violations": violations,
    })
}

/// A folder that goes with its value.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Outcome<Temporary> {
        let name = format!("guild-selftest-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // Somebody else's folder of that name is an error, and nothing is taken over.
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|error| Failure::io(&path, &error))?;
        Ok(Temporary(path))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Removes the folder, also while a process that is about to end still writes there.
fn remove(folder: &Path) {
    for _ in 0..REMOVALS {
        // What stays is a temporary file.
        let _ = std::fs::remove_dir_all(folder);
        if !folder.exists() {
            return;
        }
        std::thread::sleep(REMOVAL_PAUSE);
    }
}

impl From<CrashError> for Failure {
    fn from(error: CrashError) -> Failure {
        match error {
            CrashError::Package(error) => error.into(),
            CrashError::Io { path, source } => Failure::io(&path, &source),
            CrashError::Name(_) | CrashError::Json(_) => {
                Failure::new(Exit::Internal, error.to_string())
            }
        }
    }
}
