//! The only place of the loader that calls into a plugin.
//!
//! Every call runs under three guards. The floating-point control register is compared. A foreign
//! exception that leaves the plugin ends the process with the package's name, since Rust code can't
//! continue after it. A status other than `OK` becomes an error with the plugin's own words. All text is
//! copied into the host's memory.
#![allow(unsafe_code)]

use guild_abi::abi::{
    GUILD_STATUS_OK, guild_err, guild_host_v1, guild_op_desc, guild_plugin_v1, guild_status,
    guild_str,
};
use guild_abi::counters::{guild_counter, guild_counters_v1};
use guild_abi::runner::{guild_runner_desc, guild_runner_v1};
use guild_abi::text::ErrorText;
use guild_package::text::escape;

use crate::builtin::Builtin;
use crate::error::{Fault, Stage};
use crate::fp_control::FpControl;
use crate::host_table::host_table;
use crate::library::MappedLibrary;
use crate::record::{OutBuffer, Record, read_extension};
use crate::table::Table;

/// The type of `guild_plugin_entry_v1`.
pub type EntryFn = unsafe extern "C" fn(
    host: *const guild_host_v1,
    out: *mut guild_plugin_v1,
    err: *mut guild_err,
) -> guild_status;

/// Weight formats that one operation may list.
const FORMATS_MAX: u32 = 256;
/// Bytes of one text of a description.
const TEXT_MAX_BYTES: u64 = 4096;

/// A plugin whose entry returned `OK`. Its functions may be called only after negotiation has checked
/// that they lie in the plugin's own code.
pub(crate) struct Plugin {
    /// `id@version`, for messages.
    pub package: String,
    /// The host's copy of the table.
    pub table: guild_plugin_v1,
}

/// What `describe` said about one operation.
#[derive(Clone, Debug)]
pub(crate) struct OperationDescription {
    pub name: String,
    pub implementation: String,
    pub op_min: u32,
    pub op_max: u32,
    pub contract: [u8; 32],
    pub caps: [u64; 2],
    pub phases: u32,
    pub exactness: u32,
    pub rank: i32,
    pub formats: Vec<u32>,
    pub replaces: String,
}

/// What `info` said about one runner.
#[derive(Clone, Debug)]
pub(crate) struct RunnerDescription {
    pub id: String,
    pub architectures: String,
}

impl Plugin {
    /// Enters a mapped library. `package` is `id@version`.
    ///
    /// # Errors
    /// The plugin's own error, or a table that breaks the layout law.
    pub(crate) fn enter_mapped(
        package: &str,
        library: &'static MappedLibrary,
    ) -> Result<Self, Fault> {
        // SAFETY: only `library::map` makes a `MappedLibrary`: its entry is proven to lie in bytes that
        // a trusted key signed, and stays mapped for life. That signature is the promise that the code
        // obeys the ABI.
        unsafe { Self::enter(package, library.entry) }
    }

    /// Enters a plugin that is linked into the host.
    ///
    /// # Errors
    /// As [`Plugin::enter_mapped`].
    pub(crate) fn enter_builtin(package: &str, builtin: &Builtin) -> Result<Self, Fault> {
        // SAFETY: who made the `Builtin` promised that its entry obeys the ABI.
        unsafe { Self::enter(package, builtin.entry()) }
    }

    /// # Safety
    /// `entry` is a plugin's entry that obeys the ABI, and its code stays mapped for life.
    unsafe fn enter(package: &str, entry: EntryFn) -> Result<Self, Fault> {
        let host = host_table(package);
        let mut out = OutBuffer::<guild_plugin_v1>::new();
        call(package, Stage::Entry, |err| {
            // SAFETY: the caller promises a plugin's entry. The host table lives for ever, `out` is
            // exclusive and has the size that its header says, `err` is a live error buffer.
            unsafe { entry.may_unwind()(host, out.as_out(), err) }
        })?;
        Ok(Self {
            package: package.to_owned(),
            table: out.finish()?,
        })
    }

    /// Calls `init`, where there is one.
    ///
    /// # Errors
    /// The plugin's own error.
    pub(crate) fn init(&self, active_minor: u32) -> Result<(), Fault> {
        let Some(init) = self.table.init else {
            return Ok(());
        };
        call(&self.package, Stage::Init, |err| {
            // SAFETY: a function of the plugin's table with the table's `self_`, once, from one thread.
            unsafe { init.may_unwind()(self.table.self_, active_minor, guild_str::EMPTY, err) }
        })
    }

    /// Describes operation `index`.
    ///
    /// # Errors
    /// The plugin's own error, or a description that breaks the layout law.
    pub(crate) fn describe(&self, index: u32) -> Result<OperationDescription, Fault> {
        let describe = self.table.describe.ok_or_else(|| {
            Fault::malformed(guild_plugin_v1::NAME, "it has operations and no `describe`")
        })?;
        let mut out = OutBuffer::<guild_op_desc>::new();
        call(&self.package, Stage::Describe, |err| {
            // SAFETY: a function of the plugin's table with the table's `self_`; `out` is exclusive.
            unsafe { describe.may_unwind()(self.table.self_, index, out.as_out(), err) }
        })?;
        let said = out.finish()?;
        // SAFETY: `describe` returned `OK`, so by the contract the texts and `formats` are readable
        // until `shutdown`, which has not been called.
        unsafe {
            Ok(OperationDescription {
                name: owned(guild_op_desc::NAME, "name", said.name)?,
                implementation: owned(guild_op_desc::NAME, "implementation", said.implementation)?,
                op_min: said.op_min,
                op_max: said.op_max,
                contract: said.contract,
                caps: said.caps,
                phases: said.phases,
                exactness: said.exactness,
                rank: said.rank,
                formats: owned_formats(&said)?,
                replaces: owned(guild_op_desc::NAME, "replaces", said.replaces)?,
            })
        }
    }

    /// Describes runner `index`.
    ///
    /// # Errors
    /// The plugin's own error, or a description that breaks the layout law.
    pub(crate) fn runner_info(
        &self,
        runners: &guild_runner_v1,
        index: u32,
    ) -> Result<RunnerDescription, Fault> {
        let info = runners
            .info
            .ok_or_else(|| Fault::malformed(guild_runner_v1::NAME, "it has no `info`"))?;
        let mut out = OutBuffer::<guild_runner_desc>::new();
        call(&self.package, Stage::RunnerInfo, |err| {
            // SAFETY: a function of the plugin's extension with the table's `self_`; `out` is exclusive.
            unsafe { info.may_unwind()(self.table.self_, index, out.as_out(), err) }
        })?;
        let said = out.finish()?;
        // SAFETY: `info` returned `OK`, so the texts are readable until `shutdown`.
        unsafe {
            Ok(RunnerDescription {
                id: owned(guild_runner_desc::NAME, "id", said.id)?,
                architectures: owned(guild_runner_desc::NAME, "architectures", said.architectures)?,
            })
        }
    }

    /// The plugin's `guild.runner/1`, copied; `None` where it has none.
    ///
    /// # Errors
    /// A table that breaks the layout law.
    pub(crate) fn runner_extension(&self) -> Result<Option<guild_runner_v1>, Fault> {
        // SAFETY: the type that the ABI gives to this id.
        unsafe { self.extension("guild.runner/1") }
    }

    /// The plugin's `guild.counters/1`, copied; `None` where it has none.
    ///
    /// # Errors
    /// A table that breaks the layout law.
    pub(crate) fn counters_extension(&self) -> Result<Option<guild_counters_v1>, Fault> {
        // SAFETY: the type that the ABI gives to this id.
        unsafe { self.extension("guild.counters/1") }
    }

    /// # Safety
    /// `T` is the type that the ABI gives to `id`.
    unsafe fn extension<T: Record>(&self, id: &'static str) -> Result<Option<T>, Fault> {
        let Some(get_extension) = self.table.get_extension else {
            return Ok(None);
        };
        let table = guarded(&self.package, Stage::GetExtension, || {
            // SAFETY: a function of the plugin's table with the table's `self_`; the id lives on.
            unsafe { get_extension.may_unwind()(self.table.self_, guild_str::new(id)) }
        })?;
        // SAFETY: what `get_extension` gave for an id whose type is `T`, as the caller promises.
        unsafe { read_extension(table) }
    }

    /// The plugin's identity as it states it.
    ///
    /// # Errors
    /// Text that isn't UTF-8 or too long.
    pub(crate) fn identity(&self) -> Result<(String, String), Fault> {
        // SAFETY: the entry returned `OK`, so the texts are readable until `shutdown`.
        unsafe {
            Ok((
                owned(guild_plugin_v1::NAME, "id", self.table.id)?,
                owned(guild_plugin_v1::NAME, "version", self.table.version)?,
            ))
        }
    }

    /// Calls `shutdown`, where there is one. Nothing of the plugin may be used afterwards.
    pub(crate) fn shut_down(self) {
        if let Some(shutdown) = self.table.shutdown {
            let guard = UnwindGuard {
                package: &self.package,
                function: "shutdown".to_owned(),
            };
            // SAFETY: the last call, from one thread; no instance was ever made, since the plugin was
            // never registered.
            unsafe { shutdown.may_unwind()(self.table.self_) };
            guard.disarm();
        }
    }
}

/// Calls and rows of a plugin's operation `index`, or of its runner `index`; `None` where the plugin has
/// no such counter.
///
/// `table` and `counters` are of one plugin. Tables are handed out by registration alone, and a
/// registered plugin is never shut down, so its functions may be called at any time.
pub(crate) fn read_counter(
    package: &str,
    table: Table<guild_plugin_v1>,
    counters: Table<guild_counters_v1>,
    subject: CounterSubject,
    index: u32,
) -> Option<(u64, u64)> {
    let function = match subject {
        CounterSubject::Operation => counters.operation,
        CounterSubject::Runner => counters.runner,
    }?;
    let mut out = guild_counter {
        size: size_of::<guild_counter>() as u32,
        reserved: 0,
        calls: 0,
        rows: 0,
    };
    let guard = UnwindGuard {
        package,
        function: "a counter".to_owned(),
    };
    // SAFETY: an `[any]` function of a registered plugin's extension with the plugin's `self_`; `out` is
    // exclusive and has the size that it says.
    let status = unsafe { function.may_unwind()(table.self_, index, &raw mut out) };
    guard.disarm();
    (status == GUILD_STATUS_OK).then_some((out.calls, out.rows))
}

/// What a counter counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CounterSubject {
    Operation,
    Runner,
}

/// Runs a call that returns a status and may leave text.
fn call(
    package: &str,
    stage: Stage,
    function: impl FnOnce(*mut guild_err) -> guild_status,
) -> Result<(), Fault> {
    let mut text = ErrorText::new();
    let status = guarded(package, stage, || function(text.as_raw()))?;
    if status == GUILD_STATUS_OK {
        return Ok(());
    }
    let text = match text.text() {
        "" => "it gave no reason; ask the publisher".to_owned(),
        text => escape(text),
    };
    Err(Fault::PluginFailed {
        stage,
        status,
        text,
    })
}

/// Runs plugin code under the guards that every call needs.
fn guarded<R>(package: &str, stage: Stage, function: impl FnOnce() -> R) -> Result<R, Fault> {
    let control = FpControl::read();
    let guard = UnwindGuard {
        package,
        function: stage.to_string(),
    };
    let returned = function();
    guard.disarm();
    control.check_after(stage)?;
    Ok(returned)
}

/// Ends the process when a foreign exception passes by.
struct UnwindGuard<'a> {
    package: &'a str,
    function: String,
}

impl UnwindGuard<'_> {
    fn disarm(mut self) {
        self.function = String::new();
        std::mem::forget(self);
    }
}

impl Drop for UnwindGuard<'_> {
    fn drop(&mut self) {
        eprintln!(
            "guild: package {} let an exception leave {}, which the contract forbids. The publisher must catch it. The host stops, because it can't continue safely.",
            self.package, self.function
        );
        std::process::abort();
    }
}

/// Text of a plugin as the host's own.
///
/// # Safety
/// `text` has `len` readable bytes that don't change during the call.
unsafe fn owned(record: &'static str, field: &str, text: guild_str) -> Result<String, Fault> {
    if text.len > TEXT_MAX_BYTES {
        return Err(Fault::malformed(
            record,
            format!(
                "`{field}` has {} bytes, at most {TEXT_MAX_BYTES} are allowed",
                text.len
            ),
        ));
    }
    // SAFETY: the caller promises readable bytes.
    match unsafe { text.as_str() } {
        Some(text) => Ok(text.to_owned()),
        None => Err(Fault::malformed(
            record,
            format!("`{field}` is null or not UTF-8"),
        )),
    }
}

/// # Safety
/// `formats` has `n_formats` readable numbers, unless that is 0.
unsafe fn owned_formats(said: &guild_op_desc) -> Result<Vec<u32>, Fault> {
    if said.n_formats == 0 {
        return Ok(Vec::new());
    }
    if said.n_formats > FORMATS_MAX || said.formats.is_null() || !said.formats.is_aligned() {
        return Err(Fault::malformed(
            guild_op_desc::NAME,
            format!(
                "`n_formats` is {}, with `formats` at {:p}; at most {FORMATS_MAX} are allowed",
                said.n_formats, said.formats
            ),
        ));
    }
    // SAFETY: not null, aligned, and the caller promises `n_formats` readable numbers.
    Ok(unsafe { std::slice::from_raw_parts(said.formats, said.n_formats as usize) }.to_vec())
}

/// The same function, as one that may unwind: the compiler then keeps the clean-up that
/// [`UnwindGuard`] needs.
trait MayUnwind {
    type Unwinding;
    fn may_unwind(self) -> Self::Unwinding;
}

macro_rules! may_unwind {
    ($($argument:ident)+) => {
        impl<R, $($argument),+> MayUnwind for unsafe extern "C" fn($($argument),+) -> R {
            type Unwinding = unsafe extern "C-unwind" fn($($argument),+) -> R;
            fn may_unwind(self) -> Self::Unwinding {
                // SAFETY: the two types differ only in whether unwinding may pass; Rust defines their
                // ABIs as compatible, and a function that never unwinds may be called as one that may.
                unsafe { std::mem::transmute::<Self, Self::Unwinding>(self) }
            }
        }
    };
}
may_unwind!(A);
may_unwind!(A B);
may_unwind!(A B C);
may_unwind!(A B C D);
