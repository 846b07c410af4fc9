//! Cases of `causal_conv`: several widths and sequences, whole and in chunks, with snapshots.

use super::{Case, Operand, Seed, SequenceRows, StateOperand, params};
use crate::oracle;
use guild_abi::abi::GUILD_STATE_RECURRENT;
use guild_abi::contract::CAUSAL_CONV;
use guild_abi::formats::GUILD_FORMAT_F32;

/// Slots of the state; two sequences and room for snapshots.
const SLOTS: usize = 10;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (channels, width) in [
        (1, 4),
        (15, 4),
        (16, 2),
        (17, 4),
        (33, 3),
        (80, 4),
        (300, 4),
        (1100, 16),
        (8200, 4),
    ] {
        for silu in [false, true] {
            let calls: [&[(u32, usize)]; 3] = [&[(1, 5)], &[(4, 1), (1, 1)], &[(1, 2), (4, 7)]];
            cases.extend(run(channels, width, silu, &calls, false));
        }
        cases.extend(run(
            channels,
            width,
            true,
            &[&[(2, 3)], &[(0, 1), (2, 3)]],
            true,
        ));
    }
    cases
}

/// Calls of (slot, rows) on one state. With `snapshots`, row `r` of a call goes to slot `5 + r`.
fn run(
    channels: usize,
    width: usize,
    silu: bool,
    calls: &[&[(u32, usize)]],
    snapshots: bool,
) -> Vec<Case> {
    let mut seed = Seed::new(700 + (channels * width) as u64);
    let slot_len = (width - 1) * channels;
    let weight = seed.floats(channels * width, 1.0);
    let mut slots = vec![vec![0.0f32; slot_len]; SLOTS];
    let mut cases = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let rows = call.iter().map(|&(_, rows)| rows).sum();
        let name = format!("{channels} x {width} silu {silu} call {number} {call:?} {snapshots}");
        let mut case = Case::new(&CAUSAL_CONV, name, rows);
        case.params = params(&[u32::from(silu).to_le_bytes(), [0; 4], [0; 4]]);
        let x = seed.floats(rows * channels, 2.0);
        let before = dense(&slots);
        let (mut y, mut first) = (Vec::new(), 0);
        case.sequences.clear();
        for &(slot, rows) in *call {
            let taken: Vec<u32> = (first..first + rows).map(|row| 5 + row as u32).collect();
            let mut window = slots[slot as usize].clone();
            let x = &x[first * channels..][..rows * channels];
            y.extend(oracle::causal_conv::causal_conv(
                x,
                channels,
                &weight,
                silu,
                &mut window,
                |row, window| {
                    if snapshots {
                        slots[taken[row] as usize] = window.to_vec();
                    }
                },
            ));
            slots[slot as usize] = window;
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
            shape: [width - 1, channels, 1, 1],
            before,
            after: dense(&slots),
        }];
        case.inputs = vec![
            Operand::rows(&[rows, channels], &x),
            Operand::floats(&[channels, width], &weight),
        ];
        case.outputs = vec![Operand::rows(&[rows, channels], &y)];
        cases.extend([case.strided(), case]);
    }
    cases
}

fn dense(slots: &[Vec<f32>]) -> Vec<u8> {
    let all = slots.iter().flatten();
    all.flat_map(|x| x.to_le_bytes()).collect()
}
