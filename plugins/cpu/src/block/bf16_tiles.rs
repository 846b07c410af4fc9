//! BF16 weights with many rows of activations, in tile registers: the tolerant class (`docs/numerics.md`, rule 10).
//!
//! The weights are read from where they lie, sixteen rows at a time. Activations are rounded to BF16 once a call, into
//! tiles whose rows are pairs of elements. Sums stay in registers for all of a row and come out with one row a weight
//! row, so they are transposed at the end.

use super::float::FloatArguments;
use super::product::{Line, TILE_ROWS, TileRows};
use crate::isa::{
    BF16_TILE_ELEMS, Bf16Dots, Bf16Sums, Isa, LANES, REGISTER_ROWS, TileBytes, vectorized,
};
use guild_numerics::convert::CANONICAL_NAN_F32;

/// Weight rows that are multiplied at once: two tiles.
pub(super) const WIDE_TILE_ROWS: usize = 2 * TILE_ROWS;

/// The first rows of activations, during which the next weights are asked for.
const AHEAD_ROWS: usize = 128;
/// Bytes of a weight's element.
const ELEM_BYTES: usize = 2;
/// A tile of zeros.
const ZERO_TILE: TileBytes = [[0; 4 * LANES]; REGISTER_ROWS];

#[repr(C, align(64))]
struct Aligned<T>(T);

/// As [`super::Gemm`] says, for up to [`WIDE_TILE_ROWS`] weight rows; `first` is a multiple of sixteen.
#[inline(always)]
pub(super) fn bf16_product<S: Isa>(isa: S, (weight, activations, first, out): FloatArguments<'_>) {
    let count = weight.count();
    let rows = out.len() / count.div_ceil(TILE_ROWS);
    let tail = (!weight.elems.is_multiple_of(BF16_TILE_ELEMS)).then(|| tail(weight));
    let registers = isa.open_bf16_tiles(count);
    let mut sums: Aligned<Bf16Sums> = Aligned([[ZERO_TILE; 2]; 2]);
    for at in (0..rows).step_by(2 * REGISTER_ROWS) {
        let tiles = [0, REGISTER_ROWS].map(|more| match at + more < rows {
            true => activations.tiles(first + at + more, weight.elems),
            false => &[],
        });
        let job = Bf16Dots {
            weights: weight.bytes,
            stride: weight.row_bytes,
            tail: tail.as_ref().map(|tail| &tail.0),
            activations: tiles,
            // The first rows of activations bring the next weights along, a share each.
            ahead: match first + at < AHEAD_ROWS {
                true => {
                    let share = WIDE_TILE_ROWS * 2 * REGISTER_ROWS / AHEAD_ROWS;
                    let from = count + (first + at) / (2 * REGISTER_ROWS) * share;
                    from..from + share
                }
                false => 0..0,
            },
        };
        isa.bf16_tile_dots(&registers, &job, &mut sums.0);
        for (out, sums) in out.chunks_exact_mut(rows).zip(&sums.0) {
            let outs = out[at..].chunks_mut(REGISTER_ROWS);
            for (out, sums) in outs.zip(sums) {
                transpose(isa, sums, out);
            }
        }
    }
}

/// The last elements of each weight row, with zeros behind them.
#[inline(always)]
fn tail(weight: &TileRows<'_>) -> Aligned<[TileBytes; 2]> {
    let mut tail = Aligned([ZERO_TILE; 2]);
    let from = weight.elems / BF16_TILE_ELEMS * BF16_TILE_ELEMS * ELEM_BYTES;
    let end = weight.elems * ELEM_BYTES;
    let rows = weight.bytes.chunks(weight.row_bytes);
    for (tail, row) in tail.0.as_flattened_mut().iter_mut().zip(rows) {
        tail[..end - from].copy_from_slice(&row[from..end]);
    }
    tail
}

/// Sixteen weight rows' sums as lines of up to sixteen rows of activations.
#[inline(always)]
fn transpose<S: Isa>(isa: S, sums: &TileBytes, out: &mut [Line]) {
    for (i, lines) in out.chunks_mut(4).enumerate() {
        let columns = isa.columns(sums.as_flattened(), 4 * LANES, 16 * i);
        for (line, column) in lines.iter_mut().zip(columns) {
            isa.store(&mut line.0, isa.float_bits(column));
        }
    }
}

/// Rounds sixteen rows to BF16 (to nearest, ties to even) and writes them as tiles, one for each 32 elements. A row
/// that isn't there is empty, and counts as zeros.
pub struct WriteTiles;

vectorized!(impl [] WriteTiles = write_tiles, (&'a [&'b [f32]; REGISTER_ROWS], &'a mut [u8]));

#[inline(always)]
fn write_tiles<S: Isa>(isa: S, (rows, tiles): (&[&[f32]; REGISTER_ROWS], &mut [u8])) {
    let elems = rows[0].len();
    let (lines, _) = tiles.as_chunks_mut::<{ 4 * LANES }>();
    for (at, half) in (0..elems.next_multiple_of(BF16_TILE_ELEMS))
        .step_by(LANES)
        .zip(lines.chunks_exact_mut(REGISTER_ROWS / 2))
    {
        let mut sixteen = Aligned(ZERO_TILE);
        for (row, words) in rows.iter().zip(&mut sixteen.0) {
            let x = row.get(at..).unwrap_or(&[]);
            let x = isa.load_part(&x[..x.len().min(LANES)]);
            let x = isa.select(isa.is_nan(x), isa.splat(CANONICAL_NAN_F32), x);
            isa.store_words(words, x);
        }
        for (i, pairs) in half.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let [a, b, c, d] = isa.columns(sixteen.0.as_flattened(), 4 * LANES, 16 * i);
            let (first, second) = (pair(isa, a, b), pair(isa, c, d));
            isa.store_words(&mut pairs[0], isa.float_bits(first));
            isa.store_words(&mut pairs[1], isa.float_bits(second));
        }
    }
}

/// Numbers that are no NaN but the canonical one, rounded to BF16; what stands below that is left over.
#[inline(always)]
fn rounded<S: Isa>(isa: S, words: S::V) -> S::V {
    let odd = isa.and(isa.shr::<16>(words), isa.splat_i32(1));
    isa.add_i32(isa.add_i32(words, isa.splat_i32(0x7fff)), odd)
}

/// Two numbers rounded to BF16 in a word, the first below.
#[inline(always)]
fn pair<S: Isa>(isa: S, first: S::V, second: S::V) -> S::V {
    let above = isa.and(rounded(isa, second), isa.splat_i32(-0x1_0000));
    isa.or(isa.shr::<16>(rounded(isa, first)), above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Portable;
    use guild_numerics::convert::f32_to_bf16;

    #[test]
    fn tiles_hold_pairs_of_elements_rounded_to_nearest() {
        let odd = [
            0x3f80_7fff,
            0x3f80_8000,
            0x3f81_8000,
            0x7f7f_8000,
            0x7f7f_7fff,
            0x7f80_0000,
            0xffff_ffff,
            0x7f80_0001,
            0xff80_0000,
            0x0000_7fff,
            0x0000_8001,
            0x8000_0000,
            0x807f_ffff,
        ];
        let mut state = 7u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(state)
        };
        for (elems, present) in [(1usize, 16), (31, 3), (32, 1), (70, 15)] {
            let rows: Vec<Vec<f32>> = (0..present)
                .map(|_| (0..elems).map(|_| next()).collect())
                .collect();
            let mut rows = rows;
            for (x, bits) in rows[0].iter_mut().zip(odd) {
                *x = f32::from_bits(bits);
            }
            let sixteen: [&[f32]; REGISTER_ROWS] =
                core::array::from_fn(|i| rows.get(i).map_or(&[][..], Vec::as_slice));
            let mut tiles = vec![0xaa; elems.div_ceil(BF16_TILE_ELEMS) * 1024];
            write_tiles(Portable, (&sixteen, &mut tiles));
            for (at, number) in tiles.as_chunks::<2>().0.iter().enumerate() {
                let (row, elem) = (at / 2 % 16, at / 512 * 32 + at % 512 / 32 * 2 + at % 2);
                let x = sixteen[row].get(elem).copied().unwrap_or(0.0);
                let want = f32_to_bf16(x);
                assert_eq!(
                    u16::from_le_bytes(*number),
                    want,
                    "{x:e} in row {row}, element {elem}"
                );
            }
        }
    }
}
