//! What a key has a say in. Of its scopes the longest matching prefix decides alone: if that one denies, no shorter one
//! is asked.

use crate::error::{Error, Result};
use crate::manifest::{Kind, Manifest};
use crate::name::{PackageId, ScopePrefix, TargetPattern};
use crate::trust::{Right, Scope, TrustedKey};

impl TrustedKey {
    /// Whether the key holds `right` for `manifest`.
    ///
    /// # Errors
    /// [`Error::ScopeDenied`] naming the part that denies.
    pub fn authorize(&self, right: Right, manifest: &Manifest) -> Result<()> {
        self.may(right, manifest)
            .map_err(|detail| self.denied(right, manifest, detail))
    }

    /// As [`Self::authorize`].
    ///
    /// # Errors
    /// The part of its scopes that denies.
    pub(crate) fn may(&self, right: Right, manifest: &Manifest) -> Result<(), String> {
        let targets = manifest.targets.iter().map(ToString::to_string);
        let covers = |prefix: &ScopePrefix| prefix.covers(&manifest.id);
        self.holds(right, covers, &[manifest.kind], targets)
    }

    /// Whether the key may raise the floor of `id`. A floor counts for every kind of bundle and every machine.
    ///
    /// # Errors
    /// The part of its scopes that denies.
    pub(super) fn may_raise_floor(&self, id: &PackageId) -> Result<(), String> {
        let kinds = [Kind::GKernel, Kind::GkModule];
        self.holds(Right::Epoch, |prefix| prefix.covers(id), &kinds, ["*"])
    }

    /// Whether the key may withdraw `other`: wherever `other` has a say, it holds the right `revoke` for the same kinds
    /// and machines. A key that has the right in all of its own scopes may withdraw itself.
    ///
    /// # Errors
    /// The part of its scopes that denies.
    pub(super) fn may_withdraw(&self, other: &Self) -> Result<(), String> {
        // Which scope decides changes at a prefix of one of the two keys, and nowhere else.
        let areas = other.scopes.iter().chain(&self.scopes);
        for area in areas.map(|scope| &scope.prefix) {
            let covers = |prefix: &ScopePrefix| prefix.covers_area(area);
            let Some(theirs) = other.deciding_scope(covers) else {
                continue;
            };
            let targets = theirs.targets.iter().map(TargetPattern::as_str);
            self.holds(Right::Revoke, covers, &theirs.kinds, targets)
                .map_err(|detail| format!("for {area} {detail}"))?;
        }
        Ok(())
    }

    /// Whether the key holds `right` for these kinds and targets in an area that a scope with a prefix which `covers` it
    /// covers. The `Err` says which part denies.
    fn holds(
        &self,
        right: Right,
        covers: impl Fn(&ScopePrefix) -> bool,
        kinds: &[Kind],
        targets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<(), String> {
        let scope = self.deciding_scope(covers).ok_or("no scope covers it")?;
        let prefix = &scope.prefix;
        if !scope.rights.contains(&right) {
            return Err(format!("scope {prefix} lacks the right {right}"));
        }
        if let Some(kind) = kinds.iter().find(|kind| !scope.kinds.contains(kind)) {
            return Err(format!("scope {prefix} is not for {kind} bundles"));
        }
        for target in targets {
            let target = target.as_ref();
            if !scope.targets.iter().any(|pattern| pattern.covers(target)) {
                return Err(format!("scope {prefix} is not for {target}"));
            }
        }
        Ok(())
    }

    /// The scope that decides where `covers` says.
    fn deciding_scope(&self, covers: impl Fn(&ScopePrefix) -> bool) -> Option<&Scope> {
        let matching = self.scopes.iter().filter(|scope| covers(&scope.prefix));
        matching.max_by_key(|scope| scope.prefix.specificity())
    }

    /// The error that says what of its scopes denies `right`.
    pub(crate) fn denied(&self, right: Right, manifest: &Manifest, detail: String) -> Error {
        let scopes = self.scopes.iter().map(|scope| scope.prefix.clone());
        Error::ScopeDenied {
            key: self.id,
            id: manifest.id.clone(),
            detail,
            right,
            scopes: scopes.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key::{Algorithm, KeyRecord};
    use crate::seed::SecretSeed;

    const AREAS: [&str; 7] = ["*", "a", "a.b", "a.b.c", "a.bb", "a.c", "aa"];
    const MACHINES: [&str; 3] = ["linux-x86_64", "linux-aarch64", "other-x86_64"];

    fn key(seed: u8, scopes: Vec<Scope>) -> TrustedKey {
        let public = SecretSeed::from_bytes([seed; 32]).public_key().unwrap();
        let record = KeyRecord {
            schema: 1,
            id: public.id(),
            alg: Algorithm::Ed25519,
            public,
            label: "a key".parse().unwrap(),
            operator: "somebody".parse().unwrap(),
            test_identity: true,
        };
        TrustedKey::added(&record, scopes, 1)
    }

    /// Whether there is the right `revoke`, the kinds, and the machines.
    type Drawn = (bool, Vec<Kind>, &'static [&'static str]);

    /// A scope at some of the areas, each with some of the rights, kinds and machines.
    fn scopes() -> impl Strategy<Value = Vec<Scope>> {
        let targets = prop::sample::select(vec![&["*"][..], &MACHINES[..1], &MACHINES[..2]]);
        let kinds = prop::sample::select(vec![
            vec![Kind::GKernel],
            vec![Kind::GKernel, Kind::GkModule],
        ]);
        // Mostly with the right, so that many of the pairs are covered.
        let scope = (prop::bool::weighted(0.8), kinds, targets);
        let maybe = prop::option::weighted(0.5, scope);
        prop::collection::vec(maybe, AREAS.len()).prop_map(|drawn| {
            let areas = AREAS.iter().zip(drawn);
            let scope = |(area, drawn): (&&str, Option<Drawn>)| {
                let (may_revoke, kinds, targets) = drawn?;
                let rights = match may_revoke {
                    true => vec![Right::Revoke],
                    false => vec![Right::Publish],
                };
                Some(Scope {
                    prefix: area.parse().unwrap(),
                    kinds,
                    rights,
                    targets: targets.iter().map(|it| it.parse().unwrap()).collect(),
                })
            };
            areas.filter_map(scope).collect()
        })
    }

    /// The scope that decides for `id`, found by cutting labels off its end.
    fn scope_by_cutting<'a>(key: &'a TrustedKey, id: &str) -> Option<&'a Scope> {
        let named = |area: &str| key.scopes.iter().find(|it| it.prefix.as_str() == area);
        let mut area = id;
        loop {
            if let Some(scope) = named(area) {
                return Some(scope);
            }
            match area.rsplit_once('.') {
                Some((shorter, _)) => area = shorter,
                None => return named("*"),
            }
        }
    }

    /// Asks about every id, kind and machine for itself.
    fn covers_each_package(signer: &TrustedKey, other: &TrustedKey) -> bool {
        let ids = AREAS.iter().map(|area| match *area {
            "*" => "z.z".to_owned(),
            area => format!("{area}.z"),
        });
        ids.into_iter().all(|id| {
            let Some(theirs) = scope_by_cutting(other, &id) else {
                return true;
            };
            let Some(own) = scope_by_cutting(signer, &id) else {
                return false;
            };
            let is_for = |scope: &Scope, machine: &str| {
                let mut names = scope.targets.iter().map(ToString::to_string);
                names.any(|name| name == "*" || name == machine)
            };
            own.rights.contains(&Right::Revoke)
                && theirs.kinds.iter().all(|kind| own.kinds.contains(kind))
                && MACHINES
                    .iter()
                    .all(|machine| !is_for(theirs, machine) || is_for(own, machine))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn row_34_a_key_withdraws_what_it_covers_package_by_package(
            signer in scopes(),
            other in scopes(),
        ) {
            let (signer, other) = (key(1, signer), key(2, other));
            let covers = covers_each_package(&signer, &other);
            prop_assert_eq!(signer.may_withdraw(&other).is_ok(), covers);
            let all = other.scopes.iter().all(|scope| scope.rights.contains(&Right::Revoke));
            prop_assert_eq!(other.may_withdraw(&other).is_ok(), all);
        }
    }
}
