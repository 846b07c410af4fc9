//! Windows on a value's memory, checked against the rows that they lie in.

use crate::error::DescriptionFault;
use crate::graph::{Origin, Section, Value};
use crate::shape::Shape;

/// Makes the view of value `source` that starts `offset` elements into each row.
///
/// Axis 0 and its stride are the source's; `strides` of the other axes count elements, the last one
/// is 1. A view of a view becomes a view of the value that owns the memory.
pub(super) fn window(
    section: &Section,
    source: usize,
    offset: u64,
    shape: Shape,
    strides: &[u64],
) -> Result<Value, DescriptionFault> {
    let from = &section.values[source];
    let malformed = |detail: String| DescriptionFault::Malformed {
        what: format!("a view of value {source}"),
        detail,
    };
    let (root, root_offset) = match &from.origin {
        Origin::Weight { name, .. } => {
            return Err(malformed(format!(
                "is on the weight {name:?}; weights have no views"
            )));
        }
        Origin::Input(_) | Origin::Node { .. } => (source, 0),
        Origin::View { root, offset } => (*root, *offset),
    };
    if shape.leading() != from.shape.leading() {
        let detail = format!("has the shape {shape}; axis 0 must be as in {}", from.shape);
        return Err(malformed(detail));
    }
    let mut strides: Vec<u64> = strides.get(..shape.rank()).unwrap_or(&[]).to_vec();
    let (Some(outer), Some(from_outer)) = (strides.first_mut(), from.strides.first()) else {
        return Err(malformed("has fewer strides than axes".to_owned()));
    };
    *outer = *from_outer;
    if shape.rank() > 1 && strides.last() != Some(&1) {
        let detail = format!("has the strides {strides:?}; the last axis must be contiguous (1)");
        return Err(malformed(detail));
    }
    let needed = span(&shape, &strides).and_then(|span| span.checked_add(offset));
    let available = span(&from.shape, &from.strides).unwrap_or(0);
    let needed = needed.unwrap_or(u64::MAX);
    if needed > available {
        return Err(DescriptionFault::ViewOutOfBounds {
            source_value: source as u32,
            needed,
            available,
        });
    }
    Ok(Value {
        format: from.format,
        shape,
        strides,
        origin: Origin::View {
            root,
            offset: root_offset + offset,
        },
    })
}

/// Elements from the first to the last element of one row, both included.
fn span(shape: &Shape, strides: &[u64]) -> Option<u64> {
    let mut last = 0u64;
    for (dim, stride) in shape.dims().iter().zip(strides).skip(1) {
        let steps = dim.fixed()?.checked_sub(1)?;
        last = last.checked_add(steps.checked_mul(*stride)?)?;
    }
    last.checked_add(1)
}
