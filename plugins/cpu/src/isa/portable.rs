//! The portable set: arrays and plain Rust. What the other sets are compared with.

use super::{Isa, LANES, Vectorized, index_mask};
use guild_numerics::convert::{bf16_to_f32, f16_to_f32, f32_to_f16};
use guild_numerics::lanes::{Lanes, Scalar};
use guild_numerics::reduce::lane_tree;

/// The token of the portable set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;

type F = [f32; LANES];
type V = [i32; LANES];

#[inline(always)]
fn map(a: F, f: impl Fn(f32) -> f32) -> F {
    core::array::from_fn(|i| f(a[i]))
}

#[inline(always)]
fn zip(a: F, b: F, f: impl Fn(f32, f32) -> f32) -> F {
    core::array::from_fn(|i| f(a[i], b[i]))
}

#[inline(always)]
fn words(a: V, b: V, f: impl Fn(i32, i32) -> i32) -> V {
    core::array::from_fn(|i| f(a[i], b[i]))
}

/// Applies `f` to both 16-bit halves of a word.
#[inline(always)]
fn halves(word: i32, f: impl Fn(i16) -> i16) -> i32 {
    let low = f(word as i16) as u16;
    let high = f((word >> 16) as i16) as u16;
    (u32::from(low) | u32::from(high) << 16).cast_signed()
}

impl Lanes for Portable {
    type F = F;
    type Mask = [bool; LANES];

    #[inline(always)]
    fn splat(self, value: f32) -> F {
        [value; LANES]
    }
    #[inline(always)]
    fn add(self, a: F, b: F) -> F {
        zip(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: F, b: F) -> F {
        zip(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: F, b: F) -> F {
        zip(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, a: F, b: F) -> F {
        zip(a, b, |a, b| a / b)
    }
    #[inline(always)]
    fn sqrt(self, a: F) -> F {
        map(a, f32::sqrt)
    }
    #[inline(always)]
    fn fma(self, a: F, b: F, c: F) -> F {
        core::array::from_fn(|i| a[i].mul_add(b[i], c[i]))
    }
    #[inline(always)]
    fn abs(self, a: F) -> F {
        map(a, f32::abs)
    }
    #[inline(always)]
    fn neg(self, a: F) -> F {
        map(a, |a| -a)
    }
    #[inline(always)]
    fn round(self, a: F) -> F {
        map(a, f32::round_ties_even)
    }
    #[inline(always)]
    fn exp2_integer(self, a: F) -> F {
        map(a, |a| Scalar.exp2_integer(a))
    }
    #[inline(always)]
    fn greater(self, a: F, b: F) -> [bool; LANES] {
        core::array::from_fn(|i| a[i] > b[i])
    }
    #[inline(always)]
    fn is_nan(self, a: F) -> [bool; LANES] {
        a.map(f32::is_nan)
    }
    #[inline(always)]
    fn select(self, mask: [bool; LANES], yes: F, no: F) -> F {
        core::array::from_fn(|i| if mask[i] { yes[i] } else { no[i] })
    }
}

impl Isa for Portable {
    type V = V;
    const ROWS_AT_ONCE: usize = 1;
    const SIGNED_OFFSET: i32 = 0;

    fn vectorize<N: Vectorized<Self, A>, A>(self, arguments: A) -> N::Output {
        N::call(self, arguments)
    }

    #[inline(always)]
    fn load(self, x: &[f32; LANES]) -> F {
        *x
    }
    #[inline(always)]
    fn store(self, y: &mut [f32; LANES], x: F) {
        *y = x;
    }
    #[inline(always)]
    fn widen_f16(self, x: &[u16; LANES]) -> F {
        x.map(f16_to_f32)
    }
    #[inline(always)]
    fn load_bytes(self, x: &[u8; 4 * LANES]) -> F {
        let words = x.as_chunks().0;
        core::array::from_fn(|i| f32::from_le_bytes(words[i]))
    }
    #[inline(always)]
    fn store_words(self, y: &mut [u8; 4 * LANES], x: F) {
        for (y, x) in y.as_chunks_mut().0.iter_mut().zip(x) {
            *y = x.to_le_bytes();
        }
    }
    #[inline(always)]
    fn widen_f16_bytes(self, x: &[u8; 2 * LANES]) -> F {
        let words = x.as_chunks().0;
        core::array::from_fn(|i| f16_to_f32(u16::from_le_bytes(words[i])))
    }
    #[inline(always)]
    fn widen_bf16(self, x: &[u8; 2 * LANES]) -> F {
        let words = x.as_chunks().0;
        core::array::from_fn(|i| bf16_to_f32(u16::from_le_bytes(words[i])))
    }
    #[inline(always)]
    fn narrow_f16(self, y: &mut [u16; LANES], x: F) {
        *y = x.map(f32_to_f16);
    }
    #[inline(always)]
    fn store_bytes(self, y: &mut [u8; LANES], x: F) {
        *y = x.map(|x| (x as i8).cast_unsigned());
    }
    #[inline(always)]
    fn tree_16(self, x: &[F; 16]) -> F {
        x.map(lane_tree)
    }

    #[inline(always)]
    fn float(self, x: V) -> F {
        x.map(|x| x as f32)
    }
    #[inline(always)]
    fn float_bits(self, x: V) -> F {
        x.map(|x| f32::from_bits(x.cast_unsigned()))
    }
    #[inline(always)]
    fn float_f16(self, x: V) -> F {
        x.map(|x| f16_to_f32(x as u16))
    }
    #[inline(always)]
    fn splat_i32(self, value: i32) -> V {
        [value; LANES]
    }
    #[inline(always)]
    fn load_i32(self, x: &[u32; LANES]) -> V {
        x.map(u32::cast_signed)
    }
    #[inline(always)]
    fn bytes(self, x: &[u8; 4 * LANES]) -> V {
        let words = x.as_chunks().0;
        core::array::from_fn(|i| i32::from_le_bytes(words[i]))
    }
    #[inline(always)]
    fn halves(self, first: &[u8; 2 * LANES], second: &[u8; 2 * LANES]) -> V {
        let words = [first.as_chunks().0, second.as_chunks().0];
        core::array::from_fn(|i| i32::from_le_bytes(words[i / 8][i % 8]))
    }
    #[inline(always)]
    fn quarters(self, x: &[u8; LANES]) -> V {
        let words = x.as_chunks().0;
        core::array::from_fn(|i| i32::from_le_bytes(words[i % 4]))
    }
    #[inline(always)]
    fn sums_16(self, x: &[V; 16]) -> V {
        x.map(|words| words.into_iter().fold(0, i32::wrapping_add))
    }
    #[inline(always)]
    fn columns(self, bytes: &[u8], stride: usize, offset: usize) -> [V; 4] {
        let word = |row: usize, column: usize| {
            let at = row * stride + offset + 4 * column;
            i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        core::array::from_fn(|column| core::array::from_fn(|row| word(row, column)))
    }
    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        words(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn or(self, a: V, b: V) -> V {
        words(a, b, |a, b| a | b)
    }
    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        words(a, b, |a, b| a ^ b)
    }
    #[inline(always)]
    fn shl<const N: u32>(self, a: V) -> V {
        a.map(|a| a << N)
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: V) -> V {
        a.map(|a| (a.cast_unsigned() >> N).cast_signed())
    }
    #[inline(always)]
    fn sar<const N: u32>(self, a: V) -> V {
        a.map(|a| a >> N)
    }
    #[inline(always)]
    fn shl_i16<const N: u32>(self, a: V) -> V {
        a.map(|a| halves(a, |half| half << N))
    }
    #[inline(always)]
    fn sar_i16<const N: u32>(self, a: V) -> V {
        a.map(|a| halves(a, |half| half >> N))
    }
    #[inline(always)]
    fn add_i32(self, a: V, b: V) -> V {
        words(a, b, i32::wrapping_add)
    }
    #[inline(always)]
    fn sub_i32(self, a: V, b: V) -> V {
        words(a, b, i32::wrapping_sub)
    }
    #[inline(always)]
    fn mul_i16(self, a: V, b: V) -> V {
        words(a, b, |a, b| {
            let high = (a >> 16).wrapping_mul(b >> 16) << 16;
            high | (a.wrapping_mul(b) & 0xffff)
        })
    }
    #[inline(always)]
    fn mul_high_i16(self, a: V, b: V) -> V {
        words(a, b, |a, b| {
            let low = |word: i32| i32::from(word as i16);
            let high = (a >> 16) * (b >> 16);
            (high & !0xffff) | ((low(a) * low(b)) >> 16 & 0xffff)
        })
    }
    #[inline(always)]
    fn mul_i32(self, a: V, b: V) -> V {
        words(a, b, i32::wrapping_mul)
    }
    #[inline(always)]
    fn look_up(self, table: V, indices: V) -> V {
        let entry = |index: u8| {
            if index == 128 {
                return 0;
            }
            table[usize::from(index / 4)].to_le_bytes()[usize::from(index % 4)]
        };
        indices.map(|word| i32::from_le_bytes(word.to_le_bytes().map(entry)))
    }
    #[inline(always)]
    fn gather<const N: usize>(self, table: &[u32; N], indices: V) -> V {
        let mask = const { index_mask::<N>() };
        indices.map(|index| table[(index & mask) as usize].cast_signed())
    }
    #[inline(always)]
    fn dot_unsigned(self, sum: V, u: V, s: V) -> V {
        core::array::from_fn(|i| {
            let (u, s) = (u[i].to_le_bytes(), s[i].to_le_bytes());
            let products = u
                .iter()
                .zip(s)
                .map(|(&u, s)| i32::from(u) * i32::from(s.cast_signed()));
            sum[i].wrapping_add(products.sum())
        })
    }
    #[inline(always)]
    fn dot_pairs(self, u: V, s: V) -> V {
        core::array::from_fn(|i| {
            let (u, s) = (u[i].to_le_bytes(), s[i].to_le_bytes());
            let product = |at: usize| i32::from(u[at]) * i32::from(s[at].cast_signed());
            let (low, high) = (product(0) + product(1), product(2) + product(3));
            (low & 0xffff) | (high << 16)
        })
    }
    #[inline(always)]
    fn signed_weights(self, w: V) -> V {
        w
    }
    #[inline(always)]
    fn dot_signed(self, sum: V, w: V, s: V) -> V {
        core::array::from_fn(|i| {
            let (w, s) = (w[i].to_le_bytes(), s[i].to_le_bytes());
            let products = w
                .iter()
                .zip(s)
                .map(|(w, s)| i32::from(w.cast_signed()) * i32::from(s.cast_signed()));
            sum[i].wrapping_add(products.sum())
        })
    }
    #[inline(always)]
    fn dot_i16(self, sum: V, a: V, b: V) -> V {
        core::array::from_fn(|i| {
            let low = i32::from(a[i] as i16) * i32::from(b[i] as i16);
            let high = (a[i] >> 16) * (b[i] >> 16);
            sum[i].wrapping_add(low.wrapping_add(high))
        })
    }
}
