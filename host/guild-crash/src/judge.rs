//! Holds one image to the invariants: a reader looks at it, a writer recovers it, the command runs again, garbage is
//! collected.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use guild_package::store::generation::Generation;
use guild_package::{Code, Digest, Store};

use crate::disk::{Disk, Entry, key};
use crate::invariant::{Invariant, Violation};
use crate::memory_fs::MemoryFs;
use crate::operation::{Base, Operation, open};
use crate::snapshot::{Snapshot, content, faults, rows, state};
use crate::workshop::Workshop;

type Verdict<T = ()> = Result<T, Violation>;

/// What one operation's images are held to.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    pub workshop: &'a Workshop,
    pub operation: &'a Operation,
    /// The store before the command.
    pub before: Snapshot,
    /// The store after it.
    pub after: Snapshot,
    /// Files that had other bytes than their names say before the command.
    pub damaged: BTreeMap<String, Entry>,
    /// Recovered trees that were found sound, with whether success had been said.
    pub sound: RefCell<HashSet<(Digest, bool)>>,
}

impl<'a> Judge<'a> {
    pub fn new(
        workshop: &'a Workshop,
        operation: &'a Operation,
        (before, after): (Snapshot, Snapshot),
        prepared: &Disk,
    ) -> Self {
        let mut damaged = content(prepared);
        damaged.retain(|path, entry| !is_named_by_digest(path, entry));
        Self {
            workshop,
            operation,
            before,
            after,
            damaged,
            sound: RefCell::default(),
        }
    }

    /// Judges an image. `acknowledged` if the command had said that it succeeded.
    pub fn image(&self, image: &Disk, acknowledged: bool) -> Verdict {
        let fs = Arc::new(MemoryFs::new(image.clone(), None));
        let store = self.read(&fs, acknowledged)?;
        let fails = |error| Violation::new(Invariant::Head, error);
        store.recover().map_err(fails)?;
        let tree = fs.disk().tree();
        let recovered = key(&tree);
        store.recover().map_err(fails)?;
        if fs.disk().key() != recovered {
            let detail = "the second recovery found something to do";
            return Err(Violation::new(Invariant::Recovery, detail));
        }
        if self.sound.borrow().contains(&(recovered, acknowledged)) {
            return Ok(());
        }
        self.records(&store, acknowledged)?;
        self.layout(&store, &tree)?;
        self.again(&store, &fs)?;
        self.sound.borrow_mut().insert((recovered, acknowledged));
        Ok(())
    }

    /// I1, I4, I9: what a reader sees. Opens for writing afterwards.
    fn read(&self, fs: &Arc<MemoryFs>, acknowledged: bool) -> Verdict<Store> {
        let is_creation = self.operation.base == Base::Empty;
        match open(fs.clone(), false) {
            Ok(store) => {
                let found =
                    state(&store).map_err(|error| Violation::new(Invariant::Head, error))?;
                self.is_either(Some(&found), acknowledged)?;
                Ok(store)
            }
            Err(error) if is_creation && error.code() == Code::NotFound => {
                self.is_either(None, acknowledged)?;
                open(fs.clone(), true).map_err(|error| Violation::new(Invariant::Head, error))
            }
            Err(error) => Err(Violation::new(Invariant::Head, error)),
        }
    }

    fn is_either(&self, found: Option<&Generation>, acknowledged: bool) -> Verdict {
        let is_new = found == self.after.generation.as_ref();
        let is_old = found == self.before.generation.as_ref() && !acknowledged;
        if is_new || is_old {
            return Ok(());
        }
        let n = found.map(|generation| generation.n);
        let detail = format!("generation {n:?} is in force; acknowledged: {acknowledged}");
        Err(Violation::new(Invariant::OldOrNew, detail))
    }

    /// I2, I3, I5, I6.
    fn records(&self, store: &Store, acknowledged: bool) -> Verdict {
        let chain = |error| Violation::new(Invariant::Chain, error);
        // It compares pins, floors, time and trust of each two neighbours too.
        store.verify_chain().map_err(chain)?;
        let is_new = Some(state(store).map_err(chain)?) == self.after.generation;
        let expected = if is_new { &self.after } else { &self.before };
        let found = faults(store).map_err(|error| Violation::new(Invariant::Content, error))?;
        let is_sound = found == expected.faults || (!acknowledged && found == self.before.faults);
        if !is_sound {
            return Err(Violation::new(Invariant::Content, format!("{found:?}")));
        }
        let found = rows(store).map_err(|error| Violation::new(Invariant::Signature, error))?;
        match found == expected.rows {
            true => Ok(()),
            false => Err(Violation::new(Invariant::Signature, format!("{found:?}"))),
        }
    }

    /// I7: the layout holds nothing else, and every content file is what its name says.
    fn layout(&self, store: &Store, tree: &BTreeMap<String, Entry>) -> Verdict {
        let broken = |detail: String| Violation::new(Invariant::Layout, detail);
        let generation = store
            .generation()
            .map_err(|error| broken(error.to_string()))?;
        let examined = store.examine().map_err(|error| broken(error.to_string()))?;
        if let Some(stranger) = examined.strangers.first() {
            return Err(broken(format!("{stranger} is a stranger")));
        }
        for (folder, last) in [("gen/", generation.n), ("trust/", generation.trust.n)] {
            // The chain was walked: each number has its file, and so more files are strangers.
            let files = tree.keys().filter(|path| path.starts_with(folder)).count();
            if files as u64 != last + 1 {
                return Err(broken(format!("{files} files in {folder}, last is {last}")));
            }
        }
        for (path, entry) in tree {
            let is_content = path.starts_with("objects/") || path.starts_with("meta/");
            let is_known = self.damaged.get(path) == Some(entry);
            if is_content && !is_known && !is_named_by_digest(path, entry) {
                return Err(broken(format!("{path} has other bytes or another mode")));
            }
            if path.starts_with("leases/") && !path.ends_with(".lock") {
                return Err(broken(format!("{path} is left")));
            }
        }
        Ok(())
    }

    /// I8, I12: the same command, then garbage collection.
    fn again(&self, store: &Store, fs: &Arc<MemoryFs>) -> Verdict {
        let again = |detail: String| Violation::new(Invariant::Again, detail);
        let now = || state(store).map_err(|error| again(error.to_string()));
        let was_done = self.after.generation.as_ref() == Some(&now()?);
        match self.operation.run(self.workshop, fs.clone()) {
            Ok(()) => {}
            // On its own result a command may be refused, but not fail.
            Err(error) if was_done && is_refusal(&error) => {}
            Err(error) => return Err(again(error.to_string())),
        }
        let found = now()?;
        if self.after.generation.as_ref() != Some(&found) {
            return Err(again(format!("it ends with generation {}", found.n)));
        }
        let room = |detail: String| Violation::new(Invariant::Room, detail);
        store
            .collect_garbage()
            .map_err(|error| room(error.to_string()))?;
        let left = content(&fs.disk());
        match left == self.after.content {
            true => Ok(()),
            false => Err(room(format!("{} files are left", left.len()))),
        }
    }
}

/// Whether the command said no, and nothing broke.
pub(crate) fn is_refusal(error: &crate::CrashError) -> bool {
    match error {
        crate::CrashError::Package(error) => !matches!(error.code(), Code::Io | Code::StoreCorrupt),
        _ => false,
    }
}

/// A file below `objects` or `meta` has the digest by which it is named, and can't be written.
fn is_named_by_digest(path: &str, entry: &Entry) -> bool {
    let mut parts = path.rsplit('/');
    let (rest, first) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    match entry {
        Entry::Directory => true,
        Entry::File { digest, mode, .. } => {
            *mode == 0o444 && digest.to_string() == format!("{first}{rest}")
        }
    }
}
