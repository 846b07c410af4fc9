//! A plugin's life: what it is, the entry that hands its table to a host, start and end.
//!
//! All state hangs off `guild_plugin_v1.self_`, so two hosts in one process don't meet.
#![allow(unsafe_code)]

use crate::kernel::{Failure, Kernel, KernelInfo};
use crate::runner::{HasRunners, Runner, RunnerTable};
use crate::{shims, sized};
use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};
use guild_abi::abi::{
    GUILD_ABI_MINOR, GUILD_ABI_MINOR_FLOOR, GUILD_CAP_INPLACE, GUILD_KIND_EXTENSION,
    GUILD_KIND_PLUGIN, GUILD_LOG_DEBUG, GUILD_LOG_ERROR, GUILD_LOG_INFO, GUILD_LOG_WARN,
    GUILD_STATUS_ERR_ABI, GUILD_STATUS_ERR_BUSY, GUILD_STATUS_ERR_PANIC, GUILD_STATUS_OK,
    guild_err, guild_hdr, guild_host_v1, guild_plugin_v1, guild_status, guild_str,
};
use guild_abi::counters::guild_counters_v1;
use guild_abi::text::write_error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// What a plugin is. One static value in each plugin crate.
pub struct Plugin {
    /// Package id: `org.guild.kernels.cpu`.
    pub id: &'static str,
    /// Package version, SemVer.
    pub version: &'static str,
    /// Digest that names this build, or zero.
    pub build_id: [u8; 32],
    /// Number of kernels that `kernels` makes; the host learns it before `init`.
    pub kernel_count: u32,
    /// Makes the kernels, once, in `init`: all that the plugin has, whatever the machine.
    /// [`Kernel::supports`] declines what this processor can't run.
    pub kernels: MakeKernels,
    /// Model architectures.
    pub runners: &'static [&'static dyn Runner],
}

/// Makes a plugin's kernels; the order is that of the operations in `describe`.
pub type MakeKernels = fn(&InitContext<'_>) -> Result<Vec<Box<dyn Kernel>>, Failure>;

/// Names a crate's [`Plugin`], so that the entry can be made without unsafe code in that crate.
pub trait PluginSource: 'static {
    /// The plugin. Constant, since its id and version also stand in the library's file ([`crate::note`]).
    const PLUGIN: &'static Plugin;
}

/// How important a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something is odd.
    Warn,
    /// Progress.
    Info,
    /// For developers.
    Debug,
}

/// What a plugin may use while it starts.
pub struct InitContext<'a> {
    config: &'a str,
    active_minor: u32,
    host: &'a guild_host_v1,
}

impl InitContext<'_> {
    /// The configuration text that the host passed; empty for none.
    #[must_use]
    pub fn config(&self) -> &str {
        self.config
    }

    /// Minor version of the ABI that both sides speak.
    #[must_use]
    pub fn active_minor(&self) -> u32 {
        self.active_minor
    }

    /// Writes a line to the host's log.
    pub fn log(&self, level: LogLevel, message: &str) {
        let level = match level {
            LogLevel::Error => GUILD_LOG_ERROR,
            LogLevel::Warn => GUILD_LOG_WARN,
            LogLevel::Info => GUILD_LOG_INFO,
            LogLevel::Debug => GUILD_LOG_DEBUG,
        };
        if let Some(log) = self.host.log {
            // SAFETY: the host's function takes its own context, on any thread, until `shutdown`.
            unsafe { log(self.host.ctx, level, guild_str::new(message)) };
        }
    }
}

/// The entry of the plugin that `S` names: what `guild_plugin_entry_v1` is in its cdylib.
///
/// # Safety
/// As `guild_plugin_entry_fn` in `abi.h` says: the three pointers are valid or null, `host` outlives
/// every call until `shutdown` returns, and the host serialises this call.
pub unsafe extern "C" fn entry<S: PluginSource>(
    host: *const guild_host_v1,
    out: *mut guild_plugin_v1,
    err: *mut guild_err,
) -> guild_status {
    // SAFETY: the caller's promise about `host` and `out`.
    let body = || unsafe { enter(S::PLUGIN, host, out) };
    // SAFETY: the caller's promise about `err`.
    unsafe { guarded(err, body) }
}

/// Exports `guild_plugin_entry_v1` for the plugin that a [`PluginSource`] names, and puts the plugin's GUILD
/// note into the library. For cdylib crates, once.
#[macro_export]
macro_rules! export_plugin {
    ($source:ty) => {
        /// The one symbol that a host looks up; see `guild/abi.h`.
        ///
        /// # Safety
        /// As `guild_plugin_entry_fn` in `guild/abi.h` says.
        // SAFETY: no other definition of this symbol is linked into a plugin library.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn guild_plugin_entry_v1(
            host: *const $crate::abi::abi::guild_host_v1,
            out: *mut $crate::abi::abi::guild_plugin_v1,
            err: *mut $crate::abi::abi::guild_err,
        ) -> $crate::abi::abi::guild_status {
            // SAFETY: the host keeps the contract of the entry, which is this function's.
            unsafe { $crate::entry::<$source>(host, out, err) }
        }

        const _: () = {
            const PLUGIN: &$crate::Plugin = <$source as $crate::PluginSource>::PLUGIN;
            // SAFETY: the section holds notes alone, and this is a whole one.
            #[used]
            #[unsafe(link_section = ".note.guild")]
            static NOTE: $crate::note::Note<{ $crate::note::bytes(PLUGIN) }> =
                $crate::note::Note::of(PLUGIN);
        };
    };
}

/// What `self_` points to.
pub(crate) struct PluginState {
    definition: &'static Plugin,
    host: guild_host_v1,
    kernels: OnceLock<Vec<Arc<Slot>>>,
    runners: RunnerTable,
    counters: guild_counters_v1,
}

// SAFETY: the raw pointers inside are the host's context and headers, which the host lets any thread
// use until `shutdown`; everything else is `Send` and `Sync`.
unsafe impl Send for PluginState {}
// SAFETY: as above.
unsafe impl Sync for PluginState {}

impl HasRunners for PluginState {
    fn runners(&self) -> &RunnerTable {
        &self.runners
    }
}

/// One kernel with its counters.
pub(crate) struct Slot {
    pub kernel: Box<dyn Kernel>,
    pub info: KernelInfo,
    /// Whether output 0 may be input 0's memory.
    pub may_alias: bool,
    calls: AtomicU64,
    rows: AtomicU64,
}

impl Slot {
    /// Counts a call that succeeded.
    pub(crate) fn count(&self, rows: usize) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    /// Calls and rows so far.
    pub(crate) fn counted(&self) -> (u64, u64) {
        (
            self.calls.load(Ordering::Relaxed),
            self.rows.load(Ordering::Relaxed),
        )
    }
}

impl PluginState {
    /// The plugin behind `self_`.
    ///
    /// # Safety
    /// `self_` is null, or the value that `entry` wrote, before `shutdown`.
    pub(crate) unsafe fn from_raw<'a>(self_: *mut c_void) -> Result<&'a PluginState, Failure> {
        // SAFETY: the caller's promise; all fields are shared between threads.
        unsafe { self_.cast::<PluginState>().as_ref() }
            .ok_or_else(|| Failure::invalid("self_ is null"))
    }

    /// Kernel `index`.
    pub(crate) fn slot(&self, index: u32) -> Result<&Arc<Slot>, Failure> {
        let Some(kernels) = self.kernels.get() else {
            return Err(Failure::new(
                GUILD_STATUS_ERR_BUSY,
                "the plugin isn't initialised",
            ));
        };
        kernels.get(index as usize).ok_or_else(|| {
            let count = kernels.len();
            Failure::invalid(format!("operation {index} of {count}"))
        })
    }
}

/// Runs the body of an exported function: errors and panics become a status and a text.
///
/// # Safety
/// `err` is null or as `guild_err` in `abi.h` says.
pub(crate) unsafe fn guarded(
    err: *mut guild_err,
    body: impl FnOnce() -> Result<guild_status, Failure>,
) -> guild_status {
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status)) => return status,
        Ok(Err(failure)) => failure,
        Err(payload) => Failure::panic(panic_text(payload)),
    };
    // SAFETY: the caller's promise.
    unsafe { write_error(err, failure.status, format_args!("{}", failure.text)) };
    failure.status
}

/// What a panic said. Its payload is forgotten, since its drop may panic.
pub(crate) fn panic_text(payload: Box<dyn core::any::Any + Send>) -> String {
    let said = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    core::mem::forget(payload);
    format!("the plugin panicked: {said}")
}

/// Checks the host's table and fills the plugin's.
///
/// # Safety
/// As [`entry()`].
unsafe fn enter(
    definition: &'static Plugin,
    host: *const guild_host_v1,
    out: *mut guild_plugin_v1,
) -> Result<guild_status, Failure> {
    // SAFETY: the caller's promise.
    let host = unsafe { sized::read(host, "the host's table") }?;
    // Minor 0 is this plugin's floor, so no host is too old.
    if host.abi_minor_floor > GUILD_ABI_MINOR {
        return Err(Failure::new(
            GUILD_STATUS_ERR_ABI,
            format!(
                "the host speaks ABI 1.{} to 1.{}, the plugin 1.{GUILD_ABI_MINOR_FLOOR} to \
                 1.{GUILD_ABI_MINOR}; install a plugin that was built for this host",
                host.abi_minor_floor, host.abi_minor
            ),
        ));
    }
    let state = Box::new(PluginState {
        definition,
        host,
        kernels: OnceLock::new(),
        runners: RunnerTable::new::<PluginState>(definition.runners),
        counters: guild_counters_v1 {
            h: guild_hdr::new(size_of::<guild_counters_v1>(), GUILD_KIND_EXTENSION),
            operation: Some(shims::operation_counter),
            runner: Some(shims::runner_counter),
            reserved: [0; 2],
        },
    });
    let state = Box::into_raw(state);
    let table = table(definition, state.cast());
    // SAFETY: the caller's promise about `out`.
    let written = unsafe { sized::write(out, &table, "the plugin's table") };
    if written.is_err() {
        // SAFETY: made by `Box::into_raw` above; the host hasn't seen it.
        drop(unsafe { Box::from_raw(state) });
    }
    written.map(|()| GUILD_STATUS_OK)
}

fn table(definition: &'static Plugin, self_: *mut c_void) -> guild_plugin_v1 {
    guild_plugin_v1 {
        h: guild_hdr::new(size_of::<guild_plugin_v1>(), GUILD_KIND_PLUGIN),
        abi_minor_built: GUILD_ABI_MINOR,
        abi_minor_min: GUILD_ABI_MINOR_FLOOR,
        caps: [0; 2],
        id: guild_str::new(definition.id),
        version: guild_str::new(definition.version),
        build_id: definition.build_id,
        self_,
        op_count: definition.kernel_count,
        reserved0: 0,
        init: Some(init),
        describe: Some(shims::describe),
        supports: Some(shims::supports),
        create: Some(shims::create),
        scratch: Some(shims::scratch),
        prepack: None,
        prepare: Some(shims::prepare),
        destroy: Some(shims::destroy),
        get_extension: Some(get_extension),
        quiesce: Some(quiesce),
        shutdown: Some(shutdown),
        reserved: [0; 8],
    }
}

/// # Safety
/// As `guild_plugin_v1.init` in `abi.h` says.
unsafe extern "C" fn init(
    self_: *mut c_void,
    active_minor: u32,
    config: guild_str,
    err: *mut guild_err,
) -> guild_status {
    let body = || {
        // SAFETY: the host passes the `self_` that it got.
        let state = unsafe { PluginState::from_raw(self_) }?;
        // SAFETY: the host keeps the text valid during the call.
        let config = unsafe { config.as_str() }
            .ok_or_else(|| Failure::invalid("the configuration isn't UTF-8"))?;
        start(state, active_minor, config)?;
        Ok(GUILD_STATUS_OK)
    };
    // SAFETY: the host's error buffer.
    unsafe { guarded(err, body) }
}

/// Makes the kernels.
fn start(state: &PluginState, active_minor: u32, config: &str) -> Result<(), Failure> {
    let kernels = (state.definition.kernels)(&InitContext {
        config,
        active_minor,
        host: &state.host,
    })?;
    if kernels.len() != state.definition.kernel_count as usize {
        return Err(Failure::internal(format!(
            "the plugin has {} kernels but says {}",
            kernels.len(),
            state.definition.kernel_count
        )));
    }
    let slots = kernels
        .into_iter()
        .map(|kernel| {
            let info = kernel.info();
            let may_alias =
                info.caps & GUILD_CAP_INPLACE != 0 && info.op.contract.contains("; alias y=");
            Arc::new(Slot {
                kernel,
                info,
                may_alias,
                calls: AtomicU64::new(0),
                rows: AtomicU64::new(0),
            })
        })
        .collect();
    state
        .kernels
        .set(slots)
        .map_err(|_| Failure::new(GUILD_STATUS_ERR_BUSY, "the plugin is initialised already"))
}

/// # Safety
/// As `guild_plugin_v1.get_extension` in `abi.h` says.
unsafe extern "C" fn get_extension(self_: *mut c_void, id: guild_str) -> *const c_void {
    // SAFETY: the host passes the `self_` that it got, and text that is valid during the call.
    let (state, id) = unsafe { (PluginState::from_raw(self_), id.as_str()) };
    let Ok(state) = state else {
        return core::ptr::null();
    };
    match id {
        Some("guild.counters/1") => core::ptr::from_ref(&state.counters).cast(),
        Some("guild.runner/1") => state.runners.extension().cast(),
        _ => core::ptr::null(),
    }
}

/// # Safety
/// As `guild_plugin_v1.quiesce` in `abi.h` says.
unsafe extern "C" fn quiesce(
    _self: *mut c_void,
    _timeout_ns: u64,
    _err: *mut guild_err,
) -> guild_status {
    // Kernels start no threads and finish before `execute` returns.
    GUILD_STATUS_OK
}

/// # Safety
/// As `guild_plugin_v1.shutdown` in `abi.h` says.
unsafe extern "C" fn shutdown(self_: *mut c_void) {
    if self_.is_null() {
        return;
    }
    let end = || {
        // SAFETY: made by `Box::into_raw` in `enter`; the host calls this once, and nothing after.
        drop(unsafe { Box::from_raw(self_.cast::<PluginState>()) });
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(end)) {
        core::mem::forget(payload);
    }
}

/// Status of a call on an instance that panicked in this call.
pub(crate) const PANICKED: guild_status = GUILD_STATUS_ERR_PANIC;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Instance, Refusal, ScratchSlots};
    use crate::{Bounds, Exec, Request};
    use guild_abi::abi::{
        GUILD_KIND_HOST, GUILD_KIND_OP_REQ, GUILD_PHASE_DECODE, GUILD_STATUS_ERR_INTERNAL,
        GUILD_STATUS_ERR_INVALID, GUILD_STATUS_ERR_POISONED, guild_exec, guild_op_req,
    };
    use guild_abi::contract::ADD;
    use guild_abi::counters::guild_counter;
    use guild_abi::text::ErrorText;

    /// Succeeds for calls of one row; panics for others.
    struct OneRow;

    impl Kernel for OneRow {
        fn info(&self) -> KernelInfo {
            KernelInfo::exact(&ADD, "test.one_row")
        }
        fn supports(&self, _request: &Request<'_>) -> Result<(), Refusal> {
            Ok(())
        }
        fn create(&self, _request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
            Ok(Box::new(OneRow))
        }
    }

    impl Instance for OneRow {
        fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
            ScratchSlots::NONE
        }
        fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
            assert_eq!(x.rows(), 1);
            Ok(())
        }
    }

    struct Source<const SAYS: u32>;

    impl<const SAYS: u32> PluginSource for Source<SAYS> {
        const PLUGIN: &'static Plugin = &Plugin {
            id: "org.guild.tests.one_row",
            version: "1.0.0",
            build_id: [0; 32],
            kernel_count: SAYS,
            kernels: |_| Ok(vec![Box::new(OneRow)]),
            runners: &[],
        };
    }

    fn host(floor: u32) -> guild_host_v1 {
        // SAFETY: integers, pointers and optional functions; all zero is a value.
        let zero: guild_host_v1 = unsafe { core::mem::zeroed() };
        guild_host_v1 {
            h: guild_hdr::new(size_of::<guild_host_v1>(), GUILD_KIND_HOST),
            abi_minor: floor,
            abi_minor_floor: floor,
            ..zero
        }
    }

    /// Runs the entry with a table of `size` bytes.
    fn enter_with<S: PluginSource>(
        host: &guild_host_v1,
        size: usize,
    ) -> (guild_status, guild_plugin_v1) {
        // SAFETY: as in `host`.
        let mut out: guild_plugin_v1 = unsafe { core::mem::zeroed() };
        out.h = guild_hdr::new(size, GUILD_KIND_PLUGIN);
        // SAFETY: both tables are live.
        let status = unsafe { entry::<S>(host, &mut out, core::ptr::null_mut()) };
        (status, out)
    }

    /// Entry and init.
    fn started<S: PluginSource>(host: &guild_host_v1) -> (guild_status, guild_plugin_v1) {
        let (status, table) = enter_with::<S>(host, size_of::<guild_plugin_v1>());
        assert_eq!(status, GUILD_STATUS_OK);
        let init = table.init.unwrap();
        // SAFETY: the plugin's own `self_`; once.
        let status = unsafe { init(table.self_, 0, guild_str::EMPTY, core::ptr::null_mut()) };
        (status, table)
    }

    fn counted(table: &guild_plugin_v1) -> (u64, u64) {
        let id = guild_str::new("guild.counters/1");
        // SAFETY: the plugin's own `self_`; the table lives until `shutdown`.
        let counters =
            unsafe { &*table.get_extension.unwrap()(table.self_, id).cast::<guild_counters_v1>() };
        let mut counter = guild_counter {
            size: size_of::<guild_counter>() as u32,
            reserved: 0,
            calls: 9,
            rows: 9,
        };
        // SAFETY: as above; the counter is ours.
        let status = unsafe { counters.operation.unwrap()(table.self_, 0, &mut counter) };
        assert_eq!(status, GUILD_STATUS_OK);
        (counter.calls, counter.rows)
    }

    fn create(table: &guild_plugin_v1) -> *mut c_void {
        // SAFETY: as in `host`.
        let zero: guild_op_req = unsafe { core::mem::zeroed() };
        let request = guild_op_req {
            h: guild_hdr::new(size_of::<guild_op_req>(), GUILD_KIND_OP_REQ),
            name: guild_str::new("guild.core.add"),
            version: 1,
            phase: GUILD_PHASE_DECODE,
            classes: 1,
            ..zero
        };
        let (mut inst, mut err) = (core::ptr::null_mut(), ErrorText::new());
        // SAFETY: request, place and buffer are live.
        let status =
            unsafe { table.create.unwrap()(table.self_, 0, &request, &mut inst, err.as_raw()) };
        assert_eq!(status, GUILD_STATUS_OK, "{}", err.text());
        inst
    }

    fn execute(table: &guild_plugin_v1, inst: *mut c_void, rows: u64) -> guild_status {
        let (mut function, none) = (None, core::ptr::null_mut());
        // SAFETY: the instance is alive; the place is ours.
        unsafe {
            table.prepare.unwrap()(table.self_, inst, core::ptr::null(), &mut function, none);
        }
        // SAFETY: as in `host`.
        let zero: guild_exec = unsafe { core::mem::zeroed() };
        let x = guild_exec {
            size: size_of::<guild_exec>() as u32,
            rows: &rows,
            ..zero
        };
        // SAFETY: the instance is prepared; the block is live.
        unsafe { function.unwrap()(inst, &x) }
    }

    #[test]
    fn two_hosts_in_one_process_have_counters_of_their_own() {
        let host = host(0);
        let tables = [(); 2].map(|()| started::<Source<1>>(&host).1);
        let instances = [0, 1].map(|at| create(&tables[at]));
        assert_eq!(execute(&tables[0], instances[0], 1), GUILD_STATUS_OK);
        assert_eq!(execute(&tables[0], instances[0], 1), GUILD_STATUS_OK);
        assert_eq!(tables.each_ref().map(counted), [(2, 2), (0, 0)]);
        for (table, inst) in tables.iter().zip(instances) {
            // SAFETY: instance and plugin are alive and used no more.
            unsafe {
                table.destroy.unwrap()(table.self_, inst);
                table.shutdown.unwrap()(table.self_);
            }
        }
    }

    #[test]
    fn a_panic_poisons_its_instance_alone() {
        let host = host(0);
        let (_, table) = started::<Source<1>>(&host);
        let (first, second) = (create(&table), create(&table));
        assert_eq!(execute(&table, first, 2), GUILD_STATUS_ERR_PANIC);
        assert_eq!(execute(&table, first, 1), GUILD_STATUS_ERR_POISONED);
        assert_eq!(execute(&table, second, 1), GUILD_STATUS_OK);
        assert_eq!(counted(&table), (1, 1));
        // SAFETY: instances and plugin are alive and used no more.
        unsafe {
            table.destroy.unwrap()(table.self_, first);
            table.destroy.unwrap()(table.self_, second);
            table.shutdown.unwrap()(table.self_);
        }
    }

    #[test]
    fn tables_that_do_not_fit_are_refused() {
        let whole = size_of::<guild_plugin_v1>();
        assert_eq!(
            enter_with::<Source<1>>(&host(7), whole).0,
            GUILD_STATUS_ERR_ABI
        );
        let mut wrong = host(0);
        wrong.h.kind = GUILD_KIND_PLUGIN;
        assert_eq!(
            enter_with::<Source<1>>(&wrong, whole).0,
            GUILD_STATUS_ERR_INVALID
        );
        wrong.h.kind = GUILD_KIND_HOST;
        wrong.h.flags = 0x100;
        assert_eq!(
            enter_with::<Source<1>>(&wrong, whole).0,
            GUILD_STATUS_ERR_ABI
        );
        assert_eq!(started::<Source<2>>(&host(0)).0, GUILD_STATUS_ERR_INTERNAL);
        // An older host has a shorter table; nothing is written behind it.
        let (status, table) = enter_with::<Source<1>>(&host(0), 120);
        assert_eq!(status, GUILD_STATUS_OK);
        assert!(!table.self_.is_null() && table.init.is_none());
    }
}
