//! The chain of generations read backwards: what changed the store, and whether the chain is whole.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::checkpoint::Checkpoint;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::name::{PackageId, PackageVersion, ProvidedName, Word};
use crate::store::Store;
use crate::store::generation::{Active, Generation, Pin};
use crate::store::path::StorePath;
use crate::store::state::{Head, Root, State};
use crate::text::PlainText;
use crate::trust::{TrustChange, TrustStore};

/// One generation, as the difference from the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The generation.
    pub n: u64,
    /// Digest of its file.
    pub sha256: Digest,
    /// The command that made it.
    pub op: Word,
    /// The newest time any command had seen, in seconds since 1970-01-01 UTC.
    pub time_seen: u64,
    /// Versions that were installed, ascending.
    pub installed: Vec<Pin>,
    /// Versions that were removed, ascending.
    pub removed: Vec<Pin>,
    /// Packages of which another version was enabled than before, ascending.
    pub selected: Vec<Selection>,
    /// Floors that were raised, ascending by package.
    pub floors: Vec<(PackageId, u64)>,
    /// Versions up to which an install enables none from here on, ascending by package.
    pub held: Vec<(PackageId, PackageVersion)>,
    /// Names that another package, version or person's choice serves than before, ascending.
    pub active: Vec<ActiveChange>,
    /// The trust file that was put in force, if it is another one.
    pub trust: Option<u64>,
    /// What that says that the one before didn't.
    pub trust_changes: Vec<TrustChange>,
}

/// Who serves a name by default, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActiveChange {
    /// The operation, runner or device.
    pub name: ProvidedName,
    /// Before.
    pub before: Option<Active>,
    /// After.
    pub after: Option<Active>,
}

/// A package's enabled version, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Selection {
    /// The package.
    pub id: PackageId,
    /// Before.
    pub before: Option<PackageVersion>,
    /// After.
    pub after: Option<PackageVersion>,
}

/// A chain that was walked from `HEAD` to its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WholeChain {
    /// Generations, the one in force and number 0 included.
    pub generations: u64,
    /// Trust files, number 0 included.
    pub trust_files: u64,
}

impl Store {
    /// What changed the store, newest first, at most `count` entries. Every generation on the way has the digest by
    /// which its successor names it.
    ///
    /// # Errors
    /// [`Error::StoreCorrupt`] or [`Error::Io`].
    pub fn log(&self, count: usize) -> Result<Vec<LogEntry>> {
        let state = self.root.state()?;
        let mut chain = Chain::from(&self.root, &state);
        let mut entries = Vec::new();
        let mut newer = chain.next().transpose()?;
        while let Some((head, generation)) = newer {
            if entries.len() == count {
                break;
            }
            let older = chain.next().transpose()?;
            let before = older.as_ref().map(|(_, generation)| generation);
            let mut entry = entry(head, &generation, before);
            if let (Some(_), Some(before)) = (entry.trust, before) {
                let (now, before) = (generation.trust, before.trust);
                let now = self.root.trust_file(now)?;
                let before = self.root.trust_file(before)?;
                entry.trust_changes = now.body().changes_since(before.body());
            }
            entries.push(entry);
            newer = older;
        }
        Ok(entries)
    }

    /// Walks the whole chain: every generation and every trust file has the digest by which it is named, numbers have
    /// no gaps, and what may never shrink never did.
    ///
    /// # Errors
    /// [`Error::StoreCorrupt`] naming the file that doesn't fit, or [`Error::Io`].
    pub fn verify_chain(&self) -> Result<WholeChain> {
        self.verify_chain_of(&self.root.state()?)
    }

    fn verify_chain_of(&self, state: &State) -> Result<WholeChain> {
        let mut newer: Option<Generation> = None;
        for link in Chain::from(&self.root, state) {
            let (head, generation) = link?;
            let has_own_trust = |newer: &Generation| newer.trust != generation.trust;
            if newer.as_ref().is_none_or(has_own_trust) {
                self.root.trust(&generation)?;
            }
            if let Some(newer) = &newer {
                check_succession(&generation, newer).map_err(|broken| {
                    let path = StorePath::generation(head.n, head.sha256);
                    self.root.corrupt(&path, broken)
                })?;
            }
            newer = Some(generation);
        }
        Ok(WholeChain {
            generations: state.head.n + 1,
            trust_files: self.root.verify_trust_chain(state)? + 1,
        })
    }

    /// What the chain is now, for signing. The chain is walked first: a broken one is never vouched for.
    ///
    /// # Errors
    /// As [`Self::verify_chain`].
    pub fn checkpoint(&self, origin: PlainText) -> Result<Checkpoint> {
        let state = self.root.state()?;
        self.verify_chain_of(&state)?;
        Ok(Checkpoint {
            schema: 1,
            origin,
            size: state.head.n + 1,
            root: state.head.sha256,
        })
    }

    /// The chain went through the generation that `checkpoint` names. How many generations came after it.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if it is shorter or had another generation there; [`Error::StoreCorrupt`] or
    /// [`Error::Io`].
    pub fn check_checkpoint(&self, checkpoint: &Checkpoint) -> Result<u64> {
        let state = self.root.state()?;
        let last = checkpoint.size.saturating_sub(1);
        let differs = |detail: String| {
            Err(Error::Checkpoint {
                detail,
                next: Checkpoint::REWRITTEN,
            })
        };
        for link in Chain::from(&self.root, &state) {
            let (head, _) = link?;
            if head.n < last {
                break;
            }
            if head.n == last {
                return match head.sha256 == checkpoint.root {
                    true => Ok(state.head.n - last),
                    false => differs(format!("its generation {last} is another one")),
                };
            }
        }
        let now = state.head.n + 1;
        differs(format!(
            "it had {} generations and has {now}",
            checkpoint.size
        ))
    }

    /// The package whose enabled version changed last.
    pub(super) fn last_selected(&self, state: &State) -> Result<Option<PackageId>> {
        let mut newer = state.generation.clone();
        for link in Chain::from(&self.root, state).skip(1) {
            let (_, older) = link?;
            if let Some(selection) = selected(&newer, Some(&older)).into_iter().next() {
                return Ok(Some(selection.id));
            }
            newer = older;
        }
        Ok(None)
    }
}

/// Generations from the one in force to number 0; ends with the first error.
pub(super) struct Chain<'a> {
    root: &'a Root,
    next: Option<Head>,
}

impl<'a> Chain<'a> {
    pub fn from(root: &'a Root, state: &State) -> Self {
        Self {
            root,
            next: Some(state.head),
        }
    }
}

impl Iterator for Chain<'_> {
    type Item = Result<(Head, Generation)>;

    fn next(&mut self) -> Option<Self::Item> {
        let head = self.next.take()?;
        let generation = self.root.generation(head);
        if let Ok(generation) = &generation {
            self.next = head.n.checked_sub(1).map(|n| Head {
                n,
                sha256: generation.prev,
            });
        }
        Some(generation.map(|generation| (head, generation)))
    }
}

/// What never shrinks: pins, floors, time, and the number of the trust file.
fn check_succession(older: &Generation, newer: &Generation) -> Result<(), &'static str> {
    let ensure = |holds: bool, broken: &'static str| if holds { Ok(()) } else { Err(broken) };
    let mut pins = older.pins.iter();
    ensure(
        pins.all(|(pin, manifest)| newer.pins.get(pin) == Some(manifest)),
        "its successor lacks one of its pins",
    )?;
    let mut floors = older.floors.iter();
    ensure(
        floors.all(|(id, floor)| newer.floors.get(id).is_some_and(|newer| newer >= floor)),
        "its successor has a lower floor",
    )?;
    ensure(
        newer.time_seen >= older.time_seen,
        "its successor has seen an earlier time",
    )?;
    ensure(
        newer.trust.n >= older.trust.n,
        "its successor names an older trust file",
    )
}

fn entry(head: Head, generation: &Generation, before: Option<&Generation>) -> LogEntry {
    LogEntry {
        n: head.n,
        sha256: head.sha256,
        op: generation.op.clone(),
        time_seen: generation.time_seen,
        installed: only_in(generation, before),
        removed: before.map_or_else(Vec::new, |before| only_in(before, Some(generation))),
        selected: selected(generation, before),
        floors: changed(&generation.floors, before.map(|before| &before.floors)),
        held: changed(&generation.held, before.map(|before| &before.held)),
        active: active_changes(generation, before),
        trust_changes: Vec::new(),
        trust: Some(generation.trust.n).filter(|n| before.is_none_or(|it| it.trust.n != *n)),
    }
}

/// What of `now` wasn't so before.
fn changed<T: Clone + PartialEq>(
    now: &BTreeMap<PackageId, T>,
    before: Option<&BTreeMap<PackageId, T>>,
) -> Vec<(PackageId, T)> {
    let is_new =
        |id: &PackageId, value: &T| before.is_none_or(|before| before.get(id) != Some(value));
    let new = now.iter().filter(|(id, value)| is_new(id, value));
    new.map(|(id, value)| (id.clone(), value.clone())).collect()
}

fn active_changes(after: &Generation, before: Option<&Generation>) -> Vec<ActiveChange> {
    let was = |name: &ProvidedName| before.and_then(|before| before.active.get(name));
    let mut names: Vec<&ProvidedName> = after.active.keys().collect();
    names.extend(before.into_iter().flat_map(|before| before.active.keys()));
    names.sort();
    names.dedup();
    let changes = names.into_iter().map(|name| ActiveChange {
        name: name.clone(),
        before: was(name).cloned(),
        after: after.active.get(name).cloned(),
    });
    changes
        .filter(|change| change.before != change.after)
        .collect()
}

/// The versions that are installed in `one` and not in `other`.
fn only_in(one: &Generation, other: Option<&Generation>) -> Vec<Pin> {
    let is_missing = |id: &PackageId, version: &PackageVersion| {
        other.is_none_or(|other| other.version(id, version).is_none())
    };
    let missing = one
        .installed()
        .filter(|(id, version, _)| is_missing(id, version));
    missing
        .map(|(id, version, _)| Pin::new(id, version))
        .collect()
}

fn selected(after: &Generation, before: Option<&Generation>) -> Vec<Selection> {
    let mut ids: Vec<&PackageId> = after.packages.keys().collect();
    ids.extend(before.into_iter().flat_map(|before| before.packages.keys()));
    ids.sort();
    ids.dedup();
    let selections = ids.into_iter().map(|id| Selection {
        id: id.clone(),
        before: before.and_then(|before| before.enabled_version(id).cloned()),
        after: after.enabled_version(id).cloned(),
    });
    selections
        .filter(|selection| selection.before != selection.after)
        .collect()
}

impl Root {
    /// Walks the trust files from the one in force to number 0. The number of the one in force.
    fn verify_trust_chain(&self, state: &State) -> Result<u64> {
        let mut reference = state.generation.trust;
        let mut newer: Option<TrustStore> = None;
        loop {
            let trust = self.trust_file(reference)?;
            if let Some(newer) = &newer {
                newer.body().check_follows(trust.body()).map_err(|broken| {
                    let path = StorePath::trust(reference.n);
                    self.corrupt(&path, broken)
                })?;
            }
            let Some(n) = reference.n.checked_sub(1) else {
                return Ok(state.generation.trust.n);
            };
            reference.n = n;
            reference.sha256 = trust.body().prev;
            newer = Some(trust);
        }
    }
}
