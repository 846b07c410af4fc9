//! Since when each key is trusted, from the chain of generations.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::key::KeyId;
use crate::store::Store;
use crate::store::log::Chain;

/// When a key was first trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyAdded {
    /// The generation that added it.
    pub generation: u64,
    /// The newest time that any command had seen by then, in seconds since 1970-01-01 UTC.
    pub time_seen: u64,
}

impl Store {
    /// When each key was added. A withdrawal changes a key's own number, so the chain is asked.
    ///
    /// # Errors
    /// [`crate::Error::StoreCorrupt`] or [`crate::Error::Io`].
    pub fn keys_added(&self) -> Result<BTreeMap<KeyId, KeyAdded>> {
        let state = self.root.state()?;
        let mut added = BTreeMap::new();
        let mut trust = state.trust.clone();
        for link in Chain::from(&self.root, &state) {
            let (head, generation) = link?;
            if generation.trust.n != trust.body().n {
                trust = self.root.trust_file(generation.trust)?;
            }
            // No file forgets a key, so the oldest generation that knows it comes last.
            let seen = KeyAdded {
                generation: head.n,
                time_seen: generation.time_seen,
            };
            added.extend(trust.keys().iter().map(|key| (key.id, seen)));
        }
        Ok(added)
    }
}
