//! What each command does to the state, written again from `docs/package-format.md`, section 13, over whole generations.

use std::fs;
use std::path::Path;

use guild_crash::PACKAGE;
use guild_package::store::generation::{Active, ActiveMode, Generation, Pin};
use guild_package::{Digest, PackageVersion, Store};

/// The versions that there are bundles of.
pub const VERSIONS: [&str; 4] = ["1.0.0", "1.0.1", "1.0.2", "1.0.3"];

/// A command; a number says which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Install(usize),
    Enable(usize),
    Disable,
    Rollback,
    Remove(usize),
    Floor,
    TrustAdd,
    Collect,
    /// Takes a lease on what is enabled and reads all of it.
    Session,
}

impl Act {
    pub const ALL: [Self; 18] = [
        Self::Install(0),
        Self::Install(1),
        Self::Install(2),
        Self::Install(3),
        Self::Enable(0),
        Self::Enable(1),
        Self::Enable(2),
        Self::Enable(3),
        Self::Remove(0),
        Self::Remove(1),
        Self::Remove(2),
        Self::Remove(3),
        Self::Disable,
        Self::Rollback,
        Self::Floor,
        Self::TrustAdd,
        Self::Collect,
        Self::Session,
    ];

    const fn op(self) -> &'static str {
        match self {
            Self::Install(_) => "install",
            Self::Enable(_) => "enable",
            Self::Disable => "disable",
            Self::Rollback => "rollback",
            Self::Remove(_) => "remove",
            Self::Floor => "floor",
            Self::TrustAdd => "trust-add",
            Self::Collect | Self::Session => "",
        }
    }
}

pub fn version(index: usize) -> PackageVersion {
    VERSIONS[index].parse().unwrap()
}

/// All generations, oldest first, each named by the digest in its successor.
pub fn chain(store: &Store, path: &Path) -> Vec<Generation> {
    let mut newest = store.generation().unwrap();
    let mut chain = Vec::new();
    while newest.n > 0 {
        let name = format!("gen/{}-{}.json", newest.n - 1, newest.prev.short());
        let bytes = fs::read(path.join(name)).unwrap();
        assert_eq!(Digest::of(&bytes), newest.prev);
        let older = Generation::decode(&bytes).unwrap();
        chain.push(newest);
        newest = older;
    }
    chain.push(newest);
    chain.reverse();
    chain
}

/// Whether `newer` is what `act` makes of `older`, in every field.
pub fn follows(older: &Generation, act: Act, newer: &Generation) -> bool {
    if newer.op.to_string() != act.op() || newer.n != older.n + 1 {
        return false;
    }
    let mut expected = older.clone();
    expected.n = newer.n;
    // What the model can't know: digests of what it hasn't made, and the time.
    expected.prev = newer.prev;
    expected.op = newer.op.clone();
    expected.args_digest = newer.args_digest;
    expected.time_seen = newer.time_seen;
    newer.time_seen >= older.time_seen
        && apply(&mut expected, act, newer).is_some()
        && expected == *newer
}

/// Makes the change; `None` where the command would be refused.
fn apply(state: &mut Generation, act: Act, newer: &Generation) -> Option<()> {
    let id = PACKAGE.parse().ok()?;
    match act {
        Act::Install(index) => {
            let version = version(index);
            let made = *newer.version(&id, &version)?;
            let pin = Pin::new(&id, &version);
            // A version never changes its digest.
            let pinned = *state.pins.entry(pin).or_insert(made.manifest);
            let package = state.packages.entry(id.clone()).or_default();
            let is_new = package.versions.insert(version.clone(), made).is_none();
            (is_new && pinned == made.manifest && made.installed_gen == newer.n).then_some(())?;
            state.signers = newer.signers.clone();
            (state.signers.len() == 1).then_some(())?;
            select(state, version)
        }
        Act::Enable(index) => select_again(state, version(index), newer),
        Act::Rollback => {
            let package = state.packages.get(&id)?;
            let mut earlier = package.history.iter().rev();
            let target = earlier.find(|version| package.enabled.as_ref() != Some(version))?;
            select_again(state, target.clone(), newer)
        }
        Act::Disable => {
            state.active.clear();
            state.packages.get_mut(&id)?.enabled.take().map(drop)
        }
        Act::Remove(index) => {
            let version = version(index);
            let package = state.packages.get_mut(&id)?;
            package.versions.remove(&version)?;
            package.history.retain(|past| *past != version);
            if package.enabled.as_ref() == Some(&version) {
                package.enabled = None;
                state.active.clear();
            }
            if package.versions.is_empty() {
                state.packages.remove(&id);
            }
            Some(())
        }
        Act::Floor => (state.floors.insert(id, 1).unwrap_or(0) < 1).then_some(()),
        Act::TrustAdd => {
            (newer.trust.n == state.trust.n + 1).then_some(())?;
            state.trust = newer.trust;
            Some(())
        }
        Act::Collect | Act::Session => None,
    }
}

/// A version that was installed before is tried again, and has the receipt of that.
fn select_again(state: &mut Generation, version: PackageVersion, newer: &Generation) -> Option<()> {
    let id: guild_package::PackageId = PACKAGE.parse().ok()?;
    let receipt = newer.version(&id, &version)?.receipt?;
    let package = state.packages.get_mut(&id)?;
    package.versions.get_mut(&version)?.receipt = Some(receipt);
    select(state, version)
}

fn select(state: &mut Generation, version: PackageVersion) -> Option<()> {
    let id: guild_package::PackageId = PACKAGE.parse().ok()?;
    let package = state.packages.get_mut(&id)?;
    package.versions.get(&version)?;
    (package.enabled.as_ref() != Some(&version)).then_some(())?;
    package.enabled = Some(version.clone());
    package.history.push(version.clone());
    let active = Active {
        id,
        version,
        mode: ActiveMode::Auto,
    };
    let name = "guild.core.moe_experts@1".parse().ok()?;
    state.active.insert(name, active);
    Some(())
}
