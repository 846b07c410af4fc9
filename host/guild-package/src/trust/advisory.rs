//! What the store believes after an advisory. It only ever adds: what is in force already, or is milder, changes nothing.

use crate::advisory::{FloorLine, VerifiedAdvisory, WithdrawalLine, WithdrawnAs};
use crate::error::{Denial, Error, Result};
use crate::key::KeyId;
use crate::trust::{KeyStatus, Right, TrustStore, TrustedKey, Withdrawal};
use crate::verify::History;

/// What an advisory changes here.
#[derive(Clone, Debug)]
pub(crate) struct Advised {
    /// The trust afterwards; absent where no withdrawal is stricter than what is in force.
    pub trust: Option<TrustStore>,
    /// The lines that withdraw a key, or withdraw it more strictly than before.
    pub withdrawals: Vec<WithdrawalLine>,
    /// The lines that raise a floor.
    pub floors: Vec<FloorLine>,
    /// Keys that aren't known here, so that nothing is recorded about them.
    pub unknown: Vec<KeyId>,
}

impl TrustStore {
    /// What `advisory` changes, once its signers were found to have a say in every line of it. Of what compromised keys
    /// signed, the installs up to generation `since_gen` are believed, none where it is absent. `head` is the generation in force; the next one
    /// will name the result. `now_s` is the time to judge the signers by.
    ///
    /// An advisory names no generation, so it isn't stricter than a withdrawal as compromised that is in force, unless
    /// `since_gen` is. Where nothing would change, nobody's right is asked: a key that has withdrawn itself can't be asked again, and
    /// taking its advisory twice is no mistake.
    ///
    /// # Errors
    /// [`Error::Usage`] for a generation that isn't reached yet; [`Error::KeyRevoked`] and [`Error::Expired`] for a
    /// signer that is withdrawn or outside its time; [`Error::AdvisoryDenied`] for a line that none of them covers;
    /// [`Error::FloorRise`].
    pub(crate) fn with_advisory(
        &self,
        advisory: &VerifiedAdvisory,
        history: &dyn History,
        (since_gen, head): (Option<u64>, u64),
        now_s: u64,
    ) -> Result<Advised> {
        let compromised = Withdrawal::Compromised {
            since_gen: since_gen.unwrap_or(0),
        };
        compromised.check_reached(head)?;
        let mut next = self.next_body();
        let (mut withdrawals, mut unknown) = (Vec::new(), Vec::new());
        for line in &advisory.body().withdrawals {
            let Some(key) = next.keys.iter_mut().find(|key| key.id == line.key) else {
                unknown.push(line.key);
                continue;
            };
            let withdrawal = match (line.status, key.status) {
                (WithdrawnAs::Superseded, _) => Withdrawal::Superseded,
                (WithdrawnAs::Compromised, KeyStatus::Compromised) if since_gen.is_none() => {
                    continue;
                }
                (WithdrawnAs::Compromised, _) => compromised,
            };
            if key.withdraw(withdrawal, Some(line.reason.clone()), head) {
                withdrawals.push(line.clone());
            }
        }
        let floors = advisory.body().floors.iter();
        let floors: Vec<FloorLine> = floors
            .filter(|line| line.security_epoch > history.floor(&line.id))
            .cloned()
            .collect();
        if !withdrawals.is_empty() || !floors.is_empty() {
            self.check_authority(advisory, now_s)?;
        }
        floors
            .iter()
            .try_for_each(|line| check_rise(line, history))?;
        let trust = (!withdrawals.is_empty()).then(|| Self::from_body(next));
        Ok(Advised {
            trust: trust.transpose()?,
            withdrawals,
            floors,
            unknown,
        })
    }

    /// Every signer may sign now, and each line is covered by one of them.
    fn check_authority(&self, advisory: &VerifiedAdvisory, now_s: u64) -> Result<()> {
        let in_force = |id: &KeyId| {
            let key = self.key(id);
            let key = key.ok_or_else(|| Error::KeyUntrusted { keys: vec![*id] })?;
            key.check_in_force(now_s)?;
            Ok(key)
        };
        let signers = advisory.signers().iter().map(in_force);
        let signers: Vec<&TrustedKey> = signers.collect::<Result<_>>()?;
        for line in &advisory.body().withdrawals {
            // Of a key that isn't known nothing is recorded, and nobody knows its scopes.
            let Some(key) = self.key(&line.key) else {
                continue;
            };
            let name = format!("withdrawal of {}", key.id);
            check_covered(name, Right::Revoke, &signers, |it| it.may_withdraw(key))?;
        }
        for line in &advisory.body().floors {
            let name = format!("floor of {}", line.id);
            check_covered(name, Right::Epoch, &signers, |it| {
                it.may_raise_floor(&line.id)
            })?;
        }
        Ok(())
    }
}

/// One of `signers` alone has a say in all of the line.
fn check_covered(
    line: String,
    right: Right,
    signers: &[&TrustedKey],
    covers: impl Fn(&TrustedKey) -> Result<(), String>,
) -> Result<()> {
    let mut denials = Vec::new();
    for signer in signers {
        match covers(signer) {
            Ok(()) => return Ok(()),
            Err(detail) => denials.push(Denial {
                signer: signer.id,
                detail,
            }),
        }
    }
    Err(Error::AdvisoryDenied {
        line,
        right,
        denials,
    })
}

/// A floor far above the one in force would leave no number for later releases.
fn check_rise(line: &FloorLine, history: &dyn History) -> Result<()> {
    match line.security_epoch > history.epoch_ceiling(&line.id) {
        false => Ok(()),
        true => Err(Error::FloorRise {
            id: line.id.clone(),
            floor: history.floor(&line.id),
            epoch: line.security_epoch,
        }),
    }
}
