//! The table of kernels: every operation for every instruction set.

use crate::detect::{Detected, FORCE_VARIABLE, IsaName};
use crate::isa::{Isa, Portable};
use crate::op;
use guild_sdk::abi::abi::{GUILD_CAP_INPLACE, GUILD_PHASE_PREFILL, GUILD_REFUSAL_ISA};
use guild_sdk::abi::contract::{self, CoreOp};
use guild_sdk::abi::formats::GUILD_FORMAT_BF16;
use guild_sdk::format::WEIGHT_FORMATS;
use guild_sdk::{Failure, Instance, Kernel, KernelInfo, Refusal, Request};

/// Kernels of this crate.
#[cfg(target_arch = "x86_64")]
pub const KERNEL_COUNT: u32 = 6 * OPS + POOLS + TOLERANT;
/// Kernels of this crate.
#[cfg(not(target_arch = "x86_64"))]
pub const KERNEL_COUNT: u32 = OPS;

/// Operations.
const OPS: u32 = 16;
/// Providers of the expert pool besides the ordinary ones ([`push_pools`]).
#[cfg(target_arch = "x86_64")]
const POOLS: u32 = 4;
/// Kernels of the tolerant class ([`push_tolerant`]).
#[cfg(target_arch = "x86_64")]
const TOLERANT: u32 = 1;

/// Makes all kernels of a machine. With `forced`, those of other sets decline; without, those of sets that the
/// machine lacks.
///
/// # Errors
/// `UNSUPPORTED` where the machine lacks the forced set.
pub fn kernels(
    detected: Detected,
    forced: Option<IsaName>,
) -> Result<Vec<Box<dyn Kernel>>, Failure> {
    if let Some(name) = forced.filter(|&name| !detected.has(name)) {
        return Err(Failure::new(
            guild_sdk::abi::abi::GUILD_STATUS_ERR_UNSUPPORTED,
            format!(
                "{FORCE_VARIABLE} asks for {}, but this machine's best is {}; unset it or name a set \
                 that the machine has",
                name.text(),
                detected.best().text()
            ),
        ));
    }
    let allowed = |name: IsaName| forced.is_none_or(|forced| forced == name);
    let mut kernels = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        let amx = detected.amx().filter(|_| allowed(IsaName::Amx));
        push_all(&mut kernels, IsaName::Amx, amx);
        let bf16_tiles = detected.amx_bf16().filter(|_| allowed(IsaName::Amx));
        push_tolerant(&mut kernels, bf16_tiles);
        let vnni = detected
            .avx512_vnni()
            .filter(|_| allowed(IsaName::Avx512Vnni));
        push_all(&mut kernels, IsaName::Avx512Vnni, vnni);
        let avx512 = detected.avx512().filter(|_| allowed(IsaName::Avx512));
        push_all(&mut kernels, IsaName::Avx512, avx512);
        let avx_vnni = detected.avx_vnni().filter(|_| allowed(IsaName::AvxVnni));
        push_all(&mut kernels, IsaName::AvxVnni, avx_vnni);
        let avx2 = detected.avx2().filter(|_| allowed(IsaName::Avx2));
        push_all(&mut kernels, IsaName::Avx2, avx2);
        // A pool is named after the registers; of the sets that use them it takes the best one.
        let pools = [
            "cpu.expert_pool.fused.avx512",
            "cpu.expert_pool.interleaved.avx512",
        ];
        match (amx, vnni, avx512) {
            (Some(isa), ..) => push_pools(&mut kernels, pools, 1, Some(isa)),
            (_, Some(isa), _) => push_pools(&mut kernels, pools, 1, Some(isa)),
            (.., isa) => push_pools(&mut kernels, pools, 1, isa),
        }
        let pools = [
            "cpu.expert_pool.fused.avx2",
            "cpu.expert_pool.interleaved.avx2",
        ];
        match (avx_vnni, avx2) {
            (Some(isa), _) => push_pools(&mut kernels, pools, 0, Some(isa)),
            (_, isa) => push_pools(&mut kernels, pools, 0, isa),
        }
    }
    let portable = allowed(IsaName::Portable).then_some(Portable);
    push_all(&mut kernels, IsaName::Portable, portable);
    Ok(kernels)
}

/// Binds a request that the operation supports.
type Create<S> = fn(S, &Request<'_>) -> Result<Box<dyn Instance>, Failure>;

/// One operation for one instruction set.
struct CpuKernel<S> {
    /// The set's token, where the machine has the set and no other is forced.
    isa: Option<S>,
    info: KernelInfo,
    supports: fn(&Request<'_>) -> Result<(), Refusal>,
    create: Create<S>,
}

impl<S: Isa> Kernel for CpuKernel<S> {
    fn info(&self) -> KernelInfo {
        self.info
    }

    fn supports(&self, request: &Request<'_>) -> Result<(), Refusal> {
        if self.isa.is_none() {
            return Err(Refusal {
                reason: GUILD_REFUSAL_ISA,
                index: 0,
                wanted: 0,
                offered: 0,
                text: "the processor or the system lacks this instruction set, or GUILD_CPU_ISA \
                       names another"
                    .into(),
            });
        }
        (self.supports)(request)
    }

    fn create(&self, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
        let Some(isa) = self.isa else {
            return Err(Failure::invalid(
                "create without the instruction set; `supports` declines it",
            ));
        };
        (self.create)(isa, request)
    }
}

/// One row of the table: the operation, its implementation ids by instruction set, whether its
/// output may be its input's memory, and whether it takes weights of every format.
struct Row {
    op: &'static CoreOp,
    ids: [&'static str; 6],
    in_place: bool,
    weights: bool,
}

macro_rules! row {
    ($op:ident, $id:literal, $in_place:literal, $weights:literal) => {
        Row {
            op: &contract::$op,
            ids: [
                concat!("cpu.", $id, ".portable"),
                concat!("cpu.", $id, ".avx2"),
                concat!("cpu.", $id, ".avxvnni"),
                concat!("cpu.", $id, ".avx512"),
                concat!("cpu.", $id, ".avx512vnni"),
                concat!("cpu.", $id, ".amx"),
            ],
            in_place: $in_place,
            weights: $weights,
        }
    };
}

fn push_all<S: Isa>(kernels: &mut Vec<Box<dyn Kernel>>, name: IsaName, isa: Option<S>) {
    /// One line is one operation.
    macro_rules! table {
        ($($op:ident $module:ident $id:literal $in_place:literal $weights:literal;)*) => {$({
            const ROW: Row = row!($op, $id, $in_place, $weights);
            kernels.push(Box::new(CpuKernel {
                isa,
                info: info(&ROW, name),
                supports: op::$module::supports,
                create: op::$module::create::<S>,
            }));
        })*};
    }
    // Operation, module, name in ids, in place, any weight format.
    table! {
        EMBEDDING      embedding      "embedding"      false true;
        SELECT_ROWS    select_rows    "select_rows"    false false;
        ADD            add            "add"            true  false;
        RMS_NORM       rms_norm       "rms_norm"       true  false;
        GATED_RMS_NORM gated_rms_norm "gated_rms_norm" true  false;
        L2_NORM        l2_norm        "l2_norm"        true  false;
        LINEAR         linear         "linear"         false true;
        SWIGLU         swiglu         "swiglu"         true  false;
        SIGMOID_MUL    sigmoid_mul    "sigmoid_mul"    true  false;
        ROPE           rope           "rope"           false false;
        ATTENTION      attention      "attention"      false false;
        CAUSAL_CONV    causal_conv    "causal_conv"    false false;
        GATED_DELTA    gated_delta    "gated_delta"    false false;
        MOE_ROUTE      moe_route      "moe_route"      false false;
        MOE_EXPERTS    moe_experts    "expert_pool"    false true;
        CONCAT         concat         "concat"         false false;
    }
}

/// Adds the expert pool twice more: for weights in the file's rows, and for alternating rows. They are for a
/// plan that names its providers, and rank below the ordinary ones.
#[cfg(target_arch = "x86_64")]
fn push_pools<S: Isa>(
    kernels: &mut Vec<Box<dyn Kernel>>,
    [file_rows, alternating_rows]: [&'static str; 2],
    place: i32,
    isa: Option<S>,
) {
    use op::moe_experts::{create, supports_alternating_rows, supports_file_rows};
    type Supports = fn(&Request<'_>) -> Result<(), Refusal>;
    let pools: [(_, Supports); 2] = [
        (file_rows, supports_file_rows),
        (alternating_rows, supports_alternating_rows),
    ];
    for (id, supports) in pools {
        let mut info = KernelInfo::exact(&contract::MOE_EXPERTS, id);
        info.rank = POOL_RANK + place;
        info.formats = WEIGHT_FORMATS;
        kernels.push(Box::new(CpuKernel {
            isa,
            info,
            supports,
            create: create::<S>,
        }));
    }
}

/// Adds the kernels of the tolerant class. Where the policy accepts it they rank above the exact ones, in the phase
/// that has many rows.
#[cfg(target_arch = "x86_64")]
fn push_tolerant<S: Isa>(kernels: &mut Vec<Box<dyn Kernel>>, isa: Option<S>) {
    let mut info = KernelInfo::tolerant(&contract::LINEAR, "cpu.linear.amx_bf16");
    info.rank = IsaName::Amx as i32 + 1;
    info.phases = GUILD_PHASE_PREFILL;
    info.formats = &[GUILD_FORMAT_BF16];
    kernels.push(Box::new(CpuKernel {
        isa,
        info,
        supports: op::linear_bf16_tiles::supports,
        create: op::linear_bf16_tiles::create::<S>,
    }));
}

/// Rank of the pools that a plan must name: below every ordinary provider.
#[cfg(target_arch = "x86_64")]
const POOL_RANK: i32 = -2;

fn info(row: &Row, name: IsaName) -> KernelInfo {
    let mut info = KernelInfo::exact(row.op, row.ids[name as usize]);
    info.rank = name as i32;
    if row.in_place {
        info.caps |= GUILD_CAP_INPLACE;
    }
    if row.weights {
        info.formats = WEIGHT_FORMATS;
    }
    info
}

#[cfg(test)]
mod tests {
    use super::*;
    use guild_sdk::abi::abi::{GUILD_CAP_BATCH_INVARIANT, GUILD_CLASS_EXACT};

    #[test]
    fn a_forced_set_that_the_machine_lacks_is_an_error_that_says_so() {
        let old = Detected::new().limited(IsaName::Portable);
        let Err(failure) = kernels(old, Some(IsaName::Avx2)) else {
            panic!("AVX2 on a machine without it");
        };
        assert!(failure.text.contains("asks for avx2"), "{failure}");
        assert!(failure.text.contains("best is portable"), "{failure}");
        assert!(kernels(old, Some(IsaName::Portable)).is_ok());
    }

    #[test]
    fn kernels_are_as_many_as_announced_and_better_sets_rank_higher() {
        let kernels = kernels(Detected::new(), None).unwrap_or_default();
        assert_eq!(kernels.len(), KERNEL_COUNT as usize);
        let mut ids: Vec<_> = kernels
            .iter()
            .map(|kernel| kernel.info().implementation)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), kernels.len(), "implementation ids are unique");
        for kernel in &kernels {
            let info = kernel.info();
            let part = info.implementation.split('.').nth(2);
            if part == Some("fused") || part == Some("interleaved") {
                assert!(info.rank < IsaName::Portable as i32);
                continue;
            }
            let exact = info.exactness == GUILD_CLASS_EXACT;
            assert_eq!(exact, part != Some("amx_bf16"), "{}", info.implementation);
            if !exact {
                assert!(info.rank > IsaName::Amx as i32);
                assert_eq!(info.caps & GUILD_CAP_BATCH_INVARIANT, 0);
                continue;
            }
            let set = info
                .implementation
                .rsplit('.')
                .next()
                .and_then(IsaName::parse);
            assert_eq!(
                set.map(|set| set as i32),
                Some(info.rank),
                "{}",
                info.implementation
            );
        }
    }
}
