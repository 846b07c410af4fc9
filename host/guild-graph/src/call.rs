//! Calls of plugin functions, all but `execute`: the tables that carry them and the answers as data.
//!
//! A missing function reads as `ERR_UNSUPPORTED`, so that an incomplete table is an error with a name.

use core::ffi::c_void;
use core::fmt;

use guild_abi::abi::{
    GUILD_KIND_REFUSAL, GUILD_STATUS_DECLINED, GUILD_STATUS_ERR_INTERNAL, GUILD_STATUS_ERR_INVALID,
    GUILD_STATUS_ERR_SCRATCH_SMALL, GUILD_STATUS_ERR_UNSUPPORTED, GUILD_STATUS_OK, guild_bounds,
    guild_exec, guild_execute_fn, guild_hdr, guild_plugin_v1, guild_refusal, guild_scratch_slot,
    guild_status,
};
use guild_abi::runner::{guild_builder_v1, guild_describe_params, guild_model_v1, guild_runner_v1};
use guild_abi::text::{ERROR_TEXT_BYTES, ErrorText};

use crate::report::RefusalReason;
use crate::request::Request;

/// Scratch slots that an instance may ask for.
pub(crate) const SCRATCH_SLOTS_MAX: usize = 8;

/// The function table of an initialised plugin.
#[derive(Clone, Copy)]
pub struct PluginTable(&'static guild_plugin_v1);

// SAFETY: the table is read-only data, and its functions have thread tags that this crate keeps:
// `[any]` functions from any thread, `[inst]` functions through an exclusive `Instance`, `[serial]`
// ones under the duty that `RunnerTable::describe` states.
unsafe impl Send for PluginTable {}
// SAFETY: as above.
unsafe impl Sync for PluginTable {}

impl PluginTable {
    /// Wraps a plugin's table, so that safe code can hand it on.
    ///
    /// # Safety
    /// The plugin passed version negotiation, `init` returned `OK`, and neither `shutdown` nor an
    /// unmapping happens while a copy of this value, or a plan made with it, exists. Its functions
    /// keep the contract of `guild/abi.h`, thread tags included.
    pub const unsafe fn new(table: &'static guild_plugin_v1) -> PluginTable {
        PluginTable(table)
    }

    /// The raw table.
    #[must_use]
    pub const fn raw(self) -> &'static guild_plugin_v1 {
        self.0
    }

    /// Asks whether operation `index` can serve a request.
    pub(crate) fn supports(self, index: u32, request: &Request) -> Result<(), Refusal> {
        let Some(supports) = self.0.supports else {
            return Err(Refusal::missing("supports"));
        };
        let mut buffer = [0u8; ERROR_TEXT_BYTES];
        let mut refusal = guild_refusal {
            h: guild_hdr::new(size_of::<guild_refusal>(), GUILD_KIND_REFUSAL),
            reason: 0,
            index: 0,
            wanted: 0,
            offered: 0,
            cap: ERROR_TEXT_BYTES as u32,
            len: 0,
            buf: buffer.as_mut_ptr(),
            reserved: [0; 2],
        };
        let raw = request.raw();
        // SAFETY: the table's maker vouches for the function (`PluginTable::new`); the request's
        // pointers are valid while `request` is borrowed (`Request`); the refusal and its buffer are
        // exclusive locals.
        let status = unsafe { supports(self.0.self_, index, &raw, &mut refusal) };
        match status {
            GUILD_STATUS_OK => Ok(()),
            GUILD_STATUS_DECLINED => Err(Refusal::declined(&refusal, &buffer)),
            other => Err(Refusal {
                reason: RefusalReason::Failed,
                text: format!("`supports` gave status {other}"),
            }),
        }
    }

    /// Makes an instance of operation `index`.
    pub(crate) fn create(self, index: u32, request: &Request) -> Result<Instance, CallFailure> {
        let Some(create) = self.0.create else {
            return Err(CallFailure::missing("create"));
        };
        let mut error = ErrorText::new();
        let mut inst: *mut c_void = core::ptr::null_mut();
        let raw = request.raw();
        // SAFETY: as in `supports`; `inst` and `error` are exclusive locals.
        let status = unsafe { create(self.0.self_, index, &raw, &mut inst, error.as_raw()) };
        CallFailure::check("create", status, &error)?;
        Ok(Instance { table: self, inst })
    }
}

impl PartialEq for PluginTable {
    /// Whether both are the same plugin.
    fn eq(&self, other: &PluginTable) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for PluginTable {}

impl fmt::Debug for PluginTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PluginTable({:p})", self.0)
    }
}

/// An instance of an operation; ends with its drop.
pub(crate) struct Instance {
    table: PluginTable,
    inst: *mut c_void,
}

impl Instance {
    /// First argument of the instance's `execute`.
    pub(crate) fn raw(&self) -> *mut c_void {
        self.inst
    }

    /// The scratch that the instance needs under `bounds`.
    pub(crate) fn scratch(
        &mut self,
        bounds: &guild_bounds,
    ) -> Result<Vec<guild_scratch_slot>, CallFailure> {
        let raw = self.table.raw();
        // An instance without the function needs no scratch.
        let Some(scratch) = raw.scratch else {
            return Ok(Vec::new());
        };
        let empty = guild_scratch_slot {
            size: size_of::<guild_scratch_slot>() as u32,
            space: 0,
            lifetime: 0,
            pad: [0; 2],
            bytes: 0,
            align: 0,
            reserved: 0,
        };
        let mut slots = vec![empty; SCRATCH_SLOTS_MAX];
        let mut count = 0u32;
        let mut error = ErrorText::new();
        // SAFETY: the instance came from this table's `create` and is used by `&mut`; `slots` has room
        // for the number of entries that is passed, and all pointers are exclusive locals.
        let status = unsafe {
            scratch(
                raw.self_,
                self.inst,
                bounds,
                slots.as_mut_ptr(),
                SCRATCH_SLOTS_MAX as u32,
                &mut count,
                error.as_raw(),
            )
        };
        CallFailure::check("scratch", status, &error)?;
        if count as usize > SCRATCH_SLOTS_MAX {
            return Err(CallFailure {
                call: "scratch",
                status: GUILD_STATUS_ERR_SCRATCH_SMALL,
                text: format!("{count} slots asked for; {SCRATCH_SLOTS_MAX} are allowed"),
            });
        }
        slots.truncate(count as usize);
        Ok(slots)
    }

    /// Loads what `execute` needs and gives its pointer.
    pub(crate) fn prepare(&mut self) -> Result<ExecuteFn, CallFailure> {
        let raw = self.table.raw();
        let Some(prepare) = raw.prepare else {
            return Err(CallFailure::missing("prepare"));
        };
        let mut error = ErrorText::new();
        let mut function: guild_execute_fn = None;
        // SAFETY: the instance came from this table's `create` and is used by `&mut`; a null stream is
        // the host's own device; the other pointers are exclusive locals.
        let status = unsafe {
            prepare(
                raw.self_,
                self.inst,
                core::ptr::null(),
                &mut function,
                error.as_raw(),
            )
        };
        CallFailure::check("prepare", status, &error)?;
        function.ok_or(CallFailure {
            call: "prepare",
            status: GUILD_STATUS_ERR_INTERNAL,
            text: "no function was handed out".to_owned(),
        })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let raw = self.table.raw();
        if let Some(destroy) = raw.destroy {
            // SAFETY: the instance came from this table's `create`, and no call follows its drop.
            unsafe { destroy(raw.self_, self.inst) };
        }
    }
}

/// What `prepare` hands out.
pub(crate) type ExecuteFn =
    unsafe extern "C" fn(inst: *mut c_void, x: *const guild_exec) -> guild_status;

/// The `guild.runner/1` table of an initialised plugin.
#[derive(Clone, Copy)]
pub struct RunnerTable(&'static guild_runner_v1);

// SAFETY: as for `PluginTable`.
unsafe impl Send for RunnerTable {}
// SAFETY: as for `PluginTable`.
unsafe impl Sync for RunnerTable {}

impl RunnerTable {
    /// Wraps a plugin's runner table.
    ///
    /// # Safety
    /// As for [`PluginTable::new`]; `table` belongs to the plugin that it is used with; and the caller
    /// of this crate describes with one thread at a time per plugin (`[serial]`).
    pub const unsafe fn new(table: &'static guild_runner_v1) -> RunnerTable {
        RunnerTable(table)
    }

    /// The raw table.
    #[must_use]
    pub const fn raw(self) -> &'static guild_runner_v1 {
        self.0
    }

    /// How well runner `index` fits a model; `None` where it doesn't.
    pub(crate) fn matches(
        self,
        plugin: PluginTable,
        index: u32,
        model: &guild_model_v1,
    ) -> Result<Option<i32>, CallFailure> {
        let Some(matches) = self.0.matches else {
            return Err(CallFailure::missing("matches"));
        };
        let mut error = ErrorText::new();
        let mut score = 0;
        // SAFETY: the table's maker vouches for the function; `model` is built by `describe` of this
        // crate, whose context outlives the call; the other pointers are exclusive locals.
        let status =
            unsafe { matches(plugin.raw().self_, index, model, &mut score, error.as_raw()) };
        match status {
            GUILD_STATUS_DECLINED => Ok(None),
            GUILD_STATUS_OK => Ok(Some(score).filter(|score| *score > 0)),
            other => Err(CallFailure::new("matches", other, &error)),
        }
    }

    /// Lets runner `index` describe a model to a builder.
    pub(crate) fn describe(
        self,
        plugin: PluginTable,
        index: u32,
        model: &guild_model_v1,
        params: &guild_describe_params,
        builder: &guild_builder_v1,
    ) -> Result<(), CallFailure> {
        let Some(describe) = self.0.describe else {
            return Err(CallFailure::missing("describe"));
        };
        let mut error = ErrorText::new();
        // SAFETY: as in `matches`; the builder's context is exclusive to this call.
        let status = unsafe {
            describe(
                plugin.raw().self_,
                index,
                model,
                params,
                builder,
                error.as_raw(),
            )
        };
        CallFailure::check("describe", status, &error)
    }
}

impl fmt::Debug for RunnerTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunnerTable({:p})", self.0)
    }
}

/// Why a provider doesn't serve a request.
pub(crate) struct Refusal {
    /// The kind.
    pub(crate) reason: RefusalReason,
    /// The provider's words, or the numbers that it gave.
    pub(crate) text: String,
}

impl Refusal {
    fn missing(function: &str) -> Refusal {
        Refusal {
            reason: RefusalReason::Failed,
            text: format!("the package has no `{function}`"),
        }
    }

    fn declined(raw: &guild_refusal, buffer: &[u8]) -> Refusal {
        let len = (raw.len as usize).min(buffer.len());
        let text = String::from_utf8_lossy(&buffer[..len]);
        let text = text.trim_end_matches(['\0', char::REPLACEMENT_CHARACTER]);
        let numbers = format!(
            "operand {}: wanted {}, offered {}",
            raw.index, raw.wanted, raw.offered
        );
        let text = if text.is_empty() {
            numbers
        } else {
            text.to_owned()
        };
        Refusal {
            reason: RefusalReason::from_raw(raw.reason),
            text,
        }
    }
}

/// A plugin function that gave an error.
#[derive(Debug)]
pub(crate) struct CallFailure {
    /// The function.
    pub(crate) call: &'static str,
    /// The status; never `OK`.
    pub(crate) status: guild_status,
    /// The plugin's words.
    pub(crate) text: String,
}

impl CallFailure {
    fn missing(call: &'static str) -> CallFailure {
        CallFailure {
            call,
            status: GUILD_STATUS_ERR_UNSUPPORTED,
            text: "the package has no such function".to_owned(),
        }
    }

    /// Soft outcomes mean nothing outside `supports` and `matches`, so they count as errors.
    fn check(call: &'static str, status: guild_status, error: &ErrorText) -> Result<(), Self> {
        if status == GUILD_STATUS_OK {
            Ok(())
        } else {
            Err(CallFailure::new(call, status, error))
        }
    }

    fn new(call: &'static str, status: guild_status, error: &ErrorText) -> CallFailure {
        let text = match error.text() {
            "" if status == GUILD_STATUS_ERR_INVALID => "an argument breaks the contract",
            "" => "the package gave no text",
            text => text,
        };
        CallFailure {
            call,
            status,
            text: text.to_owned(),
        }
    }
}
