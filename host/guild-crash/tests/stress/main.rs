//! Row 65: many processes work on one store and are killed at random moments. Every generation must follow from the one
//! before by exactly one command, and every command that said it succeeded must be in the chain, in its order.
//!
//! `GUILD_CRASH_STRESS=PROCESSES,COMMANDS,SEED` sets the size.

mod model;
mod worker;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use guild_crash::{Random, Workshop};
use guild_package::{Store, StoreOptions};

use crate::model::{Act, chain, follows};

/// A command that was answered: its place in the worker's sequence, what it was, and the generation that it made.
#[derive(Clone, Copy, Debug)]
struct Answer {
    worker: usize,
    index: usize,
    act: Act,
    generation: Option<u64>,
}

/// Processes, commands of each, seed.
fn size() -> (usize, usize, usize) {
    let text = std::env::var("GUILD_CRASH_STRESS").unwrap_or_else(|_| "8,500,1".to_owned());
    let mut numbers = text.split(',').map(|number| number.parse().unwrap());
    let mut next = || numbers.next().unwrap();
    (next(), next(), next())
}

/// Starts the worker in this program: a test that does nothing unless it is asked this way.
fn start(folder: &Path, plan: (usize, usize, usize)) -> Child {
    let (seed, from, to) = plan;
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worker::works", "--ignored", "--nocapture"])
        .env("GUILD_CRASH_WORKER", folder)
        .env("GUILD_CRASH_PLAN", format!("{seed},{from},{to}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// Runs a worker's commands to the end, killing it now and then. The number of kills.
fn drive(
    folder: &Path,
    (worker, commands, seed): (usize, usize, usize),
    answers: &Mutex<Vec<Answer>>,
) -> usize {
    let mut random = Random::new((seed * 1000 + worker) as u64);
    let (mut done, mut kills) = (0, 0);
    while done < commands {
        let mut child = start(folder, (seed * 1000 + worker, done, commands));
        let output = BufReader::new(child.stdout.take().unwrap());
        let moment = Duration::from_millis(random.below(250) as u64);
        let killer = std::thread::spawn(move || {
            std::thread::sleep(moment);
            let _ = child.kill();
            child.wait().unwrap()
        });
        for line in output.lines() {
            let Some((index, act, generation)) = worker::parse(&line.unwrap()) else {
                continue;
            };
            done = index + 1;
            answers.lock().unwrap().push(Answer {
                worker,
                index,
                act,
                generation,
            });
        }
        let status = killer.join().unwrap();
        kills += usize::from(!status.success());
        let is_killed = std::os::unix::process::ExitStatusExt::signal(&status) == Some(9);
        assert!(status.success() || is_killed, "worker {worker}: {status}");
    }
    kills
}

#[test]
fn row_65_random_commands_and_kills_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = Workshop::new(folder.path()).unwrap();
    let path = folder.path().join("kernels");
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    worker::trust_publisher(&store, &workshop);
    let (workers, commands, seed) = size();
    let answers = Mutex::new(Vec::new());
    let kills: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|worker| {
                let (folder, answers) = (folder.path(), &answers);
                scope.spawn(move || drive(folder, (worker, commands, seed), answers))
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    let answers = answers.into_inner().unwrap();
    judge(&store, &path, &answers, kills);
    store.recover().unwrap();
    store.collect_garbage().unwrap();
    let examined = store.examine().unwrap();
    assert!(examined.faults.is_empty(), "{:?}", examined.faults);
    assert!(examined.strangers.is_empty(), "{:?}", examined.strangers);
    assert!(store.sessions().unwrap().is_empty());
}

fn judge(store: &Store, path: &Path, answers: &[Answer], kills: usize) {
    store.verify_chain().unwrap();
    let chain = chain(store, path);
    // Number 0 made the store, number 1 trusts the publisher.
    let mut made: BTreeMap<u64, Act> = BTreeMap::new();
    let mut last: BTreeMap<usize, (usize, u64)> = BTreeMap::new();
    for answer in answers {
        let Some(n) = answer.generation else { continue };
        let twin = made.insert(n, answer.act);
        assert!(twin.is_none(), "{answer:?} and {twin:?} made the same");
        let before = last.insert(answer.worker, (answer.index, n));
        let is_in_order = before.is_none_or(|(index, before)| index < answer.index && before < n);
        assert!(is_in_order, "{answer:?} comes after {before:?}");
    }
    let mut unanswered = 0;
    for pair in chain.windows(2).skip(1) {
        let [older, newer] = pair else { continue };
        match made.remove(&newer.n) {
            Some(act) => assert!(follows(older, act, newer), "{act:?}: {older:?} {newer:?}"),
            None => {
                let act = Act::ALL.iter().find(|act| follows(older, **act, newer));
                assert!(act.is_some(), "nothing leads from {older:?} to {newer:?}");
                unanswered += 1;
            }
        }
    }
    assert!(made.is_empty(), "said to be made, and lost: {made:?}");
    // A kill swallows the answer of one command at most.
    assert!(unanswered <= kills, "{unanswered} of {kills} kills");
    println!(
        "{} answers, {} generations, {kills} kills, {unanswered} answers lost",
        answers.len(),
        chain.len()
    );
    let committed = chain.len() - 2;
    assert!(committed * 10 > answers.len(), "only {committed} changes");
}
