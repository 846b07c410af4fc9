//! Every crash of one operation: records it once, makes the images of every prefix of its changes, and has each judged.

use std::collections::HashSet;
use std::sync::Arc;

use guild_package::Digest;

use crate::disk::{Disk, Effect};
use crate::error::Result;
use crate::image::{self, Choice, Point};
use crate::invariant::{Invariant, Violation};
use crate::judge::{Judge, is_refusal};
use crate::memory_fs::{MemoryFs, SyncCall};
use crate::operation::{Base, Operation};
use crate::random::Random;
use crate::snapshot::Snapshot;
use crate::workshop::Workshop;

/// How many images are made.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Up to so many legal images, all are made.
    pub all_up_to: u128,
    /// Otherwise at least so many different ones are.
    pub sample: usize,
    /// Images of each change of a second run after a killed first one, drawn by chance.
    pub second_run: usize,
    /// For what is drawn by chance.
    pub seed: u64,
}

/// What the check of an operation found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The operation's name.
    pub operation: &'static str,
    /// Changes that it makes on the disk, syncs included.
    pub changes: usize,
    /// How many choices a power loss has, over all prefixes; different choices may give the same image.
    pub legal: u128,
    /// Whether all were made.
    pub all: bool,
    /// Different images that were judged.
    pub images: usize,
    /// Different images of runs after a killed run.
    pub second_run_images: usize,
    /// What doesn't hold.
    pub violations: Vec<Violation>,
}

/// Violations that are kept; more add nothing.
const VIOLATIONS_MAX: usize = 20;

impl Effort {
    /// The images that lack one thing, and those that have one thing.
    const LEAST: Self = Self {
        all_up_to: 0,
        sample: 0,
        second_run: 0,
        seed: 1,
    };
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            all_up_to: 250_000,
            sample: 5_000,
            second_run: 4,
            seed: 1,
        }
    }
}

/// Checks an operation.
///
/// # Errors
/// Where the operation can't be prepared or fails without a crash.
pub fn check(workshop: &Workshop, operation: &Operation, effort: &Effort) -> Result<Outcome> {
    let mut run = Run::record(workshop, operation, None)?;
    run.first_run(effort);
    run.second_runs(effort);
    Ok(run.outcome)
}

/// The first violation when the sync `skipped` of a single run does nothing.
///
/// # Errors
/// As [`check`].
pub fn first_run_without(
    workshop: &Workshop,
    operation: &Operation,
    skipped: &SyncCall,
) -> Result<Option<Violation>> {
    let mut run = Run::record(workshop, operation, Some(skipped.clone()))?;
    run.violations_max = 1;
    run.first_run(&Effort::LEAST);
    Ok(run.outcome.violations.pop())
}

/// The first violation when a first run is whole, and killed, and the sync `skipped` of a second one does nothing.
///
/// # Errors
/// As [`check`].
pub fn second_run_without(
    workshop: &Workshop,
    operation: &Operation,
    skipped: &SyncCall,
) -> Result<Option<Violation>> {
    let mut run = Run::record(workshop, operation, None)?;
    run.violations_max = 1;
    run.skipped = Some(skipped.clone());
    run.second_runs(&Effort::LEAST);
    Ok(run.outcome.violations.pop())
}

/// The calls of an operation that make something durable, in order. Names that are drawn by chance are stars.
///
/// # Errors
/// As [`check`].
pub fn syncs(workshop: &Workshop, operation: &Operation) -> Result<Vec<SyncCall>> {
    let fs = Arc::new(MemoryFs::new(operation.prepare(workshop)?, None));
    operation.run(workshop, fs.clone())?;
    Ok(fs.syncs())
}

/// A recorded run and what was found so far.
struct Run<'a> {
    judge: Judge<'a>,
    /// The disk after each change, with what is durable of it.
    prefixes: Vec<Disk>,
    effects: Vec<Effect>,
    skipped: Option<SyncCall>,
    seen: HashSet<(Digest, bool)>,
    outcome: Outcome,
    violations_max: usize,
}

impl<'a> Run<'a> {
    fn record(
        workshop: &'a Workshop,
        operation: &'a Operation,
        skipped: Option<SyncCall>,
    ) -> Result<Self> {
        let prepared = operation.prepare(workshop)?;
        let fs = Arc::new(MemoryFs::new(prepared.clone(), skipped));
        operation.run(workshop, fs.clone())?;
        let snapshots = (Snapshot::of(&prepared)?, Snapshot::of(&fs.disk())?);
        let effects = fs.effects();
        Ok(Self {
            judge: Judge::new(workshop, operation, snapshots, &prepared),
            prefixes: replay(&prepared, &effects),
            skipped: None,
            seen: HashSet::new(),
            outcome: Outcome {
                operation: operation.name,
                changes: effects.len(),
                legal: 0,
                all: false,
                images: 0,
                second_run_images: 0,
                violations: Vec::new(),
            },
            effects,
            violations_max: VIOLATIONS_MAX,
        })
    }

    fn is_enough(&self) -> bool {
        self.outcome.violations.len() >= self.violations_max
    }

    /// The images of a crash in the one run.
    fn first_run(&mut self, effort: &Effort) {
        let prefixes = std::mem::take(&mut self.prefixes);
        let points: Vec<Vec<Point>> = prefixes.iter().map(image::points).collect();
        self.outcome.legal = points.iter().map(|points| image::count(points)).sum();
        self.outcome.all = self.outcome.legal <= effort.all_up_to;
        let last = prefixes.len() - 1;
        for (at, (disk, points)) in prefixes.iter().zip(&points).enumerate() {
            let choices: Box<dyn Iterator<Item = Choice>> = match self.outcome.all {
                true => Box::new(image::all(points)),
                false => Box::new(image::systematic(points).into_iter()),
            };
            for choice in choices {
                let place = place(&self.effects, at, points, &choice);
                self.judge_image(disk, points, &choice, (place, at == last));
                if self.is_enough() {
                    return;
                }
            }
        }
        self.draw(effort, &prefixes, &points);
        self.outcome.images = self.seen.len();
        self.prefixes = prefixes;
    }

    /// Images by chance, until there are as many as asked for.
    fn draw(&mut self, effort: &Effort, prefixes: &[Disk], points: &[Vec<Point>]) {
        let mut random = Random::new(effort.seed);
        let mut tries = effort.sample.saturating_mul(8);
        while !self.outcome.all && self.seen.len() < effort.sample && tries > 0 && !self.is_enough()
        {
            tries -= 1;
            let at = random.below(prefixes.len());
            let choice = image::drawn(&points[at], &mut random);
            let place = place(&self.effects, at, &points[at], &choice);
            let is_last = at + 1 == prefixes.len();
            self.judge_image(&prefixes[at], &points[at], &choice, (place, is_last));
        }
    }

    /// The process is killed after each change, so that nothing is lost yet; the command runs again; then power is
    /// lost, at any of its changes or after its end.
    fn second_runs(&mut self, effort: &Effort) {
        let before = self.seen.len();
        let mut random = Random::new(effort.seed);
        let killed = std::mem::take(&mut self.prefixes);
        for (at, disk) in killed.iter().enumerate() {
            if self.is_enough() {
                break;
            }
            // After its last change the first run may have said that it succeeded.
            let first_is_done = at + 1 == killed.len();
            self.second_run((at, first_is_done), disk, effort, &mut random);
        }
        self.prefixes = killed;
        self.outcome.second_run_images = self.seen.len() - before;
    }

    fn second_run(
        &mut self,
        (killed_at, first_is_done): (usize, bool),
        disk: &Disk,
        effort: &Effort,
        random: &mut Random,
    ) {
        let fs = Arc::new(MemoryFs::new(disk.clone(), self.skipped.clone()));
        let killed = place(&self.effects, killed_at, &[], &[]);
        if let Err(error) = self.run_again(&fs) {
            self.outcome.violations.push(Violation {
                place: format!("killed {killed}"),
                ..Violation::new(Invariant::Again, error)
            });
            return;
        }
        let effects = fs.effects();
        let prefixes = replay(disk, &effects);
        for (at, disk) in prefixes.iter().enumerate() {
            let is_last = at + 1 == prefixes.len();
            let points = image::points(disk);
            let mut choices = image::systematic(&points);
            if !is_last {
                choices.truncate(1 + usize::from(effort.second_run > 0));
                choices.extend((0..effort.second_run).map(|_| image::drawn(&points, random)));
            }
            for choice in choices {
                let again = place(&effects, at, &points, &choice);
                let place = format!("killed {killed}; in the second run {again}");
                let acknowledged = is_last || first_is_done;
                self.judge_image(disk, &points, &choice, (place, acknowledged));
                if self.is_enough() {
                    return;
                }
            }
        }
    }

    /// The command once more. It may be refused where it had committed.
    fn run_again(&self, fs: &Arc<MemoryFs>) -> Result<()> {
        let Judge {
            workshop,
            operation,
            ..
        } = self.judge;
        match operation.run(workshop, fs.clone()) {
            Err(error) if is_refusal(&error) => {}
            other => other?,
        }
        if operation.base == Base::Empty {
            // Opening a store that is there promises nothing; the next command does.
            operation.open(fs.clone())?.recover()?;
        }
        Ok(())
    }

    fn judge_image(
        &mut self,
        disk: &Disk,
        points: &[Point],
        choice: &[usize],
        (place, acknowledged): (String, bool),
    ) {
        let image = image::image(disk, points, choice);
        if !self.seen.insert((image.key(), acknowledged)) {
            return;
        }
        if let Err(violation) = self.judge.image(&image, acknowledged) {
            self.outcome
                .violations
                .push(Violation { place, ..violation });
        }
    }
}

/// The disk before the first effect, and after each.
fn replay(start: &Disk, effects: &[Effect]) -> Vec<Disk> {
    let mut disk = start.clone();
    let mut prefixes = vec![disk.clone()];
    for effect in effects {
        disk.apply(effect);
        prefixes.push(disk.clone());
    }
    prefixes
}

/// The moment, and what of it isn't there.
fn place(effects: &[Effect], at: usize, points: &[Point], choice: &[usize]) -> String {
    let last = at.checked_sub(1).and_then(|last| effects.get(last));
    let mut text = match last {
        Some(effect) => format!("after change {at} of {} ({effect})", effects.len()),
        None => "before the first change".to_owned(),
    };
    for (point, option) in points.iter().zip(choice).filter(|(_, option)| **option > 0) {
        let is_lost = option + 1 == point.options();
        text += &match (point, is_lost) {
            (Point::Name((_, name), _), true) => format!(", the change of {name} lost"),
            (Point::Name((_, name), _), false) => format!(", one change of {name} lost"),
            (Point::File(..), true) => ", a file's bytes lost".to_owned(),
            (Point::File(..), false) => format!(", a file's bytes damaged ({option})"),
        };
    }
    text
}
