//! Who serves the names that packages provide, and who needs whom: what follows in a generation when another version
//! of a package is enabled, or none.

use crate::error::{Error, Result};
use crate::manifest::{Dependency, Manifest};
use crate::name::{PackageId, ProvidedName};
use crate::store::Store;
use crate::store::generation::{Active, ActiveMode, Generation};
use crate::store::installed::InstalledPackage;
use crate::store::state::State;

/// Makes `manifest`'s version the enabled one of its package, and the one that serves its names.
pub(super) fn select_version(generation: &mut Generation, manifest: &Manifest) {
    let package = generation.packages.entry(manifest.id.clone()).or_default();
    if package.enabled.as_ref() != Some(&manifest.version) {
        package.enabled = Some(manifest.version.clone());
        package.history.push(manifest.version.clone());
    }
    // Enabling what was held, or something newer, ends the hold.
    let is_held = generation.held.get(&manifest.id);
    if is_held.is_some_and(|held| manifest.version >= *held) {
        generation.held.remove(&manifest.id);
    }
    activate(generation, manifest);
}

/// Leaves no version of `id` enabled, and nothing served by it.
pub(super) fn deselect(generation: &mut Generation, id: &PackageId) {
    if let Some(package) = generation.packages.get_mut(id) {
        package.enabled = None;
    }
    generation.active.retain(|_, active| active.id != *id);
}

/// Names the enabled version provides point to it, and names it no longer provides point nowhere. Where a person chose
/// a package, the package stays chosen.
fn activate(generation: &mut Generation, manifest: &Manifest) {
    let provides = |name: &ProvidedName| manifest.provided_names().any(|provided| provided == name);
    generation
        .active
        .retain(|name, active| active.id != manifest.id || provides(name));
    for name in manifest.provided_names() {
        let active = generation.active.get(name);
        let by_hand = active.filter(|active| active.mode == ActiveMode::Manual);
        let mode = match by_hand {
            Some(active) if active.id != manifest.id => continue,
            Some(_) => ActiveMode::Manual,
            None => ActiveMode::Auto,
        };
        generation
            .active
            .insert(name.clone(), serving(manifest, mode));
    }
}

fn serving(manifest: &Manifest, mode: ActiveMode) -> Active {
    Active {
        id: manifest.id.clone(),
        version: manifest.version.clone(),
        mode,
    }
}

impl Store {
    /// Gives names that nobody serves in `next` to the enabled package that was installed last among those that
    /// provide them.
    pub(super) fn hand_over(&self, state: &State, next: &mut Generation) -> Result<()> {
        let mut enabled = self.loadable(state)?;
        enabled.retain(|package| next.enabled_version(package.id()) == Some(package.version()));
        enabled.sort_by_key(InstalledPackage::installed_gen);
        for package in enabled.iter().rev() {
            let manifest = package.manifest();
            for name in manifest.provided_names() {
                let entry = next.active.entry(name.clone());
                entry.or_insert_with(|| serving(manifest, ActiveMode::Auto));
            }
        }
        Ok(())
    }

    /// Every enabled package that depends on `id` gets along with the version that is enabled next, or with none.
    ///
    /// # Errors
    /// [`Error::StillNeeded`] naming those that don't.
    pub(super) fn check_dependents(
        &self,
        state: &State,
        id: &PackageId,
        becomes: Option<&Manifest>,
    ) -> Result<()> {
        let mut by = Vec::new();
        for other in self.loadable(state)? {
            let needs = other.manifest().depends.iter();
            let mut needs = needs.filter(|need| need.id == *id && other.id() != id);
            let is_met = |need: &Dependency| becomes.is_some_and(|it| need.is_met_by(it));
            if let Some(need) = needs.find(|need| !is_met(need)) {
                by.push(format!("{} ({})", other.id(), need.requirement()));
            }
        }
        match by.is_empty() {
            true => Ok(()),
            false => Err(Error::StillNeeded {
                id: id.clone(),
                by,
                becomes: becomes.map(|manifest| manifest.version.clone()),
            }),
        }
    }

    /// The enabled packages that verify. One that doesn't can't be loaded; it must not keep others from being
    /// changed, nor itself from being disabled.
    fn loadable(&self, state: &State) -> Result<Vec<InstalledPackage>> {
        let mut packages = Vec::new();
        for (id, version, installed) in state.generation.all_enabled() {
            match InstalledPackage::open(&self.root, state, id, version, installed) {
                Ok(package) => packages.push(package),
                // Not a word about the package: nobody knows what it needs.
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(packages)
    }
}
