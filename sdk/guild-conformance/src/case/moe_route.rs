//! Cases of `moe_route`: every weight format, ties, special rows, with and without renormalisation,
//! rows and elements around the sizes of a kernel's tiles.

use super::{Case, Operand, Seed, params, random_weight};
use crate::oracle::{self, Matrix};
use guild_abi::contract::MOE_ROUTE;
use guild_abi::core_ops::GUILD_ROUTE_RENORMALISE;
use guild_abi::formats::{GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32};
use guild_sdk::format;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for format in [GUILD_FORMAT_F32, GUILD_FORMAT_BF16, GUILD_FORMAT_F16] {
        for (experts, hidden, top_k) in [
            (1, 16, 1),
            (15, 17, 4),
            (16, 33, 16),
            (17, 15, 8),
            (64, 64, 8),
            (512, 24, 10),
            (1024, 16, 32),
        ] {
            for flags in [0, GUILD_ROUTE_RENORMALISE] {
                let case = route(format, experts, hidden, top_k, flags, Sizes::PLAIN);
                cases.extend([case.strided(), case]);
            }
        }
        // Every expert appears several times, so that ranks are decided by index.
        cases.push(route(
            format,
            32,
            16,
            12,
            GUILD_ROUTE_RENORMALISE,
            Sizes::copies(4),
        ));
        cases.push(route(format, 48, 16, 32, 0, Sizes::copies(48)));
        for (rows, hidden) in [
            (1, 256),
            (3, 257),
            (8, 255),
            (64, 512),
            (133, 300),
            (257, 48),
        ] {
            let sizes = Sizes { rows, copies: 1 };
            cases.push(route(format, 40, hidden, 6, GUILD_ROUTE_RENORMALISE, sizes));
        }
    }
    cases
}

#[derive(Clone, Copy)]
struct Sizes {
    rows: usize,
    /// Experts in a row that share their weights.
    copies: usize,
}

impl Sizes {
    const PLAIN: Sizes = Sizes::copies(1);

    const fn copies(copies: usize) -> Sizes {
        Sizes { rows: 7, copies }
    }
}

fn route(
    format: u32,
    experts: usize,
    hidden: usize,
    top_k: usize,
    flags: u32,
    Sizes { rows, copies }: Sizes,
) -> Case {
    let mut seed = Seed::new(900 + (experts * hidden) as u64);
    let x = seed.rows_with_specials(rows, hidden);
    let distinct = random_weight(&mut seed, format, experts / copies, hidden);
    let bytes: Vec<u8> = distinct
        .chunks_exact(distinct.len() / (experts / copies))
        .flat_map(|row| row.repeat(copies))
        .collect();
    let weight = Matrix::new(format, &bytes, hidden).expect("whole rows");
    let renormalise = flags & GUILD_ROUTE_RENORMALISE != 0;
    let (ids, weights) = oracle::moe_route::moe_route(&x, &weight, top_k, renormalise);
    let name = format!(
        "{} {top_k} of {experts}, hidden {hidden}, rows {rows}, flags {flags}, copies {copies}",
        format::name(format)
    );
    let mut case = Case::new(&MOE_ROUTE, name, rows);
    case.params = params(&[(top_k as u32).to_le_bytes(), flags.to_le_bytes(), [0; 4]]);
    case.inputs = vec![
        Operand::rows(&[rows, hidden], &x),
        Operand::weight(format, &[experts, hidden], bytes),
    ];
    case.outputs = vec![
        Operand::ids(&[rows, top_k], &ids),
        Operand::rows(&[rows, top_k], &weights),
    ];
    case
}
