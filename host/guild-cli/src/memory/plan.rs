//! The bytes that a planned model will have resident, by purpose.

use super::process::{ProcessMemory, resident_at_start_bytes};
use guild_engine::{Engine, Sampler, Sampling};
use guild_graph::{BindOptions, HUGE_PAGE_BYTES, Plan};
use guild_model::{GgufFile, ModelError, ModelSource};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Pages that the system maps around a page of a file that is touched: Linux's `fault_around_bytes`. Of a file that
/// may lie in huge pages it is one of those.
const FAULT_AROUND_BYTES: usize = 64 << 10;

/// Resident bytes of one worker thread beyond its share of the pool: the touched part of its stack,
/// its signal stack, its thread-local data and its first pages from the allocator. A bound with room: the
/// peaks (`peak_rss_bytes`) of `guild run --json` with `-t 1` and with more show what one takes.
const WORKER_BYTES: u64 = 192 << 10;

/// What can't be known before it happens: pages of code that run for the first time, the stack of the
/// first thread, the allocator's slack, and the kernel's counters, which are exact to 32 pages a
/// processor. `docs/memory.md` says how to see what is needed of it.
const MARGIN_BYTES: u64 = 3072 << 10;

/// Addresses that a new thread's stack takes, touched or not.
const STACK_ADDRESS_BYTES: u64 = 2 << 20;

/// Entries of a page table in bytes a page: one of 8 bytes for each.
const PAGE_TABLE_SHARE: u64 = 512;

/// Resident memory by purpose. The sum is an upper bound of the run's peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryPlan {
    /// The program itself as it was when the command began.
    pub program_bytes: u64,
    /// What came on top until the model was planned: packages, metadata, tokenizer, graph, instances.
    pub loaded_bytes: u64,
    /// The pages of the model file that hold the tensors in use, whole pages and what the system maps
    /// around them.
    pub weights_bytes: u64,
    /// KV pages.
    pub kv_bytes: u64,
    /// Recurrent states.
    pub state_bytes: u64,
    /// The arena of values.
    pub values_bytes: u64,
    /// The outputs.
    pub outputs_bytes: u64,
    /// The providers' scratch.
    pub scratch_bytes: u64,
    /// Argument blocks, batch tables, and what the engine and the sampler keep.
    pub tables_bytes: u64,
    /// Worker threads.
    pub threads_bytes: u64,
    /// Page tables: counted by the system, though not in a process's resident size.
    pub page_tables_bytes: u64,
    /// What can't be known before, and the rest of each last page.
    pub margin_bytes: u64,
    /// The sum.
    pub total_bytes: u64,
    /// What the tensors in use are, by type, the largest first.
    pub weights_by_type: Vec<TypeBytes>,
    /// Which of the model's files they are in, in the order of the shards.
    pub weights_by_file: Vec<FileBytes>,
}

/// Tensors in one file of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileBytes {
    /// Where the file lies.
    pub path: PathBuf,
    /// How many of its tensors are in use.
    pub tensors: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Tensors of one type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TypeBytes {
    /// The type's name in the file.
    #[serde(rename = "type")]
    pub type_name: &'static str,
    /// How many there are.
    pub tensors: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Bytes that `ulimit` counts, which are addresses and not memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressPlan {
    /// Addresses in use at the peak.
    pub address_space_bytes: u64,
    /// Private writable ones of them.
    pub data_bytes: u64,
}

impl MemoryPlan {
    /// Counts what `plan` will take, on top of what the process has now, with the sampler of a command
    /// that has one.
    ///
    /// # Errors
    /// Those of [`ModelSource::tensor_bytes`].
    pub fn new(
        plan: &Plan<'_>,
        options: &BindOptions,
        source: &GgufFile,
        sampling: Option<&Sampling>,
        process: &ProcessMemory,
    ) -> Result<MemoryPlan, ModelError> {
        let memory = plan.report().memory;
        let (program, resident) = (resident_at_start_bytes(), process.resident_bytes);
        let named = [
            memory.kv_bytes,
            memory.state_bytes,
            memory.arena_bytes,
            memory.outputs_bytes,
            memory.scratch_bytes,
        ];
        let slack = memory.reserved_bytes.saturating_sub(sum(&named));
        let mut planned = MemoryPlan {
            program_bytes: program.min(resident),
            loaded_bytes: resident.saturating_sub(program),
            weights_bytes: mapped_bytes(plan, source)?,
            kv_bytes: memory.kv_bytes,
            state_bytes: memory.state_bytes,
            values_bytes: memory.arena_bytes,
            outputs_bytes: memory.outputs_bytes,
            scratch_bytes: memory.scratch_bytes,
            tables_bytes: sum(&[
                memory.tables_bytes,
                Engine::table_bytes(options),
                sampling.map_or(0, |it| Sampler::table_bytes(it, plan.vocabulary())),
            ]),
            threads_bytes: u64::from(options.workers - 1) * WORKER_BYTES,
            page_tables_bytes: 0,
            margin_bytes: MARGIN_BYTES.saturating_add(slack),
            total_bytes: 0,
            weights_by_type: by_type(plan, source),
            weights_by_file: by_file(plan, source),
        };
        let new_bytes = planned.weights_bytes.saturating_add(memory.reserved_bytes);
        planned.page_tables_bytes = new_bytes / PAGE_TABLE_SHARE;
        planned.total_bytes = sum(&planned.parts().map(|(_, bytes)| bytes));
        // Building a tokenizer may have taken more than a small model does.
        let past_peak = process.peak_bytes.saturating_sub(planned.total_bytes);
        planned.margin_bytes += past_peak;
        planned.total_bytes += past_peak;
        Ok(planned)
    }

    /// Every part with its name, in the order of the table.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, u64); 12] {
        [
            ("program", self.program_bytes),
            ("packages, metadata, tokenizer", self.loaded_bytes),
            ("weights, in the file's mapping", self.weights_bytes),
            ("KV pages", self.kv_bytes),
            ("recurrent states", self.state_bytes),
            ("values", self.values_bytes),
            ("outputs", self.outputs_bytes),
            ("scratch of the packages", self.scratch_bytes),
            ("tables", self.tables_bytes),
            ("threads", self.threads_bytes),
            ("page tables", self.page_tables_bytes),
            ("margin", self.margin_bytes),
        ]
    }

    /// What stays of the total when the engine is gone: its buffers go back to the system.
    #[must_use]
    pub fn without_buffers_bytes(&self) -> u64 {
        let buffers = [
            self.kv_bytes,
            self.state_bytes,
            self.values_bytes,
            self.outputs_bytes,
            self.scratch_bytes,
        ];
        self.total_bytes.saturating_sub(sum(&buffers))
    }

    /// What comes on top of the process's addresses.
    #[must_use]
    pub fn addresses(
        &self,
        process: &ProcessMemory,
        options: &BindOptions,
        reserved_bytes: u64,
    ) -> AddressPlan {
        let stacks = u64::from(options.workers - 1).saturating_mul(STACK_ADDRESS_BYTES);
        let new_bytes = sum(&[reserved_bytes, self.tables_bytes, stacks, MARGIN_BYTES]);
        AddressPlan {
            address_space_bytes: process.address_space_bytes.saturating_add(new_bytes),
            data_bytes: process.data_bytes.saturating_add(new_bytes),
        }
    }
}

fn sum(parts: &[u64]) -> u64 {
    parts.iter().copied().fold(0, u64::saturating_add)
}

/// Bytes of the mapping that touching every tensor in use makes resident: the windows around touched
/// pages, each once.
fn mapped_bytes(plan: &Plan<'_>, source: &GgufFile) -> Result<u64, ModelError> {
    let window_bytes = match source.has_huge_pages() {
        true => HUGE_PAGE_BYTES,
        false => FAULT_AROUND_BYTES,
    };
    let mut windows = Vec::new();
    for name in plan.weight_names() {
        let bytes = source.tensor_bytes(name)?.as_ptr_range();
        let start = bytes.start.addr() / window_bytes;
        windows.push((start, bytes.end.addr().div_ceil(window_bytes)));
    }
    Ok(covered(&mut windows) as u64 * window_bytes as u64)
}

/// How many whole numbers lie in at least one of the ranges `[start, end)`.
fn covered(ranges: &mut [(usize, usize)]) -> usize {
    ranges.sort_unstable();
    let (mut count, mut reached) = (0, 0);
    for (start, end) in ranges {
        count += end.saturating_sub(reached.max(*start));
        reached = reached.max(*end);
    }
    count
}

fn by_type(plan: &Plan<'_>, source: &dyn ModelSource) -> Vec<TypeBytes> {
    let mut types: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
    for tensor in plan.weight_names().filter_map(|name| source.tensor(name)) {
        let (tensors, bytes) = types.entry(tensor.type_name).or_default();
        *tensors += 1;
        *bytes += tensor.byte_len.unwrap_or(0);
    }
    let types = types.into_iter();
    let mut types: Vec<TypeBytes> = types
        .map(|(type_name, (tensors, bytes))| TypeBytes {
            type_name,
            tensors,
            bytes,
        })
        .collect();
    types.sort_by_key(|one| std::cmp::Reverse(one.bytes));
    types
}

fn by_file(plan: &Plan<'_>, source: &GgufFile) -> Vec<FileBytes> {
    let shards = source.shards().iter();
    let mut files: Vec<FileBytes> = shards
        .map(|shard| FileBytes {
            path: shard.path().to_owned(),
            tensors: 0,
            bytes: 0,
        })
        .collect();
    for tensor in plan.weight_names().filter_map(|name| source.tensor(name)) {
        if let Some(file) = files.get_mut(tensor.shard as usize) {
            file.tensors += 1;
            file.bytes += tensor.byte_len.unwrap_or(0);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_overlap_or_touch_count_once() {
        assert_eq!(covered(&mut []), 0);
        assert_eq!(covered(&mut [(3, 5), (0, 1)]), 3);
        assert_eq!(covered(&mut [(0, 4), (2, 6), (6, 7)]), 7);
        assert_eq!(covered(&mut [(0, 9), (2, 6), (8, 10)]), 10);
    }
}
