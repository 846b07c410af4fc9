//! Cases of `moe_experts`: every weight format, all layouts of the operands, expert order, rows that
//! share experts, a bad id.

use super::{Case, Operand, Seed, params, random_weight};
use crate::oracle::Matrix;
use crate::oracle::moe_experts::{ExpertPool, FeedForward};
use guild_abi::contract::MOE_EXPERTS;
use guild_abi::core_ops::{GUILD_MOE_FUSED_GATE_UP, GUILD_MOE_SHARED, GUILD_MOE_SHARED_GATE};
use guild_abi::formats::{
    GUILD_FORMAT_F32, GUILD_FORMAT_Q4_K, GUILD_FORMAT_Q6_K, GUILD_FORMAT_Q8_0,
    GUILD_LAYOUT_GATE_UP_ROWS,
};
use guild_quant::ExpertRows;
use guild_sdk::format::{self, WEIGHT_FORMATS};

/// Every flag.
const ALL: u32 = GUILD_MOE_FUSED_GATE_UP | GUILD_MOE_SHARED | GUILD_MOE_SHARED_GATE;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &format in WEIGHT_FORMATS {
        let block = format::storage(format).map_or(1, |storage| storage.block_elems);
        let (hidden, ff, shared) = match block {
            1 => (33, 17, 15),
            32 => (96, 64, 32),
            64 => (192, 320, 64),
            128 => (384, 128, 128),
            _ => (256, 512, 256),
        };
        let plain = Pool {
            gate: format,
            up: format,
            down: format,
            experts: 5,
            hidden,
            ff,
            shared,
            flags: 0,
            top_k: 3,
            rows: 1,
        };
        for flags in [
            0,
            GUILD_MOE_SHARED,
            GUILD_MOE_SHARED | GUILD_MOE_SHARED_GATE,
            ALL,
        ] {
            cases.push(plain.with(flags, 1).case());
            cases.push(plain.with(flags, 9).case());
        }
        cases.push(plain.with(ALL, 9).case().strided());
        cases.push(with_leading_axis(plain.with(ALL, 2).case()));
        cases.push(plain.with(0, 1).case_of_pairs());
        cases.push(plain.with(ALL, 9).case_of_pairs());
    }
    cases.extend(of_several_formats());
    cases
}

/// Gate, up and down in formats of their own; an id that names no expert.
fn of_several_formats() -> Vec<Case> {
    let mixed = Pool {
        gate: GUILD_FORMAT_Q4_K,
        up: GUILD_FORMAT_Q4_K,
        down: GUILD_FORMAT_Q6_K,
        experts: 20,
        hidden: 256,
        ff: 256,
        shared: 256,
        flags: ALL,
        top_k: 8,
        rows: 3,
    };
    let pairs = mixed.with(0, 40).case_of_pairs();
    let mut cases = vec![mixed.case(), mixed.with(0, 40).case(), pairs];
    // Gate and up of which each wants its input rounded in another way.
    let unlike = Pool {
        up: GUILD_FORMAT_Q8_0,
        ..mixed.with(GUILD_MOE_SHARED, 20)
    };
    cases.extend([unlike.case(), unlike.case_of_pairs()]);
    // The down rows of 8-bit blocks of 32 behind a gate in blocks of 256.
    let narrow = Pool {
        down: GUILD_FORMAT_Q8_0,
        ff: 96,
        shared: 32,
        ..mixed
    };
    cases.push(narrow.case());
    cases.push(narrow.case_of_pairs());
    let mut bad = Pool {
        gate: GUILD_FORMAT_F32,
        up: GUILD_FORMAT_F32,
        down: GUILD_FORMAT_F32,
        hidden: 8,
        ff: 4,
        shared: 4,
        ..mixed
    }
    .case();
    bad.name += " with an id outside the pool";
    bad.inputs[1].bytes[4..8].copy_from_slice(&20i32.to_le_bytes());
    bad.invalid = true;
    cases.push(bad);
    cases
}

/// Gate and up rows that alternate: behind each row there is room for the other's, behind each expert for its
/// down rows. What lies there isn't a weight, so that a row that is read from the wrong place shows.
fn with_pairs(mut case: Case, pool: &Pool) -> Case {
    case.name += " with alternating rows";
    let weights = if pool.has(GUILD_MOE_FUSED_GATE_UP) {
        2
    } else {
        3
    };
    for weight in &mut case.inputs[3..3 + weights] {
        weight.layout = GUILD_LAYOUT_GATE_UP_ROWS;
        weight.row_gap = 4;
    }
    if weights == 3 {
        case.inputs[3].head_gap = 3;
        case.inputs[4].head_gap = 5;
        return case;
    }
    let gate_up = &mut case.inputs[3];
    let expert_bytes = gate_up.bytes.len() / pool.experts;
    let row_bytes = expert_bytes / (2 * pool.ff);
    let rows = ExpertRows::new(pool.ff, row_bytes, row_bytes, 0).expect("small");
    for expert in gate_up.bytes.chunks_exact_mut(expert_bytes) {
        let (gate, up) = expert.split_at(expert_bytes / 2);
        let mut packed = vec![0; expert_bytes];
        rows.pack(gate, up, &[], &mut packed).expect("whole rows");
        expert.copy_from_slice(&packed);
    }
    case
}

/// The shared expert's gate as `[1, hidden]`.
fn with_leading_axis(mut case: Case) -> Case {
    case.name += " with a leading axis on the shared gate";
    if let Some(gate) = case.inputs.last_mut() {
        gate.shape.insert(0, 1);
    }
    case
}

#[derive(Clone, Copy, Debug)]
struct Pool {
    gate: u32,
    up: u32,
    down: u32,
    experts: usize,
    hidden: usize,
    ff: usize,
    shared: usize,
    flags: u32,
    top_k: usize,
    rows: usize,
}

impl Pool {
    fn with(self, flags: u32, rows: usize) -> Pool {
        Pool {
            flags,
            rows,
            ..self
        }
    }

    fn case_of_pairs(&self) -> Case {
        with_pairs(self.case(), self)
    }

    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn case(&self) -> Case {
        let mut seed = Seed::new(1000 + (self.hidden * self.ff + self.rows) as u64);
        let x = seed.rows_with_specials(self.rows, self.hidden);
        let ids: Vec<i32> = (0..self.rows)
            .flat_map(|_| self.choose(&mut seed))
            .collect();
        let weights: Vec<f32> = (0..ids.len()).map(|_| seed.unit().abs()).collect();
        let mut operands = self.weights(&mut seed);
        let y = self.expect(&x, &ids, &weights, &operands);
        let name = format!(
            "{} {} {:?}",
            format::name(self.gate),
            format::name(self.down),
            self
        );
        let mut case = Case::new(&MOE_EXPERTS, name, self.rows);
        case.params = params(&[self.flags.to_le_bytes(), [0; 4], [0; 4]]);
        case.inputs = vec![
            Operand::rows(&[self.rows, self.hidden], &x),
            Operand::ids(&[self.rows, self.top_k], &ids),
            Operand::rows(&[self.rows, self.top_k], &weights),
        ];
        case.inputs.append(&mut operands);
        case.outputs = vec![Operand::rows(&[self.rows, self.hidden], &y)];
        case
    }

    /// Distinct experts in an order of their own.
    fn choose(&self, seed: &mut Seed) -> Vec<i32> {
        let mut all: Vec<i32> = (0..self.experts as i32).collect();
        (0..self.top_k)
            .map(|_| all.swap_remove(seed.below(all.len())))
            .collect()
    }

    /// The weight operands in the contract's order.
    fn weights(&self, seed: &mut Seed) -> Vec<Operand> {
        let Pool {
            experts,
            hidden,
            ff,
            shared,
            ..
        } = *self;
        let mut weight = |format: u32, shape: &[usize]| {
            let (rows, elems) = (
                shape[..shape.len() - 1].iter().product(),
                shape[shape.len() - 1],
            );
            Operand::weight(format, shape, random_weight(seed, format, rows, elems))
        };
        let mut operands = if self.has(GUILD_MOE_FUSED_GATE_UP) {
            vec![weight(self.gate, &[experts, 2 * ff, hidden])]
        } else {
            vec![
                weight(self.gate, &[experts, ff, hidden]),
                weight(self.up, &[experts, ff, hidden]),
            ]
        };
        operands.push(weight(self.down, &[experts, hidden, ff]));
        if self.has(GUILD_MOE_SHARED) {
            operands.push(weight(self.gate, &[shared, hidden]));
            operands.push(weight(self.up, &[shared, hidden]));
            operands.push(weight(self.down, &[hidden, shared]));
        }
        if self.has(GUILD_MOE_SHARED_GATE) {
            operands.push(weight(GUILD_FORMAT_F32, &[hidden]));
        }
        operands
    }

    fn expect(&self, x: &[f32], ids: &[i32], weights: &[f32], operands: &[Operand]) -> Vec<f32> {
        let matrix = |at: usize| {
            let Operand {
                format,
                shape,
                bytes,
                ..
            } = &operands[at];
            Matrix::new(*format, bytes, shape[shape.len() - 1]).expect("whole rows")
        };
        let fused = self.has(GUILD_MOE_FUSED_GATE_UP);
        let down = if fused { 1 } else { 2 };
        let experts = (0..self.experts)
            .map(|e| FeedForward {
                gate: if fused {
                    matrix(0).part(e * 2 * self.ff, self.ff)
                } else {
                    matrix(0).part(e * self.ff, self.ff)
                },
                up: if fused {
                    matrix(0).part(e * 2 * self.ff + self.ff, self.ff)
                } else {
                    matrix(1).part(e * self.ff, self.ff)
                },
                down: matrix(down).part(e * self.hidden, self.hidden),
            })
            .collect();
        let shared = self.has(GUILD_MOE_SHARED).then(|| FeedForward {
            gate: matrix(down + 1),
            up: matrix(down + 2),
            down: matrix(down + 3),
        });
        let gate = self
            .has(GUILD_MOE_SHARED_GATE)
            .then(|| matrix(down + 4).decode(0));
        ExpertPool {
            experts,
            shared,
            shared_gate: gate.as_deref(),
        }
        .rows(x, self.hidden, ids, weights, self.top_k)
        .expect("ids are inside the pool")
    }
}
