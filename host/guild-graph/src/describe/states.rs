//! The use rule of states: within a section, one node uses a state, as one operand.
//!
//! Two users would make the result depend on which of them runs first, and a roll-back would have to
//! know both.

use std::collections::HashMap;

use crate::error::DescriptionFault;
use crate::graph::Section;

/// Which node uses which state of the current section.
#[derive(Default)]
pub(super) struct StateUses {
    users: HashMap<usize, String>,
}

impl StateUses {
    /// Notes that a node uses `states`, each for the first time.
    pub(super) fn claim(
        &mut self,
        section: &Section,
        states: &[usize],
        name: &str,
    ) -> Result<(), DescriptionFault> {
        for state in states {
            if let Some(first) = self.users.insert(*state, name.to_owned()) {
                return Err(DescriptionFault::StateReused {
                    state: section.states[*state].name.clone(),
                    first,
                    second: name.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Refuses a state that no node uses.
    pub(super) fn check_all_used(&self, section: &Section) -> Result<(), DescriptionFault> {
        let unused = (0..section.states.len()).find(|state| !self.users.contains_key(state));
        match unused {
            None => Ok(()),
            Some(state) => Err(DescriptionFault::StateUnused {
                state: section.states[state].name.clone(),
                section: section.name.clone(),
            }),
        }
    }
}
