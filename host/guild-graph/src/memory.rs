//! Where values lie: buffers whose lifetimes don't overlap share memory.
//!
//! A lifetime runs from the node that makes a value to the last node that reads it or a view of it.
//! The section's outputs lie in a region of their own, so that they outlive the call. An output takes
//! its input's buffer where the contract and every chosen provider allow it and nobody reads the
//! input later.

use crate::arena::ALIGNMENT_BYTES;
use crate::graph::{Node, Origin, Section};
use crate::sizes::Sizes;

/// Where the values of a section lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryPlan {
    /// For each value the place of its memory; `None` for weights, inputs and views.
    pub(crate) places: Vec<Option<Place>>,
    /// Bytes of the shared arena.
    pub(crate) arena_bytes: u64,
    /// Bytes of the region of the section's outputs.
    pub(crate) outputs_bytes: u64,
    /// Bytes that the values in the arena would need side by side.
    pub(crate) values_bytes: u64,
}

/// A place in one of the two regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which region.
    pub(crate) region: Region,
    /// Bytes from the region's start; a multiple of 64.
    pub(crate) offset: u64,
}

/// The two regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Region {
    /// Shared; garbage between calls.
    Arena,
    /// The section's outputs; valid until the next call.
    Outputs,
}

impl MemoryPlan {
    /// Plans `section`; `in_place` says whether a node's providers can write over its input.
    pub(crate) fn new(
        section: &Section,
        sizes: &Sizes,
        in_place: impl Fn(usize) -> bool,
    ) -> MemoryPlan {
        let last_use = last_uses(section);
        let mut plan = MemoryPlan {
            places: vec![None; section.values.len()],
            arena_bytes: 0,
            outputs_bytes: 0,
            values_bytes: 0,
        };
        let mut buffers: Vec<Lifetime> = Vec::new();
        let mut buffer_of: Vec<Option<usize>> = vec![None; section.values.len()];
        for (number, node) in section.nodes.iter().enumerate() {
            for (operand, value) in node.outputs.iter().copied().enumerate() {
                let bytes = sizes
                    .bytes(&section.values[value])
                    .next_multiple_of(ALIGNMENT_BYTES);
                if is_output(section, value) {
                    let offset = plan.outputs_bytes;
                    plan.places[value] = Some(Place {
                        region: Region::Outputs,
                        offset,
                    });
                    plan.outputs_bytes += bytes;
                    continue;
                }
                plan.values_bytes += bytes;
                let taken = overwritten(section, node, operand, &last_use, number)
                    .filter(|_| in_place(number))
                    .and_then(|input| buffer_of[input])
                    .filter(|buffer| buffers[*buffer].bytes == bytes);
                let buffer = match taken {
                    Some(buffer) => {
                        buffers[buffer].last = last_use[value];
                        buffer
                    }
                    None => {
                        buffers.push(Lifetime {
                            bytes,
                            first: number,
                            last: last_use[value],
                        });
                        buffers.len() - 1
                    }
                };
                buffer_of[value] = Some(buffer);
            }
        }
        let (offsets, arena_bytes) = place(&buffers);
        plan.arena_bytes = arena_bytes;
        for (value, buffer) in buffer_of.into_iter().enumerate() {
            if let Some(buffer) = buffer {
                let offset = offsets[buffer];
                plan.places[value] = Some(Place {
                    region: Region::Arena,
                    offset,
                });
            }
        }
        plan
    }
}

/// A buffer and the nodes, first and last included, between which it holds something.
#[derive(Clone, Copy, Debug)]
struct Lifetime {
    bytes: u64,
    first: usize,
    last: usize,
}

impl Lifetime {
    fn meets(&self, other: &Lifetime) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Offsets for the buffers and the bytes of the arena: the largest first, each into the lowest gap
/// between those that live at the same time.
fn place(buffers: &[Lifetime]) -> (Vec<u64>, u64) {
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|buffer| (core::cmp::Reverse(buffers[*buffer].bytes), *buffer));
    let mut offsets = vec![0; buffers.len()];
    let mut placed: Vec<usize> = Vec::with_capacity(buffers.len());
    let mut arena_bytes = 0;
    for buffer in order {
        let meets = placed
            .iter()
            .filter(|other| buffers[**other].meets(&buffers[buffer]));
        let mut taken: Vec<(u64, u64)> = meets
            .map(|other| (offsets[*other], offsets[*other] + buffers[*other].bytes))
            .collect();
        taken.sort_unstable();
        let mut offset = 0;
        for (start, end) in taken {
            if start >= offset + buffers[buffer].bytes {
                break;
            }
            offset = offset.max(end);
        }
        offsets[buffer] = offset;
        arena_bytes = arena_bytes.max(offset + buffers[buffer].bytes);
        placed.push(buffer);
    }
    (offsets, arena_bytes)
}

/// For each value that owns memory, the last node that reads it or a view of it; its maker if none.
fn last_uses(section: &Section) -> Vec<usize> {
    let mut last = vec![0; section.values.len()];
    for (number, node) in section.nodes.iter().enumerate() {
        for value in node.outputs.iter().chain(&node.inputs) {
            last[section.root(*value)] = number;
        }
    }
    last
}

/// The input whose buffer an output may take: whole, read by nobody later, and read once here.
fn overwritten(
    section: &Section,
    node: &Node,
    operand: usize,
    last_use: &[usize],
    number: usize,
) -> Option<usize> {
    let (output, input) = node.alias?;
    let value = *node.inputs.get(input)?;
    let whole = matches!(section.values[value].origin, Origin::Node { .. });
    let reads = node
        .inputs
        .iter()
        .filter(|other| section.root(**other) == value)
        .count();
    let free = last_use[value] == number && !is_output(section, value);
    (output == operand && whole && reads == 1 && free).then_some(value)
}

fn is_output(section: &Section, value: usize) -> bool {
    section.outputs.iter().any(|(_, output)| *output == value)
}
