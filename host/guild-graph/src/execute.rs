//! The bound plan and its one pass over bound pointers.

use core::ffi::c_void;
use std::sync::Arc;

use guild_abi::abi::{GUILD_STATUS_OK, guild_exec, guild_status};
use guild_model::ModelSource;

use crate::arena::AlignedBuffer;
use crate::batch::Batch;
use crate::call::ExecuteFn;
use crate::error_buffer::ErrorBuffer;
use crate::instance::Bound;
use crate::parallel::ParallelFor;
use crate::report::{OperationTime, Phase, PlanReport, ProviderIdentity};
use crate::shape::Dim;
use crate::state::StatePools;
use crate::timing::{StepTimes, Unwatched, Watch};

/// A model that is ready to run: instances, memory, and for each phase an array of steps.
///
/// It may move between threads; one thread uses it at a time.
pub struct BoundPlan {
    parts: Parts,
}

// SAFETY: the raw pointers inside lead to memory that the plan owns or keeps alive (`model`, `par`) and
// to plugin instances. Instances have no thread affinity (`[inst]`), the pool may be used from any
// thread (`ParallelFor::new`), and nothing but the plan uses the memory.
unsafe impl Send for BoundPlan {}

/// What a bound plan is made of. Instances come before the memory that they point to, so that they
/// end first.
pub(crate) struct Parts {
    pub(crate) steps: [Vec<Step>; Phase::ALL.len()],
    pub(crate) bound: Vec<Bound>,
    /// Byte offset in the outputs' region and row length.
    pub(crate) logits: Option<(u64, u64)>,
    pub(crate) hidden: Option<(u64, u64)>,
    pub(crate) nodes: Vec<NodeFacts>,
    pub(crate) report: PlanReport,
    pub(crate) memory: Memory,
    /// Where the steps of each phase are timed; `None` where they aren't.
    pub(crate) times: Option<[StepTimes; Phase::ALL.len()]>,
    pub(crate) model: Arc<dyn ModelSource>,
    pub(crate) par: ParallelFor,
}

/// What is told of a node.
pub(crate) struct NodeFacts {
    /// Operation with its version.
    pub(crate) operation: String,
    pub(crate) layer: u32,
    /// Bytes of weights that it reads for one row.
    pub(crate) weights_read_bytes: u64,
}

/// The memory that steps share.
pub(crate) struct Memory {
    pub(crate) arena: AlignedBuffer,
    pub(crate) outputs: AlignedBuffer,
    pub(crate) persist_scratch: AlignedBuffer,
    pub(crate) call_scratch: AlignedBuffer,
    pub(crate) states: StatePools,
    pub(crate) batch: Batch,
    pub(crate) errors: ErrorBuffer,
}

impl Memory {
    /// Every region that was reserved in pages of its own.
    fn buffers(&mut self) -> impl Iterator<Item = &mut AlignedBuffer> {
        let regions = [
            &mut self.arena,
            &mut self.outputs,
            &mut self.persist_scratch,
            &mut self.call_scratch,
        ];
        regions.into_iter().chain(self.states.buffers())
    }
}

/// One entry of the array that a pass walks over.
pub(crate) struct Step {
    function: ExecuteFn,
    inst: *mut c_void,
    exec: *const guild_exec,
    /// Whether the step's rows are the call's output rows.
    outputs: bool,
    /// Which of the bound instances it is, for errors.
    bound: u32,
}

impl Step {
    pub(crate) fn new(bound: &Bound, number: usize, rows: Dim) -> Step {
        Step {
            function: bound.function,
            inst: bound.inst(),
            exec: bound.exec(),
            outputs: rows == Dim::Outputs,
            bound: number as u32,
        }
    }
}

/// An operation that failed. The sessions of the batch can't go on: their states are undefined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} of package {} failed at {operation}, layer {layer}, with status {status}: {text}. \
     End the session; install another release of the package if it happens again",
    provider.implementation,
    provider.package
)]
pub struct StepError {
    /// The provider.
    pub provider: ProviderIdentity,
    /// Operation with its version.
    pub operation: String,
    /// The node's layer.
    pub layer: u32,
    /// The status that `execute` gave.
    pub status: guild_status,
    /// The provider's own text; may be empty.
    pub text: String,
}

/// Calls the steps in order, those without rows left out, until one fails: then its number and status.
#[inline(always)]
fn walk<W: Watch>(
    steps: &[Step],
    [rows, outputs]: [u64; 2],
    watch: &mut W,
) -> Result<(), (usize, guild_status)> {
    watch.begin();
    for (number, step) in steps.iter().enumerate() {
        let count = if step.outputs { outputs } else { rows };
        if count == 0 {
            continue;
        }
        // SAFETY:
        // - `function` and `inst` belong together and are alive: `bound` owns the instance, and the
        //   package stays mapped (`PluginTable::new`).
        // - `exec` and all that it points to are owned by `bound` and `memory`, or kept alive by
        //   `model` and `par`; the batch's numbers were checked by `Batch`.
        // - The one caller, `BoundPlan::run`, has the plan by `&mut`, which makes this the only call on
        //   the instance (`[inst]`) and keeps the host from touching the memory meanwhile.
        let status = unsafe { (step.function)(step.inst, step.exec) };
        if status != GUILD_STATUS_OK {
            return Err((number, status));
        }
        watch.ran(number, count);
    }
    Ok(())
}

impl BoundPlan {
    pub(crate) fn new(parts: Parts) -> BoundPlan {
        BoundPlan { parts }
    }

    /// Runs the batch once. A step without rows in this call is left out, so a batch without output
    /// rows doesn't compute the head. No allocation, lock or look-up unless a step fails.
    ///
    /// # Errors
    /// [`StepError`] for the first step that fails; the ones after it don't run.
    pub fn run(&mut self, phase: Phase) -> Result<(), Box<StepError>> {
        let Parts {
            steps,
            memory,
            times,
            ..
        } = &mut self.parts;
        memory.errors.clear();
        memory.batch.count_call();
        let counts = [memory.batch.rows(), memory.batch.outputs()];
        let steps = &steps[phase.index()];
        let ran = match times {
            None => walk(steps, counts, &mut Unwatched),
            Some(times) => walk(steps, counts, &mut times[phase.index()]),
        };
        ran.map_err(|(number, status)| Box::new(self.failure(number, phase, status)))
    }

    /// Times every step of the passes that follow, from zero; or no longer.
    pub fn time_steps(&mut self, on: bool) {
        let parts = &mut self.parts;
        parts.times =
            on.then(|| Phase::ALL.map(|phase| StepTimes::new(parts.steps[phase.index()].len())));
    }

    /// What each operation and implementation has taken in a phase since [`BoundPlan::time_steps`],
    /// the longest first; empty where nothing was timed.
    #[must_use]
    pub fn operation_times(&self, phase: Phase) -> Vec<OperationTime> {
        let Some(times) = &self.parts.times else {
            return Vec::new();
        };
        let mut operations: Vec<OperationTime> = Vec::new();
        let times = times[phase.index()].steps.iter().enumerate();
        for (number, time) in times.filter(|(_, time)| time.calls > 0) {
            let (operation, provider) = self.step_identity(phase, number);
            let known = operations
                .iter()
                .position(|known| known.operation == operation && known.provider == provider);
            let place = known.unwrap_or_else(|| {
                operations.push(OperationTime::new(operation, provider));
                operations.len() - 1
            });
            let sum = &mut operations[place];
            sum.calls += time.calls;
            sum.rows += time.rows;
            sum.seconds += time.time.as_secs_f64();
            if phase == Phase::Decode {
                let bytes = self.parts.nodes[number].weights_read_bytes;
                sum.weights_read_bytes += bytes * time.calls;
            }
        }
        operations.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        operations
    }

    /// The batch of the next call.
    pub fn batch_mut(&mut self) -> &mut Batch {
        &mut self.parts.memory.batch
    }

    /// The batch of the last call.
    #[must_use]
    pub fn batch(&self) -> &Batch {
        &self.parts.memory.batch
    }

    /// KV pages and recurrent slots.
    #[must_use]
    pub fn states(&self) -> &StatePools {
        &self.parts.memory.states
    }

    /// The same, to change.
    pub fn states_mut(&mut self) -> &mut StatePools {
        &mut self.parts.memory.states
    }

    /// Logits of the last call's output rows, f32 `[outputs, vocabulary]`.
    #[must_use]
    pub fn logits(&self) -> &[f32] {
        self.result(self.parts.logits, self.batch().outputs())
    }

    /// Hidden states before the head, f32 `[rows, hidden]`; empty where the model has no such output.
    #[must_use]
    pub fn hidden(&self) -> &[f32] {
        self.result(self.parts.hidden, self.batch().rows())
    }

    /// Length of a row of logits.
    #[must_use]
    pub fn vocabulary(&self) -> usize {
        self.parts.logits.map_or(0, |(_, length)| length as usize)
    }

    /// Asks for pages of 2 MiB for what the plan reserved and hasn't spent yet.
    pub fn ask_for_huge_pages(&mut self) {
        for buffer in self.parts.memory.buffers() {
            buffer.ask_for_huge_pages();
        }
    }

    /// Spends all memory that the plan reserved now, so that the first passes don't stop for it, and
    /// too little of it is known before they begin. What it holds stays.
    pub fn touch(&mut self) {
        for buffer in self.parts.memory.buffers() {
            buffer.touch();
        }
    }

    /// Bytes that are reserved for values, outputs, states and scratch: what the report's
    /// `reserved_bytes` said before binding.
    pub fn reserved_bytes(&mut self) -> u64 {
        let buffers = self.parts.memory.buffers();
        buffers.map(|buffer| buffer.reserved_bytes()).sum()
    }

    /// What was decided, scratch included.
    #[must_use]
    pub fn report(&self) -> &PlanReport {
        &self.parts.report
    }

    /// The model whose weights the plan reads.
    #[must_use]
    pub fn model(&self) -> &dyn ModelSource {
        &*self.parts.model
    }

    /// The pool that operations run on.
    #[must_use]
    pub fn parallel_for(&self) -> &ParallelFor {
        &self.parts.par
    }

    fn result(&self, place: Option<(u64, u64)>, rows: u64) -> &[f32] {
        let found = place.and_then(|(offset, length)| {
            let count = usize::try_from(rows.checked_mul(length)?).ok()?;
            self.parts
                .memory
                .outputs
                .f32s(usize::try_from(offset).ok()?, count)
        });
        found.unwrap_or(&[])
    }

    /// Operation with its version, and the provider, of a step.
    fn step_identity(&self, phase: Phase, number: usize) -> (String, ProviderIdentity) {
        let step = &self.parts.steps[phase.index()][number];
        let candidate = &self.parts.bound[step.bound as usize].candidate;
        let operation = self.parts.nodes[number].operation.clone();
        (operation, candidate.identity())
    }

    fn failure(&self, number: usize, phase: Phase, status: guild_status) -> StepError {
        let (operation, provider) = self.step_identity(phase, number);
        StepError {
            provider,
            operation,
            layer: self.parts.nodes[number].layer,
            status,
            text: self.parts.memory.errors.text(),
        }
    }
}
