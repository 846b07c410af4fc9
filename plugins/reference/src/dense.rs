//! Between a call's operands and the dense slices that the oracle works on.

use guild_conformance::oracle::{Invalid, Matrix};
use guild_sdk::{Element, Exec, Failure, Tensor, TensorMut, Weight};

/// All elements of a tensor, outermost axis first.
pub(crate) fn gather<T: Element>(tensor: &Tensor<'_, T>) -> Vec<T> {
    let mut out = Vec::with_capacity(tensor.rows() * tensor.heads() * tensor.dim());
    for row in 0..tensor.rows() {
        for head in 0..tensor.heads() {
            out.extend_from_slice(tensor.vector(row, head));
        }
    }
    out
}

/// Writes all elements of an output.
pub(crate) fn scatter<T: Element>(
    tensor: &mut TensorMut<'_, T>,
    values: &[T],
) -> Result<(), Failure> {
    let (rows, heads, dim) = (tensor.rows(), tensor.heads(), tensor.dim());
    if values.len() != rows * heads * dim {
        return Err(Failure::invalid(
            "an output has another shape than the result",
        ));
    }
    for (at, values) in values.chunks_exact(dim.max(1)).enumerate() {
        tensor
            .vector_mut(at / heads, at % heads)
            .copy_from_slice(values);
    }
    Ok(())
}

/// Output 0 as a function of input 0's elements, which may be the same memory. The function also
/// gets the number of heads and of elements of a head.
pub(crate) fn update(
    x: &Exec<'_>,
    function: impl Fn(&[f32], usize, usize) -> Vec<f32> + Sync,
) -> Result<(), Failure> {
    let target = x.update()?;
    let (rows, heads, dim) = (target.rows(), target.heads(), target.dim());
    x.par().split(target.tiles(rows, heads), 1, |_, mut tile| {
        let places = || {
            tile.rows()
                .flat_map(|row| tile.heads().map(move |head| (row, head)))
        };
        let input: Vec<f32> = places()
            .flat_map(|(row, head)| tile.vector(row, head))
            .copied()
            .collect();
        let output = function(&input, heads, dim);
        let places: Vec<_> = places().collect();
        for ((row, head), values) in places.into_iter().zip(output.chunks_exact(dim.max(1))) {
            tile.vector_mut(row, head).copy_from_slice(values);
        }
    })
}

/// Input `index` as a matrix: all rows of all experts, one after the other.
pub(crate) fn matrix<'a>(weight: &Weight<'a>) -> Result<Matrix<'a>, Failure> {
    Matrix::new(weight.format(), weight.bytes(), weight.elems())
        .ok_or_else(|| Failure::invalid("a weight's format or length is wrong"))
}

/// A rule of the contract that the operands break.
pub(crate) fn invalid(invalid: Invalid) -> Failure {
    Failure::invalid(invalid.rule)
}
