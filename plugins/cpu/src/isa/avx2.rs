//! AVX2 with FMA and F16C. A logical vector is two registers. With `VNNI` the integer dots have the
//! instructions of AVX-VNNI; nothing else differs.

use super::{Isa, LANES, Stream, Vectorized, has_rows, index_mask};
use core::arch::asm;
use core::arch::x86_64::*;
use guild_numerics::convert::CANONICAL_NAN_F32;
use guild_numerics::lanes::Lanes;

/// The token of AVX2, FMA and F16C, with AVX-VNNI where `VNNI` is true.
#[derive(Clone, Copy, Debug)]
pub struct Avx2<const VNNI: bool>(());

impl<const VNNI: bool> Avx2<VNNI> {
    /// The token.
    ///
    /// # Safety
    /// The processor has AVX2, FMA and F16C (AVX-VNNI besides where `VNNI` is true), and the system saves
    /// their registers.
    pub(crate) const unsafe fn new() -> Self {
        Avx2(())
    }
}

type F = [__m256; 2];
type V = [__m256i; 2];

/// Calls an intrinsic on both registers of each operand.
macro_rules! both {
    ($function:path, $($operand:expr),+) => {
        // SAFETY: `self` is a token of this set, so the processor has the instruction; whoever made
        // the token by `new` vouched for that.
        unsafe { [$function($($operand[0]),+), $function($($operand[1]),+)] }
    };
}

/// Calls intrinsics.
macro_rules! have {
    ($body:expr) => {
        // SAFETY: the token as in `both`. What is loaded or stored is an array of that size behind a
        // reference, and needs no alignment but where the caller has looked at it; what is only asked for
        // (prefetches) may lie anywhere.
        unsafe { $body }
    };
}

impl<const VNNI: bool> Lanes for Avx2<VNNI> {
    type F = F;
    type Mask = F;

    #[inline(always)]
    fn splat(self, value: f32) -> F {
        have!([_mm256_set1_ps(value); 2])
    }
    #[inline(always)]
    fn add(self, a: F, b: F) -> F {
        both!(_mm256_add_ps, a, b)
    }
    #[inline(always)]
    fn sub(self, a: F, b: F) -> F {
        both!(_mm256_sub_ps, a, b)
    }
    #[inline(always)]
    fn mul(self, a: F, b: F) -> F {
        both!(_mm256_mul_ps, a, b)
    }
    #[inline(always)]
    fn div(self, a: F, b: F) -> F {
        both!(_mm256_div_ps, a, b)
    }
    #[inline(always)]
    fn sqrt(self, a: F) -> F {
        both!(_mm256_sqrt_ps, a)
    }
    #[inline(always)]
    fn fma(self, a: F, b: F, c: F) -> F {
        both!(_mm256_fmadd_ps, a, b, c)
    }
    #[inline(always)]
    fn abs(self, a: F) -> F {
        let sign = self.splat(-0.0);
        both!(_mm256_andnot_ps, sign, a)
    }
    #[inline(always)]
    fn neg(self, a: F) -> F {
        let sign = self.splat(-0.0);
        both!(_mm256_xor_ps, a, sign)
    }
    #[inline(always)]
    fn round(self, a: F) -> F {
        both!(
            _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>,
            a
        )
    }
    #[inline(always)]
    fn exp2_integer(self, a: F) -> F {
        let integer = both!(_mm256_cvtps_epi32, a);
        let exponent = self.shl::<23>(self.add_i32(integer, self.splat_i32(127)));
        both!(_mm256_castsi256_ps, exponent)
    }
    #[inline(always)]
    fn greater(self, a: F, b: F) -> F {
        both!(_mm256_cmp_ps::<_CMP_GT_OQ>, a, b)
    }
    #[inline(always)]
    fn is_nan(self, a: F) -> F {
        both!(_mm256_cmp_ps::<_CMP_UNORD_Q>, a, a)
    }
    #[inline(always)]
    fn select(self, mask: F, yes: F, no: F) -> F {
        both!(_mm256_blendv_ps, no, yes, mask)
    }
}

impl<const VNNI: bool> Isa for Avx2<VNNI> {
    type V = V;
    const ROWS_AT_ONCE: usize = 2;
    const SIGNED_OFFSET: i32 = if VNNI { 128 } else { 0 };

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
            have!(store_past_caches(y, self.load(x)));
        } else {
            *y = *x;
        }
    }
    fn end_stream(self) {
        have!(_mm_sfence());
    }
    #[inline(always)]
    fn load(self, x: &[f32; LANES]) -> F {
        have!([
            _mm256_loadu_ps(x.as_ptr()),
            _mm256_loadu_ps(x[8..].as_ptr())
        ])
    }
    #[inline(always)]
    fn store(self, y: &mut [f32; LANES], x: F) {
        have!({
            _mm256_storeu_ps(y.as_mut_ptr(), x[0]);
            _mm256_storeu_ps(y[8..].as_mut_ptr(), x[1]);
        });
    }
    #[inline(always)]
    fn widen_f16(self, x: &[u16; LANES]) -> F {
        have!([
            _mm256_cvtph_ps(_mm_loadu_si128(x.as_ptr().cast())),
            _mm256_cvtph_ps(_mm_loadu_si128(x[8..].as_ptr().cast())),
        ])
    }
    #[inline(always)]
    fn load_bytes(self, x: &[u8; 4 * LANES]) -> F {
        have!([
            _mm256_loadu_ps(x.as_ptr().cast()),
            _mm256_loadu_ps(x[32..].as_ptr().cast()),
        ])
    }
    #[inline(always)]
    fn store_words(self, y: &mut [u8; 4 * LANES], x: F) {
        have!({
            _mm256_storeu_ps(y.as_mut_ptr().cast(), x[0]);
            _mm256_storeu_ps(y[32..].as_mut_ptr().cast(), x[1]);
        });
    }
    #[inline(always)]
    fn widen_f16_bytes(self, x: &[u8; 2 * LANES]) -> F {
        have!([
            _mm256_cvtph_ps(_mm_loadu_si128(x.as_ptr().cast())),
            _mm256_cvtph_ps(_mm_loadu_si128(x[16..].as_ptr().cast())),
        ])
    }
    #[inline(always)]
    fn widen_bf16(self, x: &[u8; 2 * LANES]) -> F {
        let words = have!([
            _mm256_cvtepu16_epi32(_mm_loadu_si128(x.as_ptr().cast())),
            _mm256_cvtepu16_epi32(_mm_loadu_si128(x[16..].as_ptr().cast())),
        ]);
        let words = self.shl::<16>(words);
        both!(_mm256_castsi256_ps, words)
    }
    #[inline(always)]
    fn narrow_f16(self, y: &mut [u16; LANES], x: F) {
        let x = self.select(self.is_nan(x), self.splat(CANONICAL_NAN_F32), x);
        let halves = both!(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>, x);
        have!({
            _mm_storeu_si128(y.as_mut_ptr().cast(), halves[0]);
            _mm_storeu_si128(y[8..].as_mut_ptr().cast(), halves[1]);
        });
    }
    #[inline(always)]
    fn store_bytes(self, y: &mut [u8; LANES], x: F) {
        let words = both!(_mm256_cvtps_epi32, x);
        have!({
            let pairs = low_halves(_mm256_packs_epi32(words[0], words[1]));
            let bytes = _mm256_packs_epi16(pairs, pairs);
            let bytes = _mm256_permute4x64_epi64::<0b10_00>(bytes);
            _mm_storeu_si128(y.as_mut_ptr().cast(), _mm256_castsi256_si128(bytes));
        });
    }
    #[inline(always)]
    fn tree_16(self, x: &[F; 16]) -> F {
        let mut halves = [x[0][0]; 2];
        for (first, half) in [0, 8].into_iter().zip(&mut halves) {
            // Distance 8 is between the two registers. Rows `i` and `i + 4` then share a register.
            let mut pairs = [x[0][0]; 4];
            for (i, pair) in pairs.iter_mut().enumerate() {
                let (a, b) = (x[first + i], x[first + i + 4]);
                *pair = have!(distance_4(
                    _mm256_add_ps(a[0], a[1]),
                    _mm256_add_ps(b[0], b[1])
                ));
            }
            let [a, b, c, d] = pairs;
            *half = have!(distance_1(distance_2(a, b), distance_2(c, d)));
        }
        halves
    }

    #[inline(always)]
    fn float(self, x: V) -> F {
        both!(_mm256_cvtepi32_ps, x)
    }
    #[inline(always)]
    fn float_bits(self, x: V) -> F {
        have!([_mm256_castsi256_ps(x[0]), _mm256_castsi256_ps(x[1])])
    }
    #[inline(always)]
    fn float_f16(self, x: V) -> F {
        let low = self.and(x, self.splat_i32(0xffff));
        let halves = have!(low_halves(_mm256_packus_epi32(low[0], low[1])));
        have!([
            _mm256_cvtph_ps(_mm256_castsi256_si128(halves)),
            _mm256_cvtph_ps(_mm256_extracti128_si256::<1>(halves)),
        ])
    }
    #[inline(always)]
    fn splat_i32(self, value: i32) -> V {
        have!([_mm256_set1_epi32(value); 2])
    }
    #[inline(always)]
    fn load_i32(self, x: &[u32; LANES]) -> V {
        have!([
            _mm256_loadu_si256(x.as_ptr().cast()),
            _mm256_loadu_si256(x[8..].as_ptr().cast()),
        ])
    }
    #[inline(always)]
    fn bytes(self, x: &[u8; 4 * LANES]) -> V {
        let (first, second) = x.split_at(2 * LANES);
        have!([first, second].map(|half| _mm256_loadu_si256(half.as_ptr().cast())))
    }
    #[inline(always)]
    fn halves(self, first: &[u8; 2 * LANES], second: &[u8; 2 * LANES]) -> V {
        have!([
            _mm256_loadu_si256(first.as_ptr().cast()),
            _mm256_loadu_si256(second.as_ptr().cast()),
        ])
    }
    #[inline(always)]
    fn quarters(self, x: &[u8; LANES]) -> V {
        have!([_mm256_broadcastsi128_si256(_mm_loadu_si128(x.as_ptr().cast())); 2])
    }
    #[inline(always)]
    fn sums_16(self, x: &[V; 16]) -> V {
        let mut halves = [x[0][0]; 2];
        for (rows, half) in x.as_chunks::<8>().0.iter().zip(&mut halves) {
            let mut sums = [x[0][0]; 8];
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum = have!(_mm256_add_epi32(row[0], row[1]));
            }
            *half = have!(sums_8(&sums));
        }
        halves
    }
    #[inline(always)]
    fn columns(self, bytes: &[u8], stride: usize, offset: usize) -> [V; 4] {
        assert!(
            has_rows(bytes, stride, offset),
            "16 bytes of each row are there"
        );
        let row = |i: usize| bytes.as_ptr().wrapping_add(offset + i * stride);
        // SAFETY: the token as above; rows 0 to 15 have 16 readable bytes by the assertion.
        let (low, high) = unsafe {
            (
                columns(row(0), row(4), stride),
                columns(row(8), row(12), stride),
            )
        };
        [
            [low[0], high[0]],
            [low[1], high[1]],
            [low[2], high[2]],
            [low[3], high[3]],
        ]
    }
    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        both!(_mm256_and_si256, a, b)
    }
    #[inline(always)]
    fn or(self, a: V, b: V) -> V {
        both!(_mm256_or_si256, a, b)
    }
    #[inline(always)]
    fn xor(self, a: V, b: V) -> V {
        both!(_mm256_xor_si256, a, b)
    }
    #[inline(always)]
    fn shl<const N: u32>(self, a: V) -> V {
        let count = have!(_mm_cvtsi32_si128(N.cast_signed()));
        have!([_mm256_sll_epi32(a[0], count), _mm256_sll_epi32(a[1], count)])
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: V) -> V {
        let count = have!(_mm_cvtsi32_si128(N.cast_signed()));
        have!([_mm256_srl_epi32(a[0], count), _mm256_srl_epi32(a[1], count)])
    }
    #[inline(always)]
    fn sar<const N: u32>(self, a: V) -> V {
        let count = have!(_mm_cvtsi32_si128(N.cast_signed()));
        have!([_mm256_sra_epi32(a[0], count), _mm256_sra_epi32(a[1], count)])
    }
    #[inline(always)]
    fn shl_i16<const N: u32>(self, a: V) -> V {
        let count = have!(_mm_cvtsi32_si128(N.cast_signed()));
        have!([_mm256_sll_epi16(a[0], count), _mm256_sll_epi16(a[1], count)])
    }
    #[inline(always)]
    fn sar_i16<const N: u32>(self, a: V) -> V {
        let count = have!(_mm_cvtsi32_si128(N.cast_signed()));
        have!([_mm256_sra_epi16(a[0], count), _mm256_sra_epi16(a[1], count)])
    }
    #[inline(always)]
    fn add_i32(self, a: V, b: V) -> V {
        both!(_mm256_add_epi32, a, b)
    }
    #[inline(always)]
    fn sub_i32(self, a: V, b: V) -> V {
        both!(_mm256_sub_epi32, a, b)
    }
    #[inline(always)]
    fn mul_i16(self, a: V, b: V) -> V {
        both!(_mm256_mullo_epi16, a, b)
    }
    #[inline(always)]
    fn mul_high_i16(self, a: V, b: V) -> V {
        both!(_mm256_mulhi_epi16, a, b)
    }
    #[inline(always)]
    fn mul_i32(self, a: V, b: V) -> V {
        both!(_mm256_mullo_epi32, a, b)
    }
    #[inline(always)]
    fn look_up(self, table: V, indices: V) -> V {
        both!(_mm256_shuffle_epi8, table, indices)
    }
    #[inline(always)]
    fn gather<const N: usize>(self, table: &[u32; N], indices: V) -> V {
        let indices = self.and(indices, self.splat_i32(const { index_mask::<N>() }));
        let words = table.as_ptr().cast();
        // SAFETY: the token as above; the mask leaves no index that isn't below `N`.
        unsafe {
            [
                _mm256_i32gather_epi32::<4>(words, indices[0]),
                _mm256_i32gather_epi32::<4>(words, indices[1]),
            ]
        }
    }
    #[inline(always)]
    fn dot_unsigned(self, sum: V, u: V, s: V) -> V {
        if VNNI {
            return both!(_mm256_dpbusd_avx_epi32, sum, u, s);
        }
        let ones = have!([_mm256_set1_epi16(1); 2]);
        let pairs = both!(_mm256_maddubs_epi16, u, s);
        self.add_i32(sum, both!(_mm256_madd_epi16, pairs, ones))
    }
    #[inline(always)]
    fn dot_pairs(self, u: V, s: V) -> V {
        both!(_mm256_maddubs_epi16, u, s)
    }
    #[inline(always)]
    fn signed_weights(self, w: V) -> V {
        if VNNI {
            // With 128 added the bytes are unsigned, which is what VNNI takes on this side.
            self.xor(w, self.splat_i32(i32::from_ne_bytes([0x80; 4])))
        } else {
            w
        }
    }
    #[inline(always)]
    fn dot_signed(self, sum: V, w: V, s: V) -> V {
        if VNNI {
            return self.dot_unsigned(sum, w, s);
        }
        // The weight's sign moves to the activation; |w| <= 128 keeps pairs within 32,512.
        let flipped = both!(_mm256_sign_epi8, s, w);
        self.dot_unsigned(sum, both!(_mm256_abs_epi8, w), flipped)
    }
    #[inline(always)]
    fn dot_i16(self, sum: V, a: V, b: V) -> V {
        if VNNI {
            return both!(_mm256_dpwssd_avx_epi32, sum, a, b);
        }
        self.add_i32(sum, both!(_mm256_madd_epi16, a, b))
    }
}

/// Stores past the caches to a multiple of 32. The instruction stands as text because the intrinsic's memory may not be
/// read before a fence, not even by its own thread, to which the processor shows it at once.
///
/// # Safety
/// `y` is aligned.
#[inline]
#[target_feature(enable = "avx")]
unsafe fn store_past_caches(y: &mut [f32; LANES], [first, second]: F) {
    // SAFETY: the instruction belongs to the feature of this function; `y` has 64 bytes, aligned by the caller's
    // promise.
    unsafe {
        asm!(
            "vmovntps [{y}], {first}",
            "vmovntps [{y} + 32], {second}",
            y = in(reg) y.as_mut_ptr(),
            first = in(ymm_reg) first,
            second = in(ymm_reg) second,
            options(nostack, preserves_flags)
        );
    }
}

/// Runs a function with AVX2, FMA and F16C enabled.
///
/// # Safety
/// The processor has the features.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn run<S: Isa, N: Vectorized<S, A>, A>(isa: S, arguments: A) -> N::Output {
    N::call(isa, arguments)
}

/// Runs a function with AVX-VNNI enabled besides.
///
/// # Safety
/// The processor has the features.
#[target_feature(enable = "avx2,fma,f16c,avxvnni")]
unsafe fn run_vnni<S: Isa, N: Vectorized<S, A>, A>(isa: S, arguments: A) -> N::Output {
    N::call(isa, arguments)
}

/// Restores the order that a pack of two registers mixes: quarters 0, 2, 1, 3.
#[inline]
#[target_feature(enable = "avx2")]
fn low_halves(packed: __m256i) -> __m256i {
    _mm256_permute4x64_epi64::<0b11_01_10_00>(packed)
}

/// Lanes at distance 4 added, for `a` in the lower half of the result and `b` in the upper.
#[inline]
#[target_feature(enable = "avx2")]
fn distance_4(a: __m256, b: __m256) -> __m256 {
    let low = _mm256_permute2f128_ps::<0x20>(a, b);
    let high = _mm256_permute2f128_ps::<0x31>(a, b);
    _mm256_add_ps(low, high)
}

/// Lanes at distance 2 added: each half holds two lanes of `a`'s row, then two of `b`'s.
#[inline]
#[target_feature(enable = "avx2")]
fn distance_2(a: __m256, b: __m256) -> __m256 {
    let low = _mm256_shuffle_ps::<0x44>(a, b);
    let high = _mm256_shuffle_ps::<0xee>(a, b);
    _mm256_add_ps(low, high)
}

/// Lanes at distance 1 added: each half holds four rows.
#[inline]
#[target_feature(enable = "avx2")]
fn distance_1(ab: __m256, cd: __m256) -> __m256 {
    let low = _mm256_shuffle_ps::<0x88>(ab, cd);
    let high = _mm256_shuffle_ps::<0xdd>(ab, cd);
    _mm256_add_ps(low, high)
}

/// Transposes the words of eight rows of 16 bytes: `row_0`, `row_4` and the three rows after each.
///
/// # Safety
/// Each row has 16 readable bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn columns(row_0: *const u8, row_4: *const u8, stride: usize) -> [__m256i; 4] {
    let pair = |i: usize| {
        let at = |row: *const u8| row.wrapping_add(i * stride).cast();
        // SAFETY: the caller's promise.
        unsafe {
            let rows = _mm256_castsi128_si256(_mm_loadu_si128(at(row_0)));
            _mm256_inserti128_si256::<1>(rows, _mm_loadu_si128(at(row_4)))
        }
    };
    let (a, b, c, d) = (pair(0), pair(1), pair(2), pair(3));
    let ab_low = _mm256_unpacklo_epi32(a, b);
    let ab_high = _mm256_unpackhi_epi32(a, b);
    let cd_low = _mm256_unpacklo_epi32(c, d);
    let cd_high = _mm256_unpackhi_epi32(c, d);
    [
        _mm256_unpacklo_epi64(ab_low, cd_low),
        _mm256_unpackhi_epi64(ab_low, cd_low),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Lane `i` of the result is the sum of the words of `x[i]`.
#[inline]
#[target_feature(enable = "avx2")]
fn sums_8(x: &[__m256i; 8]) -> __m256i {
    // Each half of these holds four rows' sums of the half.
    let first = _mm256_hadd_epi32(_mm256_hadd_epi32(x[0], x[1]), _mm256_hadd_epi32(x[2], x[3]));
    let second = _mm256_hadd_epi32(_mm256_hadd_epi32(x[4], x[5]), _mm256_hadd_epi32(x[6], x[7]));
    let low = _mm256_permute2x128_si256::<0x20>(first, second);
    let high = _mm256_permute2x128_si256::<0x31>(first, second);
    _mm256_add_epi32(low, high)
}
