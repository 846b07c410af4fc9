//! A plugin by hand: a runner that speaks a test's script and four small operations.

use core::ffi::c_void;
use std::sync::Mutex;

use guild_abi::abi::*;
use guild_abi::contract::core_op;
use guild_abi::runner::{guild_builder_v1, guild_describe_params, guild_model_v1, guild_runner_v1};
use guild_abi::text::write_error;
use guild_graph::{
    Candidate, PackageIdentity, PluginTable, Registry, RunnerCandidate, RunnerTable,
};

use crate::script::{Said, Script};

/// The operations, by their number in the plugin's list.
pub const OPERATIONS: [&str; 4] = [
    "guild.core.embedding",
    "guild.core.add",
    "guild.core.select_rows",
    "test.ops.count",
];

/// What a test's plugin does. Everything that a test doesn't set works.
pub struct TestPlugin {
    pub package: PackageIdentity,
    pub script: fn(&Script) -> Said<()>,
    /// The runner's own refusal, written when the script fails or where there is no script.
    pub refusal_text: &'static str,
    /// 0 declines; below 0 is an error.
    pub score: i32,
    /// Operation, reason and text of a refusal by `supports`.
    pub declines: Option<(u32, u32, &'static str)>,
    /// Changes what the registry says of the plugin's operations.
    pub edit: fn(&mut Candidate),
    /// Slots that the `count` operation asks for.
    pub scratch: Vec<guild_scratch_slot>,
    /// The function that fails for `count`.
    pub fails: &'static str,
    /// What was called, in order.
    pub log: Mutex<Vec<String>>,
    /// Scratch addresses that `count` saw.
    pub seen: Mutex<Vec<Vec<usize>>>,
}

/// One instance: its operation's number.
struct TestInstance {
    plugin: &'static TestPlugin,
    index: u32,
}

impl TestPlugin {
    pub fn new(script: fn(&Script) -> Said<()>) -> TestPlugin {
        TestPlugin {
            package: package("test.package", false),
            script,
            refusal_text: "",
            score: 10,
            declines: None,
            edit: |_| {},
            scratch: vec![],
            fails: "",
            log: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// Lives for ever, as a loaded plugin does.
    pub fn leak(self) -> &'static TestPlugin {
        Box::leak(Box::new(self))
    }

    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    fn note(&self, call: &str, index: u32, phase: u32) {
        let name = OPERATIONS[index as usize].rsplit('.').next().unwrap();
        self.log
            .lock()
            .unwrap()
            .push(format!("{call} {name} {phase}"));
    }
}

pub fn package(id: &str, builtin: bool) -> PackageIdentity {
    PackageIdentity {
        id: id.to_owned(),
        version: "1.2.3".to_owned(),
        digest: (!builtin).then(|| "ab".repeat(32)),
        builtin,
    }
}

/// Plugins in the order of preference.
pub struct TestRegistry(pub Vec<&'static TestPlugin>);

impl Registry for TestRegistry {
    fn operations(&self, name: &str, _version: u32) -> Vec<Candidate> {
        let Some(index) = OPERATIONS.iter().position(|have| *have == name) else {
            return vec![];
        };
        let candidates = self.0.iter().map(|plugin| {
            let mut candidate = Candidate {
                package: plugin.package.clone(),
                implementation: format!("{}.impl", plugin.package.id),
                table: table(plugin),
                index: index as u32,
                op_min: 1,
                op_max: 1,
                rank: 0,
                caps: [0; 2],
                phases: GUILD_PHASE_PREFILL | GUILD_PHASE_DECODE | GUILD_PHASE_VERIFY,
                exactness: GUILD_CLASS_EXACT,
                contract: core_op(name, 1).map_or([0; 32], |op| op.hash),
            };
            (plugin.edit)(&mut candidate);
            candidate
        });
        candidates.collect()
    }

    fn runners(&self) -> Vec<RunnerCandidate> {
        let runners = self.0.iter().map(|plugin| RunnerCandidate {
            package: plugin.package.clone(),
            id: "test.runner.v1".to_owned(),
            architectures: vec!["test".to_owned()],
            table: table(plugin),
            runner: runner(),
            index: 0,
        });
        runners.collect()
    }
}

fn table(plugin: &'static TestPlugin) -> PluginTable {
    let table = guild_plugin_v1 {
        h: guild_hdr::new(size_of::<guild_plugin_v1>(), GUILD_KIND_PLUGIN),
        abi_minor_built: 0,
        abi_minor_min: 0,
        caps: [0; 2],
        id: guild_str::new(&plugin.package.id),
        version: guild_str::new(&plugin.package.version),
        build_id: [0; 32],
        self_: core::ptr::from_ref(plugin).cast_mut().cast(),
        op_count: OPERATIONS.len() as u32,
        reserved0: 0,
        init: None,
        describe: None,
        supports: Some(supports),
        create: Some(create),
        scratch: Some(scratch),
        prepack: None,
        prepare: Some(prepare),
        destroy: Some(destroy),
        get_extension: None,
        quiesce: None,
        shutdown: None,
        reserved: [0; 8],
    };
    // Two tables with the same functions would be two plugins: keep one for each plugin.
    static TABLES: Mutex<Vec<(usize, PluginTable)>> = Mutex::new(vec![]);
    let mut tables = TABLES.lock().unwrap();
    let key = core::ptr::from_ref(plugin) as usize;
    if let Some((_, known)) = tables.iter().find(|(have, _)| *have == key) {
        return *known;
    }
    // SAFETY: the table and the plugin are leaked, and the functions below keep the contract.
    let new = unsafe { PluginTable::new(Box::leak(Box::new(table))) };
    tables.push((key, new));
    new
}

fn runner() -> RunnerTable {
    let table = guild_runner_v1 {
        h: guild_hdr::new(size_of::<guild_runner_v1>(), GUILD_KIND_EXTENSION),
        runner_count: 1,
        reserved0: 0,
        info: None,
        matches: Some(matches),
        describe: Some(describe),
        reserved: [0; 3],
    };
    // SAFETY: the table is leaked; each test describes on one thread with a plugin of its own.
    unsafe { RunnerTable::new(Box::leak(Box::new(table))) }
}

fn plugin(self_: *mut c_void) -> &'static TestPlugin {
    // SAFETY: `table` put a leaked plugin in.
    unsafe { &*self_.cast::<TestPlugin>() }
}

unsafe extern "C" fn matches(
    self_: *mut c_void,
    _index: u32,
    _model: *const guild_model_v1,
    score: *mut i32,
    err: *mut guild_err,
) -> guild_status {
    let plugin = plugin(self_);
    // SAFETY: the host hands in a place for the score and an error buffer.
    unsafe {
        score.write(plugin.score);
        write_error(
            err,
            GUILD_STATUS_ERR_INTERNAL,
            format_args!("{}", plugin.refusal_text),
        );
    }
    match plugin.score {
        0 => GUILD_STATUS_DECLINED,
        score if score < 0 => GUILD_STATUS_ERR_INTERNAL,
        _ => GUILD_STATUS_OK,
    }
}

unsafe extern "C" fn describe(
    self_: *mut c_void,
    _index: u32,
    model: *const guild_model_v1,
    _params: *const guild_describe_params,
    builder: *const guild_builder_v1,
    err: *mut guild_err,
) -> guild_status {
    let plugin = plugin(self_);
    let script = Script {
        model,
        builder,
        err,
    };
    match (plugin.script)(&script) {
        Ok(()) => GUILD_STATUS_OK,
        Err(status) => {
            if !plugin.refusal_text.is_empty() {
                // SAFETY: the host's error buffer.
                unsafe { write_error(err, status, format_args!("{}", plugin.refusal_text)) };
            }
            status
        }
    }
}

unsafe extern "C" fn supports(
    self_: *mut c_void,
    index: u32,
    request: *const guild_op_req,
    out: *mut guild_refusal,
) -> guild_status {
    let plugin = plugin(self_);
    // SAFETY: the host's request and refusal are valid during the call.
    let (request, out) = unsafe { (&*request, &mut *out) };
    plugin.note("supports", index, request.phase);
    match plugin.declines {
        Some((which, reason, text)) if which == index => {
            out.reason = reason;
            (out.wanted, out.offered) = (4, 8);
            out.len = text.len() as u32;
            // SAFETY: the host's buffer has `cap` bytes, far more than the tests' texts.
            unsafe { out.buf.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
            GUILD_STATUS_DECLINED
        }
        _ => GUILD_STATUS_OK,
    }
}

fn fails(plugin: &TestPlugin, index: u32, call: &str, err: *mut guild_err) -> guild_status {
    if index == 3 && plugin.fails == call {
        // SAFETY: the host's error buffer.
        unsafe { write_error(err, GUILD_STATUS_ERR_INTERNAL, format_args!("{call} broke")) };
        return GUILD_STATUS_ERR_INTERNAL;
    }
    GUILD_STATUS_OK
}

unsafe extern "C" fn create(
    self_: *mut c_void,
    index: u32,
    request: *const guild_op_req,
    inst: *mut *mut c_void,
    err: *mut guild_err,
) -> guild_status {
    let plugin = plugin(self_);
    // SAFETY: as in `supports`; `inst` is the host's.
    unsafe {
        plugin.note("create", index, (*request).phase);
        inst.write(Box::into_raw(Box::new(TestInstance { plugin, index })).cast());
    }
    fails(plugin, index, "create", err)
}

unsafe extern "C" fn scratch(
    self_: *mut c_void,
    inst: *mut c_void,
    _bounds: *const guild_bounds,
    slots: *mut guild_scratch_slot,
    cap: u32,
    count: *mut u32,
    err: *mut guild_err,
) -> guild_status {
    let plugin = plugin(self_);
    // SAFETY: `create` made the instance; `slots` has room for `cap` entries.
    unsafe {
        let index = (*inst.cast::<TestInstance>()).index;
        let wanted = if index == 3 { &plugin.scratch[..] } else { &[] };
        for (at, slot) in wanted.iter().take(cap as usize).enumerate() {
            slots.add(at).write(*slot);
        }
        count.write(wanted.len() as u32);
        fails(plugin, index, "scratch", err)
    }
}

unsafe extern "C" fn prepare(
    self_: *mut c_void,
    inst: *mut c_void,
    _stream: *const guild_stream,
    function: *mut guild_execute_fn,
    err: *mut guild_err,
) -> guild_status {
    // SAFETY: `create` made the instance; `function` is the host's.
    unsafe {
        let index = (*inst.cast::<TestInstance>()).index;
        function.write(
            [
                Some(embedding as _),
                Some(add as _),
                Some(select as _),
                Some(count as _),
            ][index as usize],
        );
        fails(plugin(self_), index, "prepare", err)
    }
}

unsafe extern "C" fn destroy(_self: *mut c_void, inst: *mut c_void) {
    // SAFETY: `create` made the instance, and this is its end.
    let instance = unsafe { Box::from_raw(inst.cast::<TestInstance>()) };
    instance.plugin.note("destroy", instance.index, 0);
}

/// A call's operands, read by the strides that the host wrote.
struct Call<'x>(&'x guild_exec);

impl Call<'_> {
    fn rows(&self) -> usize {
        // SAFETY: the host's count.
        unsafe { *self.0.rows as usize }
    }

    fn input(&self, index: usize) -> &guild_tensor {
        assert!(index < self.0.n_in as usize);
        // SAFETY: checked against the table's length.
        unsafe { &**self.0.inputs.add(index) }
    }

    fn output(&self) -> &guild_tensor {
        // SAFETY: every operation here has an output.
        unsafe { &**self.0.outputs }
    }

    fn at<T>(tensor: &guild_tensor, row: usize, column: usize) -> *mut T {
        let offset = row as i64 * tensor.stride[0] + column as i64 * tensor.stride[1];
        let end = offset as u64 + size_of::<T>() as u64;
        assert!(end <= tensor.byte_len, "byte {end} of {}", tensor.byte_len);
        tensor.data.wrapping_byte_add(offset as usize).cast()
    }

    fn f32(tensor: &guild_tensor, row: usize, column: usize) -> f32 {
        // SAFETY: inside `byte_len`.
        unsafe { *Call::at::<f32>(tensor, row, column) }
    }

    fn id(&self, index: usize, row: usize) -> i32 {
        // SAFETY: inside `byte_len`.
        unsafe { *Call::at::<i32>(self.input(index), row, 0) }
    }

    fn write(&self, row: usize, of: impl Fn(usize) -> f32) {
        let output = self.output();
        for column in 0..output.shape[1] as usize {
            // SAFETY: inside `byte_len`.
            unsafe { *Call::at::<f32>(output, row, column) = of(column) };
        }
    }
}

unsafe extern "C" fn embedding(_inst: *mut c_void, x: *const guild_exec) -> guild_status {
    // SAFETY: the host's argument block.
    let call = Call(unsafe { &*x });
    for row in 0..call.rows() {
        let id = call.id(1, row);
        if id < 0 {
            return GUILD_STATUS_ERR_INTERNAL;
        }
        if !(0..call.input(0).shape[0] as i32).contains(&id) {
            let text = format_args!("token {id} doesn't exist");
            // SAFETY: the host's error buffer.
            unsafe { write_error(call.0.err, GUILD_STATUS_ERR_INVALID, text) };
            return GUILD_STATUS_ERR_INVALID;
        }
        call.write(row, |column| Call::f32(call.input(0), id as usize, column));
    }
    GUILD_STATUS_OK
}

unsafe extern "C" fn add(_inst: *mut c_void, x: *const guild_exec) -> guild_status {
    // SAFETY: the host's argument block.
    let call = Call(unsafe { &*x });
    for row in 0..call.rows() {
        let (a, b) = (call.input(0), call.input(1));
        call.write(row, |column| {
            Call::f32(a, row, column) + Call::f32(b, row, column)
        });
    }
    GUILD_STATUS_OK
}

unsafe extern "C" fn select(inst: *mut c_void, x: *const guild_exec) -> guild_status {
    // SAFETY: the host's argument block and the instance that `create` made.
    let (call, instance) = unsafe { (Call(&*x), &*inst.cast::<TestInstance>()) };
    instance.plugin.note("execute", instance.index, 0);
    for row in 0..call.rows() {
        let from = call.id(1, row) as usize;
        call.write(row, |column| Call::f32(call.input(0), from, column));
    }
    GUILD_STATUS_OK
}

/// Adds to each row how many rows its sequence had before; the state counts in every element.
unsafe extern "C" fn count(inst: *mut c_void, x: *const guild_exec) -> guild_status {
    // SAFETY: the host's argument block and the instance that `create` made.
    let (call, instance) = unsafe { (Call(&*x), &*inst.cast::<TestInstance>()) };
    // SAFETY: the host's tables have the lengths that stand beside them.
    let (scratch, batch, state) = unsafe {
        let scratch = core::slice::from_raw_parts(call.0.scratch, call.0.n_scratch as usize);
        (scratch, &*call.0.batch, &**call.0.states)
    };
    let addresses = scratch.iter().map(|slot| *slot as usize).collect();
    instance.plugin.seen.lock().unwrap().push(addresses);
    for sequence in 0..batch.seq_count as usize {
        // SAFETY: the batch has this sequence, and the state its slot.
        let (sequence, slot) = unsafe {
            let sequence = &*batch.seqs.add(sequence);
            let at = sequence.slot as usize * state.stride as usize;
            (sequence, state.data.byte_add(at).cast::<f32>())
        };
        for row in sequence.first_row..sequence.first_row + sequence.rows {
            let row = row as usize;
            // SAFETY: a slot has as many elements as a row.
            call.write(row, |column| unsafe {
                let before = slot.add(column);
                *before += 1.0;
                Call::f32(call.input(0), row, column) + *before - 1.0
            });
        }
    }
    GUILD_STATUS_OK
}
