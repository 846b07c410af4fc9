//! Cases of `gated_delta`: both head orders, several sequences, whole and row by row, snapshots.

use super::{Case, Operand, Seed, SequenceRows, StateOperand, params};
use crate::oracle;
use crate::oracle::gated_delta::{DeltaRows, GatedDelta};
use guild_abi::abi::GUILD_STATE_RECURRENT;
use guild_abi::contract::GATED_DELTA;
use guild_abi::formats::GUILD_FORMAT_F32;

/// Slots of the state; two sequences and room for snapshots.
const SLOTS: usize = 10;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (key_heads, key_dim, value_heads, value_dim) in [
        (1, 1, 1, 1),
        (2, 16, 4, 15),
        (2, 17, 2, 16),
        (3, 8, 6, 33),
        (1, 33, 2, 17),
    ] {
        for tiled in [false, true] {
            let delta = GatedDelta {
                key_heads,
                key_dim,
                value_heads,
                value_dim,
                tiled,
            };
            let calls: [&[(u32, usize)]; 3] = [&[(1, 4)], &[(4, 1), (1, 1)], &[(1, 2), (4, 3)]];
            cases.extend(run(delta, &calls, false));
            cases.extend(run(delta, &[&[(2, 3)], &[(0, 1), (2, 3)]], true));
        }
    }
    // Values of several vectors and a part, more rows than a vector has lanes, several sequences.
    for (key_heads, key_dim, value_heads, value_dim) in
        [(1, 20, 2, 64), (2, 16, 2, 81), (1, 5, 1, 130)]
    {
        let delta = GatedDelta {
            key_heads,
            key_dim,
            value_heads,
            value_dim,
            tiled: false,
        };
        let calls: [&[(u32, usize)]; 3] = [&[(1, 17)], &[(4, 33), (1, 1)], &[(1, 16), (4, 18)]];
        cases.extend(run(delta, &calls, false));
        cases.extend(run(delta, &[&[(2, 4)], &[(0, 2), (2, 3)]], true));
    }
    cases
}

/// The inputs of one call, by value.
struct Inputs {
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    alpha: Vec<f32>,
    beta: Vec<f32>,
}

impl Inputs {
    fn new(seed: &mut Seed, d: &GatedDelta, rows: usize) -> Inputs {
        let keys = rows * d.key_heads * d.key_dim;
        let mut unit = |count: usize, dim: usize| {
            oracle::l2_norm::l2_norm(&seed.floats(count, 1.0), dim, 1e-6, 1.0)
        };
        let (q, k) = (unit(keys, d.key_dim), unit(keys, d.key_dim));
        Inputs {
            q,
            k,
            v: seed.floats(rows * d.value_heads * d.value_dim, 2.0),
            alpha: seed.floats(rows * d.value_heads, 4.0),
            beta: seed.floats(rows * d.value_heads, 4.0),
        }
    }

    fn part<'a>(
        &'a self,
        d: &GatedDelta,
        first: usize,
        rows: usize,
        a: &'a [f32],
        dt: &'a [f32],
    ) -> DeltaRows<'a> {
        let keys = d.key_heads * d.key_dim;
        let values = d.value_heads * d.value_dim;
        DeltaRows {
            q: &self.q[first * keys..][..rows * keys],
            k: &self.k[first * keys..][..rows * keys],
            v: &self.v[first * values..][..rows * values],
            alpha: &self.alpha[first * d.value_heads..][..rows * d.value_heads],
            beta: &self.beta[first * d.value_heads..][..rows * d.value_heads],
            a,
            dt,
        }
    }

    fn operands(&self, d: &GatedDelta, rows: usize, a: &[f32], dt: &[f32]) -> Vec<Operand> {
        vec![
            Operand::rows(&[rows, d.key_heads, d.key_dim], &self.q),
            Operand::rows(&[rows, d.key_heads, d.key_dim], &self.k),
            Operand::rows(&[rows, d.value_heads, d.value_dim], &self.v),
            Operand::rows(&[rows, d.value_heads], &self.alpha),
            Operand::rows(&[rows, d.value_heads], &self.beta),
            Operand::floats(&[d.value_heads], a),
            Operand::floats(&[d.value_heads], dt),
        ]
    }
}

/// Calls of (slot, rows) on one state. With `snapshots`, row `r` of a call goes to slot `5 + r`.
fn run(d: GatedDelta, calls: &[&[(u32, usize)]], snapshots: bool) -> Vec<Case> {
    let mut seed = Seed::new(800 + (d.key_dim * d.value_dim) as u64);
    let slot_len = d.value_heads * d.key_dim * d.value_dim;
    let a: Vec<f32> = (0..d.value_heads)
        .map(|_| -seed.unit().abs() * 2.0)
        .collect();
    let dt = seed.floats(d.value_heads, 1.0);
    let mut slots = vec![vec![0.0f32; slot_len]; SLOTS];
    let mut cases = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let rows = call.iter().map(|&(_, rows)| rows).sum();
        let name = format!("{d:?} call {number} {call:?} snapshots {snapshots}");
        let mut case = Case::new(&GATED_DELTA, name, rows);
        case.params = params(&[u32::from(d.tiled).to_le_bytes(), [0; 4], [0; 4]]);
        let inputs = Inputs::new(&mut seed, &d, rows);
        let before = dense(&slots);
        let (mut y, mut first) = (Vec::new(), 0);
        case.sequences.clear();
        for &(slot, rows) in *call {
            let taken: Vec<u32> = (first..first + rows).map(|row| 5 + row as u32).collect();
            let mut memory = slots[slot as usize].clone();
            let part = inputs.part(&d, first, rows, &a, &dt);
            y.extend(d.rows(&part, &mut memory, |row, memory| {
                if snapshots {
                    slots[taken[row] as usize] = memory.to_vec();
                }
            }));
            slots[slot as usize] = memory;
            case.sequences.push(SequenceRows {
                slot,
                snapshots: snapshots.then_some(taken),
                ..SequenceRows::plain(rows)
            });
            first += rows;
        }
        case.states = vec![StateOperand {
            kind: GUILD_STATE_RECURRENT,
            format: GUILD_FORMAT_F32,
            count: SLOTS,
            shape: [d.value_heads, d.key_dim, d.value_dim, 1],
            before,
            after: dense(&slots),
        }];
        case.inputs = inputs.operands(&d, rows, &a, &dt);
        case.outputs = vec![Operand::rows(&[rows, d.value_heads, d.value_dim], &y)];
        cases.extend([case.strided(), case]);
    }
    cases
}

fn dense(slots: &[Vec<f32>]) -> Vec<u8> {
    let all = slots.iter().flatten();
    all.flat_map(|x| x.to_le_bytes()).collect()
}
