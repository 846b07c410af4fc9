//! Whether a planned model fits, and what would.

use super::limits::{Limit, LimitOwner, limits};
use super::plan::{AddressPlan, MemoryPlan};
use super::process::ProcessMemory;
use super::size::ByteSize;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::system::SystemFiles;
use guild_abi::abi::GUILD_PAGE_POSITIONS;
use guild_graph::BindOptions;
use serde::Serialize;

/// The plan against every limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fit {
    /// Whether every limit holds.
    pub fits: bool,
    /// The limits, the tightest first.
    pub checks: Vec<Check>,
    /// The largest context that would fit, in positions: the planned one where it fits, null where
    /// none does.
    pub largest_context: Option<u64>,
}

/// The plan against one limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Whose limit it is.
    pub limit: LimitOwner,
    /// What the process will have in all, in what the limit counts.
    pub needed_bytes: u64,
    /// What it may have.
    pub available_bytes: u64,
    /// Whether it fits.
    pub fits: bool,
}

impl Fit {
    /// Compares with every limit that holds now.
    #[must_use]
    pub fn new(
        plan: &MemoryPlan,
        addresses: AddressPlan,
        options: &BindOptions,
        chosen: Option<ByteSize>,
        process: &ProcessMemory,
    ) -> Fit {
        let limits = limits(&SystemFiles::of_machine(), chosen, process).into_iter();
        let mut checks: Vec<Check> = limits.map(|limit| check(plan, addresses, limit)).collect();
        checks.sort_by_key(|check| {
            i128::from(check.available_bytes) - i128::from(check.needed_bytes)
        });
        let fits = checks.iter().all(|check| check.fits);
        let largest_context = match fits {
            true => Some(options.max_positions),
            false => largest_context(plan, options, &checks),
        };
        Fit {
            fits,
            checks,
            largest_context,
        }
    }

    /// The refusal of a model that doesn't fit; `None` for one that does.
    #[must_use]
    pub fn refusal(&self, plan: &MemoryPlan, options: &BindOptions) -> Option<Failure> {
        let worst = self.checks.iter().find(|check| !check.fits)?;
        let (needed, available) = (worst.needed_bytes, worst.available_bytes);
        let message = format!(
            "the model doesn't fit: it needs {} ({needed} bytes) with a context of {}, and {} allows {} ({available} bytes)",
            ByteSize(needed),
            options.max_positions,
            worst.limit.name(),
            ByteSize(available),
        );
        Some(Failure::new(Exit::Resource, message).hint(self.advice(plan, options, worst)))
    }

    fn advice(&self, plan: &MemoryPlan, options: &BindOptions, worst: &Check) -> String {
        let mut ways = Vec::new();
        match self.largest_context {
            Some(context) => ways.push(format!("-c {context} is the largest context that fits")),
            None => ways.push("no context fits".to_owned()),
        }
        if options.kv_format == guild_graph::KvFormat::F32 {
            ways.push("--kv f16 halves the KV pages".to_owned());
        }
        if options.max_rows > 1 && plan.values_bytes + plan.scratch_bytes > plan.total_bytes / 20 {
            ways.push("a smaller -b takes less for values and scratch".to_owned());
        }
        ways.push("a smaller quantisation of the model takes less for weights".to_owned());
        let without_weights = worst.needed_bytes.saturating_sub(plan.weights_bytes);
        let reread = without_weights <= worst.available_bytes
            && !matches!(worst.limit, LimitOwner::AddressSpace | LimitOwner::Data);
        let anyway = match reread {
            true => {
                "--no-fit-check loads it anyway: weights are pages of the file, which the system drops and reads again for every token, so it will be slow"
            }
            false => "--no-fit-check loads it anyway, and the system may end the process",
        };
        ways.push(anyway.to_owned());
        ways.join("; ")
    }
}

fn check(plan: &MemoryPlan, addresses: AddressPlan, limit: Limit) -> Check {
    let needed_bytes = match limit.owner {
        LimitOwner::AddressSpace => addresses.address_space_bytes,
        LimitOwner::Data => addresses.data_bytes,
        LimitOwner::Chosen | LimitOwner::Machine | LimitOwner::ControlGroup { .. } => {
            plan.total_bytes
        }
    };
    Check {
        limit: limit.owner,
        needed_bytes,
        available_bytes: limit.available_bytes,
        fits: needed_bytes <= limit.available_bytes,
    }
}

/// What the program itself may take more at the next start, which maps its code elsewhere; see the
/// margin in `docs/memory.md`.
const NEXT_START_BYTES: u64 = 512 << 10;

/// The largest context under which every check holds, at the next start too: only KV pages grow with
/// it.
fn largest_context(plan: &MemoryPlan, options: &BindOptions, checks: &[Check]) -> Option<u64> {
    let pages = options.pages();
    // One number of the page table and one page-table entry for each 4096 bytes come with a page.
    let page_bytes = plan.kv_bytes / pages.max(1);
    let page_bytes = page_bytes + page_bytes / 512 + 4;
    let fitting = checks.iter().map(|check| {
        let needed = check.needed_bytes.saturating_add(NEXT_START_BYTES);
        let over = needed.saturating_sub(check.available_bytes);
        pages.saturating_sub(over.div_ceil(page_bytes))
    });
    let fitting = fitting.min().unwrap_or(pages) / options.max_sequences;
    (fitting > 0).then(|| (fitting * u64::from(GUILD_PAGE_POSITIONS)).min(options.max_positions))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// 100 MiB of which 40 are KV: 16 pages for 4096 positions.
    fn plan() -> MemoryPlan {
        MemoryPlan {
            program_bytes: 5 * MIB,
            loaded_bytes: 5 * MIB,
            weights_bytes: 50 * MIB,
            kv_bytes: 40 * MIB,
            state_bytes: 0,
            values_bytes: 0,
            outputs_bytes: 0,
            scratch_bytes: 0,
            tables_bytes: 0,
            threads_bytes: 0,
            page_tables_bytes: 0,
            margin_bytes: 0,
            total_bytes: 100 * MIB,
            weights_by_type: Vec::new(),
            weights_by_file: Vec::new(),
        }
    }

    fn fit(limit: u64, kv_format: guild_graph::KvFormat) -> (Fit, BindOptions) {
        let options = BindOptions {
            kv_format,
            ..BindOptions::single_sequence(8, 4096)
        };
        let addresses = AddressPlan {
            address_space_bytes: 0,
            data_bytes: 0,
        };
        let process = ProcessMemory::default();
        let fit = Fit::new(
            &plan(),
            addresses,
            &options,
            Some(ByteSize(limit)),
            &process,
        );
        (fit, options)
    }

    #[test]
    fn a_model_that_fits_is_not_refused() {
        let (fit, options) = fit(100 * MIB, guild_graph::KvFormat::F16);
        assert!(fit.fits, "{fit:?}");
        assert_eq!(fit.largest_context, Some(4096));
        assert!(fit.refusal(&plan(), &options).is_none());
    }

    #[test]
    fn a_refusal_names_both_numbers_and_what_would_fit() {
        let (fit, options) = fit(90 * MIB, guild_graph::KvFormat::F32);
        let failure = fit.refusal(&plan(), &options).expect("it must be refused");
        assert_eq!(failure.exit, Exit::Resource);
        for part in [
            "104857600 bytes",
            "94371840 bytes",
            "--memory-limit",
            "4096",
        ] {
            assert!(failure.message.contains(part), "{}", failure.message);
        }
        // 10 MiB, and half a MiB for the next start, are more than four pages of 2.5 MiB.
        assert_eq!(fit.largest_context, Some(11 * 256));
        for part in [
            "-c 2816",
            "--kv f16",
            "quantisation",
            "read",
            "--no-fit-check",
        ] {
            assert!(failure.hint.contains(part), "{}", failure.hint);
        }
    }

    #[test]
    fn where_nothing_fits_no_context_is_offered() {
        let (fit, options) = fit(20 * MIB, guild_graph::KvFormat::F16);
        assert_eq!(fit.largest_context, None);
        let failure = fit.refusal(&plan(), &options).expect("it must be refused");
        assert!(
            failure.hint.starts_with("no context fits"),
            "{}",
            failure.hint
        );
        assert!(!failure.hint.contains("--kv f16"), "{}", failure.hint);
        assert!(failure.hint.contains("end the process"), "{}", failure.hint);
    }
}
