//! What holds after every crash, and how a breach is told.

use std::fmt;

/// What holds after every crash (`docs/package-format.md`, section 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// `HEAD` parses, and its generation has the digest by which it is named.
    Head,
    /// The chain of generations is unbroken to its beginning.
    Chain,
    /// All that the state names is there, with its digest, mode and owner.
    Content,
    /// The state is the old one or the new one, and the new one once success was said.
    OldOrNew,
    /// Every package that loads has a valid signature under the trust in force.
    Signature,
    /// Pins and floors never shrink.
    Memory,
    /// Nothing lies outside the layout.
    Layout,
    /// The same command again ends where an undisturbed run does.
    Again,
    /// A reader at any moment sees the old state or the new one.
    Reader,
    /// No lease outlives its process.
    Lease,
    /// A second recovery changes no byte.
    Recovery,
    /// After `gc` the store takes no more room than an undisturbed one.
    Room,
}

/// A breach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What doesn't hold.
    pub invariant: Invariant,
    /// The moment of the crash and what was lost.
    pub place: String,
    /// What was found.
    pub detail: String,
}

impl Invariant {
    /// I1 to I12.
    #[must_use]
    pub fn number(self) -> usize {
        self as usize + 1
    }
}

impl Violation {
    pub(crate) fn new(invariant: Invariant, detail: impl fmt::Display) -> Self {
        Self {
            invariant,
            place: String::new(),
            detail: detail.to_string(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, invariant) = (self.invariant.number(), self.invariant);
        let Self { place, detail, .. } = self;
        write!(f, "I{number} {invariant:?}: {place}: {detail}")
    }
}
