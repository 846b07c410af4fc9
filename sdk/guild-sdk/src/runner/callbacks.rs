//! The C tables of `guild.runner/1`, on both sides: the host's model and builder behind safe traits,
//! and the plugin's table made from `dyn Runner`s. All unsafe code of `runner` is here.
#![allow(unsafe_code)]

use super::builder::{Builder, BuilderTarget, NodeCall, Params, ViewCall};
use super::model::{Model, ModelSource, TensorInfo};
use super::shape::Shape;
use super::{DescribeParams, Runner};
use crate::entry::guarded;
use crate::kernel::Failure;
use crate::sized::{self, Headed};
use core::ffi::c_void;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, Ordering};
use guild_abi::abi::*;
use guild_abi::runner::*;
use guild_abi::text::ErrorText;

/// A plugin instance, the type behind `guild_plugin_v1.self_`, that has runners.
pub(crate) trait HasRunners: Sync + 'static {
    /// Its runners.
    fn runners(&self) -> &RunnerTable;
}

/// A plugin's runners as the host sees them, with their call counters.
pub(crate) struct RunnerTable {
    table: guild_runner_v1,
    entries: Vec<Entry>,
}

struct Entry {
    runner: &'static dyn Runner,
    /// The architectures, separated by spaces, as the C struct wants them.
    architectures: String,
    calls: AtomicU64,
}

impl RunnerTable {
    /// The table for a plugin whose `self_` points to a `P`.
    pub(crate) fn new<P: HasRunners>(runners: &[&'static dyn Runner]) -> RunnerTable {
        let entries: Vec<Entry> = runners
            .iter()
            .map(|runner| Entry {
                runner: *runner,
                architectures: runner.architectures().join(" "),
                calls: AtomicU64::new(0),
            })
            .collect();
        RunnerTable {
            table: guild_runner_v1 {
                h: guild_hdr::new(size_of::<guild_runner_v1>(), GUILD_KIND_EXTENSION),
                runner_count: entries.len() as u32,
                reserved0: 0,
                info: Some(info::<P>),
                matches: Some(matches::<P>),
                describe: Some(describe::<P>),
                reserved: [0; 3],
            },
            entries,
        }
    }

    /// What `get_extension("guild.runner/1")` gives; null without runners. Lives as long as `self`.
    pub(crate) fn extension(&self) -> *const guild_runner_v1 {
        if self.entries.is_empty() {
            core::ptr::null()
        } else {
            &self.table
        }
    }

    /// Calls of `describe` on runner `index` that succeeded, for `guild.counters/1`.
    pub(crate) fn calls(&self, index: u32) -> Option<u64> {
        let entry = self.entries.get(index as usize)?;
        Some(entry.calls.load(Ordering::Relaxed))
    }

    fn entry(&self, index: u32) -> Result<&Entry, Failure> {
        self.entries.get(index as usize).ok_or_else(|| {
            let count = self.entries.len();
            Failure::invalid(format!("runner {index} of a plugin that has {count}"))
        })
    }
}

/// The runners behind `self_`.
///
/// # Safety
/// `self_` is null, or points to a `P` that lives until `shutdown`.
unsafe fn runners<'a, P: HasRunners>(self_: *mut c_void) -> Result<&'a RunnerTable, Failure> {
    // SAFETY: the caller's promise; all fields are shared between threads.
    let plugin = unsafe { self_.cast::<P>().as_ref() };
    let plugin = plugin.ok_or_else(|| Failure::invalid("self_ is null"))?;
    Ok(plugin.runners())
}

/// # Safety
/// As `guild_runner_v1.info` in `runner.h` says.
unsafe extern "C" fn info<P: HasRunners>(
    self_: *mut c_void,
    index: u32,
    out: *mut guild_runner_desc,
    err: *mut guild_err,
) -> guild_status {
    let body = || {
        // SAFETY: the host passes the `self_` that it got, which points to a live `P`.
        let entry = unsafe { runners::<P>(self_) }?.entry(index)?;
        let desc = guild_runner_desc {
            h: guild_hdr::new(size_of::<guild_runner_desc>(), GUILD_KIND_RECORD),
            id: guild_str::new(entry.runner.id()),
            architectures: guild_str::new(&entry.architectures),
            reserved: [0; 3],
        };
        // SAFETY: the host passes a writable struct whose header says how long it is.
        unsafe { sized::write(out, &desc, "the runner record") }?;
        Ok(GUILD_STATUS_OK)
    };
    // SAFETY: the host's error buffer. A runner is stateless and the host drops a half-described
    // graph, so nothing torn survives a panic.
    unsafe { guarded(err, body) }
}

/// # Safety
/// As `guild_runner_v1.matches` in `runner.h` says.
unsafe extern "C" fn matches<P: HasRunners>(
    self_: *mut c_void,
    index: u32,
    model: *const guild_model_v1,
    score: *mut i32,
    err: *mut guild_err,
) -> guild_status {
    let body = || {
        // SAFETY: the host passes the `self_` that it got, which points to a live `P`.
        let entry = unsafe { runners::<P>(self_) }?.entry(index)?;
        // SAFETY: the host's table and what its functions give live during this call.
        let source = unsafe { HostModel::new(model) }?;
        let found = entry
            .runner
            .matches(&Model::new(&source))
            .filter(|found| *found > 0);
        let Some(found) = found else {
            return Ok(GUILD_STATUS_DECLINED);
        };
        if score.is_null() {
            return Err(Failure::invalid("no place for the score"));
        }
        // SAFETY: not null, and the host's to write.
        unsafe { score.write(found) };
        Ok(GUILD_STATUS_OK)
    };
    // SAFETY: the host's error buffer. A runner is stateless and the host drops a half-described
    // graph, so nothing torn survives a panic.
    unsafe { guarded(err, body) }
}

/// # Safety
/// As `guild_runner_v1.describe` in `runner.h` says.
unsafe extern "C" fn describe<P: HasRunners>(
    self_: *mut c_void,
    index: u32,
    model: *const guild_model_v1,
    params: *const guild_describe_params,
    builder: *const guild_builder_v1,
    err: *mut guild_err,
) -> guild_status {
    let body = || {
        // SAFETY: the host passes the `self_` that it got, which points to a live `P`.
        let entry = unsafe { runners::<P>(self_) }?.entry(index)?;
        // SAFETY: the host's tables and what their functions give live during this call.
        let (source, params, mut target) = unsafe {
            let params = sized::read(params, "the parameters of `describe`")?;
            (HostModel::new(model)?, params, HostBuilder::new(builder)?)
        };
        let model = Model::new(&source);
        let params = DescribeParams {
            context: params.context,
        };
        let mut builder = Builder::new(&mut target, &model);
        entry.runner.describe(&model, &params, &mut builder)?;
        entry.calls.fetch_add(1, Ordering::Relaxed);
        Ok(GUILD_STATUS_OK)
    };
    // SAFETY: the host's error buffer. A runner is stateless and the host drops a half-described
    // graph, so nothing torn survives a panic.
    unsafe { guarded(err, body) }
}

// SAFETY: `repr(C)`, header first, integers, pointers, text and optional functions only.
unsafe impl Headed for guild_model_v1 {
    const KIND: u16 = GUILD_KIND_EXTENSION;
}
// SAFETY: as above.
unsafe impl Headed for guild_builder_v1 {
    const KIND: u16 = GUILD_KIND_EXTENSION;
}
// SAFETY: as above.
unsafe impl Headed for guild_describe_params {
    const KIND: u16 = GUILD_KIND_RECORD;
}
// SAFETY: as above.
unsafe impl Headed for guild_runner_desc {
    const KIND: u16 = GUILD_KIND_RECORD;
}

/// The host's model table. Its functions are called from the thread of the call that it came with.
struct HostModel<'a> {
    table: guild_model_v1,
    architecture: &'a str,
    call: PhantomData<&'a guild_model_v1>,
}

impl HostModel<'_> {
    /// # Safety
    /// `table` is null, or a model table that lives, with all text that it gives, for `'a`.
    unsafe fn new<'a>(table: *const guild_model_v1) -> Result<HostModel<'a>, Failure> {
        // SAFETY: the caller's promise.
        let table = unsafe { sized::read(table, "the host's model table") }?;
        // SAFETY: the caller promises that the text lives for `'a`.
        let architecture = unsafe { table.architecture.as_str() };
        Ok(HostModel {
            table,
            architecture: architecture
                .ok_or_else(|| Failure::invalid("an architecture name that isn't UTF-8"))?,
            call: PhantomData,
        })
    }
}

impl ModelSource for HostModel<'_> {
    fn architecture(&self) -> &str {
        self.architecture
    }

    fn length(&self, key: &str) -> Result<u64, guild_status> {
        let function = self.table.length.ok_or(GUILD_STATUS_ERR_ABI)?;
        let mut out = 0;
        // SAFETY: the host's own function and context; the key and `out` outlive the call.
        let status = unsafe { function(self.table.ctx, guild_str::new(key), &mut out) };
        checked(status).map(|()| out)
    }

    fn unsigned(&self, key: &str, index: u64) -> Result<u64, guild_status> {
        let function = self.table.get_u64.ok_or(GUILD_STATUS_ERR_ABI)?;
        let mut out = 0;
        // SAFETY: the host's own function and context; the key and `out` outlive the call.
        let status = unsafe { function(self.table.ctx, guild_str::new(key), index, &mut out) };
        checked(status).map(|()| out)
    }

    fn number(&self, key: &str, index: u64) -> Result<f64, guild_status> {
        let function = self.table.get_f64.ok_or(GUILD_STATUS_ERR_ABI)?;
        let mut out = 0.0;
        // SAFETY: the host's own function and context; the key and `out` outlive the call.
        let status = unsafe { function(self.table.ctx, guild_str::new(key), index, &mut out) };
        checked(status).map(|()| out)
    }

    fn text(&self, key: &str, index: u64) -> Result<&str, guild_status> {
        let function = self.table.get_str.ok_or(GUILD_STATUS_ERR_ABI)?;
        let mut out = guild_str::EMPTY;
        // SAFETY: the host's own function and context; the key and `out` outlive the call.
        let status = unsafe { function(self.table.ctx, guild_str::new(key), index, &mut out) };
        checked(status)?;
        // SAFETY: the text is valid while the model is, and the model outlives `self`.
        unsafe { out.as_str() }.ok_or(GUILD_STATUS_ERR_INVALID)
    }

    fn tensor(&self, name: &str) -> Result<TensorInfo, guild_status> {
        let function = self.table.tensor.ok_or(GUILD_STATUS_ERR_ABI)?;
        let mut out = guild_tensor_info {
            size: size_of::<guild_tensor_info>() as u32,
            format: 0,
            rank: 0,
            reserved: 0,
            shape: [0; 6],
            byte_len: 0,
            name: guild_str::EMPTY,
        };
        // SAFETY: the host's own function and context; the name and `out` outlive the call, and
        // `out.size` says how long it is.
        let status = unsafe { function(self.table.ctx, guild_str::new(name), &mut out) };
        checked(status)?;
        let axes = out.shape.get(..out.rank as usize);
        Ok(TensorInfo {
            format: out.format,
            shape: axes.and_then(Shape::new).ok_or(GUILD_STATUS_ERR_INTERNAL)?,
            byte_len: out.byte_len,
        })
    }
}

/// The host's builder table.
struct HostBuilder {
    table: guild_builder_v1,
}

impl HostBuilder {
    /// # Safety
    /// `table` is null, or a builder table that lives as long as the result is used.
    unsafe fn new(table: *const guild_builder_v1) -> Result<HostBuilder, Failure> {
        // SAFETY: the caller's promise.
        let table = unsafe { sized::read(table, "the host's builder table") }?;
        Ok(HostBuilder { table })
    }
}

impl BuilderTarget for HostBuilder {
    fn section(&mut self, kind: u32, name: &str) -> Result<(), Failure> {
        let function = present("section", self.table.section)?;
        let desc = guild_section_desc {
            h: guild_hdr::new(size_of::<guild_section_desc>(), GUILD_KIND_RECORD),
            kind,
            reserved0: 0,
            name: guild_str::new(name),
            reserved: 0,
        };
        // SAFETY: the host's own function and context; the record outlives the call.
        answered("section", |err| unsafe {
            function(self.table.ctx, &desc, err)
        })
    }

    fn weight(&mut self, name: &str) -> Result<u32, Failure> {
        let function = present("weight", self.table.weight)?;
        let mut value = 0;
        // SAFETY: the host's own function and context; name and `value` outlive the call.
        answered("weight", |err| unsafe {
            function(self.table.ctx, guild_str::new(name), &mut value, err)
        })?;
        Ok(value)
    }

    fn input(&mut self, kind: u32, hidden: u64) -> Result<u32, Failure> {
        let function = present("input", self.table.input)?;
        let mut value = 0;
        // SAFETY: the host's own function and context; `value` outlives the call.
        answered("input", |err| unsafe {
            function(self.table.ctx, kind, hidden, &mut value, err)
        })?;
        Ok(value)
    }

    fn state(&mut self, kind: u32, format: u32, axes: &[u64], name: &str) -> Result<u32, Failure> {
        let function = present("state", self.table.state)?;
        let mut shape = [0; 4];
        let room = shape
            .get_mut(..axes.len())
            .ok_or_else(|| Failure::internal(format!("state {name} has {} axes", axes.len())))?;
        room.copy_from_slice(axes);
        let desc = guild_state_desc {
            h: guild_hdr::new(size_of::<guild_state_desc>(), GUILD_KIND_RECORD),
            kind,
            format,
            rank: axes.len() as u32,
            reserved: 0,
            shape,
            name: guild_str::new(name),
        };
        let mut state = 0;
        // SAFETY: the host's own function and context; record and `state` outlive the call.
        answered("state", |err| unsafe {
            function(self.table.ctx, &desc, &mut state, err)
        })?;
        Ok(state)
    }

    fn view(&mut self, view: &ViewCall) -> Result<u32, Failure> {
        let function = present("view", self.table.view)?;
        let desc = guild_view_desc {
            h: guild_hdr::new(size_of::<guild_view_desc>(), GUILD_KIND_RECORD),
            source: view.source,
            rank: view.shape.axes().len() as u32,
            offset: view.offset,
            shape: view.shape.padded(),
            stride: view.stride,
            reserved: [0; 4],
        };
        let mut value = 0;
        // SAFETY: the host's own function and context; record and `value` outlive the call.
        answered("view", |err| unsafe {
            function(self.table.ctx, &desc, &mut value, err)
        })?;
        Ok(value)
    }

    fn op(&mut self, node: &NodeCall<'_>) -> Result<Vec<u32>, Failure> {
        let function = present("op", self.table.op)?;
        let outputs: Vec<guild_value_desc> = node
            .outputs
            .iter()
            .map(|(format, shape)| guild_value_desc {
                size: size_of::<guild_value_desc>() as u32,
                format: *format,
                rank: shape.axes().len() as u32,
                reserved: 0,
                shape: shape.padded(),
            })
            .collect();
        let (params, params_size) = params_of(&node.params);
        let desc = guild_node_desc {
            h: guild_hdr::new(size_of::<guild_node_desc>(), GUILD_KIND_RECORD),
            op: guild_str::new(node.operation),
            name: guild_str::new(node.name),
            params,
            params_size,
            inputs: node.inputs.as_ptr(),
            states: node.states.as_ptr(),
            outputs: outputs.as_ptr(),
            n_in: node.inputs.len() as u32,
            n_state: node.states.len() as u32,
            n_out: outputs.len() as u32,
            layer: node.layer,
            output_stride: size_of::<guild_value_desc>() as u64,
        };
        let mut values = vec![0; outputs.len()];
        // SAFETY: the host's own function and context; the record, what it points to and `values`,
        // which has `n_out` entries, outlive the call.
        answered("op", |err| unsafe {
            function(self.table.ctx, &desc, values.as_mut_ptr(), err)
        })?;
        Ok(values)
    }

    fn output(&mut self, kind: u32, value: u32) -> Result<(), Failure> {
        let function = present("output", self.table.output)?;
        // SAFETY: the host's own function and context.
        answered("output", |err| unsafe {
            function(self.table.ctx, kind, value, err)
        })
    }
}

/// Where a parameter struct lies, and its bytes.
fn params_of(params: &Params<'_>) -> (*const c_void, u64) {
    fn at<T>(params: &T) -> (*const c_void, u64) {
        let from: *const T = params;
        (from.cast(), size_of::<T>() as u64)
    }
    match params {
        Params::None => (core::ptr::null(), 0),
        Params::Norm(params) => at(params),
        Params::Rope(params) => at(params),
        Params::Attention(params) => at(params),
        Params::Conv(params) => at(params),
        Params::Delta(params) => at(params),
        Params::Route(params) => at(params),
        Params::Experts(params) => at(params),
        Params::Words(words) => (words.as_ptr().cast(), size_of_val(*words) as u64),
    }
}

/// A function of the host's table, or the failure that it is absent.
fn present<F>(name: &str, function: Option<F>) -> Result<F, Failure> {
    function.ok_or_else(|| {
        let text = format!("this host's builder has no `{name}`; use a newer host");
        Failure::new(GUILD_STATUS_ERR_ABI, text)
    })
}

/// Calls the host and turns its answer and text into a result.
fn answered(name: &str, call: impl FnOnce(*mut guild_err) -> guild_status) -> Result<(), Failure> {
    let mut error = ErrorText::new();
    let status = call(error.as_raw());
    checked(status).map_err(|status| match error.text() {
        "" => Failure::new(status, format!("the host's `{name}` gave status {status}")),
        text => Failure::new(status, text.to_owned()),
    })
}

/// `OK`, or an error status; a soft outcome isn't one that these calls have.
fn checked(status: guild_status) -> Result<(), guild_status> {
    match status {
        GUILD_STATUS_OK => Ok(()),
        negative if negative < 0 => Err(negative),
        _ => Err(GUILD_STATUS_ERR_INTERNAL),
    }
}
