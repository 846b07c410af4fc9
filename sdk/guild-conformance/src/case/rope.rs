//! Cases of `rope`: whole and partial rotation, both pairings, frequency factors, several sequences,
//! far positions.

use super::{Case, Operand, Seed, SequenceRows};
use crate::oracle::rope::{Pairing, Rotation, rope as oracle};
use guild_abi::contract::ROPE;
use guild_abi::core_ops::{GUILD_ROPE_ADJACENT, GUILD_ROPE_HALVES};

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
            for pairing in [Pairing::Halves, Pairing::Adjacent] {
                for with_factors in [false, true] {
                    let case = rope([heads, dim, rotary], starts, pairing, with_factors);
                    cases.extend([
                        case.in_place(),
                        case.strided(),
                        case.strided().in_place(),
                        case,
                    ]);
                }
            }
        }
    }
    cases.extend([0.0, -1.0, f32::NAN, f32::INFINITY].map(wrong_factor));
    cases
}

fn rope(
    [heads, dim, rotary]: [usize; 3],
    starts: &[(u64, usize)],
    pairing: Pairing,
    with_factors: bool,
) -> Case {
    let positions: Vec<u64> = starts
        .iter()
        .flat_map(|&(start, rows)| start..start + rows as u64)
        .collect();
    let rows = positions.len();
    let mut seed = Seed::new(500 + dim as u64);
    let x = seed.floats(rows * heads * dim, 3.0);
    // Llama 3's are from 1 to 32; anything above 0 is a factor.
    let factors: Vec<f32> = seed.floats(rotary / 2, 32.0);
    let factors: Vec<f32> = factors.iter().map(|factor| factor.abs() + 0.03).collect();
    let rotation = Rotation {
        pairing,
        rotary_dims: rotary,
        theta: 1e7,
        factors: with_factors.then_some(&factors),
    };
    let y = oracle(&x, heads, dim, &positions, &rotation).expect("the factors are above 0");
    let factors_text = if with_factors { " with factors" } else { "" };
    let name =
        format!("[{rows}, {heads}, {dim}] rotary {rotary} {pairing:?}{factors_text} at {starts:?}");
    let mut case = Case::new(&ROPE, name, rows);
    case.params = rope_params(&rotation);
    case.sequences = starts
        .iter()
        .map(|&(position, rows)| SequenceRows {
            position,
            ..SequenceRows::plain(rows)
        })
        .collect();
    case.inputs = vec![Operand::rows(&[rows, heads, dim], &x)];
    if with_factors {
        case.inputs.push(Operand::floats(&[rotary / 2], &factors));
    }
    case.outputs = vec![Operand::rows(&[rows, heads, dim], &y)];
    case
}

/// Four pairs, the third with a factor that is none.
fn wrong_factor(factor: f32) -> Case {
    let mut case = rope([1, 8, 8], &[(0, 2)], Pairing::Adjacent, true);
    case.name = format!("factor {factor}");
    case.inputs[1] = Operand::floats(&[4], &[1.0, 1.0, factor, 1.0]);
    case.invalid = true;
    case
}

/// `guild_rope_params` with interleaved sections of m-RoPE.
fn rope_params(rotation: &Rotation<'_>) -> Vec<u8> {
    let rotary = rotation.rotary_dims as u32;
    let pairing = match rotation.pairing {
        Pairing::Halves => GUILD_ROPE_HALVES,
        Pairing::Adjacent => GUILD_ROPE_ADJACENT,
    };
    let mut bytes = Vec::new();
    for word in [48, pairing, rotary, 1] {
        bytes.extend(u32::to_le_bytes(word));
    }
    bytes.extend(rotation.theta.to_le_bytes());
    for section in [rotary / 2, 0, 0, 0] {
        bytes.extend(section.to_le_bytes());
    }
    bytes.extend([0; 8]);
    bytes
}
