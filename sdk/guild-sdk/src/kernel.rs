//! What a kernel author writes: a [`Kernel`] describes itself, judges requests and makes instances;
//! an [`Instance`] runs.

use crate::exec::Exec;
use crate::request::{Bounds, Request};
use core::fmt;
use guild_abi::abi::{
    GUILD_CAP_BATCH_INVARIANT, GUILD_CAP_DETERMINISTIC, GUILD_CAP_MMAP_WEIGHTS, GUILD_CLASS_EXACT,
    GUILD_CLASS_TOLERANT, GUILD_PHASE_DECODE, GUILD_PHASE_PREFILL, GUILD_PHASE_VERIFY,
    GUILD_REFUSAL_FORMAT, GUILD_REFUSAL_PARAMS, GUILD_REFUSAL_SHAPE, GUILD_SCRATCH_CALL,
    GUILD_SCRATCH_PERSIST, GUILD_STATUS_ERR_INTERNAL, GUILD_STATUS_ERR_INVALID,
    GUILD_STATUS_ERR_PANIC, GUILD_STATUS_ERR_SCRATCH_SMALL, guild_status,
};
use guild_abi::contract::CoreOp;
use std::borrow::Cow;

/// Scratch slots that one instance may ask for.
pub const SCRATCH_SLOTS_MAX: usize = 8;

/// What a kernel is: the fields of a `guild_op_desc`.
#[derive(Clone, Copy, Debug)]
pub struct KernelInfo {
    /// The operation that it provides.
    pub op: &'static CoreOp,
    /// Implementation id, unique within the plugin: `cpu.rms_norm.avx512`.
    pub implementation: &'static str,
    /// `GUILD_CAP_*` bits.
    pub caps: u64,
    /// `GUILD_PHASE_*` bits.
    pub phases: u32,
    /// `GUILD_CLASS_*`.
    pub exactness: u32,
    /// Order among this plugin's own implementations of the operation; higher is preferred.
    pub rank: i32,
    /// Weight formats served, for listings; [`Kernel::supports`] decides.
    pub formats: &'static [u32],
}

impl KernelInfo {
    /// An exact kernel for every phase: deterministic, batch invariant, reading weights in place.
    #[must_use]
    pub const fn exact(op: &'static CoreOp, implementation: &'static str) -> KernelInfo {
        KernelInfo {
            op,
            implementation,
            caps: GUILD_CAP_DETERMINISTIC | GUILD_CAP_BATCH_INVARIANT | GUILD_CAP_MMAP_WEIGHTS,
            phases: GUILD_PHASE_PREFILL | GUILD_PHASE_DECODE | GUILD_PHASE_VERIFY,
            exactness: GUILD_CLASS_EXACT,
            rank: 0,
            formats: &[],
        }
    }

    /// The same in the tolerant class, whose error `docs/numerics.md` bounds for the operation: deterministic, but rows
    /// may get other bits in another batch.
    #[must_use]
    pub const fn tolerant(op: &'static CoreOp, implementation: &'static str) -> KernelInfo {
        KernelInfo {
            caps: GUILD_CAP_DETERMINISTIC | GUILD_CAP_MMAP_WEIGHTS,
            exactness: GUILD_CLASS_TOLERANT,
            ..KernelInfo::exact(op, implementation)
        }
    }
}

/// One implementation of one operation.
pub trait Kernel: Send + Sync + 'static {
    /// Describes the kernel; the same at every call.
    fn info(&self) -> KernelInfo;

    /// Whether this kernel can serve the request. Phase, class, device and operation are checked
    /// before; formats, shapes and parameters are the kernel's to check. Any thread.
    ///
    /// # Errors
    /// The reason why not.
    fn supports(&self, request: &Request<'_>) -> Result<(), Refusal>;

    /// Makes an instance for the request, copying what it needs. Any thread.
    ///
    /// # Errors
    /// Why it couldn't.
    fn create(&self, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure>;
}

/// A kernel bound to one step of one plan.
pub trait Instance: Send {
    /// Scratch for calls within `bounds`. Pure and monotone. The buffers of the latest call are the
    /// ones that [`Exec::scratch`] hands out.
    fn scratch(&self, bounds: &Bounds) -> ScratchSlots;

    /// Runs one step. No allocation, lock, look-up or thread of its own. One thread at a time.
    ///
    /// # Errors
    /// A broken contract or a fault; outputs and states are then undefined. Making a [`Failure`]
    /// may allocate.
    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure>;
}

/// Why a kernel declines a request: the fields of a `guild_refusal`.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// One of `GUILD_REFUSAL_*`.
    pub reason: u32,
    /// Operand that it is about: inputs first, then outputs, then states.
    pub index: u32,
    /// The value asked for.
    pub wanted: u64,
    /// The value that would be served, or 0.
    pub offered: u64,
    /// A sentence for people.
    pub text: Cow<'static, str>,
}

impl Refusal {
    /// An operand's format isn't served.
    #[must_use]
    pub fn format(index: usize, wanted: u32, text: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal {
            reason: GUILD_REFUSAL_FORMAT,
            index: index as u32,
            wanted: wanted.into(),
            offered: 0,
            text: text.into(),
        }
    }

    /// An operand's shape isn't served.
    #[must_use]
    pub fn shape(index: usize, wanted: u64, text: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal {
            reason: GUILD_REFUSAL_SHAPE,
            index: index as u32,
            wanted,
            offered: 0,
            text: text.into(),
        }
    }

    /// A parameter's value isn't served.
    #[must_use]
    pub fn params(wanted: u64, text: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal {
            reason: GUILD_REFUSAL_PARAMS,
            index: 0,
            wanted,
            offered: 0,
            text: text.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A call that failed: a status code and a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// A negative `GUILD_STATUS_*`.
    pub status: guild_status,
    /// A sentence for people.
    pub text: Cow<'static, str>,
}

impl Failure {
    /// A failure with any status.
    #[must_use]
    pub fn new(status: guild_status, text: impl Into<Cow<'static, str>>) -> Failure {
        Failure {
            status,
            text: text.into(),
        }
    }

    /// The caller broke the contract.
    #[must_use]
    pub fn invalid(text: impl Into<Cow<'static, str>>) -> Failure {
        Failure::new(GUILD_STATUS_ERR_INVALID, text)
    }

    /// A scratch buffer is smaller than the call needs.
    #[must_use]
    pub fn scratch_small(text: impl Into<Cow<'static, str>>) -> Failure {
        Failure::new(GUILD_STATUS_ERR_SCRATCH_SMALL, text)
    }

    /// The plugin broke one of its own rules.
    #[must_use]
    pub fn internal(text: impl Into<Cow<'static, str>>) -> Failure {
        Failure::new(GUILD_STATUS_ERR_INTERNAL, text)
    }

    /// A panic was caught.
    #[must_use]
    pub fn panic(text: impl Into<Cow<'static, str>>) -> Failure {
        Failure::new(GUILD_STATUS_ERR_PANIC, text)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (status {})", self.text, self.status)
    }
}

impl core::error::Error for Failure {}

/// One scratch buffer that an instance asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScratchSlot {
    /// Bytes.
    pub bytes: u64,
    /// Alignment in bytes, a power of two.
    pub align: u64,
    /// `GUILD_SCRATCH_CALL` or `GUILD_SCRATCH_PERSIST`.
    pub lifetime: u8,
}

/// The scratch of one instance: at most [`SCRATCH_SLOTS_MAX`] buffers, no heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScratchSlots {
    slots: [ScratchSlot; SCRATCH_SLOTS_MAX],
    count: usize,
}

impl ScratchSlots {
    /// No scratch.
    pub const NONE: ScratchSlots = ScratchSlots {
        slots: [ScratchSlot {
            bytes: 0,
            align: 1,
            lifetime: GUILD_SCRATCH_CALL,
        }; SCRATCH_SLOTS_MAX],
        count: 0,
    };

    /// Adds a buffer that holds garbage at the start of each call.
    ///
    /// # Panics
    /// When there are [`SCRATCH_SLOTS_MAX`] already.
    #[must_use]
    pub const fn call(self, bytes: u64, align: u64) -> ScratchSlots {
        self.with(ScratchSlot {
            bytes,
            align,
            lifetime: GUILD_SCRATCH_CALL,
        })
    }

    /// Adds a buffer of the instance's own, zeroed once.
    ///
    /// # Panics
    /// When there are [`SCRATCH_SLOTS_MAX`] already.
    #[must_use]
    pub const fn persist(self, bytes: u64, align: u64) -> ScratchSlots {
        self.with(ScratchSlot {
            bytes,
            align,
            lifetime: GUILD_SCRATCH_PERSIST,
        })
    }

    /// The buffers, in the order of their numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[ScratchSlot] {
        &self.slots[..self.count]
    }

    const fn with(mut self, slot: ScratchSlot) -> ScratchSlots {
        assert!(
            self.count < SCRATCH_SLOTS_MAX,
            "an instance may have 8 scratch slots"
        );
        self.slots[self.count] = slot;
        self.count += 1;
        self
    }
}
