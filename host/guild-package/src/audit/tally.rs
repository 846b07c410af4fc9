//! What keeps the log small under a flood: which refusals are written, and the count of those that aren't. The
//! count stands at the end of the log, behind the last record, and the next append takes it away and writes it anew.

use serde::{Deserialize, Serialize};

use crate::audit::refusal::Refusal;
use crate::digest::Digest;
use crate::error::Result;
use crate::json;
use crate::limits::{AUDIT_KINDS_MAX, AUDIT_RECORDS_MAX, AUDIT_WINDOW_S};

/// The code of the record that says that further ones are left out.
pub const RATE_LIMITED: &str = "RATE_LIMITED";

/// Refusals that were not written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    schema: u64,
    /// Those like one that was written, by kind; the kind whose first repetition is oldest comes first.
    repeats: Vec<Repeat>,
    /// Those over the limit of a minute, and of kinds that no longer have a count of their own.
    dropped: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeat {
    kind: Digest,
    count: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            schema: 1,
            repeats: Vec::new(),
            dropped: 0,
        }
    }
}

impl Tally {
    /// Reads the body of a record that is a tally.
    pub fn decode(body: &[u8]) -> Option<Self> {
        let tally: Self = json::decode_canonical("a tally", body).ok()?;
        let is_valid = tally.schema == 1 && tally.repeats.len() <= AUDIT_KINDS_MAX;
        is_valid.then_some(tally)
    }

    /// Its body; absent where nothing was left out.
    pub fn encode(&self) -> Result<Option<Vec<u8>>> {
        if self.total() == 0 {
            return Ok(None);
        }
        json::encode("a tally", self).map(Some)
    }

    /// How many refusals it stands for.
    pub fn total(&self) -> u64 {
        let repeats = self.repeats.iter().map(|repeat| repeat.count);
        repeats.fold(self.dropped, u64::saturating_add)
    }

    /// What to write for `refusal`, if anything, after the newest records `recent`; the rest is counted.
    pub fn admit(&mut self, recent: &[Refusal], refusal: &Refusal) -> Result<Option<Refusal>> {
        let near = |other: &&Refusal| other.at.abs_diff(refusal.at) < AUDIT_WINDOW_S;
        let near: Vec<&Refusal> = recent.iter().filter(near).collect();
        if near.iter().any(|other| other.is_like(refusal)) {
            self.count(refusal.kind()?);
            return Ok(None);
        }
        let said = near.iter().filter(|other| other.code == RATE_LIMITED);
        let said = said.count();
        if near.len() - said >= AUDIT_RECORDS_MAX {
            self.dropped = self.dropped.saturating_add(1);
            return Ok((said == 0).then(|| refusal.limit_reached()));
        }
        let mut written = refusal.clone();
        written.repeated = self.take(refusal.kind()?);
        written.dropped = Some(std::mem::take(&mut self.dropped)).filter(|count| *count > 0);
        Ok(Some(written))
    }

    fn count(&mut self, kind: Digest) {
        let known = self.repeats.iter_mut().find(|repeat| repeat.kind == kind);
        if let Some(repeat) = known {
            repeat.count = repeat.count.saturating_add(1);
            return;
        }
        if self.repeats.len() >= AUDIT_KINDS_MAX {
            let oldest = self.repeats.remove(0);
            self.dropped = self.dropped.saturating_add(oldest.count);
        }
        self.repeats.push(Repeat { kind, count: 1 });
    }

    fn take(&mut self, kind: Digest) -> Option<u64> {
        let index = self.repeats.iter().position(|repeat| repeat.kind == kind)?;
        Some(self.repeats.remove(index).count)
    }
}
