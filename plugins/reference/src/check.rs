//! Checks of requests that several operations share. Operands are counted as refusals count them:
//! inputs, then outputs, then states.

use guild_sdk::abi::formats::{GUILD_FORMAT_F32, GUILD_FORMAT_I32, GUILD_LAYOUT_FILE};
use guild_sdk::{Params, Refusal, Request, TensorInfo, format};

/// The request has these numbers of inputs, outputs and states.
pub(crate) fn counts(
    request: &Request<'_>,
    inputs: usize,
    outputs: usize,
    states: usize,
) -> Result<(), Refusal> {
    let found = [
        request.inputs.len(),
        request.outputs.len(),
        request.states.len(),
    ];
    if found == [inputs, outputs, states] {
        return Ok(());
    }
    Err(Refusal::shape(
        0,
        found[0] as u64,
        format!(
            "{found:?} inputs, outputs and states; the contract has {inputs}, {outputs} and {states}"
        ),
    ))
}

/// Operand `index` is f32.
pub(crate) fn float(request: &Request<'_>, index: usize) -> Result<(), Refusal> {
    has_format(request, index, GUILD_FORMAT_F32, "f32")
}

/// Operand `index` is i32.
pub(crate) fn ids(request: &Request<'_>, index: usize) -> Result<(), Refusal> {
    has_format(request, index, GUILD_FORMAT_I32, "i32")
}

/// Operand `index` is a weight in one of `formats`, a whole number of blocks a row.
pub(crate) fn weight(request: &Request<'_>, index: usize, formats: &[u32]) -> Result<(), Refusal> {
    let tensor = operand(request, index);
    if !formats.contains(&tensor.format) {
        return Err(Refusal::format(
            index,
            tensor.format,
            "the weight's format isn't served",
        ));
    }
    if tensor.layout != GUILD_LAYOUT_FILE {
        return Err(Refusal::format(
            index,
            tensor.layout.into(),
            "the weight is in a packed layout",
        ));
    }
    let whole = format::storage(tensor.format)
        .and_then(|storage| storage.row_bytes(tensor.dim()))
        .is_some_and(|bytes| bytes > 0);
    if whole {
        return Ok(());
    }
    Err(Refusal::shape(
        index,
        tensor.dim() as u64,
        "a weight's row isn't a whole number of blocks",
    ))
}

/// Operand `index` has these axes; `None` stands for any length.
pub(crate) fn axes(
    request: &Request<'_>,
    index: usize,
    want: &[Option<usize>],
) -> Result<(), Refusal> {
    let found = operand(request, index).axes();
    let fits = found.len() == want.len()
        && found
            .iter()
            .zip(want)
            .all(|(&found, want)| want.is_none_or(|want| want == found));
    if fits {
        return Ok(());
    }
    Err(Refusal::shape(
        index,
        found.last().copied().unwrap_or(0) as u64,
        format!("operand {index} is {found:?}; the contract wants {want:?}"),
    ))
}

/// Operands `a` and `b` have the same axes.
pub(crate) fn same(request: &Request<'_>, a: usize, b: usize) -> Result<(), Refusal> {
    let want: Vec<_> = operand(request, a)
        .axes()
        .iter()
        .copied()
        .map(Some)
        .collect();
    axes(request, b, &want)
}

/// The request's parameters.
pub(crate) fn params<T: Params>(request: &Request<'_>) -> Result<T, Refusal> {
    request
        .params()
        .map_err(|failure| Refusal::params(0, failure.text))
}

/// Operand `index`; inputs first, then outputs. [`counts`] has been asked before.
pub(crate) fn operand<'r>(request: &'r Request<'_>, index: usize) -> &'r TensorInfo {
    match index.checked_sub(request.inputs.len()) {
        None => &request.inputs[index],
        Some(output) => &request.outputs[output],
    }
}

fn has_format(
    request: &Request<'_>,
    index: usize,
    want: u32,
    name: &'static str,
) -> Result<(), Refusal> {
    let found = operand(request, index).format;
    if found == want {
        return Ok(());
    }
    Err(Refusal::format(
        index,
        found,
        format!("operand {index} is {}, not {name}", format::name(found)),
    ))
}
