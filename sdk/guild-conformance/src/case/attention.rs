//! Cases of `attention`: both cache formats, grouped heads, pages in odd order, across a border of
//! 256 positions, several sequences in one call, one prompt whole and in chunks, more heads than a
//! kernel has room for, and values that aren't finite, which no row before them may see.

use super::{Case, Operand, Seed, SequenceRows, StateOperand, params};
use crate::oracle::attention::{Attention, CacheFormat};
use guild_abi::abi::{GUILD_PAGE_POSITIONS, GUILD_STATE_APPEND};
use guild_abi::contract::ATTENTION;
use guild_abi::formats::{GUILD_FORMAT_F16, GUILD_FORMAT_F32};
use guild_numerics::convert::f32_to_f16;

const PAGE: usize = GUILD_PAGE_POSITIONS as usize;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for format in [CacheFormat::F16, CacheFormat::F32] {
        for (heads, kv_heads, dim) in [(1, 1, 1), (2, 1, 15), (4, 2, 16), (6, 2, 33), (3, 3, 64)] {
            cases.extend(calls(
                Setup::new(heads, kv_heads, dim, format),
                &[&[(0, 3)]],
            ));
        }
        let setup = Setup::new(4, 2, 17, format);
        // From inside the first block over its border, and just at the border.
        cases.extend(calls(
            setup,
            &[&[(0, 254)], &[(0, 1)], &[(0, 4)], &[(0, 1)]],
        ));
        cases.extend(calls(setup, &[&[(0, 256)], &[(0, 1)]]));
        // Three blocks, several sequences in a call, one of them idle in between.
        cases.extend(calls(
            Setup::new(2, 1, 8, format),
            &[
                &[(0, 255), (1, 5)],
                &[(1, 1), (2, 300), (0, 1)],
                &[(0, 300), (2, 1)],
            ],
        ));
        // One prompt in sevens, and whole.
        let sevens: Vec<&[(usize, usize)]> = vec![&[(0, 7)]; 3];
        cases.extend(calls(setup, &sevens));
        cases.extend(calls(setup, &[&[(0, 21)]]));
        // Groups of eight, as many rows as several tiles have, and one too many.
        let groups = Setup::new(16, 2, 48, format);
        cases.extend(calls(
            groups,
            &[&[(0, 9)], &[(0, 33)], &[(0, 230), (1, 14)]],
        ));
        // Few rows on long contexts: of one sequence, and of several.
        let few = [
            &[(0, 513), (1, 270)][..],
            &[(0, 8)],
            &[(1, 2), (0, 1), (2, 1)],
        ];
        cases.extend(calls(Setup::new(6, 2, 32, format), &few));
        // Eight rows of many heads.
        let many = Setup::new(256, 2, 4, format);
        cases.extend(calls(many, &[&[(0, 251)], &[(0, 8)], &[(0, 4), (1, 4)]]));
        for setup in [
            setup,
            Setup::new(1, 1, 20, format),
            Setup::new(8, 1, 16, format),
        ] {
            cases.extend(calls(setup.special(), &[&[(0, 12)]]));
            cases.extend(calls(setup.special(), &[&[(0, 7)]]));
            cases.extend(calls(setup.special_from(1), &[&[(0, 250)], &[(0, 14)]]));
        }
    }
    cases
}

#[derive(Clone, Copy)]
struct Setup {
    attention: Attention,
    /// The first call whose rows have values that aren't finite.
    special_from: usize,
}

impl Setup {
    fn new(heads: usize, kv_heads: usize, dim: usize, format: CacheFormat) -> Setup {
        Setup {
            attention: Attention {
                heads,
                kv_heads,
                dim,
                scale: 1.0 / (dim as f32).sqrt(),
                format,
            },
            special_from: usize::MAX,
        }
    }

    /// With zero, tiny, infinite, NaN and huge rows.
    fn special(self) -> Setup {
        self.special_from(0)
    }

    fn special_from(self, call: usize) -> Setup {
        Setup {
            special_from: call,
            ..self
        }
    }

    fn floats(&self, seed: &mut Seed, call: usize, rows: usize, heads: usize) -> Vec<f32> {
        let elems = heads * self.attention.dim;
        if call >= self.special_from {
            seed.rows_with_specials(rows, elems)
        } else {
            seed.floats(rows * elems, 3.0)
        }
    }
}

/// One sequence's cache as the oracle keeps it, and its pages.
#[derive(Clone, Default)]
struct Sequence {
    keys: Vec<f32>,
    values: Vec<f32>,
    pages: Vec<u32>,
}

/// Pages of three sequences, taken from a pool of 12 in an order that no kernel can guess.
const PAGES: [[u32; 3]; 3] = [[7, 2, 10], [0, 11, 4], [9, 1, 5]];
const PAGE_COUNT: usize = 12;

/// A list of calls on the same three sequences: each call is a list of (sequence, rows).
fn calls(setup: Setup, calls: &[&[(usize, usize)]]) -> Vec<Case> {
    let a = setup.attention;
    let mut seed = Seed::new(600 + (a.heads * a.dim) as u64);
    let mut sequences = vec![Sequence::default(); PAGES.len()];
    let mut cases = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let rows = call.iter().map(|&(_, rows)| rows).sum();
        let name = format!(
            "{:?} heads {}/{} dim {} call {number} {call:?} special {}",
            a.format,
            a.heads,
            a.kv_heads,
            a.dim,
            number >= setup.special_from
        );
        let mut case = Case::new(&ATTENTION, name, rows);
        case.params = params(&[a.scale.to_le_bytes(), [0; 4], [0; 4]]);
        let q = setup.floats(&mut seed, number, rows, a.heads);
        let k = setup.floats(&mut seed, number, rows, a.kv_heads);
        let v = setup.floats(&mut seed, number, rows, a.kv_heads);
        let before = images(&a, &sequences);
        let (mut y, mut first) = (Vec::new(), 0);
        case.sequences.clear();
        for &(number, rows) in *call {
            let sequence = &mut sequences[number];
            let position = sequence.keys.len() / (a.kv_heads * a.dim);
            let part = |x: &[f32], heads: usize| {
                x[first * heads * a.dim..][..rows * heads * a.dim].to_vec()
            };
            let (q, k, v) = (
                part(&q, a.heads),
                part(&k, a.kv_heads),
                part(&v, a.kv_heads),
            );
            y.extend(a.rows(&q, &k, &v, &mut sequence.keys, &mut sequence.values));
            let pages = (position + rows).div_ceil(PAGE);
            sequence.pages = PAGES[number][..pages].to_vec();
            case.sequences.push(SequenceRows {
                position: position as u64,
                pages: sequence.pages.clone(),
                ..SequenceRows::plain(rows)
            });
            first += rows;
        }
        let after = images(&a, &sequences);
        case.states = before
            .into_iter()
            .zip(after)
            .map(|pair| state(&a, pair))
            .collect();
        case.inputs = vec![
            Operand::rows(&[rows, a.heads, a.dim], &q),
            Operand::rows(&[rows, a.kv_heads, a.dim], &k),
            Operand::rows(&[rows, a.kv_heads, a.dim], &v),
        ];
        case.outputs = vec![Operand::rows(&[rows, a.heads, a.dim], &y)];
        if number == 0 && rows < 10 {
            cases.push(case.strided());
        }
        cases.push(case);
    }
    cases
}

fn state(a: &Attention, (before, after): (Vec<u8>, Vec<u8>)) -> StateOperand {
    StateOperand {
        kind: GUILD_STATE_APPEND,
        format: match a.format {
            CacheFormat::F16 => GUILD_FORMAT_F16,
            CacheFormat::F32 => GUILD_FORMAT_F32,
        },
        count: PAGE_COUNT,
        shape: [a.kv_heads, PAGE, a.dim, 1],
        before,
        after,
    }
}

/// All pages of keys and of values. Positions that nothing was written to hold NaN, so that a kernel
/// that reads them is caught.
fn images(a: &Attention, sequences: &[Sequence]) -> [Vec<u8>; 2] {
    let image = |cache: fn(&Sequence) -> &[f32]| {
        let mut pages = vec![f32::NAN; PAGE_COUNT * a.kv_heads * PAGE * a.dim];
        for sequence in sequences {
            for (at, vector) in cache(sequence).chunks_exact(a.dim).enumerate() {
                let (position, head) = (at / a.kv_heads, at % a.kv_heads);
                let page = sequence.pages[position / PAGE] as usize;
                let place = ((page * a.kv_heads + head) * PAGE + position % PAGE) * a.dim;
                pages[place..place + a.dim].copy_from_slice(vector);
            }
        }
        match a.format {
            CacheFormat::F16 => pages
                .iter()
                .flat_map(|&x| f32_to_f16(x).to_le_bytes())
                .collect(),
            CacheFormat::F32 => pages.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    };
    [image(|s| &s.keys), image(|s| &s.values)]
}
