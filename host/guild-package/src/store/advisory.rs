//! Taking an advisory: withdrawals and floors that somebody signed elsewhere, in force with one commit.

use std::path::Path;

use serde::Serialize;

use crate::advisory::{FloorLine, VerifiedAdvisory, WithdrawalLine};
use crate::digest::Digest;
use crate::error::Result;
use crate::key::KeyId;
use crate::store::Store;
use crate::store::generation::Pin;
use crate::store::transaction::Transaction;
use crate::store::trust_change::FloorRaised;
use crate::trust::Advised;
use crate::verify::{History as _, system_time_s};

/// How to take an advisory.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdvisoryOptions {
    /// The last generation whose installs are believed of a key that the advisory calls compromised; 0 believes none, and
    /// so does none, but for a key that is compromised already: that one stays as it is.
    pub since_gen: Option<u64>,
    /// Say what would change, and change nothing.
    pub dry_run: bool,
}

/// What an advisory did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvisoryTaken {
    /// Who signed it, ascending.
    pub signers: Vec<KeyId>,
    /// The lines that withdrew a key, or withdrew it more strictly than before.
    pub withdrawals: Vec<WithdrawalLine>,
    /// The lines that raised a floor, with what that did.
    pub floors: Vec<(FloorLine, FloorRaised)>,
    /// Keys that aren't known here. Nothing is recorded about them: one that is trusted later is not withdrawn.
    pub unknown: Vec<KeyId>,
    /// Installed versions that no longer load, ascending.
    pub stopped: Vec<Pin>,
    /// The generation in force afterwards; the same as before where the advisory said nothing new.
    pub generation: u64,
}

#[derive(Serialize)]
struct AdvisoryArguments {
    body_sha256: Digest,
    since_gen: u64,
}

impl AdvisoryTaken {
    /// Whether the advisory said anything that wasn't in force.
    #[must_use]
    pub fn is_new(&self) -> bool {
        !self.withdrawals.is_empty() || !self.floors.is_empty()
    }
}

impl Store {
    /// Withdraws keys and raises floors, as the advisory at `path` says, all of it or nothing. Where all of it is in
    /// force already, the store stays as it is.
    ///
    /// # Errors
    /// As [`VerifiedAdvisory::read`]; [`crate::Error::KeyRevoked`] and [`crate::Error::Expired`] for a signer that is
    /// withdrawn or outside its time; [`crate::Error::AdvisoryDenied`] and [`crate::Error::FloorRise`] for a line that
    /// its signers may not say; [`crate::Error::Usage`] for a generation that isn't reached yet; the errors of a commit.
    pub fn trust_advisory(&self, path: &Path, options: &AdvisoryOptions) -> Result<AdvisoryTaken> {
        let transaction = Transaction::begin(&self.root, self.options.lock_wait_ms)?;
        let state = transaction.state();
        let head = state.head.n;
        let advisory = VerifiedAdvisory::read(path, &state.trust)?;
        let now_s = system_time_s().max(state.generation.time_seen());
        let generations = (options.since_gen, head);
        let advised =
            state
                .trust
                .with_advisory(&advisory, &state.generation, generations, now_s)?;
        let mut taken = AdvisoryTaken {
            signers: advisory.signers().to_vec(),
            stopped: match &advised.trust {
                Some(trust) => self.stopped_by(state, trust)?,
                None => Vec::new(),
            },
            withdrawals: advised.withdrawals.clone(),
            floors: Vec::new(),
            unknown: advised.unknown.clone(),
            generation: head,
        };
        for line in &advised.floors {
            let raised = self.floor_raised(state, &line.id, line.security_epoch)?;
            taken.floors.push((line.clone(), raised));
        }
        if options.dry_run || !taken.is_new() {
            return Ok(taken);
        }
        let arguments = AdvisoryArguments {
            body_sha256: advisory.body_sha256(),
            since_gen: options.since_gen.unwrap_or(0),
        };
        taken.generation = commit(transaction, &arguments, &advised)?;
        for (_, raised) in &mut taken.floors {
            raised.generation = taken.generation;
        }
        Ok(taken)
    }
}

/// Puts withdrawals and floors in force together. The generation that names them.
fn commit(
    mut transaction: Transaction<'_>,
    arguments: &AdvisoryArguments,
    advised: &Advised,
) -> Result<u64> {
    let state = transaction.state();
    let mut next = state.successor("trust-advisory", arguments, system_time_s())?;
    for line in &advised.floors {
        next.floors.insert(line.id.clone(), line.security_epoch);
    }
    if let Some(trust) = &advised.trust {
        next.trust = transaction.put_trust(trust)?;
    }
    Ok(transaction.commit(&next)?.n)
}
