//! What a run of the kit found.

use core::fmt;

/// How one case went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every bit was right.
    Passed,
    /// The kernel declined the request, with its reason.
    Declined(String),
    /// What was wrong.
    Failed(String),
}

/// One case on one implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Operation: `guild.core.rms_norm`.
    pub op: String,
    /// Implementation id; empty for a fault of the plugin's own.
    pub implementation: String,
    /// The case's name.
    pub case: String,
    /// How it went.
    pub verdict: Verdict,
}

/// All outcomes of a run, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// One for each case and implementation, and for each fault of the plugin itself.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// The outcomes that failed.
    #[must_use]
    pub fn failures(&self) -> Vec<&Outcome> {
        self.with(|verdict| matches!(verdict, Verdict::Failed(_)))
    }

    /// The outcomes that were declined.
    #[must_use]
    pub fn declined(&self) -> Vec<&Outcome> {
        self.with(|verdict| matches!(verdict, Verdict::Declined(_)))
    }

    /// Cases that an implementation passed.
    #[must_use]
    pub fn passed(&self, implementation: &str) -> usize {
        self.with(|verdict| *verdict == Verdict::Passed)
            .iter()
            .filter(|outcome| outcome.implementation == implementation)
            .count()
    }

    /// Implementations that ran at least one case or declined one, in order, each once.
    #[must_use]
    pub fn implementations(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for outcome in &self.outcomes {
            if !names.contains(&outcome.implementation.as_str()) {
                names.push(&outcome.implementation);
            }
        }
        names
    }

    pub(crate) fn push(&mut self, op: &str, implementation: &str, case: &str, verdict: Verdict) {
        self.outcomes.push(Outcome {
            op: op.to_owned(),
            implementation: implementation.to_owned(),
            case: case.to_owned(),
            verdict,
        });
    }

    fn with(&self, keep: impl Fn(&Verdict) -> bool) -> Vec<&Outcome> {
        self.outcomes
            .iter()
            .filter(|outcome| keep(&outcome.verdict))
            .collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (failed, declined) = (self.failures().len(), self.declined().len());
        let passed = self.outcomes.len() - failed - declined;
        writeln!(f, "{passed} passed, {declined} declined, {failed} failed")?;
        for outcome in &self.outcomes {
            let (word, why) = match &outcome.verdict {
                Verdict::Passed => continue,
                Verdict::Declined(why) => ("declined", why),
                Verdict::Failed(why) => ("FAILED", why),
            };
            let Outcome {
                implementation,
                case,
                ..
            } = outcome;
            writeln!(f, "{word} {implementation} {case}: {why}")?;
        }
        Ok(())
    }
}
