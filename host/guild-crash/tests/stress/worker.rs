//! The process that is killed: runs its part of a sequence that the seed gives, and answers each command in a line.

use std::io::Write as _;
use std::path::Path;

use guild_crash::unprobed::Unprobed;
use guild_crash::{PACKAGE, Random, Workshop};
use guild_package::store::RollbackOptions;
use guild_package::trust::{Grant, Scope};
use guild_package::{Code, InstallOptions, Result, Store, StoreOptions};

use crate::model::{Act, version};

/// Nothing, unless the stress test has started this process.
#[test]
#[ignore = "runs in processes that the stress test starts"]
fn works() {
    let Some(folder) = std::env::var_os("GUILD_CRASH_WORKER") else {
        return;
    };
    let folder = Path::new(&folder);
    let plan = std::env::var("GUILD_CRASH_PLAN").unwrap();
    let numbers: Vec<usize> = plan.split(',').map(|it| it.parse().unwrap()).collect();
    let (seed, from, to) = (numbers[0], numbers[1], numbers[2]);
    let workshop = Workshop::at(folder).unwrap();
    let options = StoreOptions {
        create: false,
        lock_wait_ms: 120_000,
        ..StoreOptions::default()
    };
    let store = Store::open(&folder.join("kernels"), options).unwrap();
    for index in from..to {
        let act = Act::ALL[Random::new((seed * 100_000 + index) as u64).below(Act::ALL.len())];
        let answer = match run(act, &workshop, &store) {
            Ok(generation) => generation.map_or("-".to_owned(), |n| n.to_string()),
            Err(error) if is_refusal(error.code()) => "-".to_owned(),
            Err(error) => panic!("{act:?}: {error}"),
        };
        // One write, so that a kill leaves no half of it that could be read as a whole.
        let line = format!("\nanswer {index} {} {answer} .\n", number(act));
        std::io::stdout().write_all(line.as_bytes()).unwrap();
        std::io::stdout().flush().unwrap();
    }
}

/// What may be said to a command that comes at the wrong moment.
fn is_refusal(code: Code) -> bool {
    matches!(
        code,
        Code::NotFound
            | Code::ActiveSessionBusy
            | Code::RollbackUnavailable
            | Code::KeyUntrusted
            | Code::Usage
    )
}

/// The generation that the command made, if it made one.
fn run(act: Act, workshop: &Workshop, store: &Store) -> Result<Option<u64>> {
    let id = PACKAGE.parse().unwrap();
    Ok(match act {
        Act::Install(index) => {
            let options = InstallOptions {
                allow_downgrade: true,
                ..InstallOptions::default()
            };
            let bundle = workshop.bundle(&version(index).to_string());
            let installed = store.install(&bundle, &options, &Unprobed)?;
            (!installed.already_installed).then_some(installed.generation)
        }
        Act::Enable(index) => {
            let selected = store.enable(&id, Some(&version(index)), &Unprobed)?;
            selected.changed.then_some(selected.generation)
        }
        Act::Disable => {
            let selected = store.disable(&id, None)?;
            selected.changed.then_some(selected.generation)
        }
        Act::Rollback => {
            let selected = store.rollback(Some(&id), RollbackOptions::default(), &Unprobed)?;
            selected.changed.then_some(selected.generation)
        }
        Act::Remove(index) => Some(store.remove(&id, Some(&version(index)))?.generation),
        Act::Floor => Some(store.raise_floor(&id, 1)?.generation),
        Act::TrustAdd => {
            let added = store.trust_add(workshop.other(), &grant("org.other"))?;
            Some(added.generation)
        }
        Act::Collect => {
            store.collect_garbage()?;
            None
        }
        Act::Session => {
            for (package, _lease) in store.enabled_with_leases("stress")? {
                for artifact in package.artifacts() {
                    package
                        .open_artifact(&artifact)?
                        .copy_verified(|_| Ok(()))?;
                }
            }
            None
        }
    })
}

fn number(act: Act) -> usize {
    Act::ALL.iter().position(|other| *other == act).unwrap()
}

/// A line of an answer: index, command, generation.
pub fn parse(line: &str) -> Option<(usize, Act, Option<u64>)> {
    let words: Vec<&str> = line.split(' ').collect();
    let ["answer", index, act, generation, "."] = words[..] else {
        return None;
    };
    let act = Act::ALL[act.parse::<usize>().ok()?];
    Some((index.parse().ok()?, act, generation.parse().ok()))
}

pub fn trust_publisher(store: &Store, workshop: &Workshop) {
    let added = store.trust_add(workshop.publisher(), &grant("org.guild"));
    assert_eq!(added.unwrap().generation, 1);
}

fn grant(prefix: &str) -> Grant {
    Grant {
        scopes: vec![Scope::publish(prefix.parse().unwrap()).unwrap()],
        everything_understood: false,
        not_before: None,
        not_after: None,
    }
}
