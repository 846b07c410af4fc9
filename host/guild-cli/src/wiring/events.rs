//! What `-v` and `-vv` tell of loading a model, and `--log trace` of what a prompt left behind. Events come while the
//! model loads, or at the end, and never from the token loop. Text of a file or a package is written with its control
//! characters escaped.

use crate::memory::fit::Fit;
use crate::memory::plan::MemoryPlan;
use crate::wiring::builtins::instruction_set;
use guild_engine::Engine;
use guild_graph::{BindOptions, Described, PlanReport};
use guild_loader::{LoadedPackages, Origin};
use guild_model::{GgufFile, ModelSource, Value};
use guild_package::Digest;
use std::collections::BTreeSet;
use std::path::Path;
use tracing::{Level, debug, enabled, info, trace};

/// A model file was mapped and its directory checked.
pub fn opened(path: &Path, file: &GgufFile) {
    let text = |key: &str| match file.metadata().value(key) {
        Some(Value::String(text)) => text.to_owned(),
        _ => "not stated".to_owned(),
    };
    info!(
        path = ?path,
        shards = file.shards().len(),
        bytes = file.file_bytes(),
        architecture = ?text("general.architecture"),
        "model file opened"
    );
    debug!(
        model = ?text("tokenizer.ggml.model"),
        pre_tokenizer = ?text("tokenizer.ggml.pre"),
        "tokenizer of the file"
    );
}

/// Packages were loaded.
pub fn loaded(packages: &LoadedPackages) {
    for package in packages.registry().packages() {
        let identity = &package.identity;
        let digest = identity.digest.map(|digest| digest.to_string());
        info!(
            id = ?identity.id,
            version = ?identity.version,
            digest = digest.as_deref().unwrap_or("none"),
            origin = match identity.origin {
                Origin::Installed => "installed",
                Origin::Builtin => "built-in",
            },
            "package registered"
        );
    }
    for package in packages.left_out() {
        debug!(id = ?package.id, reason = ?package.reason, "package left out");
    }
    debug!(count = packages.leases().len(), "leases taken");
    if let Some(name) = instruction_set() {
        debug!(name, "instruction set of the built-in kernels");
    }
}

/// A runner described the model.
pub fn described(described: &Described) {
    info!(
        runner = ?described.runner.id,
        package = %described.runner.package,
        score = described.runner.score,
        architecture = ?described.architecture,
        "runner chosen"
    );
}

/// A model was planned with these options.
pub fn planned(report: &PlanReport, options: &BindOptions, memory: &MemoryPlan, fit: &Fit) {
    info!(
        context = options.max_positions,
        rows = options.max_rows,
        threads = options.workers,
        kv_format = ?options.kv_format,
        classes = options.classes,
        "model planned"
    );
    let tightest = fit.checks.first();
    info!(
        planned_bytes = memory.total_bytes,
        needed_bytes = tightest.map(|check| check.needed_bytes),
        available_bytes = tightest.map(|check| check.available_bytes),
        limit = tightest.map(|check| check.limit.name()),
        fits = fit.fits,
        "memory planned"
    );
    if enabled!(Level::DEBUG) {
        refused(report);
    }
}

/// A digest of what each state holds: of its KV pages, or of its recurrent slots.
pub fn states(engine: &Engine) {
    if enabled!(Level::TRACE) {
        for (state, (kind, bytes)) in engine.states().contents().enumerate() {
            let sha256 = Digest::of(bytes);
            trace!(state, kind = ?kind, bytes = bytes.len(), %sha256, "state at the end");
        }
    }
}

/// The providers that were asked and said no, each reason once for an operation.
fn refused(report: &PlanReport) {
    let mut said = BTreeSet::new();
    for step in &report.steps {
        for refused in step.phases.iter().flat_map(|phase| &phase.refused) {
            let reason = refused.to_string();
            if said.insert((&step.operation, reason.clone())) {
                debug!(operation = ?step.operation, reason = ?reason, "provider refused");
            }
        }
    }
}
