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
                    .and_then(|input| buffer_of[input]);
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

/// The input whose buffer an output may take: whole, of the output's shape, read by nobody later, and read once here.
fn overwritten(
    section: &Section,
    node: &Node,
    operand: usize,
    last_use: &[usize],
    number: usize,
) -> Option<usize> {
    let (output, input) = node.alias?;
    let value = *node.inputs.get(input)?;
    let (from, to) = (
        &section.values[value],
        &section.values[node.outputs[operand]],
    );
    let whole = matches!(from.origin, Origin::Node { .. })
        && (from.format, &from.shape) == (to.format, &to.shape);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Params, SectionKind, Value};
    use crate::options::BindOptions;
    use crate::shape::{Dim, Shape};
    use guild_abi::formats::GUILD_FORMAT_F32;
    use proptest::prelude::*;

    /// One node for each `(width, inputs, aliases)`: inputs are numbers of earlier values, modulo.
    fn section(nodes: &[(u64, Vec<usize>, bool)], output: usize) -> Section {
        let mut section = Section {
            kind: SectionKind::Main,
            name: "main".to_owned(),
            values: Vec::new(),
            states: Vec::new(),
            nodes: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        for (number, (width, inputs, aliases)) in nodes.iter().enumerate() {
            let inputs = match section.values.len() {
                0 => Vec::new(),
                count => inputs.iter().map(|input| input % count).collect(),
            };
            let shape = Shape::new(&[Dim::Rows, Dim::Fixed(*width)]).unwrap();
            let value = section.values.len();
            section.values.push(Value {
                format: GUILD_FORMAT_F32,
                strides: shape.contiguous_strides(),
                shape: shape.clone(),
                origin: Origin::Node {
                    node: number,
                    output: 0,
                },
            });
            // Every other value is read through a view as well.
            if value.is_multiple_of(2) {
                section.values.push(Value {
                    format: GUILD_FORMAT_F32,
                    strides: shape.contiguous_strides(),
                    shape,
                    origin: Origin::View {
                        root: value,
                        offset: 0,
                    },
                });
            }
            section.nodes.push(Node {
                operation: "a.b.c".to_owned(),
                version: 1,
                name: number.to_string(),
                layer: 0,
                params: Params::new(&[]),
                alias: (*aliases && !inputs.is_empty()).then_some((0, 0)),
                inputs,
                states: Vec::new(),
                outputs: vec![value],
                rows: Dim::Rows,
            });
        }
        let output = section.nodes[output % nodes.len()].outputs[0];
        section
            .outputs
            .push((crate::graph::OutputKind::Hidden, output));
        section
    }

    /// Whether a later node, or this one, reads `value`: straight from the graph.
    fn needed(section: &Section, value: usize, from: usize) -> bool {
        let readers = section.nodes[from..].iter().flat_map(|node| &node.inputs);
        readers.clone().any(|input| section.root(*input) == value)
    }

    fn nodes() -> impl Strategy<Value = Vec<(u64, Vec<usize>, bool)>> {
        let inputs = prop::collection::vec(0..1000usize, 1..4);
        prop::collection::vec((1..40u64, inputs, any::<bool>()), 1..40)
    }

    proptest! {
        #[test]
        fn values_that_live_together_lie_apart(
            nodes in nodes(), output in 0..40usize, in_place in any::<bool>(),
        ) {
            let section = section(&nodes, output);
            let options = BindOptions::single_sequence(3, 8);
            let sizes = Sizes::new(&section, &options).unwrap();
            let plan = MemoryPlan::new(&section, &sizes, |_| in_place);
            prop_assert!(plan.arena_bytes <= plan.values_bytes);
            for (number, node) in section.nodes.iter().enumerate() {
                // What was made before and is read from here on must survive this node's writes,
                // and its inputs too, unless it overwrites the one that it may.
                let made = node.outputs[0];
                let (place, bytes) = (plan.places[made].unwrap(), sizes.bytes(&section.values[made]));
                prop_assert_eq!(place.offset % ALIGNMENT_BYTES, 0);
                let region = match place.region {
                    Region::Arena => plan.arena_bytes,
                    Region::Outputs => plan.outputs_bytes,
                };
                prop_assert!(place.offset + bytes <= region);
                for earlier in section.nodes[..number].iter().map(|node| node.outputs[0]) {
                    let other = plan.places[earlier].unwrap();
                    let other_bytes = sizes.bytes(&section.values[earlier]);
                    let apart = place.region != other.region
                        || place.offset >= other.offset + other_bytes
                        || other.offset >= place.offset + bytes;
                    let reads = node.inputs.iter().filter(|input| section.root(**input) == earlier);
                    let over = in_place
                        && node.alias.is_some()
                        && node.inputs.first() == Some(&earlier)
                        && reads.count() == 1
                        && place == other
                        && bytes == other_bytes;
                    let later = needed(&section, earlier, number + 1);
                    let now = needed(&section, earlier, number);
                    let free = if over { !later } else { !now };
                    prop_assert!(apart || free, "value {made} of node {number} over {earlier}");
                }
            }
        }
    }

    #[test]
    fn a_dead_value_gives_way_and_a_living_one_does_not() {
        let buffer = |bytes, first, last| Lifetime { bytes, first, last };
        let buffers = [
            buffer(64, 0, 1),
            buffer(128, 1, 2),
            buffer(64, 2, 3),
            buffer(64, 3, 3),
        ];
        let (offsets, arena_bytes) = place(&buffers);
        assert_eq!(offsets, [128, 0, 128, 0]);
        assert_eq!(arena_bytes, 192);
    }

    #[test]
    fn an_input_that_is_read_twice_is_not_overwritten() {
        let arena = |inputs: Vec<usize>| {
            let nodes = [(1, vec![], false), (1, inputs, true), (1, vec![2], false)];
            let section = section(&nodes, 2);
            let sizes = Sizes::new(&section, &BindOptions::single_sequence(3, 8)).unwrap();
            MemoryPlan::new(&section, &sizes, |_| true).arena_bytes
        };
        assert_eq!(arena(vec![0]), 64);
        assert_eq!(arena(vec![0, 0]), 128);
        // Value 1 is a view of value 0.
        assert_eq!(arena(vec![0, 1]), 128);
    }
}
