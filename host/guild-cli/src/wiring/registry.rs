//! The loader's registry as the graph sees it.

use guild_graph::{
    Candidate, PackageIdentity, PluginTable, Registry, RunnerCandidate, RunnerTable,
};
use guild_loader::{
    LoadedPackages, Origin, PackageIdentity as LoadedIdentity, RegisteredOperation,
    RegisteredRunner,
};

/// Lends loaded packages to the graph.
pub struct GraphRegistry<'a>(pub &'a LoadedPackages);

impl Registry for GraphRegistry<'_> {
    fn operations(&self, name: &str, version: u32) -> Vec<Candidate> {
        self.0
            .registry()
            .operations(name, version)
            .map(candidate)
            .collect()
    }

    fn runners(&self) -> Vec<RunnerCandidate> {
        self.0.registry().runners().map(runner).collect()
    }
}

/// Package id, version and digest in the graph's terms.
pub fn identity(package: &LoadedIdentity) -> PackageIdentity {
    PackageIdentity {
        id: package.id.clone(),
        version: package.version.clone(),
        digest: package.digest.map(|digest| digest.to_string()),
        builtin: package.origin == Origin::Builtin,
    }
}

fn candidate(operation: &RegisteredOperation) -> Candidate {
    Candidate {
        package: identity(&operation.package),
        implementation: operation.implementation.clone(),
        // SAFETY: the loader registers a plugin only after negotiation and `init`, and never shuts a
        // registered one down or unmaps it while the process lives.
        table: unsafe { PluginTable::new(operation.table.get()) },
        index: operation.index,
        op_min: operation.op_min,
        op_max: operation.op_max,
        rank: operation.rank,
        caps: operation.caps,
        phases: operation.phases,
        exactness: operation.exactness,
        contract: *operation.contract.as_bytes(),
    }
}

fn runner(runner: &RegisteredRunner) -> RunnerCandidate {
    RunnerCandidate {
        package: identity(&runner.package),
        id: runner.id.clone(),
        architectures: runner.architectures.clone(),
        // SAFETY: as in `candidate`.
        table: unsafe { PluginTable::new(runner.table.get()) },
        // SAFETY: as in `candidate`; the extension belongs to the same plugin, and commands describe a
        // model on one thread.
        runner: unsafe { RunnerTable::new(runner.extension.get()) },
        index: runner.index,
    }
}
