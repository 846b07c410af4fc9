//! How many bytes of weights one decoded token reads.

use guild_abi::contract::{EMBEDDING, MOE_EXPERTS};

use crate::graph::{Node, Origin, Section};
use crate::shape::Dim;
use crate::sizes::Sizes;

/// Operand number of the chosen experts' ids, `[rows, top_k]`.
const MOE_IDS: usize = 1;

/// Bytes of weights that the section's steps read for one row: of an embedding's table one row, of
/// stacked experts as many as a row is routed to, of every other weight all.
pub(crate) fn weights_read_bytes(section: &Section, sizes: &Sizes) -> u64 {
    let of_nodes = section
        .nodes
        .iter()
        .map(|node| read_by(section, sizes, node));
    of_nodes.fold(0, u64::saturating_add)
}

/// The same of one node.
pub(crate) fn read_by(section: &Section, sizes: &Sizes, node: &Node) -> u64 {
    let weights = node.inputs.iter().map(|input| section.root(*input));
    let weights = weights.map(|root| &section.values[root]);
    let weights = weights.filter(|value| matches!(value.origin, Origin::Weight { .. }));
    let read = weights.map(|weight| {
        let bytes = sizes.bytes(weight);
        let outermost = match weight.shape.dims().first() {
            Some(Dim::Fixed(count)) => (*count).max(1),
            Some(Dim::Rows | Dim::Outputs) | None => 1,
        };
        if node.operation == EMBEDDING.name {
            bytes / outermost
        } else if node.operation == MOE_EXPERTS.name && weight.shape.rank() == 3 {
            bytes / outermost * top_k(section, node).min(outermost)
        } else {
            bytes
        }
    });
    read.sum()
}

/// Experts that a row is routed to.
fn top_k(section: &Section, node: &Node) -> u64 {
    let ids = node
        .inputs
        .get(MOE_IDS)
        .map(|ids| &section.values[*ids].shape);
    ids.map_or(1, |shape| shape.fixed_elements())
}
