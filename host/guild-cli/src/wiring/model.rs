//! From a model file and arguments to an engine.

use crate::args::{HugePages, KvFormat, MemoryArgs, ModelArgs, Policy};
use crate::failure::Outcome;
use crate::memory::process::ProcessMemory;
use crate::output::Output;
use crate::places::{Places, existing_store};
use crate::wiring::builtins::{load_failure, load_options};
use crate::wiring::events;
use crate::wiring::not_enabled;
use crate::wiring::planned::PlannedModel;
use crate::wiring::registry::GraphRegistry;
use guild_abi::abi::{GUILD_CLASS_EXACT, GUILD_CLASS_TOLERANT};
use guild_engine::{Engine, Sampling, allowed_workers};
use guild_graph::{BindOptions, Described};
use guild_loader::{LoadedPackages, RegisteredPackage, load_builtins, load_enabled};
use guild_model::{GgufFile, ModelSource};
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::sync::Arc;

/// A described model and the packages that are there for it.
pub struct OpenModel {
    /// Registered packages and the leases on them.
    pub packages: LoadedPackages,
    /// The mapped file.
    pub file: Arc<GgufFile>,
    /// Threads that operations run on.
    pub threads: u32,
    /// Which classes of kernels may run.
    pub policy: Policy,
    described: Described,
    kv_format: guild_graph::KvFormat,
    memory: MemoryArgs,
    /// What the process had when the model was first planned: before any weight was read.
    before: OnceCell<ProcessMemory>,
    output: Output,
    /// For a failure that names what is installed.
    places: Places,
}

/// Rows, outputs and positions that an engine is sized for, and the sampler that its memory is shared
/// with.
#[derive(Clone, Copy, Debug)]
pub struct Size<'a> {
    /// Rows in one pass.
    pub rows: u64,
    /// Rows whose logits one pass gives.
    pub outputs: u64,
    /// Positions of the sequence.
    pub context: u64,
    /// What the command's sampler is asked to do; `None` where nothing is sampled.
    pub sampling: Option<&'a Sampling>,
}

/// Maps the model file and checks its directory.
pub fn open_file(args: &ModelArgs) -> Outcome<Arc<GgufFile>> {
    let mut file = GgufFile::open(&args.model)?;
    file.ask_for_huge_pages(args.memory.huge_pages == HugePages::Auto);
    events::opened(&args.model, &file);
    Ok(Arc::new(file))
}

impl OpenModel {
    /// Maps the file, then goes on as [`OpenModel::describe`].
    pub fn open(
        args: &ModelArgs,
        context: u64,
        places: &Places,
        output: Output,
    ) -> Outcome<OpenModel> {
        OpenModel::describe(open_file(args)?, args, context, places, output)
    }

    /// Loads the packages, and has the best runner describe the file for `context` positions.
    pub fn describe(
        file: Arc<GgufFile>,
        args: &ModelArgs,
        context: u64,
        places: &Places,
        output: Output,
    ) -> Outcome<OpenModel> {
        let options = load_options(&args.packages);
        let packages = match existing_store(places)? {
            Some(store) => load_enabled(&store, "guild", &options),
            None => load_builtins(&options),
        };
        let packages = packages.map_err(load_failure)?;
        for finding in packages.ambient() {
            tracing::warn!("{} is set: it {}", finding.source, finding.effect);
        }
        events::loaded(&packages);
        let described = guild_graph::describe(&*file, &GraphRegistry(&packages), context)
            .map_err(|error| not_enabled::failure(error, places))?;
        events::described(&described);
        let kv_format = match args.kv {
            KvFormat::F16 => guild_graph::KvFormat::F16,
            KvFormat::F32 => guild_graph::KvFormat::F32,
        };
        let threads = args.threads.first().copied();
        let threads = threads.unwrap_or_else(allowed_workers);
        Ok(OpenModel {
            packages,
            file,
            threads,
            described,
            kv_format,
            policy: args.policy,
            memory: args.memory.clone(),
            before: OnceCell::new(),
            output,
            places: places.clone(),
        })
    }

    /// Plans the model, refuses it where it doesn't fit, and loads it.
    pub fn engine(&self, size: Size<'_>) -> Outcome<Engine> {
        self.plan(size)?.load(self.output)
    }

    /// Plans the model without loading it.
    pub fn plan(&self, size: Size<'_>) -> Outcome<PlannedModel<'_>> {
        let options = self.bind_options(size);
        let source: Arc<dyn ModelSource> = Arc::<GgufFile>::clone(&self.file);
        let registry = GraphRegistry(&self.packages);
        let plan = guild_graph::plan(&self.described, source, &registry, &options)
            .map_err(|error| not_enabled::failure(error, &self.places))?;
        let before = self.before.get_or_init(ProcessMemory::now);
        let file = Arc::clone(&self.file);
        PlannedModel::new(
            plan,
            options,
            file,
            self.memory.clone(),
            size.sampling,
            before,
        )
    }

    /// What each package has run so far, as its own counters say.
    pub fn package_report(&self) -> Vec<Value> {
        self.packages
            .registry()
            .packages()
            .filter_map(package_counters)
            .collect()
    }

    fn bind_options(&self, size: Size<'_>) -> BindOptions {
        BindOptions {
            max_outputs: size.outputs,
            kv_format: self.kv_format,
            classes: classes(self.policy),
            workers: self.threads,
            ..BindOptions::single_sequence(size.rows, size.context)
        }
    }
}

/// The classes that a policy accepts.
fn classes(policy: Policy) -> u32 {
    match policy {
        Policy::Exact => GUILD_CLASS_EXACT,
        Policy::Fast => GUILD_CLASS_EXACT | GUILD_CLASS_TOLERANT,
    }
}

/// A package that ran something, with its counts; `None` for one that ran nothing.
fn package_counters(package: &RegisteredPackage) -> Option<Value> {
    let ran: Vec<Value> = guild_loader::counters(package)
        .iter()
        .filter(|counter| counter.calls > 0)
        .map(|counter| {
            json!({
                "name": counter.name,
                "implementation": counter.implementation,
                "calls": counter.calls,
                "rows": counter.rows,
            })
        })
        .collect();
    (!ran.is_empty()).then(|| {
        json!({
            "id": package.identity.id,
            "version": package.identity.version,
            "digest": package.identity.digest,
            "receipt_sha256": package.identity.receipt,
            "operations": ran,
        })
    })
}
