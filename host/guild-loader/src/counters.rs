//! Proof of execution: what a plugin itself has counted.

use crate::call::{CounterSubject, read_counter};
use crate::registry::RegisteredPackage;

/// What one implementation or runner has run since it was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Operation with its newest version (`guild.core.linear@1`), or `guild.runner/1` for a runner.
    pub name: String,
    /// Implementation id, or runner id.
    pub implementation: String,
    /// Calls of `execute` that returned `OK`; for a runner, calls of `describe`.
    pub calls: u64,
    /// Rows that those calls worked on.
    pub rows: u64,
}

/// Every counter of `package`, operations first, in the plugin's order. Empty where the plugin has no
/// extension `guild.counters/1`: then there is no proof. Any thread.
#[must_use]
pub fn counters(package: &RegisteredPackage) -> Vec<Count> {
    let Some(table) = package.counters else {
        return Vec::new();
    };
    let label = package.identity.label();
    let read = |subject, index: usize| {
        let index = u32::try_from(index).ok()?;
        read_counter(&label, package.table, table, subject, index)
    };
    let operations =
        package
            .operations
            .iter()
            .enumerate()
            .filter_map(|(index, (name, implementation))| {
                let (calls, rows) = read(CounterSubject::Operation, index)?;
                Some(Count {
                    name: name.clone(),
                    implementation: implementation.clone(),
                    calls,
                    rows,
                })
            });
    let runners = package
        .runners
        .iter()
        .enumerate()
        .filter_map(|(index, id)| {
            let (calls, rows) = read(CounterSubject::Runner, index)?;
            Some(Count {
                name: "guild.runner/1".to_owned(),
                implementation: id.clone(),
                calls,
                rows,
            })
        });
    operations.chain(runners).collect()
}
