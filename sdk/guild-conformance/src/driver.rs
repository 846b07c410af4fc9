//! Drives a plugin through its C table, exactly as a host would, and compares with the oracle.
//!
//! Entry, init, describe; for each case supports, create, scratch, prepare, four times execute (one
//! worker and two, each twice), destroy; counters; quiesce, shutdown. Every buffer has guard bands;
//! call scratch holds garbage.
#![allow(unsafe_code)]

mod reproduce;

use crate::case::{self, Case};
use crate::guarded::{Guarded, Placed, SPARE_ROWS};
use crate::pool::Pool;
use crate::report::{Report, Verdict};
use core::ffi::c_void;
use guild_abi::abi::*;
use guild_abi::contract::core_op;
use guild_abi::counters::{guild_counter, guild_counters_v1};
use guild_abi::text::ErrorText;
use std::sync::LazyLock;

pub use reproduce::reproduce;

/// A plugin's entry.
pub type Entry = unsafe extern "C" fn(
    *const guild_host_v1,
    *mut guild_plugin_v1,
    *mut guild_err,
) -> guild_status;

/// Scratch slots that the kit has room for.
const SLOTS_MAX: usize = 16;
/// Executions of each case.
const EXECUTIONS: u64 = 4;

/// Numbers of workers that each case runs with: one, and more than many loops have tasks.
const WORKERS: [u32; 2] = [1, 5];

/// Runs every case on every operation of a plugin.
#[must_use]
pub fn run(entry: Entry) -> Report {
    // The same for every plugin, and dear: tests of one process share them.
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(case::all);
    run_cases(entry, &CASES)
}

/// Runs some cases on every operation of a plugin.
#[must_use]
pub fn run_cases(entry: Entry, cases: &[Case]) -> Report {
    let mut report = Report::default();
    let host = host_table();
    let (plugin, mut err) = (Plugin::start(entry, &host), ErrorText::new());
    let plugin = match plugin {
        Ok(plugin) => plugin,
        Err(why) => {
            report.push("", "", "start", Verdict::Failed(why));
            return report;
        }
    };
    for index in 0..plugin.table.op_count {
        match plugin.describe(index, &mut err) {
            Ok(operation) => {
                let passed = run_operation(&plugin, &operation, cases, &mut report);
                if let Err(why) = plugin.check_counter(index, passed) {
                    report_on(&mut report, &operation, "counters", Verdict::Failed(why));
                }
            }
            Err(why) => report.push("", "", "describe", Verdict::Failed(why)),
        }
    }
    if let Err(why) = plugin.end() {
        report.push("", "", "end", Verdict::Failed(why));
    }
    report
}

/// What a counter must say.
#[derive(Default)]
struct Counted {
    calls: u64,
    rows: u64,
}

fn run_operation(
    plugin: &Plugin,
    operation: &Operation,
    cases: &[Case],
    report: &mut Report,
) -> Counted {
    let mut counted = Counted::default();
    let mine = |case: &&Case| case.op.name == operation.name;
    for case in cases.iter().filter(mine) {
        let verdict = match Run::new(case, operation).and_then(|mut run| run.go(plugin)) {
            Ok(verdict) => verdict,
            Err(why) => Verdict::Failed(why),
        };
        if verdict == Verdict::Passed && !case.invalid {
            counted.calls += EXECUTIONS;
            counted.rows += EXECUTIONS * case.rows as u64;
        }
        report_on(report, operation, &case.name, verdict);
    }
    counted
}

fn report_on(report: &mut Report, operation: &Operation, case: &str, verdict: Verdict) {
    report.push(&operation.name, &operation.implementation, case, verdict);
}

/// One operation of a plugin, as the plugin describes it.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What the plugin's functions call it.
    pub index: u32,
    /// Operation without its version.
    pub name: String,
    /// Implementation id.
    pub implementation: String,
    /// `GUILD_PHASE_*` bits.
    pub phases: u32,
    /// The first word of `GUILD_CAP_*` bits.
    pub caps: u64,
    /// `GUILD_CLASS_*`.
    pub class: u32,
}

/// A plugin between `init` and `shutdown`.
struct Plugin {
    table: guild_plugin_v1,
}

impl Plugin {
    fn start(entry: Entry, host: &guild_host_v1) -> Result<Plugin, String> {
        let mut err = ErrorText::new();
        // SAFETY: integers, pointers and optional functions; all zero is a value.
        let mut table: guild_plugin_v1 = unsafe { core::mem::zeroed() };
        table.h = guild_hdr::new(size_of::<guild_plugin_v1>(), GUILD_KIND_PLUGIN);
        // SAFETY: host table, plugin table and error buffer are live and ours; `host` outlives the
        // plugin (`run_cases` ends it first).
        let status = unsafe { entry(host, &mut table, err.as_raw()) };
        succeeded("entry", status, &err)?;
        if table.abi_minor_min > GUILD_ABI_MINOR {
            return Err("the plugin wants a newer ABI".to_owned());
        }
        let init = table.init.ok_or("the plugin has no init")?;
        // SAFETY: as the entry; called once.
        let status = unsafe { init(table.self_, GUILD_ABI_MINOR, guild_str::EMPTY, err.as_raw()) };
        succeeded("init", status, &err)?;
        Ok(Plugin { table })
    }

    fn describe(&self, index: u32, err: &mut ErrorText) -> Result<Operation, String> {
        // SAFETY: as in `start`.
        let mut desc: guild_op_desc = unsafe { core::mem::zeroed() };
        desc.h = guild_hdr::new(size_of::<guild_op_desc>(), GUILD_KIND_OP_DESC);
        let describe = self.table.describe.ok_or("the plugin has no describe")?;
        // SAFETY: the plugin's own `self_`; description and buffer are ours.
        let status = unsafe { describe(self.table.self_, index, &mut desc, err.as_raw()) };
        succeeded("describe", status, err)?;
        // SAFETY: the plugin keeps its texts until `shutdown`.
        let texts = unsafe { (desc.name.as_str(), desc.implementation.as_str()) };
        let (Some(name), Some(id)) = texts else {
            return Err(format!("operation {index} has a name that isn't UTF-8"));
        };
        let Some(op) = core_op(name, desc.op_max) else {
            return Err(format!("{name}@{} is no core operation", desc.op_max));
        };
        if op.hash != desc.contract {
            return Err(format!("{id} was built against another contract of {name}"));
        }
        Ok(Operation {
            index,
            name: name.to_owned(),
            implementation: id.to_owned(),
            phases: desc.phases,
            caps: desc.caps[0],
            class: desc.exactness,
        })
    }

    fn check_counter(&self, index: u32, want: Counted) -> Result<(), String> {
        let get = self.table.get_extension.ok_or("no get_extension")?;
        let id = guild_str::new("guild.counters/1");
        // SAFETY: the plugin's own `self_`; the table lives until `shutdown`.
        let table = unsafe {
            get(self.table.self_, id)
                .cast::<guild_counters_v1>()
                .as_ref()
        };
        let read = table
            .and_then(|table| table.operation)
            .ok_or("the plugin has no guild.counters/1")?;
        let mut counter = guild_counter {
            size: size_of::<guild_counter>() as u32,
            reserved: 0,
            calls: 0,
            rows: 0,
        };
        // SAFETY: the plugin's own `self_`; the counter is ours.
        let status = unsafe { read(self.table.self_, index, &mut counter) };
        // Failed cases may have counted too; at least what passed must be there.
        if status != GUILD_STATUS_OK || counter.calls < want.calls || counter.rows < want.rows {
            return Err(format!(
                "counted {} calls and {} rows (status {status}), ran {} and {}",
                counter.calls, counter.rows, want.calls, want.rows
            ));
        }
        Ok(())
    }

    fn end(self) -> Result<(), String> {
        let mut err = ErrorText::new();
        let quiesce = self.table.quiesce.ok_or("the plugin has no quiesce")?;
        let shutdown = self.table.shutdown.ok_or("the plugin has no shutdown")?;
        // SAFETY: no call runs and no instance is left.
        let status = unsafe { quiesce(self.table.self_, 1_000_000_000, err.as_raw()) };
        // SAFETY: as above; nothing is called afterwards.
        unsafe { shutdown(self.table.self_) };
        succeeded("quiesce", status, &err)
    }
}

/// One case, laid out in memory with all the structs that point into it.
struct Run<'a> {
    case: &'a Case,
    operation: &'a Operation,
    inputs: Vec<Placed>,
    outputs: Vec<Placed>,
    states: Vec<Placed>,
    params: Vec<u64>,
    sequences: Vec<guild_batch_seq>,
    bounds: guild_bounds,
    /// Whether the case says by itself what is allowed, whatever the implementation's class.
    is_golden: bool,
}

impl<'a> Run<'a> {
    fn new(case: &'a Case, operation: &'a Operation) -> Result<Run<'a>, String> {
        let mut inputs: Vec<Placed> = case
            .inputs
            .iter()
            .map(|operand| Placed::tensor(operand, false))
            .collect();
        let mut outputs: Vec<Placed> = case
            .outputs
            .iter()
            .map(|operand| Placed::tensor(operand, true))
            .collect();
        if case.in_place {
            inputs[0] = Placed::in_place(&case.inputs[0], &case.outputs[0]);
            outputs.remove(0);
        }
        let mut params = vec![0u64; case.params.len().div_ceil(8)];
        for (word, bytes) in params.iter_mut().zip(case.params.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(whole);
        }
        let mut first_row = 0;
        let mut sequences = Vec::new();
        for sequence in &case.sequences {
            let snapshots = sequence.snapshots.as_ref();
            sequences.push(guild_batch_seq {
                slot: sequence.slot,
                first_row,
                rows: sequence.rows as u32,
                page_count: sequence.pages.len() as u32,
                position: sequence.position,
                pages: sequence.pages.as_ptr(),
                snapshot_slots: snapshots.map_or(core::ptr::null(), |slots| slots.as_ptr()),
                reserved: 0,
            });
            first_row += sequence.rows as u32;
        }
        let max_rows = first_row.max(case.rows as u32) as u64 + SPARE_ROWS as u64;
        let end = |s: &case::SequenceRows| s.position + s.rows as u64;
        let bounds = guild_bounds {
            h: guild_hdr::new(size_of::<guild_bounds>(), GUILD_KIND_BOUNDS),
            max_rows,
            max_outputs: max_rows,
            max_sequences: sequences.len() as u64 + 1,
            max_positions: case.sequences.iter().map(end).max().unwrap_or(0) + 1,
            workers: WORKERS[1],
            reserved0: 0,
            reserved: [0; 3],
        };
        Ok(Run {
            case,
            operation,
            inputs,
            outputs,
            states: case.states.iter().map(Placed::state).collect(),
            params,
            sequences,
            bounds,
            is_golden: false,
        })
    }

    fn go(&mut self, plugin: &Plugin) -> Result<Verdict, String> {
        if self.case.in_place && self.operation.caps & GUILD_CAP_INPLACE == 0 {
            return Ok(Verdict::Declined("without GUILD_CAP_INPLACE".to_owned()));
        }
        let tensors = self.tensors(false);
        let request = Request::new(self, &tensors);
        if let Some(why) = request.declined(plugin)? {
            return Ok(Verdict::Declined(why));
        }
        if self.operation.class != GUILD_CLASS_EXACT && !self.case.invalid && !self.is_golden {
            self.hold_to_bound()?;
        }
        let instance = match request.create(plugin) {
            Ok(instance) => instance,
            // What an operand holds may be refused as soon as it is seen.
            Err((GUILD_STATUS_ERR_INVALID, _)) if self.case.invalid => return Ok(Verdict::Passed),
            Err((_, why)) => return Err(why),
        };
        let mut scratch = instance.scratch(&self.bounds)?;
        let execute = instance.prepare()?;
        for workers in WORKERS {
            for _ in 0..2 {
                self.execute(execute, instance.inst, &mut scratch, workers)?;
            }
        }
        Ok(Verdict::Passed)
    }

    /// Holds the outputs of a tolerant implementation to the operation's bound instead of the oracle's bits.
    fn hold_to_bound(&mut self) -> Result<(), String> {
        let case = self.case;
        let stated = case.tolerance.and_then(|tolerance| tolerance(case));
        let Some(stated) = stated.filter(|_| !case.in_place) else {
            return Err("it is tolerant, but no bound is stated for such a call".to_owned());
        };
        let repeats = self.operation.caps & GUILD_CAP_DETERMINISTIC != 0;
        for (placed, allowed) in self.outputs.iter_mut().zip(stated) {
            placed.hold_to(allowed, repeats);
        }
        Ok(())
    }

    /// Calls the operation once and checks everything that it may and may not have written.
    fn execute(
        &mut self,
        execute: unsafe extern "C" fn(*mut c_void, *const guild_exec) -> guild_status,
        inst: *mut c_void,
        scratch: &mut [(u8, Guarded)],
        workers: u32,
    ) -> Result<(), String> {
        for placed in self.placed_mut() {
            placed.reset();
        }
        for (lifetime, buffer) in scratch.iter_mut() {
            if *lifetime == GUILD_SCRATCH_CALL {
                buffer.bytes_mut().fill(0xff);
            }
        }
        let status = self.call(execute, inst, scratch, workers);
        let at = format!("{workers} workers");
        if scratch.iter().any(|(_, buffer)| !buffer.is_intact()) {
            return Err(format!("{at}: wrote outside its scratch"));
        }
        if self.case.invalid {
            return match status {
                (GUILD_STATUS_ERR_INVALID, _) => Ok(()),
                (status, text) => Err(format!("{at}: want INVALID, got {status} {text}")),
            };
        }
        if status.0 != GUILD_STATUS_OK {
            return Err(format!("{at}: status {} {}", status.0, status.1));
        }
        for (kind, list) in [
            ("input", &mut self.inputs),
            ("output", &mut self.outputs),
            ("state", &mut self.states),
        ] {
            for (index, placed) in list.iter_mut().enumerate() {
                placed.check(&format!("{at}: {kind} {index}"))?;
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        execute: unsafe extern "C" fn(*mut c_void, *const guild_exec) -> guild_status,
        inst: *mut c_void,
        scratch: &mut [(u8, Guarded)],
        workers: u32,
    ) -> (guild_status, String) {
        let mut err = ErrorText::new();
        let pool = Pool::new(workers);
        let par = pool.table();
        let mut tensors = self.tensors(true);
        let pointers = tensors.pointers();
        let outputs: Vec<*mut guild_tensor> = tensors
            .outputs
            .iter_mut()
            .map(core::ptr::from_mut)
            .collect();
        let scratch: Vec<*mut c_void> = scratch
            .iter_mut()
            .map(|(_, buffer)| buffer.bytes_mut().as_mut_ptr().cast())
            .collect();
        let batch = guild_batch {
            size: size_of::<guild_batch>() as u32,
            seq_count: self.sequences.len() as u32,
            seqs: self.sequences.as_ptr(),
            seq_stride: size_of::<guild_batch_seq>() as u64,
            rows: self.sequences.iter().map(|seq| u64::from(seq.rows)).sum(),
            outputs: self.case.rows as u64,
            token: 1,
            reserved: [0; 2],
        };
        let rows = self.case.rows as u64;
        let x = guild_exec {
            size: size_of::<guild_exec>() as u32,
            flags: 0,
            n_in: pointers.inputs.len() as u32,
            n_out: outputs.len() as u32,
            inputs: pointers.inputs.as_ptr(),
            outputs: outputs.as_ptr(),
            n_state: pointers.states.len() as u32,
            n_scratch: scratch.len() as u32,
            states: pointers.states.as_ptr(),
            scratch: scratch.as_ptr(),
            params: self.params.as_ptr().cast(),
            params_size: self.case.params.len() as u64,
            rows: &rows,
            batch: &batch,
            stream: core::ptr::null(),
            par: &par,
            err: err.as_raw(),
            reserved: [0; 2],
        };
        // SAFETY: the instance is prepared; everything that `x` points to lives until the call
        // returns and is used by nothing else; scratch is what the instance declared.
        let status = unsafe { execute(inst, &x) };
        (status, err.text().to_owned())
    }

    /// The C structs of all operands; activations without data in a request.
    fn tensors(&mut self, with_data: bool) -> Tensors {
        let case = self.case;
        let data = |placed: &mut Placed, dynamic: bool| {
            if dynamic && !with_data {
                core::ptr::null_mut()
            } else {
                placed.memory.bytes_mut().as_mut_ptr()
            }
        };
        let mut inputs = Vec::new();
        for (placed, operand) in self.inputs.iter_mut().zip(&case.inputs) {
            let data = data(placed, operand.dynamic);
            inputs.push(tensor(placed, operand, data));
        }
        let mut outputs = Vec::new();
        let mut expected = case.outputs.iter();
        if case.in_place
            && let Some(operand) = expected.next()
        {
            let data = data(&mut self.inputs[0], true);
            outputs.push(tensor(&self.inputs[0], operand, data));
        }
        for (placed, operand) in self.outputs.iter_mut().zip(expected) {
            let data = data(placed, true);
            outputs.push(tensor(placed, operand, data));
        }
        let states = self.states.iter_mut().zip(&case.states);
        let states = states
            .map(|(placed, state)| guild_state {
                size: size_of::<guild_state>() as u32,
                kind: state.kind,
                format: state.format,
                count: state.count as u32,
                data: data(placed, true).cast(),
                stride: placed.stride[0] as u64,
                shape: state.shape.map(|n| n as u64),
                reserved: [0; 2],
            })
            .collect();
        Tensors {
            inputs,
            outputs,
            states,
        }
    }

    fn placed_mut(&mut self) -> impl Iterator<Item = &mut Placed> {
        let tensors = self.inputs.iter_mut().chain(&mut self.outputs);
        tensors.chain(&mut self.states)
    }
}

fn tensor(placed: &Placed, operand: &case::Operand, data: *mut u8) -> guild_tensor {
    let (mut shape, mut stride) = ([1; 6], [0; 6]);
    shape[..placed.shape.len()].copy_from_slice(&placed.shape);
    stride[..placed.stride.len()].copy_from_slice(&placed.stride);
    guild_tensor {
        size: size_of::<guild_tensor>() as u32,
        rank: placed.shape.len() as u8,
        space: GUILD_SPACE_HOST,
        flags: match (operand.dynamic, operand.row_gap + operand.head_gap) {
            (true, _) => GUILD_TENSOR_DYNAMIC_ROWS,
            (false, 0) => GUILD_TENSOR_READ_ONLY | GUILD_TENSOR_CONTIGUOUS,
            (false, _) => GUILD_TENSOR_READ_ONLY,
        },
        pad0: 0,
        device: 0,
        format: operand.format,
        byte_len: placed.memory.bytes().len() as u64,
        data: data.cast(),
        shape,
        stride,
        quant: placed
            .quant
            .as_deref()
            .map_or(core::ptr::null(), core::ptr::from_ref),
        content_id: 0,
        reserved: [0; 2],
    }
}

struct Tensors {
    inputs: Vec<guild_tensor>,
    outputs: Vec<guild_tensor>,
    states: Vec<guild_state>,
}

struct Pointers {
    inputs: Vec<*const guild_tensor>,
    outputs: Vec<*const guild_tensor>,
    states: Vec<*const guild_state>,
}

impl Tensors {
    fn pointers(&self) -> Pointers {
        Pointers {
            inputs: self.inputs.iter().map(core::ptr::from_ref).collect(),
            outputs: self.outputs.iter().map(core::ptr::from_ref).collect(),
            states: self.states.iter().map(core::ptr::from_ref).collect(),
        }
    }
}

/// A request with the lists that it points to.
struct Request {
    raw: guild_op_req,
    index: u32,
    /// `raw` points into these.
    _lists: Pointers,
}

impl Request {
    fn new(run: &Run<'_>, tensors: &Tensors) -> Request {
        let lists = tensors.pointers();
        let has_snapshots = run.case.sequences.iter().any(|s| s.snapshots.is_some());
        let wanted = if has_snapshots {
            GUILD_PHASE_VERIFY
        } else if run.case.rows > run.case.sequences.len() {
            GUILD_PHASE_PREFILL
        } else {
            GUILD_PHASE_DECODE
        };
        // A kernel for one phase alone is held to the cases of all of them.
        let phase = if run.operation.phases & wanted == 0 {
            1 << run.operation.phases.trailing_zeros()
        } else {
            wanted
        };
        let raw = guild_op_req {
            h: guild_hdr::new(size_of::<guild_op_req>(), GUILD_KIND_OP_REQ),
            name: guild_str::new(run.case.op.name),
            version: run.case.op.version,
            phase,
            params: run.params.as_ptr().cast(),
            params_size: run.case.params.len() as u64,
            n_in: lists.inputs.len() as u32,
            n_out: lists.outputs.len() as u32,
            n_state: lists.states.len() as u32,
            classes: run.operation.class,
            inputs: lists.inputs.as_ptr(),
            outputs: lists.outputs.as_ptr(),
            states: lists.states.as_ptr(),
            bounds: &run.bounds,
            device: 0,
            reserved0: 0,
            reserved: [0; 2],
        };
        Request {
            raw,
            index: run.operation.index,
            _lists: lists,
        }
    }

    /// Why the plugin declines, or `None` where it doesn't.
    fn declined(&self, plugin: &Plugin) -> Result<Option<String>, String> {
        let supports = plugin.table.supports.ok_or("the plugin has no supports")?;
        let mut text = [0u8; 256];
        let mut refusal = guild_refusal {
            h: guild_hdr::new(size_of::<guild_refusal>(), GUILD_KIND_REFUSAL),
            reason: 0,
            index: 0,
            wanted: 0,
            offered: 0,
            cap: text.len() as u32,
            len: 0,
            buf: text.as_mut_ptr(),
            reserved: [0; 2],
        };
        // SAFETY: the request and what it points to live in the caller; the refusal is ours.
        let status = unsafe { supports(plugin.table.self_, self.index, &self.raw, &mut refusal) };
        let len = (refusal.len as usize).min(text.len());
        let text = String::from_utf8_lossy(&text[..len]).into_owned();
        match status {
            GUILD_STATUS_OK => Ok(None),
            GUILD_STATUS_DECLINED => Ok(Some(format!("reason {}: {text}", refusal.reason))),
            status => Err(format!("supports: status {status} {text}")),
        }
    }

    fn create<'p>(&self, plugin: &'p Plugin) -> Result<Instance<'p>, (guild_status, String)> {
        let Some(create) = plugin.table.create else {
            return Err((GUILD_STATUS_ERR_ABI, "the plugin has no create".to_owned()));
        };
        let (mut inst, mut err) = (core::ptr::null_mut(), ErrorText::new());
        // SAFETY: as in `declined`; place and buffer are ours.
        let status = unsafe {
            create(
                plugin.table.self_,
                self.index,
                &self.raw,
                &mut inst,
                err.as_raw(),
            )
        };
        succeeded("create", status, &err).map_err(|why| (status, why))?;
        Ok(Instance { plugin, inst })
    }
}

/// An instance, ended when dropped.
struct Instance<'p> {
    plugin: &'p Plugin,
    inst: *mut c_void,
}

impl Instance<'_> {
    /// Asks for the scratch and makes it: lifetime and buffer of each slot.
    fn scratch(&self, bounds: &guild_bounds) -> Result<Vec<(u8, Guarded)>, String> {
        // A plugin without the function needs none.
        let Some(scratch) = self.plugin.table.scratch else {
            return Ok(Vec::new());
        };
        let empty = guild_scratch_slot {
            size: 0,
            space: 0,
            lifetime: 0,
            pad: [0; 2],
            bytes: 0,
            align: 1,
            reserved: 0,
        };
        let (mut slots, mut count, mut err) = ([empty; SLOTS_MAX], 0, ErrorText::new());
        // SAFETY: the instance is alive; slots, count and buffer are ours.
        let status = unsafe {
            scratch(
                self.plugin.table.self_,
                self.inst,
                bounds,
                slots.as_mut_ptr(),
                SLOTS_MAX as u32,
                &mut count,
                err.as_raw(),
            )
        };
        succeeded("scratch", status, &err)?;
        let slots = slots
            .get(..count as usize)
            .ok_or("more scratch slots than the kit has room for")?;
        slots
            .iter()
            .map(|slot| {
                let sound = slot.align.is_power_of_two()
                    && slot.align <= 4096
                    && slot.space == GUILD_SPACE_HOST
                    && matches!(slot.lifetime, GUILD_SCRATCH_CALL | GUILD_SCRATCH_PERSIST);
                if !sound {
                    return Err("a scratch slot's alignment, space or lifetime is wrong".to_owned());
                }
                let buffer = Guarded::new(slot.bytes as usize, slot.align as usize, false, 0);
                Ok((slot.lifetime, buffer))
            })
            .collect()
    }

    fn prepare(
        &self,
    ) -> Result<unsafe extern "C" fn(*mut c_void, *const guild_exec) -> guild_status, String> {
        let prepare = self.plugin.table.prepare.ok_or("no prepare function")?;
        let (mut function, mut err) = (None, ErrorText::new());
        // SAFETY: the instance is alive; place and buffer are ours.
        let status = unsafe {
            prepare(
                self.plugin.table.self_,
                self.inst,
                core::ptr::null(),
                &mut function,
                err.as_raw(),
            )
        };
        succeeded("prepare", status, &err)?;
        function.ok_or_else(|| "prepare gave no function".to_owned())
    }
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        if let Some(destroy) = self.plugin.table.destroy {
            // SAFETY: the instance is alive, and nothing uses it afterwards.
            unsafe { destroy(self.plugin.table.self_, self.inst) };
        }
    }
}

fn succeeded(what: &str, status: guild_status, err: &ErrorText) -> Result<(), String> {
    if status == GUILD_STATUS_OK {
        return Ok(());
    }
    Err(format!("{what}: status {status} {}", err.text()))
}

/// The kit's side of the wall: no log, memory from the system, no extensions.
fn host_table() -> guild_host_v1 {
    guild_host_v1 {
        h: guild_hdr::new(size_of::<guild_host_v1>(), GUILD_KIND_HOST),
        abi_minor: GUILD_ABI_MINOR,
        abi_minor_floor: GUILD_ABI_MINOR_FLOOR,
        caps: [0; 2],
        ctx: core::ptr::null_mut(),
        log: Some(log),
        alloc: Some(alloc),
        free: Some(free),
        get_extension: Some(get_extension),
        reserved: [0; 8],
    }
}

unsafe extern "C" fn log(_ctx: *mut c_void, _level: u32, _message: guild_str) {}

unsafe extern "C" fn get_extension(_ctx: *mut c_void, _id: guild_str) -> *const c_void {
    core::ptr::null()
}

/// # Safety
/// As `guild_host_v1.alloc` in `abi.h` says.
unsafe extern "C" fn alloc(_ctx: *mut c_void, bytes: u64, align: u64, _tag: u32) -> *mut c_void {
    match layout(bytes, align) {
        // SAFETY: `layout` refused a size of 0.
        Some(layout) => unsafe { std::alloc::alloc(layout) }.cast(),
        None => core::ptr::null_mut(),
    }
}

/// # Safety
/// As `guild_host_v1.free` in `abi.h` says.
unsafe extern "C" fn free(_ctx: *mut c_void, ptr: *mut c_void, bytes: u64, align: u64) {
    if let (Some(layout), false) = (layout(bytes, align), ptr.is_null()) {
        // SAFETY: the plugin passes what `alloc` gave, with the same size and alignment.
        unsafe { std::alloc::dealloc(ptr.cast(), layout) };
    }
}

fn layout(bytes: u64, align: u64) -> Option<std::alloc::Layout> {
    let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes > 0)?;
    std::alloc::Layout::from_size_align(bytes, usize::try_from(align).ok()?).ok()
}
