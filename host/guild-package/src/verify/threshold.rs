//! Step 8.11: whether enough keys have signed, and who vouches for the release beside its publishers.

use std::collections::BTreeSet;

use crate::countersign::countersigners;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::trust::{Role, TrustStore, TrustedKey};
use crate::verify::{Countersigner, Occasion, SignedManifest, Signer};

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
    let distinct_operators = policy.is_some_and(|policy| policy.distinct_operators);
    let check = |role, needed: u64, keys: &[&TrustedKey]| {
        let found = count_distinct(keys, distinct_operators) as u64;
        if found >= needed {
            return Ok(());
        }
        Err(Error::ThresholdNotMet {
            id: manifest.id.clone(),
            role,
            needed,
            found,
        })
    };
    check(
        "publish",
        policy.map_or(1, |policy| policy.publish),
        publishers,
    )?;
    let subject = (manifest, manifest_digest);
    let mut counted = countersigners(&signed.envelope, subject, trust, occasion)?;
    // Nobody reviews their own release.
    let publishes = |reviewer: &TrustedKey| {
        let same = |key: &&TrustedKey| {
            key.id == reviewer.id || (distinct_operators && key.operator == reviewer.operator)
        };
        publishers.iter().any(same)
    };
    counted.retain(|(role, _), voice| *role != Role::Reviewer || !publishes(voice.key));
    let reviewers = counted
        .iter()
        .filter(|((role, _), _)| *role == Role::Reviewer);
    let reviewers: Vec<&TrustedKey> = reviewers.map(|(_, voice)| voice.key).collect();
    check(
        "reviewer",
        policy.map_or(0, |policy| policy.reviewer),
        &reviewers,
    )?;
    let countersigners = counted.into_iter().map(|((role, _), voice)| Countersigner {
        role,
        signer: Signer::from(voice.key),
        statements: voice.statements,
    });
    Ok(countersigners.collect())
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
