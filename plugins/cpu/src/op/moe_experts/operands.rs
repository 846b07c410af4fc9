//! Where the expert pool's operands stand, and whether they fit together.

use crate::block::{Product, RECORD_ELEMS, product};
use crate::isa::Isa;
use crate::op::activations::Forms;
use crate::op::{check_f32, check_ids, check_layout, check_shape, unknown_format};
use guild_sdk::abi::core_ops::{
    GUILD_MOE_FUSED_GATE_UP, GUILD_MOE_SHARED, GUILD_MOE_SHARED_GATE, guild_experts_params,
};
use guild_sdk::abi::formats::{GUILD_LAYOUT_FILE, GUILD_LAYOUT_GATE_UP_ROWS};
use guild_sdk::{Exec, Failure, Refusal, Request, TensorInfo, Weight};

/// Input numbers of the weights.
pub(super) struct Layout {
    /// Gate and up are one tensor.
    pub fused: bool,
    pub gate: usize,
    pub up: usize,
    pub down: usize,
    /// The shared expert's gate; up and down follow.
    pub shared: Option<usize>,
    pub shared_gate: Option<usize>,
    /// Inputs in all.
    pub count: usize,
}

impl Layout {
    /// The layout that the flags describe.
    pub(super) fn new(flags: u32) -> Layout {
        let fused = flags & GUILD_MOE_FUSED_GATE_UP != 0;
        let gate = 3;
        let up = if fused { gate } else { gate + 1 };
        let down = up + 1;
        let mut count = down + 1;
        let mut take = |flag: u32, inputs: usize| {
            let at = count;
            (flags & flag != 0).then(|| {
                count += inputs;
                at
            })
        };
        let shared = take(GUILD_MOE_SHARED, 3);
        let shared_gate = take(GUILD_MOE_SHARED_GATE, 1);
        Layout {
            fused,
            gate,
            up,
            down,
            shared,
            shared_gate,
            count,
        }
    }
}

/// A gated feed-forward network.
pub(super) struct Network<S: Isa> {
    pub gate: Product<S>,
    pub up: Product<S>,
    pub down: Product<S>,
    /// Inner columns.
    pub ff: usize,
}

/// The records between up and down, for one row.
#[derive(Clone, Copy)]
pub(super) struct InnerSizes {
    /// Records of a row.
    pub spans: usize,
    /// Bytes of a record.
    pub record_bytes: usize,
    /// Bytes that a product may read behind the last record.
    pub bytes_behind: usize,
}

impl<S: Isa> Network<S> {
    /// Binds the three formats.
    pub(super) fn new(gate: u32, up: u32, down: u32, ff: usize) -> Result<Network<S>, Failure> {
        let of = |format| product::<S>(format).ok_or_else(unknown_format);
        Ok(Network {
            gate: of(gate)?,
            up: of(up)?,
            down: of(down)?,
            ff,
        })
    }

    /// Adds the forms of the input that gate and up read.
    pub(super) fn want(&self, forms: &mut Forms) {
        forms.want(self.gate.rounding);
        forms.want(self.up.rounding);
    }

    /// Bytes of the input of `rows` rows of `hidden` elements, for gate and for up.
    pub(super) fn input_bytes(&self, rows: usize, hidden: usize) -> usize {
        let records = rows * hidden.div_ceil(RECORD_ELEMS);
        let rounding = [self.gate.rounding, self.up.rounding];
        let [gate, up] = rounding.map(|rounding| rounding.buffer_bytes(records));
        if self.gate.rounding == self.up.rounding {
            gate
        } else {
            // Halves of one size.
            2 * gate.max(up)
        }
    }

    /// Sizes of the records between up and down.
    pub(super) fn inner(&self) -> InnerSizes {
        InnerSizes {
            spans: self.ff.div_ceil(RECORD_ELEMS),
            record_bytes: self.down.rounding.record_bytes(),
            bytes_behind: self.down.rounding.buffer_bytes(0),
        }
    }
}

/// The weights of one call.
pub(super) struct Operands<'a> {
    pub gate: Weight<'a>,
    pub up: Weight<'a>,
    pub down: Weight<'a>,
    /// Gate, up and down of the shared expert.
    pub shared: Option<[Weight<'a>; 3]>,
    /// `[hidden]`.
    pub shared_gate: Option<&'a [f32]>,
}

impl<'a> Operands<'a> {
    /// Takes the weights from a call. The operands of `packed` ones stand in the bytes of another.
    pub(super) fn read(
        x: &Exec<'a>,
        layout: &Layout,
        packed: bool,
    ) -> Result<Operands<'a>, Failure> {
        let [gate, up, down] = if packed {
            [layout.gate, layout.up, layout.down].map(|at| x.weight_with_gaps(at))
        } else {
            [layout.gate, layout.up, layout.down].map(|at| x.weight(at))
        };
        let (mut gate, mut up, down) = (gate?, up?, down?);
        if layout.fused {
            let ff = down.elems();
            if [gate.rows(), ff.min(1), gate.experts().min(1)] != [2 * ff, 1, 1] {
                return Err(crate::op::lengths_differ());
            }
            (gate, up) = if packed {
                (gate.every(0, 2, ff), gate.every(1, 2, ff))
            } else {
                (gate.every(0, 1, ff), gate.every(ff, 1, ff))
            };
        }
        let shared = match layout.shared {
            None => None,
            Some(at) => Some([x.weight(at)?, x.weight(at + 1)?, x.weight(at + 2)?]),
        };
        let shared_gate = match layout.shared_gate {
            None => None,
            Some(at) => Some(x.weight(at)?.elements().ok_or_else(unknown_format)?),
        };
        Ok(Operands {
            gate,
            up,
            down,
            shared,
            shared_gate,
        })
    }
}

/// Whether the request keeps the contract, its weights in the file's layout or with alternating rows.
///
/// # Errors
/// The operand or parameter that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    supports_layouts(request, &[GUILD_LAYOUT_FILE, GUILD_LAYOUT_GATE_UP_ROWS])
}

/// As [`supports`], for weights in the file's layout alone.
///
/// # Errors
/// As [`supports`].
pub fn supports_file_rows(request: &Request<'_>) -> Result<(), Refusal> {
    supports_layouts(request, &[GUILD_LAYOUT_FILE])
}

/// As [`supports`], for weights with alternating rows alone.
///
/// # Errors
/// As [`supports`].
pub fn supports_alternating_rows(request: &Request<'_>) -> Result<(), Refusal> {
    supports_layouts(request, &[GUILD_LAYOUT_GATE_UP_ROWS])
}

/// Whether the experts' weights of a request that is supported have alternating rows.
pub(super) fn are_packed(request: &Request<'_>, layout: &Layout) -> bool {
    request.inputs[layout.gate].layout == GUILD_LAYOUT_GATE_UP_ROWS
}

fn supports_layouts(request: &Request<'_>, layouts: &[u16]) -> Result<(), Refusal> {
    const KNOWN: u32 = GUILD_MOE_FUSED_GATE_UP | GUILD_MOE_SHARED | GUILD_MOE_SHARED_GATE;
    let Ok(params) = request.params::<guild_experts_params>() else {
        return Err(Refusal::params(
            0,
            "the expert pool's parameters are missing",
        ));
    };
    let gate_alone =
        params.flags & GUILD_MOE_SHARED_GATE != 0 && params.flags & GUILD_MOE_SHARED == 0;
    if params.flags & !KNOWN != 0 || gate_alone {
        let text = "an unknown flag, or a shared expert's gate without the expert";
        return Err(Refusal::params(params.flags.into(), text));
    }
    let layout = Layout::new(params.flags);
    crate::op::check_counts(request, layout.count, 1, 0)?;
    let inputs = &request.inputs;
    let (hidden, top) = (inputs[0].dim(), inputs[1].dim());
    check_f32(0, &inputs[0], hidden)?;
    check_ids(1, &inputs[1])?;
    check_f32(2, &inputs[2], top)?;
    check_f32(layout.count, &request.outputs[0], hidden)?;
    let (experts, ff) = (inputs[layout.down].shape[0], inputs[layout.down].dim());
    let fused = if layout.fused { 2 } else { 1 };
    let first = inputs[layout.gate].layout;
    let wanted = layouts.iter().find(|&&wanted| wanted == first);
    let wanted = *wanted.unwrap_or(&layouts[0]);
    check_network(
        inputs,
        [layout.gate, layout.up, layout.down],
        3,
        hidden,
        wanted,
    )?;
    for at in [layout.gate, layout.up] {
        expect(at, inputs[at].shape[0], experts)?;
        expect(at, inputs[at].shape[1], fused * ff)?;
    }
    expect(layout.down, inputs[layout.down].shape[1], hidden)?;
    if let Some(at) = layout.shared {
        check_network(inputs, [at, at + 1, at + 2], 2, hidden, GUILD_LAYOUT_FILE)?;
        for at_input in [at, at + 1] {
            expect(at_input, inputs[at_input].shape[0], inputs[at + 2].dim())?;
        }
        expect(at + 2, inputs[at + 2].shape[0], hidden)?;
    }
    if let Some(at) = layout.shared_gate {
        check_f32(at, &inputs[at], hidden)?;
    }
    Ok(())
}

fn check_network(
    inputs: &[TensorInfo],
    [gate, up, down]: [usize; 3],
    rank: usize,
    hidden: usize,
    layout: u16,
) -> Result<(), Refusal> {
    for at in [gate, up, down] {
        check_layout(at, &inputs[at], layout)?;
    }
    check_shape(gate, &inputs[gate], rank, hidden)?;
    check_shape(up, &inputs[up], rank, hidden)?;
    check_shape(down, &inputs[down], rank, inputs[down].dim())
}

fn expect(at: usize, got: usize, want: usize) -> Result<(), Refusal> {
    if got == want {
        return Ok(());
    }
    Err(Refusal {
        offered: want as u64,
        ..Refusal::shape(at, got as u64, "an axis of a weight doesn't fit the others")
    })
}
