//! Cases of `rope`: whole and partial rotation, several sequences, far positions.

use super::{Case, Operand, Seed, SequenceRows};
use crate::oracle;
use guild_abi::contract::ROPE;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (heads, dim, rotary) in [
        (1, 2, 2),
        (2, 16, 16),
        (3, 64, 16),
        (2, 34, 34),
        (1, 256, 64),
    ] {
        for starts in [
            &[(0, 1)][..],
            &[(5, 3)],
            &[(0, 2), (70_001, 3), (262_143, 1)],
        ] {
            let case = rope(heads, dim, rotary, starts);
            cases.extend([
                case.in_place(),
                case.strided(),
                case.strided().in_place(),
                case,
            ]);
        }
    }
    cases
}

fn rope(heads: usize, dim: usize, rotary: usize, starts: &[(u64, usize)]) -> Case {
    let theta = 1e7f64;
    let positions: Vec<u64> = starts
        .iter()
        .flat_map(|&(start, rows)| start..start + rows as u64)
        .collect();
    let rows = positions.len();
    let x = Seed::new(500 + dim as u64).floats(rows * heads * dim, 3.0);
    let y = oracle::rope::rope(&x, heads, dim, &positions, rotary, theta);
    let name = format!("[{rows}, {heads}, {dim}] rotary {rotary} at {starts:?}");
    let mut case = Case::new(&ROPE, name, rows);
    case.params = rope_params(rotary as u32, theta);
    case.sequences = starts
        .iter()
        .map(|&(position, rows)| SequenceRows {
            position,
            ..SequenceRows::plain(rows)
        })
        .collect();
    case.inputs = vec![Operand::rows(&[rows, heads, dim], &x)];
    case.outputs = vec![Operand::rows(&[rows, heads, dim], &y)];
    case
}

/// `guild_rope_params`: pairing by halves, interleaved sections of m-RoPE.
fn rope_params(rotary: u32, theta: f64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [48, 0, rotary, 1] {
        bytes.extend(u32::to_le_bytes(word));
    }
    bytes.extend(theta.to_le_bytes());
    for section in [rotary / 2, 0, 0, 0] {
        bytes.extend(section.to_le_bytes());
    }
    bytes.extend([0; 8]);
    bytes
}
