//! From a model file and arguments to an engine.

use crate::args::{KvFormat, ModelArgs};
use crate::data_dir::existing_store;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::wiring::builtins::load_options;
use crate::wiring::registry::GraphRegistry;
use guild_engine::{Engine, EngineError, ThreadPool, allowed_workers, parallel_for};
use guild_graph::{BindOptions, Described, PlanReport};
use guild_loader::{LoadedPackages, RegisteredPackage, load_builtins, load_enabled};
use guild_model::{GgufFile, ModelSource};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// A described model and the packages that are there for it.
pub struct OpenModel {
    /// Registered packages and the leases on them.
    pub packages: LoadedPackages,
    /// The mapped file.
    pub file: Arc<GgufFile>,
    /// Threads that operations run on.
    pub threads: u32,
    described: Described,
    kv_format: guild_graph::KvFormat,
}

/// Rows, outputs and positions that an engine is sized for.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Rows in one pass.
    pub rows: u64,
    /// Rows whose logits one pass gives.
    pub outputs: u64,
    /// Positions of the sequence.
    pub context: u64,
}

/// Maps the model file and checks its directory.
pub fn open_file(args: &ModelArgs) -> Outcome<Arc<GgufFile>> {
    Ok(Arc::new(GgufFile::open(&args.model)?))
}

impl OpenModel {
    /// Maps the file, then goes on as [`OpenModel::describe`].
    pub fn open(
        args: &ModelArgs,
        context: u64,
        data_dir: Option<&Path>,
        output: Output,
    ) -> Outcome<OpenModel> {
        OpenModel::describe(open_file(args)?, args, context, data_dir, output)
    }

    /// Loads the packages, and has the best runner describe the file for `context` positions.
    pub fn describe(
        file: Arc<GgufFile>,
        args: &ModelArgs,
        context: u64,
        data_dir: Option<&Path>,
        output: Output,
    ) -> Outcome<OpenModel> {
        for finding in guild_loader::ambient::scan() {
            output.say(format!(
                "warning: {} is set: {}",
                finding.source, finding.effect
            ));
        }
        let options = load_options(args);
        let packages = match existing_store(data_dir)? {
            Some(store) => load_enabled(&store, "guild", &options)?,
            None => load_builtins(&options)?,
        };
        let described = guild_graph::describe(&*file, &GraphRegistry(&packages), context)?;
        let kv_format = match args.kv {
            KvFormat::F16 => guild_graph::KvFormat::F16,
            KvFormat::F32 => guild_graph::KvFormat::F32,
        };
        let threads = args.threads.unwrap_or_else(allowed_workers);
        Ok(OpenModel {
            packages,
            file,
            threads,
            described,
            kv_format,
        })
    }

    /// Binds the model: instances, memory, threads.
    pub fn engine(&self, size: Size) -> Outcome<Engine> {
        let options = self.bind_options(size);
        let pool = ThreadPool::new(self.threads)
            .map_err(|source| Failure::from(EngineError::Threads { source }))?;
        let model: Arc<dyn ModelSource> = Arc::<GgufFile>::clone(&self.file);
        let plan = guild_graph::bind(
            &self.described,
            model,
            &GraphRegistry(&self.packages),
            &options,
            parallel_for(&Arc::new(pool)),
        )?;
        Ok(Engine::new(plan, options))
    }

    /// Plans the model without binding it.
    pub fn plan(&self, size: Size) -> Outcome<PlanReport> {
        let registry = GraphRegistry(&self.packages);
        let options = self.bind_options(size);
        Ok(guild_graph::plan(
            &self.described,
            &*self.file,
            &registry,
            &options,
        )?)
    }

    /// What each package has run so far, as its own counters say.
    pub fn package_report(&self) -> Vec<Value> {
        self.packages
            .registry()
            .packages()
            .filter_map(package_counters)
            .collect()
    }

    fn bind_options(&self, size: Size) -> BindOptions {
        BindOptions {
            max_outputs: size.outputs,
            kv_format: self.kv_format,
            workers: self.threads,
            ..BindOptions::single_sequence(size.rows, size.context)
        }
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
            "operations": ran,
        })
    })
}
