//! The C functions around kernels and instances.
#![allow(unsafe_code)]

use crate::entry::{PANICKED, PluginState, Slot, guarded, panic_text};
use crate::exec::{Exec, Facts};
use crate::kernel::{Failure, Instance, Refusal, SCRATCH_SLOTS_MAX, ScratchSlot};
use crate::request::{Bounds, Request};
use crate::sized;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};
use guild_abi::abi::{
    GUILD_KIND_OP_DESC, GUILD_REFUSAL_DEVICE, GUILD_REFUSAL_PHASE, GUILD_REFUSAL_POLICY,
    GUILD_SPACE_HOST, GUILD_STATUS_DECLINED, GUILD_STATUS_ERR_INVALID, GUILD_STATUS_ERR_POISONED,
    GUILD_STATUS_OK, guild_bounds, guild_err, guild_exec, guild_execute_fn, guild_hdr,
    guild_op_desc, guild_op_req, guild_refusal, guild_scratch_slot, guild_status, guild_str,
    guild_stream,
};
use guild_abi::counters::guild_counter;
use guild_abi::text::write_error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What `inst` points to.
struct Bound {
    slot: Arc<Slot>,
    instance: Box<dyn Instance>,
    /// What the latest `scratch` call declared.
    scratch: UnsafeCell<Declared>,
    poisoned: AtomicBool,
}

struct Declared {
    slots: [ScratchSlot; SCRATCH_SLOTS_MAX],
    count: usize,
}

/// # Safety
/// As `guild_plugin_v1.describe` in `abi.h` says.
pub(crate) unsafe extern "C" fn describe(
    self_: *mut c_void,
    index: u32,
    out: *mut guild_op_desc,
    err: *mut guild_err,
) -> guild_status {
    let body = || {
        // SAFETY: the host passes the `self_` that it got.
        let slot = unsafe { PluginState::from_raw(self_) }?.slot(index)?;
        let info = &slot.info;
        let desc = guild_op_desc {
            h: guild_hdr::new(size_of::<guild_op_desc>(), GUILD_KIND_OP_DESC),
            name: guild_str::new(info.op.name),
            implementation: guild_str::new(info.implementation),
            op_min: info.op.version,
            op_max: info.op.version,
            contract: info.op.hash,
            caps: [info.caps, 0],
            phases: info.phases,
            exactness: info.exactness,
            rank: info.rank,
            n_formats: info.formats.len() as u32,
            formats: info.formats.as_ptr(),
            replaces: guild_str::EMPTY,
            reserved: [0; 4],
        };
        // SAFETY: the host's struct, as long as its header says.
        unsafe { sized::write(out, &desc, "the description") }?;
        Ok(GUILD_STATUS_OK)
    };
    // SAFETY: the host's error buffer.
    unsafe { guarded(err, body) }
}

/// # Safety
/// As `guild_plugin_v1.supports` in `abi.h` says.
pub(crate) unsafe extern "C" fn supports(
    self_: *mut c_void,
    index: u32,
    request: *const guild_op_req,
    out: *mut guild_refusal,
) -> guild_status {
    let body = || -> Result<Result<(), Refusal>, Failure> {
        // SAFETY: the host passes the `self_` that it got.
        let slot = unsafe { PluginState::from_raw(self_) }?.slot(index)?;
        // SAFETY: the host keeps the request valid during the call.
        let request = unsafe { Request::read(request) }?;
        Ok(judge(slot, &request)?.and_then(|()| slot.kernel.supports(&request)))
    };
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(Ok(()))) => return GUILD_STATUS_OK,
        Ok(Ok(Err(refusal))) => {
            // SAFETY: the host's refusal, exclusive to this call.
            unsafe { sized::write_refusal(out, &refusal) };
            return GUILD_STATUS_DECLINED;
        }
        Ok(Err(failure)) => failure,
        Err(payload) => Failure::panic(panic_text(payload)),
    };
    let refusal = Refusal {
        reason: 0,
        index: 0,
        wanted: 0,
        offered: 0,
        text: failure.text,
    };
    // SAFETY: as above.
    unsafe { sized::write_refusal(out, &refusal) };
    failure.status
}

/// # Safety
/// As `guild_plugin_v1.create` in `abi.h` says.
pub(crate) unsafe extern "C" fn create(
    self_: *mut c_void,
    index: u32,
    request: *const guild_op_req,
    inst: *mut *mut c_void,
    err: *mut guild_err,
) -> guild_status {
    let body = || {
        // SAFETY: the host passes the `self_` that it got.
        let slot = unsafe { PluginState::from_raw(self_) }?.slot(index)?;
        // SAFETY: the host keeps the request valid during the call.
        let request = unsafe { Request::read(request) }?;
        if inst.is_null() {
            return Err(Failure::invalid("there is no place for the instance"));
        }
        let refused = |refusal: Refusal| Failure::new(GUILD_STATUS_ERR_INVALID, refusal.text);
        judge(slot, &request)?.map_err(refused)?;
        slot.kernel.supports(&request).map_err(refused)?;
        let instance = slot.kernel.create(&request)?;
        let none = ScratchSlot {
            bytes: 0,
            align: 1,
            lifetime: 0,
        };
        let bound = Box::new(Bound {
            slot: Arc::clone(slot),
            instance,
            scratch: UnsafeCell::new(Declared {
                slots: [none; SCRATCH_SLOTS_MAX],
                count: 0,
            }),
            poisoned: AtomicBool::new(false),
        });
        // SAFETY: not null; the host's place for the pointer.
        unsafe { *inst = Box::into_raw(bound).cast() };
        Ok(GUILD_STATUS_OK)
    };
    // SAFETY: the host's error buffer.
    unsafe { guarded(err, body) }
}

/// # Safety
/// As `guild_plugin_v1.scratch` in `abi.h` says.
pub(crate) unsafe extern "C" fn scratch(
    _self: *mut c_void,
    inst: *mut c_void,
    bounds: *const guild_bounds,
    slots: *mut guild_scratch_slot,
    cap: u32,
    count: *mut u32,
    err: *mut guild_err,
) -> guild_status {
    let body = || {
        // SAFETY: the host passes an instance that it got and hasn't destroyed.
        let bound = unsafe { bound(inst) }?;
        // SAFETY: the host keeps the bounds valid during the call.
        let bounds = unsafe { Bounds::read(bounds) }?;
        let wanted = bound.instance.scratch(&bounds);
        let wanted = wanted.as_slice();
        if count.is_null() || (slots.is_null() && cap > 0) {
            return Err(Failure::invalid("there is no place for the scratch slots"));
        }
        for (at, slot) in wanted.iter().enumerate().take(cap as usize) {
            let raw = guild_scratch_slot {
                size: size_of::<guild_scratch_slot>() as u32,
                space: GUILD_SPACE_HOST,
                lifetime: slot.lifetime,
                pad: [0; 2],
                bytes: slot.bytes,
                align: slot.align,
                reserved: 0,
            };
            // SAFETY: the host's array has `cap` entries, and `at < cap`.
            unsafe { slots.add(at).write(raw) };
        }
        // SAFETY: not null; the host's counter.
        unsafe { *count = wanted.len() as u32 };
        // SAFETY: one thread at a time uses an instance (`[inst]`), and no reference is kept.
        let declared = unsafe { &mut *bound.scratch.get() };
        declared.slots[..wanted.len()].copy_from_slice(wanted);
        declared.count = wanted.len();
        Ok(GUILD_STATUS_OK)
    };
    // SAFETY: the host's error buffer.
    unsafe { guarded(err, body) }
}

/// # Safety
/// As `guild_plugin_v1.prepare` in `abi.h` says.
pub(crate) unsafe extern "C" fn prepare(
    _self: *mut c_void,
    inst: *mut c_void,
    _stream: *const guild_stream,
    function: *mut guild_execute_fn,
    err: *mut guild_err,
) -> guild_status {
    let body = || {
        // SAFETY: the host passes an instance that it got and hasn't destroyed.
        unsafe { bound(inst) }?;
        if function.is_null() {
            return Err(Failure::invalid("there is no place for the function"));
        }
        // SAFETY: not null; the host's place for the pointer.
        unsafe { *function = Some(execute) };
        Ok(GUILD_STATUS_OK)
    };
    // SAFETY: the host's error buffer.
    unsafe { guarded(err, body) }
}

/// # Safety
/// As `guild_plugin_v1.destroy` in `abi.h` says.
pub(crate) unsafe extern "C" fn destroy(_self: *mut c_void, inst: *mut c_void) {
    if inst.is_null() {
        return;
    }
    let end = || {
        // SAFETY: made by `Box::into_raw` in `create`; the host ends an instance once.
        drop(unsafe { Box::from_raw(inst.cast::<Bound>()) });
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(end)) {
        core::mem::forget(payload);
    }
}

/// # Safety
/// As `guild_execute_fn` in `abi.h` says.
unsafe extern "C" fn execute(inst: *mut c_void, x: *const guild_exec) -> guild_status {
    // SAFETY: the host passes an instance that it got and hasn't destroyed.
    let Ok(bound) = (unsafe { bound(inst) }) else {
        return GUILD_STATUS_ERR_INVALID;
    };
    let body = || {
        if bound.poisoned.load(Ordering::Relaxed) {
            return Err(Failure::new(
                GUILD_STATUS_ERR_POISONED,
                "the instance panicked before; destroy it",
            ));
        }
        // SAFETY: `scratch` and `execute` never run at once on an instance (`[inst]`).
        let declared = unsafe { &*bound.scratch.get() };
        let facts = Facts {
            op: bound.slot.info.op.number,
            may_alias: bound.slot.may_alias,
            scratch: &declared.slots[..declared.count],
        };
        // SAFETY: the host's argument block, valid and exclusive during the call; it gave the
        // scratch that was declared last.
        let exec = unsafe { Exec::new(x, facts) }?;
        bound.instance.execute(&exec)?;
        bound.slot.count(exec.rows());
        Ok(GUILD_STATUS_OK)
    };
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status)) => return status,
        Ok(Err(failure)) => failure,
        Err(payload) => Failure::panic(panic_text(payload)),
    };
    if failure.status == PANICKED {
        bound.poisoned.store(true, Ordering::Relaxed);
    }
    // SAFETY: a block that isn't null has the host's error buffer, or null, in `err`.
    let err = unsafe { x.as_ref() }.map_or(core::ptr::null_mut(), |x| x.err);
    // SAFETY: as above.
    unsafe { write_error(err, failure.status, format_args!("{}", failure.text)) };
    failure.status
}

/// # Safety
/// As `guild_counters_v1.operation` in `counters.h` says.
pub(crate) unsafe extern "C" fn operation_counter(
    self_: *mut c_void,
    index: u32,
    out: *mut guild_counter,
) -> guild_status {
    let body = || {
        // SAFETY: the host passes the `self_` that it got.
        let (calls, rows) = unsafe { PluginState::from_raw(self_) }?
            .slot(index)?
            .counted();
        // SAFETY: the host's counter.
        unsafe { sized::write_counter(out, calls, rows) }?;
        Ok(GUILD_STATUS_OK)
    };
    // SAFETY: null is allowed.
    unsafe { guarded(core::ptr::null_mut(), body) }
}

/// # Safety
/// As `guild_counters_v1.runner` in `counters.h` says.
pub(crate) unsafe extern "C" fn runner_counter(
    self_: *mut c_void,
    index: u32,
    out: *mut guild_counter,
) -> guild_status {
    let body = || {
        // SAFETY: the host passes the `self_` that it got.
        let state = unsafe { PluginState::from_raw(self_) }?;
        let calls = crate::runner::HasRunners::runners(state)
            .calls(index)
            .ok_or_else(|| Failure::invalid("there is no such runner"))?;
        // SAFETY: the host's counter.
        unsafe { sized::write_counter(out, calls, 0) }?;
        Ok(GUILD_STATUS_OK)
    };
    // SAFETY: null is allowed.
    unsafe { guarded(core::ptr::null_mut(), body) }
}

/// The instance behind `inst`.
///
/// # Safety
/// `inst` is null, or what `create` wrote, before `destroy`.
unsafe fn bound<'a>(inst: *mut c_void) -> Result<&'a Bound, Failure> {
    // SAFETY: the caller's promise.
    unsafe { inst.cast::<Bound>().as_ref() }.ok_or_else(|| Failure::invalid("the instance is null"))
}

/// What every kernel checks: operation, phase, class and device.
fn judge(slot: &Slot, request: &Request<'_>) -> Result<Result<(), Refusal>, Failure> {
    let info = &slot.info;
    if request.name != info.op.name || request.version != info.op.version {
        return Err(Failure::invalid(format!(
            "the request is for {}@{}, the kernel provides {}@{}",
            request.name, request.version, info.op.name, info.op.version
        )));
    }
    let refuse = |reason, wanted: u32, offered: u32, text: &'static str| {
        Ok(Err(Refusal {
            reason,
            index: 0,
            wanted: wanted.into(),
            offered: offered.into(),
            text: text.into(),
        }))
    };
    if request.phase & info.phases == 0 {
        return refuse(
            GUILD_REFUSAL_PHASE,
            request.phase,
            info.phases,
            "the phase isn't served",
        );
    }
    if request.classes & info.exactness == 0 {
        return refuse(
            GUILD_REFUSAL_POLICY,
            request.classes,
            info.exactness,
            "the policy doesn't accept the exactness class",
        );
    }
    if request.device != 0 {
        return refuse(
            GUILD_REFUSAL_DEVICE,
            request.device,
            0,
            "only the host's own device is served",
        );
    }
    Ok(Ok(()))
}
