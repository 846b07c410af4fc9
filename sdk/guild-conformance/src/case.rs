//! Cases: operands with fixed data and what the oracle makes of them.
//!
//! One file for each operation. Shapes stand around the lane count (1, 15, 16, 17, 33) and the block
//! lengths; data comes from a small generator with fixed seeds, so that a failure can be repeated. Numbers at the edges
//! of what a float can say are in `adversarial`.

mod adversarial;
mod attention;
mod causal_conv;
mod elementwise;
mod embedding;
mod gated_delta;
mod linear;
mod moe_experts;
mod moe_route;
mod norm;
mod rope;
mod seed;
mod weights;

use crate::tolerance::Tolerance;
use guild_abi::contract::CoreOp;
use guild_abi::formats::{GUILD_FORMAT_F32, GUILD_FORMAT_I32, GUILD_LAYOUT_FILE};

pub use seed::Seed;
pub use weights::random_weight;

/// Every case of every operation.
#[must_use]
pub fn all() -> Vec<Case> {
    [
        elementwise::cases(),
        embedding::cases(),
        norm::cases(),
        linear::cases(),
        rope::cases(),
        attention::cases(),
        causal_conv::cases(),
        gated_delta::cases(),
        moe_route::cases(),
        moe_experts::cases(),
    ]
    .concat()
}

/// One call of one operation, and what it must give.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name, unique within the operation.
    pub name: String,
    /// The operation.
    pub op: &'static CoreOp,
    /// Bytes of the parameter struct.
    pub params: Vec<u8>,
    /// Inputs in the contract's order.
    pub inputs: Vec<Operand>,
    /// Outputs in the contract's order; their bytes are what the oracle gives.
    pub outputs: Vec<Operand>,
    /// States in the contract's order.
    pub states: Vec<StateOperand>,
    /// Rows of the call: `guild_exec.rows`.
    pub rows: usize,
    /// The batch table; one sequence of `rows` rows where a case doesn't care.
    pub sequences: Vec<SequenceRows>,
    /// Output 0 is input 0's memory.
    pub in_place: bool,
    /// The call must be refused as `INVALID`; outputs don't matter then.
    pub invalid: bool,
    /// How far a tolerant implementation may be from the true result; `None` where the operation states no bound.
    pub tolerance: Option<Tolerance>,
}

impl Case {
    /// A case of `rows` rows without parameters, states or outputs yet.
    #[must_use]
    pub fn new(op: &'static CoreOp, name: impl Into<String>, rows: usize) -> Case {
        Case {
            name: name.into(),
            op,
            params: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            states: Vec::new(),
            rows,
            sequences: vec![SequenceRows::plain(rows)],
            in_place: false,
            invalid: false,
            tolerance: None,
        }
    }

    /// The same case with output 0 in input 0's memory.
    #[must_use]
    pub fn in_place(&self) -> Case {
        let mut case = self.clone();
        case.name += " in place";
        case.in_place = true;
        case.outputs[0].row_gap = case.inputs[0].row_gap;
        case.outputs[0].head_gap = case.inputs[0].head_gap;
        case
    }

    /// The same case with gaps between the rows and heads of activations.
    #[must_use]
    pub fn strided(&self) -> Case {
        let mut case = self.clone();
        case.name += " strided";
        let operands = case.inputs.iter_mut().chain(&mut case.outputs);
        for (at, operand) in operands.filter(|operand| operand.dynamic).enumerate() {
            operand.row_gap = 3 + at;
            operand.head_gap = if operand.shape.len() > 2 { 1 + at } else { 0 };
        }
        case
    }
}

/// A tensor with its elements, dense, outermost axis first.
#[derive(Clone, Debug)]
pub struct Operand {
    /// `GUILD_FORMAT_*`.
    pub format: u32,
    /// Elements along each axis.
    pub shape: Vec<usize>,
    /// The elements.
    pub bytes: Vec<u8>,
    /// Axis 0 is the number of rows of the call.
    pub dynamic: bool,
    /// Elements, or blocks of a block format, between one row (entry of axis 0) and the next.
    pub row_gap: usize,
    /// The same between one head (entry of axis 1 of a rank-3 tensor) and the next.
    pub head_gap: usize,
    /// `GUILD_LAYOUT_*`.
    pub layout: u16,
}

impl Operand {
    /// An f32 activation.
    #[must_use]
    pub fn rows(shape: &[usize], values: &[f32]) -> Operand {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        Operand::new(GUILD_FORMAT_F32, shape, bytes, true)
    }

    /// i32 ids.
    #[must_use]
    pub fn ids(shape: &[usize], values: &[i32]) -> Operand {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        Operand::new(GUILD_FORMAT_I32, shape, bytes, true)
    }

    /// An f32 weight.
    #[must_use]
    pub fn floats(shape: &[usize], values: &[f32]) -> Operand {
        Operand {
            dynamic: false,
            ..Operand::rows(shape, values)
        }
    }

    /// A weight in any format.
    #[must_use]
    pub fn weight(format: u32, shape: &[usize], bytes: Vec<u8>) -> Operand {
        Operand::new(format, shape, bytes, false)
    }

    fn new(format: u32, shape: &[usize], bytes: Vec<u8>, dynamic: bool) -> Operand {
        Operand {
            format,
            shape: shape.to_vec(),
            bytes,
            dynamic,
            row_gap: 0,
            head_gap: 0,
            layout: GUILD_LAYOUT_FILE,
        }
    }
}

/// A state with all its pages or slots, before and after the call.
#[derive(Clone, Debug)]
pub struct StateOperand {
    /// `GUILD_STATE_*`.
    pub kind: u32,
    /// `GUILD_FORMAT_*`.
    pub format: u32,
    /// Pages or slots.
    pub count: usize,
    /// Shape of one page or slot; unused axes are 1.
    pub shape: [usize; 4],
    /// All pages or slots before the call, dense.
    pub before: Vec<u8>,
    /// All pages or slots after the call, dense.
    pub after: Vec<u8>,
}

/// One sequence of the batch table.
#[derive(Clone, Debug, Default)]
pub struct SequenceRows {
    /// Slot in recurrent states.
    pub slot: u32,
    /// Rows in this call.
    pub rows: usize,
    /// Absolute position of the first row.
    pub position: u64,
    /// Page table.
    pub pages: Vec<u32>,
    /// Snapshot slots, one a row.
    pub snapshots: Option<Vec<u32>>,
}

impl SequenceRows {
    /// `rows` rows from position 0, slot 0, no pages.
    #[must_use]
    pub fn plain(rows: usize) -> SequenceRows {
        SequenceRows {
            rows,
            ..SequenceRows::default()
        }
    }
}

/// Bytes of a parameter struct: its size, then the fields.
fn params(fields: &[[u8; 4]]) -> Vec<u8> {
    let size = 4 * (fields.len() as u32 + 1);
    let mut bytes = size.to_le_bytes().to_vec();
    bytes.extend(fields.iter().flatten());
    bytes
}
