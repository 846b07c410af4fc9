//! A planned model: what it will take, whether that fits, and the step to an engine.

use crate::args::{HugePages, MemoryArgs, Numa};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::measure::milliseconds;
use crate::memory::fit::Fit;
use crate::memory::plan::MemoryPlan;
use crate::memory::process::ProcessMemory;
use crate::output::Output;
use crate::system::SystemFiles;
use crate::system::cores::memory_nodes;
use crate::wiring::{events, prefetch};
use guild_engine::{
    Engine, EngineError, Sampling, ThreadPool, allowed_workers, numa, parallel_for,
};
use guild_graph::{BindOptions, Plan, PlanReport};
use guild_model::GgufFile;
use std::sync::Arc;
use std::time::Instant;

/// A model that is planned and not loaded: no weight has been read, no memory reserved.
pub struct PlannedModel<'m> {
    plan: Plan<'m>,
    options: BindOptions,
    file: Arc<GgufFile>,
    args: MemoryArgs,
    memory: MemoryPlan,
    fit: Fit,
}

impl<'m> PlannedModel<'m> {
    /// Counts the memory of a plan that was made with these options, and of the sampler, and compares
    /// it with the limits of the process, which had `process` before anything was loaded.
    pub fn new(
        plan: Plan<'m>,
        options: BindOptions,
        file: Arc<GgufFile>,
        args: MemoryArgs,
        sampling: Option<&Sampling>,
        process: &ProcessMemory,
    ) -> Outcome<PlannedModel<'m>> {
        let memory = MemoryPlan::new(&plan, &options, &file, sampling, process)?;
        let reserved_bytes = plan.report().memory.reserved_bytes;
        let addresses = memory.addresses(process, &options, reserved_bytes);
        let fit = Fit::new(&memory, addresses, &options, args.memory_limit, process);
        events::planned(plan.report(), &options, &memory, &fit);
        Ok(PlannedModel {
            plan,
            options,
            file,
            args,
            memory,
            fit,
        })
    }

    /// Who serves each step, and why the others lost.
    pub fn report(&self) -> &PlanReport {
        self.plan.report()
    }

    /// What it will take.
    pub fn memory(&self) -> &MemoryPlan {
        &self.memory
    }

    /// Whether that fits.
    pub fn fit(&self) -> &Fit {
        &self.fit
    }

    /// Reserves the memory, reads the weights, starts the threads.
    ///
    /// A model that doesn't fit is refused before anything of that, unless `--no-fit-check` is given.
    /// Then nothing is read or spent ahead: that would only drive out what was read before.
    pub fn load(self, output: Output) -> Outcome<Engine> {
        if let Some(refusal) = self.fit.refusal(&self.memory, &self.options) {
            if !self.args.no_fit_check {
                return Err(refusal);
            }
            tracing::warn!("{}", refusal.message);
        }
        place_on_nodes(self.args.numa, &SystemFiles::of_machine())?;
        let (threads, processors) = (self.options.workers, allowed_workers());
        if threads > processors {
            tracing::warn!(
                "{threads} threads on {processors} processors wait for one another; `-t {processors}` is faster"
            );
        }
        let ahead = self.fit.fits && !self.args.no_prefetch;
        if ahead {
            let started = Instant::now();
            prefetch::weights(&self.file, self.plan.weight_names(), output)?;
            let ms = milliseconds(started).round();
            tracing::info!(ms, "weights read");
        }
        let pool = ThreadPool::new(self.options.workers)
            .map_err(|source| Failure::from(EngineError::Threads { source }))?;
        let plan = self.plan.bind(parallel_for(&Arc::new(pool)))?;
        let mut engine = Engine::new(plan, self.options);
        if self.args.huge_pages == HugePages::Auto {
            engine.ask_for_huge_pages();
        }
        if ahead {
            engine.touch();
        }
        Ok(engine)
    }
}

/// Has the pages of this thread, and of the pool that it starts, lie where the policy says.
fn place_on_nodes(policy: Numa, files: &SystemFiles) -> Outcome<()> {
    let nodes = memory_nodes(files);
    if policy == Numa::FirstTouch || nodes.len() < 2 {
        return Ok(());
    }
    numa::interleave(&nodes).map_err(|error| {
        let message = format!("the system refuses to spread memory over nodes: {error}");
        Failure::new(Exit::Unsupported, message)
            .hint("leave --numa out, or allow the process set_mempolicy, which containers forbid")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_the_system_does_not_have_are_a_refusal_and_one_node_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let nodes = folder.path().join("sys/devices/system/node");
        std::fs::create_dir_all(&nodes).unwrap();
        let files = SystemFiles::below(folder.path());
        let place = |policy, list: &str| {
            std::fs::write(nodes.join("has_memory"), list).unwrap();
            place_on_nodes(policy, &files)
        };
        assert!(place(Numa::Interleave, "0\n").is_ok());
        assert!(place(Numa::FirstTouch, "1000-1001\n").is_ok());
        let refused = place(Numa::Interleave, "1000-1001\n").unwrap_err();
        assert_eq!(refused.exit, Exit::Unsupported);
    }
}
