//! Step 8.11: whether enough keys have signed, and who vouches for the release beside its publishers.

use std::collections::BTreeSet;

use crate::countersign::{Countersigners, countersigners};
use crate::digest::Digest;
use crate::error::{Error, NotCounted, Result, Uncounted};
use crate::key::KeyId;
use crate::limits::SIGNATURES_MAX;
use crate::manifest::Manifest;
use crate::trust::{Right, Role, TrustStore, TrustedKey};
use crate::verify::{Countersigner, Occasion, SignedManifest};

/// Step 8.11: as many distinct keys, and operators where asked for, as the policy of this id wants. Who vouches for the
/// release beside its publishers.
pub(super) fn check_thresholds(
    signed: &SignedManifest<'_>,
    publishers: &[&TrustedKey],
    manifest: &Manifest,
    manifest_digest: Digest,
    trust: &TrustStore,
    occasion: Occasion<'_>,
) -> Result<Vec<Countersigner>> {
    let policy = trust.policy(&manifest.id);
    let by_operator = policy.is_some_and(|policy| policy.distinct_operators);
    let not_met = |role, needed: u64, keys: &[&TrustedKey]| {
        let found = count_distinct(keys, by_operator) as u64;
        (found < needed).then(|| Error::ThresholdNotMet {
            id: manifest.id.clone(),
            role,
            needed,
            found,
            uncounted: Vec::new(),
        })
    };
    let needed = policy.map_or(1, |policy| policy.publish);
    if let Some(error) = not_met("publish", needed, publishers) {
        let why = |entry: KeyId| match trust.key(&entry) {
            Some(key) => occasion.not_counted(key, Right::Publish, manifest),
            None => Some(NotCounted::Unknown),
        };
        let keys = signed.envelope.signatures.iter().map(|entry| entry.keyid);
        let passed_over = keys.filter_map(|key| {
            Some(Uncounted {
                key,
                why: why(key)?,
            })
        });
        return Err(with_uncounted(
            error,
            passed_over.collect(),
            publishers,
            by_operator,
        ));
    }
    let subject = (manifest, manifest_digest);
    let Countersigners {
        mut counted,
        mut uncounted,
    } = countersigners(&signed.envelope, subject, trust, occasion)?;
    counted.retain(|(role, key), voice| {
        let refusal = match role {
            Role::Reviewer => own_release(voice.key, publishers, by_operator),
            Role::Builder | Role::Site | Role::Mirror => None,
        };
        let is_counted = refusal.is_none();
        uncounted.extend(refusal.map(|why| (Some(*role), Uncounted { key: *key, why })));
        is_counted
    });
    let reviewers = counted
        .iter()
        .filter(|((role, _), _)| *role == Role::Reviewer);
    let reviewers: Vec<&TrustedKey> = reviewers.map(|(_, voice)| voice.key).collect();
    let needed = policy.map_or(0, |policy| policy.reviewer);
    if let Some(error) = not_met("reviewer", needed, &reviewers) {
        let may_review = |role: &Option<Role>| role.is_none_or(|role| role == Role::Reviewer);
        let passed_over = uncounted.into_iter().filter(|(role, _)| may_review(role));
        let passed_over = passed_over.map(|(_, it)| it).collect();
        return Err(with_uncounted(error, passed_over, &reviewers, by_operator));
    }
    let countersigners = counted.into_iter();
    let countersigners = countersigners.map(|((role, _), voice)| Countersigner::of(role, voice));
    Ok(countersigners.collect())
}

/// Nobody reviews their own release. Why `reviewer` has no say; absent where it is somebody else.
fn own_release(
    reviewer: &TrustedKey,
    publishers: &[&TrustedKey],
    by_operator: bool,
) -> Option<NotCounted> {
    let mut publishers = publishers.iter();
    if publishers.clone().any(|key| key.id == reviewer.id) {
        return Some(NotCounted::Publisher);
    }
    let same = by_operator && publishers.any(|key| key.operator == reviewer.operator);
    same.then_some(NotCounted::PublisherOperator)
}

/// The error with the signatures that were passed over, each key once, and those of `counted` whose operator counts by
/// another key. A key that counts by another signature isn't named.
fn with_uncounted(
    mut error: Error,
    passed_over: Vec<Uncounted>,
    counted: &[&TrustedKey],
    by_operator: bool,
) -> Error {
    let Error::ThresholdNotMet { uncounted, .. } = &mut error else {
        return error;
    };
    let mut named: BTreeSet<KeyId> = counted.iter().map(|key| key.id).collect();
    let first_time = |it: &Uncounted| named.insert(it.key);
    uncounted.extend(passed_over.into_iter().filter(first_time));
    let mut operators = BTreeSet::new();
    let repeats = counted
        .iter()
        .filter(|key| !operators.insert(&key.operator));
    let repeats = repeats.filter(|_| by_operator).map(|key| Uncounted {
        key: key.id,
        why: NotCounted::SameOperator,
    });
    uncounted.extend(repeats);
    uncounted.truncate(SIGNATURES_MAX);
    error
}

fn count_distinct(keys: &[&TrustedKey], by_operator: bool) -> usize {
    match by_operator {
        true => keys
            .iter()
            .map(|key| &key.operator)
            .collect::<BTreeSet<_>>()
            .len(),
        false => keys
            .iter()
            .map(|key| key.public.as_bytes())
            .collect::<BTreeSet<_>>()
            .len(),
    }
}
