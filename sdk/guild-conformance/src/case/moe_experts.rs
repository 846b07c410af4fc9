//! Cases of `moe_experts`: every weight format, all layouts of the operands, expert order, rows that
//! share experts, odd numbers, a bad id.

use super::adversarial::{Odd, odd_rows, odd_weight};
use super::weights::block_elems;
use super::{Case, Operand, Seed, params, random_weight};
use crate::oracle::Matrix;
use crate::oracle::moe_experts::{ExpertPool, FeedForward};
use guild_abi::contract::MOE_EXPERTS;
use guild_abi::core_ops::{GUILD_MOE_FUSED_GATE_UP, GUILD_MOE_SHARED, GUILD_MOE_SHARED_GATE};
use guild_abi::formats::{
    GUILD_FORMAT_F32, GUILD_FORMAT_Q2_K, GUILD_FORMAT_Q4_K, GUILD_FORMAT_Q6_K, GUILD_FORMAT_Q8_0,
    GUILD_LAYOUT_GATE_UP_ROWS,
};
use guild_quant::ExpertRows;
use guild_sdk::format::{self, WEIGHT_FORMATS};

/// Every flag.
const ALL: u32 = GUILD_MOE_FUSED_GATE_UP | GUILD_MOE_SHARED | GUILD_MOE_SHARED_GATE;
/// Factors of an expert's result: none, subnormal ones, all of it.
const ODD_FACTORS: [f32; 4] = [0.0, 1e-45, 1e-39, 1.0];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &format in WEIGHT_FORMATS {
        let (hidden, ff, shared) = match block_elems(format) {
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
            odd: &[],
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
        cases.extend(one_row(plain));
        cases.extend(many_rows(plain));
        cases.extend(odd_numbers(plain));
    }
    cases.extend(of_several_formats());
    cases
}

/// One row of activations, which a kernel may multiply in the order of the file: rows of three steps of 256 elements,
/// or with a short last one. In some formats with 256-element blocks also rows of more than sixteen steps.
fn one_row(plain: Pool) -> Vec<Case> {
    let flags = GUILD_MOE_SHARED | GUILD_MOE_SHARED_GATE;
    let (hidden, ff) = match block_elems(plain.gate) {
        256 => (768, 512),
        block => (256 + block, 512 + block),
    };
    let few = Pool {
        experts: 3,
        top_k: 2,
        hidden,
        ff,
        ..plain
    };
    let mut cases = vec![few.with(flags, 1).case(), few.with(0, 1).case_of_pairs()];
    if [GUILD_FORMAT_Q2_K, GUILD_FORMAT_Q4_K, GUILD_FORMAT_Q6_K].contains(&plain.gate) {
        for (hidden, ff) in [(17 * 256, 256), (256, 17 * 256)] {
            let long = Pool {
                experts: 2,
                top_k: 1,
                hidden,
                ff,
                ..plain
            };
            cases.extend([long.case(), long.case_of_pairs()]);
        }
    }
    cases
}

/// Groups of rows on both sides of the numbers from which a kernel may go another way: twelve a network, then about
/// eleven an expert and 33 for the shared one.
fn many_rows(plain: Pool) -> Vec<Case> {
    let small = plain.small();
    let twelve = Pool {
        experts: 2,
        top_k: 2,
        ..small
    };
    let spread = Pool { top_k: 1, ..small };
    vec![
        twelve.with(GUILD_MOE_SHARED, 12).case(),
        spread.with(ALL, 33).case(),
    ]
}

/// Odd scales with odd activations and factors: one row, and all ways in one call.
fn odd_numbers(plain: Pool) -> Vec<Case> {
    let small = plain.small();
    let mut cases: Vec<Case> = [
        &[Odd::Nan][..],
        &[Odd::Infinity],
        &[Odd::Subnormals],
        &[Odd::NearTheLimit],
        &[Odd::Zeros],
    ]
    .iter()
    .map(|odd| Pool { odd, ..small }.with(GUILD_MOE_SHARED, 1).case())
    .collect();
    let all = Pool {
        odd: &Odd::ALL,
        ..small
    };
    cases.push(all.with(ALL, 2 * Odd::ALL.len()).case());
    cases.push(all.with(0, Odd::ALL.len()).case_of_pairs());
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
        odd: &[],
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
    /// In which ways the rows are odd, in turn, if they are; weights and factors are too then.
    odd: &'static [Odd],
}

impl Pool {
    /// Three experts, two a row, with rows as short as two blocks, and one where blocks are steps.
    fn small(self) -> Pool {
        let length = match block_elems(self.gate) {
            1 => 33,
            256 => 256,
            block => 2 * block,
        };
        Pool {
            experts: 3,
            top_k: 2,
            hidden: length,
            ff: length,
            ..self
        }
    }

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
        let x = if self.odd.is_empty() {
            seed.rows_with_specials(self.rows, self.hidden)
        } else {
            let ways = self.odd.iter().copied().cycle().take(self.rows);
            odd_rows(&mut seed, self.gate, ways, self.hidden)
        };
        let ids: Vec<i32> = (0..self.rows)
            .flat_map(|_| self.choose(&mut seed))
            .collect();
        let factor = |seed: &mut Seed| match seed.below(4) {
            0 if !self.odd.is_empty() => ODD_FACTORS[seed.below(ODD_FACTORS.len())],
            _ => seed.unit().abs(),
        };
        let weights: Vec<f32> = (0..ids.len()).map(|_| factor(&mut seed)).collect();
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
            let bytes = if self.odd.is_empty() {
                random_weight(seed, format, rows, elems)
            } else {
                // What isn't finite in one row of gate or up would be in every output.
                odd_weight(seed, format, (rows, elems), false)
            };
            Operand::weight(format, shape, bytes)
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
