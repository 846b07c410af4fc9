//! The functions that a runner calls: `guild_model_v1` and `guild_builder_v1`.
//!
//! Each function here turns the ABI's pointers into safe values, asks [`ModelTable`] or [`Builder`],
//! and turns the answer back. Structs are read as `min(size, ours)` bytes, a missing tail as zero.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use guild_abi::abi::{
    GUILD_FLAGS_MUST_UNDERSTAND, GUILD_KIND_EXTENSION, GUILD_KIND_RECORD, GUILD_STATUS_ERR_INVALID,
    GUILD_STATUS_ERR_NOT_FOUND, GUILD_STATUS_ERR_UNSUPPORTED, GUILD_STATUS_OK, guild_err,
    guild_hdr, guild_status, guild_str,
};
use guild_abi::runner::{
    guild_builder_v1, guild_describe_params, guild_model_v1, guild_node_desc, guild_section_desc,
    guild_state_desc, guild_tensor_info, guild_value_desc, guild_view_desc,
};
use guild_abi::text::write_error;

use super::builder::{Builder, NodeDescription, OutputDescription};
use super::model_table::ModelTable;
use crate::call::CallFailure;
use crate::error::DescriptionFault;
use crate::graph::Params;
use crate::limits::{NAME_BYTES_MAX, OPERANDS_MAX, PARAMS_BYTES_MAX};
use crate::registry::RunnerCandidate;
use crate::shape::{AXES_MAX, Dim};

/// Asks a runner how well it fits.
pub(super) fn matches(
    runner: &RunnerCandidate,
    table: &ModelTable<'_>,
) -> Result<Option<i32>, CallFailure> {
    let model = model_table(table);
    runner.runner.matches(runner.table, runner.index, &model)
}

/// Lets a runner describe the model to `builder`.
pub(super) fn describe(
    runner: &RunnerCandidate,
    table: &ModelTable<'_>,
    params: &guild_describe_params,
    builder: &mut Builder<'_>,
) -> Result<(), CallFailure> {
    let model = model_table(table);
    let builder = guild_builder_v1 {
        h: guild_hdr::new(size_of::<guild_builder_v1>(), GUILD_KIND_EXTENSION),
        ctx: core::ptr::from_mut(builder).cast(),
        section: Some(builder_section),
        weight: Some(builder_weight),
        input: Some(builder_input),
        state: Some(builder_state),
        view: Some(builder_view),
        op: Some(builder_op),
        output: Some(builder_output),
        reserved: [0; 2],
    };
    runner
        .runner
        .describe(runner.table, runner.index, &model, params, &builder)
}

fn model_table(table: &ModelTable<'_>) -> guild_model_v1 {
    guild_model_v1 {
        h: guild_hdr::new(size_of::<guild_model_v1>(), GUILD_KIND_EXTENSION),
        ctx: core::ptr::from_ref(table).cast_mut().cast(),
        architecture: guild_str::new(table.architecture()),
        tensor_count: table.tensor_count(),
        length: Some(model_length),
        get_u64: Some(model_integer),
        get_f64: Some(model_number),
        get_str: Some(model_text),
        tensor: Some(model_tensor),
        tensor_at: Some(model_tensor_at),
    }
}

unsafe extern "C" fn model_length(ctx: *mut c_void, key: guild_str, out: *mut u64) -> guild_status {
    // SAFETY: `ctx` is what `model_table` put in, the text and `out` are the runner's, valid during
    // the call by the ABI.
    unsafe { answer(ctx, key, out, |table, key| table.length(key)) }
}

unsafe extern "C" fn model_integer(
    ctx: *mut c_void,
    key: guild_str,
    index: u64,
    out: *mut u64,
) -> guild_status {
    // SAFETY: as in `model_length`.
    unsafe { answer(ctx, key, out, |table, key| table.integer(key, index)) }
}

unsafe extern "C" fn model_number(
    ctx: *mut c_void,
    key: guild_str,
    index: u64,
    out: *mut f64,
) -> guild_status {
    // SAFETY: as in `model_length`.
    unsafe { answer(ctx, key, out, |table, key| table.number(key, index)) }
}

unsafe extern "C" fn model_text(
    ctx: *mut c_void,
    key: guild_str,
    index: u64,
    out: *mut guild_str,
) -> guild_status {
    // SAFETY: as in `model_length`.
    unsafe {
        answer(ctx, key, out, |table, key| {
            Ok(guild_str::new(table.text(key, index)?))
        })
    }
}

unsafe extern "C" fn model_tensor(
    ctx: *mut c_void,
    name: guild_str,
    out: *mut guild_tensor_info,
) -> guild_status {
    // SAFETY: as in `model_length`; every runner of this major version has room for the whole struct.
    unsafe { answer(ctx, name, out, |table, name| table.tensor(name)) }
}

unsafe extern "C" fn model_tensor_at(
    ctx: *mut c_void,
    index: u64,
    out: *mut guild_tensor_info,
) -> guild_status {
    // SAFETY: as in `model_tensor`.
    unsafe {
        answer(ctx, guild_str::EMPTY, out, |table, _| {
            table.tensor_at(index)
        })
    }
}

/// Reads the key, asks the table, writes the answer.
///
/// # Safety
/// `ctx` is a `ModelTable`, `key` is readable text, `out` is null or writable.
unsafe fn answer<T>(
    ctx: *mut c_void,
    key: guild_str,
    out: *mut T,
    ask: impl FnOnce(&ModelTable<'_>, &str) -> Result<T, guild_status>,
) -> guild_status {
    // SAFETY: the caller promises readable text for the length of the call.
    let Some(key) = (unsafe { key.as_str() }) else {
        return GUILD_STATUS_ERR_INVALID;
    };
    if out.is_null() || ctx.is_null() {
        return GUILD_STATUS_ERR_INVALID;
    }
    // SAFETY: not null, and the caller promises a live `ModelTable` that nobody writes.
    let table = unsafe { &*ctx.cast::<ModelTable<'_>>() };
    match ask(table, key) {
        Ok(value) => {
            // SAFETY: not null, and the caller promises that it is writable.
            unsafe { out.write(value) };
            GUILD_STATUS_OK
        }
        Err(status) => status,
    }
}

unsafe extern "C" fn builder_section(
    ctx: *mut c_void,
    desc: *const guild_section_desc,
    err: *mut guild_err,
) -> guild_status {
    // SAFETY: `ctx` is the builder of the `describe` in progress, which is the only user of it; the
    // other pointers are the runner's, valid during the call by the ABI.
    unsafe {
        step(ctx, err, |builder| {
            let desc = record(desc)?;
            builder.section(desc.kind, name(&desc.name)?)
        })
    }
}

unsafe extern "C" fn builder_weight(
    ctx: *mut c_void,
    tensor: guild_str,
    value: *mut u32,
    err: *mut guild_err,
) -> guild_status {
    // SAFETY: as in `builder_section`.
    unsafe {
        step(ctx, err, |builder| {
            let made = builder.weight(name(&tensor)?)?;
            give(value, made)
        })
    }
}

unsafe extern "C" fn builder_input(
    ctx: *mut c_void,
    kind: u32,
    hidden: u64,
    value: *mut u32,
    err: *mut guild_err,
) -> guild_status {
    // SAFETY: as in `builder_section`.
    unsafe {
        step(ctx, err, |builder| {
            let made = builder.input(kind, hidden)?;
            give(value, made)
        })
    }
}

unsafe extern "C" fn builder_state(
    ctx: *mut c_void,
    desc: *const guild_state_desc,
    state: *mut u32,
    err: *mut guild_err,
) -> guild_status {
    // SAFETY: as in `builder_section`.
    unsafe {
        step(ctx, err, |builder| {
            let desc = record(desc)?;
            let Some(dims) = desc.shape.get(..desc.rank as usize) else {
                return argument("a state of more than 4 axes");
            };
            let made = builder.state(desc.kind, desc.format, dims, name(&desc.name)?)?;
            give(state, made)
        })
    }
}

unsafe extern "C" fn builder_view(
    ctx: *mut c_void,
    desc: *const guild_view_desc,
    value: *mut u32,
    err: *mut guild_err,
) -> guild_status {
    // SAFETY: as in `builder_section`.
    unsafe {
        step(ctx, err, |builder| {
            let desc = record(desc)?;
            let dims = axes(&desc.shape, desc.rank)?;
            let made = builder.view(desc.source, desc.offset, &dims, &desc.stride)?;
            give(value, made)
        })
    }
}

unsafe extern "C" fn builder_op(
    ctx: *mut c_void,
    desc: *const guild_node_desc,
    values: *mut u32,
    err: *mut guild_err,
) -> guild_status {
    // SAFETY: as in `builder_section`.
    unsafe {
        step(ctx, err, |builder| {
            let desc = record(desc)?;
            let made = builder.op(node(&desc)?)?;
            for (index, number) in made.into_iter().enumerate() {
                give(values.wrapping_add(index), number)?;
            }
            Ok(())
        })
    }
}

unsafe extern "C" fn builder_output(
    ctx: *mut c_void,
    kind: u32,
    value: u32,
    err: *mut guild_err,
) -> guild_status {
    // SAFETY: as in `builder_section`.
    unsafe { step(ctx, err, |builder| builder.output(kind, value)) }
}

type Checked<T> = Result<T, DescriptionFault>;

/// Runs one builder call and reports its fault to the runner.
///
/// # Safety
/// `ctx` is the `Builder` of the `describe` in progress, used by nobody else meanwhile; `err` is null
/// or a writable error buffer.
unsafe fn step(
    ctx: *mut c_void,
    err: *mut guild_err,
    call: impl FnOnce(&mut Builder<'_>) -> Checked<()>,
) -> guild_status {
    if ctx.is_null() {
        return GUILD_STATUS_ERR_INVALID;
    }
    // SAFETY: not null, and the caller promises exclusive use.
    let builder = unsafe { &mut *ctx.cast::<Builder<'_>>() };
    let Err(fault) = builder.step(call) else {
        return GUILD_STATUS_OK;
    };
    let status = match &fault {
        DescriptionFault::MissingWeight { .. } => GUILD_STATUS_ERR_NOT_FOUND,
        DescriptionFault::WeightFormat { .. }
        | DescriptionFault::WeightScale { .. }
        | DescriptionFault::UnknownOperation { .. } => GUILD_STATUS_ERR_UNSUPPORTED,
        _ => GUILD_STATUS_ERR_INVALID,
    };
    // SAFETY: the caller promises null or a writable buffer.
    unsafe { write_error(err, status, format_args!("{fault}")) };
    status
}

/// A struct that a runner hands in. All bytes zero is a valid value of each: "absent".
///
/// # Safety
/// The type starts with a `u32` that holds its size, and zero bytes are a valid value.
unsafe trait Sized32: Copy {}

// SAFETY: starts with `guild_hdr`, whose first field is the size; numbers, pointers and text only.
unsafe impl Sized32 for guild_section_desc {}
// SAFETY: as above.
unsafe impl Sized32 for guild_state_desc {}
// SAFETY: as above.
unsafe impl Sized32 for guild_view_desc {}
// SAFETY: as above.
unsafe impl Sized32 for guild_node_desc {}
// SAFETY: starts with its size; numbers only.
unsafe impl Sized32 for guild_value_desc {}

/// Copies a struct of the size that it says of itself.
///
/// # Safety
/// `from` is null or points to a readable struct of at least the bytes that its `size` says.
unsafe fn read<T: Sized32>(from: *const T) -> Checked<T> {
    if from.is_null() || !from.is_aligned() {
        return argument("a null or misaligned struct");
    }
    // SAFETY: not null; every such struct starts with its size.
    let size = unsafe { from.cast::<u32>().read() } as usize;
    if size < size_of::<guild_hdr>() {
        return argument("a struct whose size field is too small");
    }
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller promises `size` readable bytes, `copy` has room for its own size, and the two
    // don't overlap. Zero bytes are a valid `T`, so any prefix that the runner wrote is one too.
    unsafe {
        let bytes = size.min(size_of::<T>());
        core::ptr::copy_nonoverlapping(from.cast::<u8>(), copy.as_mut_ptr().cast(), bytes);
        Ok(copy.assume_init())
    }
}

/// Copies a record, and refuses one with flags that this host must understand and doesn't.
///
/// # Safety
/// As for [`read`]; `T` starts with a `guild_hdr`.
unsafe fn record<T: Sized32>(from: *const T) -> Checked<T> {
    // SAFETY: the caller's promise.
    let copy = unsafe { read(from) }?;
    // SAFETY: every record starts with its header, and a copy has it whole (`read` checked the size).
    let header = unsafe { core::ptr::from_ref(&copy).cast::<guild_hdr>().read() };
    if header.kind != GUILD_KIND_RECORD {
        return argument("a struct of another kind than a record");
    }
    if header.flags & GUILD_FLAGS_MUST_UNDERSTAND != 0 {
        return argument("a record with flags that this host doesn't know");
    }
    Ok(copy)
}

/// The operation that a runner describes.
///
/// # Safety
/// The pointers in `desc` are readable for the counts beside them.
unsafe fn node(desc: &guild_node_desc) -> Checked<NodeDescription<'_>> {
    let operands = [desc.n_in, desc.n_out, desc.n_state]
        .into_iter()
        .max()
        .unwrap_or(0);
    within(
        "operands of one kind of an operation",
        operands.into(),
        OPERANDS_MAX,
    )?;
    within(
        "bytes of an operation's parameters",
        desc.params_size,
        PARAMS_BYTES_MAX,
    )?;
    let params: *const u8 = desc.params.cast();
    // SAFETY: the counts are within the limits, and the caller promises that they are readable.
    unsafe {
        Ok(NodeDescription {
            operation: name(&desc.op)?,
            name: name(&desc.name)?,
            layer: desc.layer,
            params: Params::new(list(params, desc.params_size as usize)?),
            inputs: list(desc.inputs, desc.n_in as usize)?.to_vec(),
            states: list(desc.states, desc.n_state as usize)?.to_vec(),
            outputs: outputs(desc)?,
        })
    }
}

/// The values that an operation makes.
///
/// # Safety
/// `desc.outputs` has `n_out` readable entries, `output_stride` bytes apart.
unsafe fn outputs(desc: &guild_node_desc) -> Checked<Vec<OutputDescription>> {
    let stride = usize::try_from(desc.output_stride).unwrap_or(usize::MAX);
    if desc.n_out > 1 && !(8..=4096).contains(&stride) {
        return argument("outputs whose stride is below 8 or above 4096 bytes");
    }
    let mut outputs = Vec::with_capacity(desc.n_out as usize);
    for index in 0..desc.n_out as usize {
        let entry = desc
            .outputs
            .cast::<u8>()
            .wrapping_add(index.wrapping_mul(stride));
        // SAFETY: the caller promises this entry.
        let value = unsafe { read::<guild_value_desc>(entry.cast()) }?;
        outputs.push(OutputDescription {
            format: value.format,
            dims: axes(&value.shape, value.rank)?,
        });
    }
    Ok(outputs)
}

/// A runner's array.
///
/// # Safety
/// `first` has `count` readable entries that don't change during the call, or `count` is 0.
unsafe fn list<'a, T>(first: *const T, count: usize) -> Checked<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() || !first.is_aligned() {
        return argument("a null or misaligned array");
    }
    // SAFETY: not null, aligned, and readable by the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(first, count) })
}

/// A runner's text, as a name.
///
/// # Safety
/// `text` is readable for the length of the call.
unsafe fn name<'a>(text: &guild_str) -> Checked<&'a str> {
    within("bytes of a name", text.len, NAME_BYTES_MAX)?;
    // SAFETY: the caller's promise.
    match unsafe { text.as_str() } {
        Some(name) => Ok(name),
        None => argument("text that isn't UTF-8, or null text"),
    }
}

/// Writes a number to where the runner wants it.
///
/// # Safety
/// `to` is null or writable.
unsafe fn give(to: *mut u32, number: u32) -> Checked<()> {
    if to.is_null() || !to.is_aligned() {
        return argument("no place for the result");
    }
    // SAFETY: not null, aligned, and writable by the caller's promise.
    unsafe { to.write(number) };
    Ok(())
}

fn axes(shape: &[u64; AXES_MAX], rank: u32) -> Checked<Vec<Dim>> {
    match shape.get(..rank as usize) {
        Some(dims) => Ok(dims.iter().map(|dim| Dim::from_raw(*dim)).collect()),
        None => argument("a shape of more than 6 axes"),
    }
}

fn within(what: &'static str, found: u64, most: usize) -> Checked<()> {
    if found <= most as u64 {
        return Ok(());
    }
    Err(DescriptionFault::Limit {
        what,
        found,
        limit: most as u64,
    })
}

fn argument<T>(what: &'static str) -> Checked<T> {
    Err(DescriptionFault::Argument { what })
}
