//! AVX-512 with F, BW, DQ and VL. With `VNNI` the integer dots have instructions of their own, with `AMX` many
//! rows of activations are multiplied in tiles, with `BF16` besides as BF16 numbers; nothing else differs.

use super::{
    Bf16Dots, Bf16Registers, Bf16Sums, Isa, LANES, Stream, TileDots, TileLine, TileRegisters,
    Vectorized, has_rows, index_mask,
};
use core::arch::asm;
use core::arch::x86_64::*;
use guild_numerics::convert::CANONICAL_NAN_F32;
use guild_numerics::lanes::Lanes;

/// The token of AVX-512, with VNNI where `VNNI` is true, with AMX where `AMX` is, and with AMX-BF16 where `BF16` is.
#[derive(Clone, Copy, Debug)]
pub struct Avx512<const VNNI: bool, const AMX: bool, const BF16: bool = false>(());

impl<const VNNI: bool, const AMX: bool, const BF16: bool> Avx512<VNNI, AMX, BF16> {
    /// The token.
    ///
    /// # Safety
    /// The processor has F, BW, DQ and VL (VNNI besides where `VNNI` is true, AMX-TILE and AMX-INT8 where
    /// `AMX` is, AMX-TILE and AMX-BF16 where `BF16` is), and the system saves their registers and has let this
    /// process use them.
    pub(crate) const unsafe fn new() -> Self {
        Avx512(())
    }
}

/// Calls intrinsics.
macro_rules! have {
    ($body:expr) => {
        // SAFETY: `self` is a token of this set, so the processor has the instructions; whoever made
        // the token by `new` vouched for that. What is loaded or stored is an array of that size behind a
        // reference, and needs no alignment but where the caller has looked at it; what is only asked for
        // (prefetches) may lie anywhere.
        unsafe { $body }
    };
}

impl<const VNNI: bool, const AMX: bool, const BF16: bool> Lanes for Avx512<VNNI, AMX, BF16> {
    type F = __m512;
    type Mask = __mmask16;

    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        have!(_mm512_set1_ps(value))
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        have!(_mm512_add_ps(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        have!(_mm512_sub_ps(a, b))
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        have!(_mm512_mul_ps(a, b))
    }
    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        have!(_mm512_div_ps(a, b))
    }
    #[inline(always)]
    fn sqrt(self, a: __m512) -> __m512 {
        have!(_mm512_sqrt_ps(a))
    }
    #[inline(always)]
    fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        have!(_mm512_fmadd_ps(a, b, c))
    }
    #[inline(always)]
    fn abs(self, a: __m512) -> __m512 {
        have!(_mm512_abs_ps(a))
    }
    #[inline(always)]
    fn neg(self, a: __m512) -> __m512 {
        have!(_mm512_xor_ps(a, _mm512_set1_ps(-0.0)))
    }
    #[inline(always)]
    fn round(self, a: __m512) -> __m512 {
        have!(_mm512_roundscale_ps::<
            { _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC },
        >(a))
    }
    #[inline(always)]
    fn exp2_integer(self, a: __m512) -> __m512 {
        have!({
            let exponent = _mm512_add_epi32(_mm512_cvtps_epi32(a), _mm512_set1_epi32(127));
            _mm512_castsi512_ps(_mm512_slli_epi32::<23>(exponent))
        })
    }
    #[inline(always)]
    fn scale(self, a: __m512, n: __m512) -> __m512 {
        have!(_mm512_scalef_ps(a, n))
    }
    #[inline(always)]
    fn greater(self, a: __m512, b: __m512) -> __mmask16 {
        have!(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b))
    }
    #[inline(always)]
    fn is_nan(self, a: __m512) -> __mmask16 {
        have!(_mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, a))
    }
    #[inline(always)]
    fn select(self, mask: __mmask16, yes: __m512, no: __m512) -> __m512 {
        have!(_mm512_mask_blend_ps(mask, no, yes))
    }
}

impl<const VNNI: bool, const AMX: bool, const BF16: bool> Isa for Avx512<VNNI, AMX, BF16> {
    type V = __m512i;
    const ROWS_AT_ONCE: usize = 8;
    const SIGNED_OFFSET: i32 = if VNNI { 128 } else { 0 };
    const TILES: bool = AMX;
    const BF16_TILES: bool = BF16;

    fn vectorize<N: Vectorized<Self, A>, A>(self, arguments: A) -> N::Output {
        if VNNI {
            have!(run_vnni::<Self, N, A>(self, arguments))
        } else {
            have!(run::<Self, N, A>(self, arguments))
        }
    }

    #[inline(always)]
    fn prefetch<T>(self, value: &T) {
        have!(_mm_prefetch::<_MM_HINT_T0>(
            core::ptr::from_ref(value).cast()
        ));
    }
    #[inline(always)]
    fn prefetch_at(self, bytes: &[u8], at: usize) {
        have!(_mm_prefetch::<_MM_HINT_T0>(
            bytes.as_ptr().wrapping_add(at).cast()
        ));
    }
    #[inline(always)]
    fn prefetch_far(self, bytes: &[u8], at: usize) {
        have!(_mm_prefetch::<_MM_HINT_T1>(
            bytes.as_ptr().wrapping_add(at).cast()
        ));
    }
    #[inline(always)]
    fn stream(self, _stream: &mut Stream, y: &mut [f32; LANES], x: &[f32; LANES]) {
        if y.as_ptr().addr().is_multiple_of(64) {
            have!(store_past_caches(y, _mm512_loadu_ps(x.as_ptr())));
        } else {
            *y = *x;
        }
    }
    fn end_stream(self) {
        have!(_mm_sfence());
    }
    #[inline(always)]
    fn load(self, x: &[f32; LANES]) -> __m512 {
        have!(_mm512_loadu_ps(x.as_ptr()))
    }
    #[inline(always)]
    fn store(self, y: &mut [f32; LANES], x: __m512) {
        have!(_mm512_storeu_ps(y.as_mut_ptr(), x));
    }
    #[inline(always)]
    fn widen_f16(self, x: &[u16; LANES]) -> __m512 {
        have!(_mm512_cvtph_ps(_mm256_loadu_si256(x.as_ptr().cast())))
    }
    #[inline(always)]
    fn load_bytes(self, x: &[u8; 4 * LANES]) -> __m512 {
        have!(_mm512_loadu_ps(x.as_ptr().cast()))
    }
    #[inline(always)]
    fn store_words(self, y: &mut [u8; 4 * LANES], x: __m512) {
        have!(_mm512_storeu_ps(y.as_mut_ptr().cast(), x));
    }
    #[inline(always)]
    fn widen_f16_bytes(self, x: &[u8; 2 * LANES]) -> __m512 {
        have!(_mm512_cvtph_ps(_mm256_loadu_si256(x.as_ptr().cast())))
    }
    #[inline(always)]
    fn widen_bf16(self, x: &[u8; 2 * LANES]) -> __m512 {
        have!({
            let words = _mm512_cvtepu16_epi32(_mm256_loadu_si256(x.as_ptr().cast()));
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(words))
        })
    }
    #[inline(always)]
    fn narrow_f16(self, y: &mut [u16; LANES], x: __m512) {
        let x = self.select(self.is_nan(x), self.splat(CANONICAL_NAN_F32), x);
        have!({
            let halves = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
            _mm256_storeu_si256(y.as_mut_ptr().cast(), halves);
        });
    }
    #[inline(always)]
    fn store_bytes(self, y: &mut [u8; LANES], x: __m512) {
        have!({
            let bytes = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(x));
            _mm_storeu_si128(y.as_mut_ptr().cast(), bytes);
        });
    }
    #[inline(always)]
    fn tree_16(self, x: &[__m512; 16]) -> __m512 {
        // Rows `i`, `i + 4`, `i + 8`, `i + 12` end in the four quarters, so that the last two steps,
        // which stay inside quarters, leave the rows in order.
        let mut quarters = [x[0]; 4];
        for (i, quarter) in quarters.iter_mut().enumerate() {
            let ab = have!(distance_8(x[i], x[i + 4]));
            let cd = have!(distance_8(x[i + 8], x[i + 12]));
            *quarter = have!(distance_4(ab, cd));
        }
        let [a, b, c, d] = quarters;
        have!(distance_1(distance_2(a, b), distance_2(c, d)))
    }

    #[inline(always)]
    fn float(self, x: __m512i) -> __m512 {
        have!(_mm512_cvtepi32_ps(x))
    }
    #[inline(always)]
    fn float_bits(self, x: __m512i) -> __m512 {
        have!(_mm512_castsi512_ps(x))
    }
    #[inline(always)]
    fn float_f16(self, x: __m512i) -> __m512 {
        have!(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(x)))
    }
    #[inline(always)]
    fn splat_i32(self, value: i32) -> __m512i {
        have!(_mm512_set1_epi32(value))
    }
    #[inline(always)]
    fn load_i32(self, x: &[u32; LANES]) -> __m512i {
        have!(_mm512_loadu_si512(x.as_ptr().cast()))
    }
    #[inline(always)]
    fn bytes(self, x: &[u8; 4 * LANES]) -> __m512i {
        have!(_mm512_loadu_si512(x.as_ptr().cast()))
    }
    #[inline(always)]
    fn halves(self, first: &[u8; 2 * LANES], second: &[u8; 2 * LANES]) -> __m512i {
        have!({
            let first = _mm256_loadu_si256(first.as_ptr().cast());
            let second = _mm256_loadu_si256(second.as_ptr().cast());
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second)
        })
    }
    #[inline(always)]
    fn quarters(self, x: &[u8; LANES]) -> __m512i {
        have!(_mm512_broadcast_i32x4(_mm_loadu_si128(x.as_ptr().cast())))
    }
    #[inline(always)]
    fn sums_16(self, x: &[__m512i; 16]) -> __m512i {
        // As in `tree_16`.
        let mut quarters = [x[0]; 4];
        for (i, quarter) in quarters.iter_mut().enumerate() {
            let ab = have!(sum_distance_8(x[i], x[i + 4]));
            let cd = have!(sum_distance_8(x[i + 8], x[i + 12]));
            *quarter = have!(sum_distance_4(ab, cd));
        }
        let [a, b, c, d] = quarters;
        have!(sum_quarters(a, b, c, d))
    }
    #[inline(always)]
    fn columns(self, bytes: &[u8], stride: usize, offset: usize) -> [__m512i; 4] {
        assert!(
            has_rows(bytes, stride, offset),
            "16 bytes of each row are there"
        );
        let row = |i: usize| bytes.as_ptr().wrapping_add(offset + i * stride);
        // SAFETY: the token as above; rows 0 to 15 have 16 readable bytes by the assertion.
        unsafe { columns(row(0), row(4), row(8), row(12), stride) }
    }
    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        have!(_mm512_and_si512(a, b))
    }
    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        have!(_mm512_or_si512(a, b))
    }
    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        have!(_mm512_xor_si512(a, b))
    }
    #[inline(always)]
    fn shl<const N: u32>(self, a: __m512i) -> __m512i {
        have!(_mm512_slli_epi32::<N>(a))
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: __m512i) -> __m512i {
        have!(_mm512_srli_epi32::<N>(a))
    }
    #[inline(always)]
    fn sar<const N: u32>(self, a: __m512i) -> __m512i {
        have!(_mm512_srai_epi32::<N>(a))
    }
    #[inline(always)]
    fn shl_i16<const N: u32>(self, a: __m512i) -> __m512i {
        have!(_mm512_slli_epi16::<N>(a))
    }
    #[inline(always)]
    fn sar_i16<const N: u32>(self, a: __m512i) -> __m512i {
        have!(_mm512_srai_epi16::<N>(a))
    }
    #[inline(always)]
    fn add_i32(self, a: __m512i, b: __m512i) -> __m512i {
        have!(_mm512_add_epi32(a, b))
    }
    #[inline(always)]
    fn sub_i32(self, a: __m512i, b: __m512i) -> __m512i {
        have!(_mm512_sub_epi32(a, b))
    }
    #[inline(always)]
    fn mul_i16(self, a: __m512i, b: __m512i) -> __m512i {
        have!(_mm512_mullo_epi16(a, b))
    }
    #[inline(always)]
    fn mul_high_i16(self, a: __m512i, b: __m512i) -> __m512i {
        have!(_mm512_mulhi_epi16(a, b))
    }
    #[inline(always)]
    fn mul_i32(self, a: __m512i, b: __m512i) -> __m512i {
        have!(_mm512_mullo_epi32(a, b))
    }
    #[inline(always)]
    fn look_up(self, table: __m512i, indices: __m512i) -> __m512i {
        have!(_mm512_shuffle_epi8(table, indices))
    }
    #[inline(always)]
    fn gather<const N: usize>(self, table: &[u32; N], indices: __m512i) -> __m512i {
        let indices = self.and(indices, self.splat_i32(const { index_mask::<N>() }));
        // SAFETY: the token as above; the mask leaves no index that isn't below `N`.
        unsafe { _mm512_i32gather_epi32::<4>(indices, table.as_ptr().cast()) }
    }
    #[inline(always)]
    fn dot_unsigned(self, sum: __m512i, u: __m512i, s: __m512i) -> __m512i {
        if VNNI {
            have!(_mm512_dpbusd_epi32(sum, u, s))
        } else {
            have!({
                let pairs = _mm512_maddubs_epi16(u, s);
                let fours = _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
                _mm512_add_epi32(sum, fours)
            })
        }
    }
    #[inline(always)]
    fn dot_pairs(self, u: __m512i, s: __m512i) -> __m512i {
        have!(_mm512_maddubs_epi16(u, s))
    }
    #[inline(always)]
    fn signed_weights(self, w: __m512i) -> __m512i {
        if VNNI {
            // With 128 added the bytes are unsigned, which is what VNNI takes on this side.
            have!(_mm512_xor_si512(w, _mm512_set1_epi8(-128)))
        } else {
            w
        }
    }
    #[inline(always)]
    fn dot_signed(self, sum: __m512i, w: __m512i, s: __m512i) -> __m512i {
        if VNNI {
            return have!(_mm512_dpbusd_epi32(sum, w, s));
        }
        // The weight's sign moves to the activation; |w| <= 128 keeps pairs within 32,512.
        let flipped = have!({
            let negative = _mm512_movepi8_mask(w);
            _mm512_mask_sub_epi8(s, negative, _mm512_setzero_si512(), s)
        });
        self.dot_unsigned(sum, have!(_mm512_abs_epi8(w)), flipped)
    }
    #[inline(always)]
    fn dot_i16(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        if VNNI {
            have!(add_dot_i16(sum, a, b))
        } else {
            have!(_mm512_add_epi32(sum, _mm512_madd_epi16(a, b)))
        }
    }

    fn open_tiles(self, words: usize, rows: usize) -> TileRegisters {
        assert!(AMX, "this token is one without tiles");
        // SAFETY: a token with `AMX` vouches for the instructions and the permission.
        unsafe { TileRegisters::open(words, rows) }
    }
    #[inline(always)]
    fn tile_dots(self, tiles: &TileRegisters, job: &TileDots<'_, __m512i>, out: &mut [TileLine]) {
        tiles.dots(job, out);
    }

    fn open_bf16_tiles(self, weight_rows: usize) -> Bf16Registers {
        assert!(BF16, "this token is one without BF16 tiles");
        // SAFETY: a token with `BF16` vouches for the instructions and the permission.
        unsafe { Bf16Registers::open(weight_rows) }
    }
    #[inline(always)]
    fn bf16_tile_dots(self, tiles: &Bf16Registers, job: &Bf16Dots<'_>, out: &mut Bf16Sums) {
        tiles.dots(job, out);
    }
}

/// Runs a function with AVX-512 enabled.
///
/// # Safety
/// The processor has the features.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn run<S: Isa, N: Vectorized<S, A>, A>(isa: S, arguments: A) -> N::Output {
    N::call(isa, arguments)
}

/// Runs a function with AVX-512 and VNNI enabled.
///
/// # Safety
/// The processor has the features.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c")]
unsafe fn run_vnni<S: Isa, N: Vectorized<S, A>, A>(isa: S, arguments: A) -> N::Output {
    N::call(isa, arguments)
}

/// Stores past the caches to a multiple of 64. The instruction stands as text because the intrinsic's memory may not be
/// read before a fence, not even by its own thread, to which the processor shows it at once.
///
/// # Safety
/// `y` is aligned.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store_past_caches(y: &mut [f32; LANES], x: __m512) {
    // SAFETY: the instruction belongs to the feature of this function; `y` has 64 bytes, aligned by the caller's
    // promise.
    unsafe {
        asm!(
            "vmovntps [{y}], {x}",
            y = in(reg) y.as_mut_ptr(),
            x = in(zmm_reg) x,
            options(nostack, preserves_flags)
        );
    }
}

/// `VPDPWSSD`, which the compiler makes a product and an addition of when it is left to itself: two instructions
/// where one would do.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn add_dot_i16(mut sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: the instruction belongs to the features of this function; it reads and writes registers alone.
    unsafe {
        asm!(
            "vpdpwssd {sum}, {a}, {b}",
            sum = inout(zmm_reg) sum,
            a = in(zmm_reg) a,
            b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sum
}

/// As [`distance_8`], of integers.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum_distance_8(a: __m512i, b: __m512i) -> __m512i {
    let low = _mm512_shuffle_i64x2::<0x44>(a, b);
    let high = _mm512_shuffle_i64x2::<0xee>(a, b);
    _mm512_add_epi32(low, high)
}

/// As [`distance_4`], of integers.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum_distance_4(ab: __m512i, cd: __m512i) -> __m512i {
    let low = _mm512_shuffle_i64x2::<0x88>(ab, cd);
    let high = _mm512_shuffle_i64x2::<0xdd>(ab, cd);
    _mm512_add_epi32(low, high)
}

/// In each quarter, the sums of four operands' words: of the first, of the second and so on.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum_quarters(a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> __m512i {
    let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd))
}

/// Lanes `i` and `i + 8` added, for `a` in the lower half of the result and `b` in the upper.
#[inline]
#[target_feature(enable = "avx512f")]
fn distance_8(a: __m512, b: __m512) -> __m512 {
    let low = _mm512_shuffle_f32x4::<0x44>(a, b);
    let high = _mm512_shuffle_f32x4::<0xee>(a, b);
    _mm512_add_ps(low, high)
}

/// Lanes at distance 4 added: four rows of four lanes, two rows from each operand.
#[inline]
#[target_feature(enable = "avx512f")]
fn distance_4(ab: __m512, cd: __m512) -> __m512 {
    let low = _mm512_shuffle_f32x4::<0x88>(ab, cd);
    let high = _mm512_shuffle_f32x4::<0xdd>(ab, cd);
    _mm512_add_ps(low, high)
}

/// Lanes at distance 2 added: each quarter holds two lanes of `a`'s row, then two of `b`'s.
#[inline]
#[target_feature(enable = "avx512f")]
fn distance_2(a: __m512, b: __m512) -> __m512 {
    let low = _mm512_shuffle_ps::<0x44>(a, b);
    let high = _mm512_shuffle_ps::<0xee>(a, b);
    _mm512_add_ps(low, high)
}

/// Lanes at distance 1 added: each quarter holds four rows.
#[inline]
#[target_feature(enable = "avx512f")]
fn distance_1(ab: __m512, cd: __m512) -> __m512 {
    let low = _mm512_shuffle_ps::<0x88>(ab, cd);
    let high = _mm512_shuffle_ps::<0xdd>(ab, cd);
    _mm512_add_ps(low, high)
}

/// Transposes the words of 16 rows of 16 bytes; `row_0` to `row_12` and the three rows after each.
///
/// # Safety
/// Each row has 16 readable bytes.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn columns(
    row_0: *const u8,
    row_4: *const u8,
    row_8: *const u8,
    row_12: *const u8,
    stride: usize,
) -> [__m512i; 4] {
    let quad = |i: usize| {
        let at = |row: *const u8| row.wrapping_add(i * stride).cast();
        // SAFETY: the caller's promise.
        unsafe {
            let rows = _mm512_castsi128_si512(_mm_loadu_si128(at(row_0)));
            let rows = _mm512_inserti32x4::<1>(rows, _mm_loadu_si128(at(row_4)));
            let rows = _mm512_inserti32x4::<2>(rows, _mm_loadu_si128(at(row_8)));
            _mm512_inserti32x4::<3>(rows, _mm_loadu_si128(at(row_12)))
        }
    };
    let (a, b, c, d) = (quad(0), quad(1), quad(2), quad(3));
    let ab_low = _mm512_unpacklo_epi32(a, b);
    let ab_high = _mm512_unpackhi_epi32(a, b);
    let cd_low = _mm512_unpacklo_epi32(c, d);
    let cd_high = _mm512_unpackhi_epi32(c, d);
    [
        _mm512_unpacklo_epi64(ab_low, cd_low),
        _mm512_unpackhi_epi64(ab_low, cd_low),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ]
}
