//! Plugins that are linked into the host. They pass the same negotiation as installed ones.
#![allow(unsafe_code)]

use crate::call::EntryFn;

/// A plugin that is linked into the host.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    id: &'static str,
    entry: EntryFn,
}

impl Builtin {
    /// Names a linked plugin by its package id, without `builtin.`, and its entry.
    ///
    /// # Safety
    /// `entry` is the entry of a plugin that obeys the ABI (`docs/abi.md`), as the SDK's export macro
    /// makes it.
    #[must_use]
    pub const unsafe fn new(id: &'static str, entry: EntryFn) -> Self {
        Self { id, entry }
    }

    /// The package id without `builtin.`.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// The entry.
    pub(crate) const fn entry(&self) -> EntryFn {
        self.entry
    }
}
