//! Instruction sets behind one trait: kernels are written once over [`Isa`].
//!
//! A logical vector has 16 f32 lanes, or 64 bytes of integers. AVX-512 holds it in one register,
//! AVX2 in two, the portable set in an array. Every method gives the same bits in every set, so a
//! kernel's result doesn't depend on the one that runs it. Unsafe code of the kernels stands in this
//! module alone.
//!
//! | File | Holds |
//! |---|---|
//! | `portable` | plain Rust arrays; every processor |
//! | `avx2` | AVX2 with FMA and F16C, and with it AVX-VNNI |
//! | `avx512` | AVX-512 F, BW, DQ, VL, and with it VNNI and AMX |
//! | `amx` | the tile registers of AMX |

#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

#[cfg(target_arch = "x86_64")]
pub use amx::{Bf16Registers, TileRegisters};
#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use portable::Portable;

use core::ops::Range;
use guild_numerics::lanes::Lanes;
use guild_numerics::reduce::lane_tree;

/// f32 lanes of a logical vector.
pub const LANES: usize = 16;

/// Tile registers where there are none.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Debug)]
pub struct TileRegisters {
    _none: (),
}

/// Tile registers for BF16 numbers where there are none.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Debug)]
pub struct Bf16Registers {
    _none: (),
}

/// Rows that a tile register holds.
pub const REGISTER_ROWS: usize = 16;
/// Rows of activations that one call of [`Isa::tile_dots`] takes at most.
pub const TILE_OUT_ROWS: usize = 2 * REGISTER_ROWS;

/// What bytes the planes of weights are that tile registers multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneLayout {
    /// One plane of signed bytes.
    Values,
    /// Two planes of unsigned bytes; the second counts eight times.
    Scales,
    /// A plane of unsigned bytes and one of signed ones, which counts 256 times.
    Products,
}

impl PlaneLayout {
    /// How many planes there are.
    #[must_use]
    pub const fn planes(self) -> usize {
        match self {
            PlaneLayout::Values => 1,
            PlaneLayout::Scales | PlaneLayout::Products => 2,
        }
    }
}

/// What [`Isa::stream`] asks for: only [`streaming`] makes one, and it sees to the end.
#[derive(Debug)]
pub struct Stream {
    _made_here: (),
}

/// Runs `write`, which may write past the caches. When this returns or unwinds, those writes are ordered before all
/// that comes later, as others are.
pub fn streaming<S: Isa>(isa: S, write: impl FnOnce(&mut Stream)) {
    struct End<S: Isa>(S);
    impl<S: Isa> Drop for End<S> {
        fn drop(&mut self) {
            self.0.end_stream();
        }
    }
    let _end = End(isa);
    write(&mut Stream { _made_here: () });
}

/// Whether `bytes` has `rows` rows of `row_bytes`, each `stride` behind the one before.
#[inline(always)]
fn rows_fit(bytes: &[u8], rows: usize, stride: usize, row_bytes: usize) -> bool {
    let before = (rows - 1).checked_mul(stride);
    let read = before.and_then(|before| before.checked_add(row_bytes));
    read.is_some_and(|read| read <= bytes.len())
}

/// Whether 16 rows of 16 bytes, the first at `offset` and each `stride` behind the one before, lie inside `bytes`.
#[inline(always)]
fn has_rows(bytes: &[u8], stride: usize, offset: usize) -> bool {
    let from = bytes.get(offset..);
    from.is_some_and(|from| rows_fit(from, LANES, stride, 16))
}

/// Dots of a few rows of activations with sixteen weight rows, for tile registers.
#[derive(Clone, Copy)]
pub struct TileDots<'a, V> {
    /// Signed bytes: row `i` starts at `i * stride`. Whole tiles of rows are read, whatever `rows` is.
    pub activations: &'a [u8],
    /// Bytes from a row to the next.
    pub stride: usize,
    /// Rows that are wanted, at most [`TILE_OUT_ROWS`].
    pub rows: usize,
    /// Words of the shared axis: up to 16, or a multiple.
    pub words: usize,
    /// The planes of weights: word `t` holds elements `4 t` to `4 t + 3` of each of sixteen rows. The second is
    /// read where `layout` has two.
    pub planes: [&'a [V]; 2],
    /// What the planes are.
    pub layout: PlaneLayout,
}

/// One row's sums with sixteen weight rows.
pub type TileLine = [u32; LANES];

/// BF16 numbers of the shared axis in one tile.
pub const BF16_TILE_ELEMS: usize = 2 * LANES;
/// A tile of BF16 numbers, or of sums: sixteen rows of 64 bytes.
pub type TileBytes = [[u8; 4 * LANES]; REGISTER_ROWS];
/// Sums of up to two tiles of weight rows with up to two of activations: `[weights][activations]`. Row `i` of a tile
/// is that of weight row `i` and holds f32, one for each row of activations.
pub type Bf16Sums = [[TileBytes; 2]; 2];

/// Dots of up to 32 rows of BF16 weights with up to 32 rows of activations, for tile registers.
#[derive(Clone)]
pub struct Bf16Dots<'a> {
    /// The weight rows, as many as the registers were opened for.
    pub weights: &'a [u8],
    /// Bytes from a row to the next.
    pub stride: usize,
    /// The last elements of each row, where they aren't a whole tile; zeros follow them.
    pub tail: Option<&'a [TileBytes; 2]>,
    /// Activations of sixteen rows, and of another sixteen or none: a tile for each 32 elements. Word `t` of row `p`
    /// of a tile holds elements `2 p` and `2 p + 1` of row `t` of the activations; zeros follow the last element.
    pub activations: [&'a [TileBytes]; 2],
    /// Rows behind the weights, counted from the first weight row, whose elements are asked for meanwhile: they are
    /// wanted next. They may lie beyond the end.
    pub ahead: Range<usize>,
}

/// The bits of an index into a table of `N` words, a power of two: whatever an index is, these name a
/// word that is there.
pub const fn index_mask<const N: usize>() -> i32 {
    assert!(N.is_power_of_two() && N <= 1 << 16);
    (N - 1) as i32
}

/// A function to run with an instruction set's instructions enabled, named by a type.
///
/// It and all that it calls on vectors is `#[inline(always)]`: code that isn't inlined is compiled
/// without the instructions and runs many times slower. Neither a closure nor a function's own type
/// can promise that, a method of this trait can. [`vectorized!`] writes the implementation.
pub trait Vectorized<S: Isa, A> {
    /// What the function gives back.
    type Output;
    /// The function.
    fn call(isa: S, arguments: A) -> Self::Output;
}

/// `vectorized!(Name = function, Arguments, Output)` makes a type that names a function; with
/// `impl [generics]` in front it uses a type that is there. Without an output it is `()`.
macro_rules! vectorized {
    (impl [$($generics:tt)*] $name:ty = $function:expr, $arguments:ty) => {
        $crate::isa::vectorized!(impl [$($generics)*] $name = $function, $arguments, ());
    };
    (impl [$($generics:tt)*] $name:ty = $function:expr, $arguments:ty, $output:ty) => {
        impl<'a, 'b, S: $crate::isa::Isa, $($generics)*>
            $crate::isa::Vectorized<S, $arguments> for $name
        {
            type Output = $output;
            #[inline(always)]
            fn call(isa: S, arguments: $arguments) -> $output {
                $function(isa, arguments)
            }
        }
    };
    ($name:ident = $function:expr, $($types:ty),+) => {
        #[doc = concat!("Names `", stringify!($function), "`.")]
        struct $name;
        $crate::isa::vectorized!(impl [] $name = $function, $($types),+);
    };
}
pub(crate) use vectorized;

/// An instruction set. A value of the type is the proof that the processor has it.
///
/// Integer vectors `V` are 64 bytes without a type: a method's name says how it reads them.
pub trait Isa: Lanes + Send + Sync + 'static {
    /// 64 bytes: 16 i32, 32 i16 or 64 bytes.
    type V: Copy;
    /// Rows of activations that are multiplied at once; as many as the registers hold.
    const ROWS_AT_ONCE: usize;
    /// What [`Isa::signed_weights`] adds to each byte.
    const SIGNED_OFFSET: i32;
    /// Whether [`Isa::open_tiles`] and [`Isa::tile_dots`] are there.
    const TILES: bool = false;
    /// Whether [`Isa::open_bf16_tiles`] and [`Isa::bf16_tile_dots`] are there.
    const BF16_TILES: bool = false;

    /// Runs a function with this set's instructions enabled.
    fn vectorize<N: Vectorized<Self, A>, A>(self, arguments: A) -> N::Output;

    /// The 16 values.
    fn load(self, x: &[f32; LANES]) -> Self::F;
    /// Writes the 16 lanes.
    fn store(self, y: &mut [f32; LANES], x: Self::F);
    /// The 16 values, little-endian.
    fn load_bytes(self, x: &[u8; 4 * LANES]) -> Self::F;
    /// Writes the 16 lanes, little-endian.
    fn store_words(self, y: &mut [u8; 4 * LANES], x: Self::F);
    /// 16 F16 numbers, widened exactly; a NaN stays some NaN.
    fn widen_f16(self, x: &[u16; LANES]) -> Self::F;
    /// The same from bytes, little-endian.
    fn widen_f16_bytes(self, x: &[u8; 2 * LANES]) -> Self::F;
    /// 16 BF16 numbers, little-endian, widened exactly; a NaN stays some NaN.
    fn widen_bf16(self, x: &[u8; 2 * LANES]) -> Self::F;
    /// Rounds to F16, to nearest, ties to even; NaN becomes the canonical one.
    fn narrow_f16(self, y: &mut [u16; LANES], x: Self::F);
    /// Writes lanes that hold integers in -128..=127 as bytes.
    fn store_bytes(self, y: &mut [u8; LANES], x: Self::F);
    /// The lane tree of rule 2 in each of 16 vectors: lane `i` of the result is the sum of `x[i]`.
    fn tree_16(self, x: &[Self::F; 16]) -> Self::F;

    /// Each i32 as f32, rounded to nearest, ties to even.
    fn float(self, x: Self::V) -> Self::F;
    /// The f32 whose bits each i32 is.
    fn float_bits(self, x: Self::V) -> Self::F;
    /// The F16 number in the low half of each i32, widened.
    fn float_f16(self, x: Self::V) -> Self::F;
    /// `value` in every i32.
    fn splat_i32(self, value: i32) -> Self::V;
    /// The 16 words.
    fn load_i32(self, x: &[u32; LANES]) -> Self::V;
    /// 64 bytes.
    fn bytes(self, x: &[u8; 4 * LANES]) -> Self::V;
    /// 32 bytes, then another 32.
    fn halves(self, first: &[u8; 2 * LANES], second: &[u8; 2 * LANES]) -> Self::V;
    /// 16 bytes four times.
    fn quarters(self, x: &[u8; LANES]) -> Self::V;
    /// Lane `i` of the result is the sum of the words of `x[i]`.
    fn sums_16(self, x: &[Self::V; 16]) -> Self::V;
    /// Four columns of words from 16 rows: word `i` of column `c` is the four bytes at
    /// `i * stride + offset + 4 * c`.
    ///
    /// # Panics
    /// When a row's 16 bytes aren't inside `bytes`.
    fn columns(self, bytes: &[u8], stride: usize, offset: usize) -> [Self::V; 4];
    /// The same. Also asks for the sixteen rows behind, which are wanted next where a product goes through a weight:
    /// weights come from memory in time without it knowing.
    ///
    /// # Panics
    /// When a row's 16 bytes aren't inside `bytes`.
    #[inline(always)]
    fn columns_ahead(self, bytes: &[u8], stride: usize, offset: usize) -> [Self::V; 4] {
        // Four calls go over a cache line; each asks for it in four of the rows behind. Spread like this, requests
        // keep pace with the arithmetic; a burst of them would hold it up.
        let quarter = LANES + offset / 16 % 4 * 4;
        for row in quarter..quarter + 4 {
            self.prefetch_at(bytes, offset + row * stride);
        }
        self.columns(bytes, stride, offset)
    }
    /// Bitwise and.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise or.
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise exclusive or.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each i32 shifted left.
    fn shl<const N: u32>(self, a: Self::V) -> Self::V;
    /// Each u32 shifted right.
    fn shr<const N: u32>(self, a: Self::V) -> Self::V;
    /// Each i32 shifted right, keeping its sign.
    fn sar<const N: u32>(self, a: Self::V) -> Self::V;
    /// Each i16 shifted left.
    fn shl_i16<const N: u32>(self, a: Self::V) -> Self::V;
    /// Each i16 shifted right, keeping its sign.
    fn sar_i16<const N: u32>(self, a: Self::V) -> Self::V;
    /// i32 sums.
    fn add_i32(self, a: Self::V, b: Self::V) -> Self::V;
    /// i32 differences.
    fn sub_i32(self, a: Self::V, b: Self::V) -> Self::V;
    /// The low halves of i16 products.
    fn mul_i16(self, a: Self::V, b: Self::V) -> Self::V;
    /// The high halves of i16 products.
    fn mul_high_i16(self, a: Self::V, b: Self::V) -> Self::V;
    /// The low halves of i32 products.
    fn mul_i32(self, a: Self::V, b: Self::V) -> Self::V;
    /// For each byte of `indices`, which are below 16 or 128: that byte of `table`, sixteen bytes that are there
    /// four times; 0 for 128.
    fn look_up(self, table: Self::V, indices: Self::V) -> Self::V;
    /// For each i32 of `indices`: the word of `table` that its low bits name, as many as [`index_mask`]
    /// has.
    fn gather<const N: usize>(self, table: &[u32; N], indices: Self::V) -> Self::V;
    /// `sum + u . s` for each group of four bytes. `u` is unsigned and at most 129, `s` signed and
    /// above -128, so that no 16-bit intermediate saturates.
    fn dot_unsigned(self, sum: Self::V, u: Self::V, s: Self::V) -> Self::V;
    /// `u . s` for each group of two bytes, as i16; the same bounds.
    fn dot_pairs(self, u: Self::V, s: Self::V) -> Self::V;
    /// Signed weight bytes in the form that [`Isa::dot_signed`] takes.
    fn signed_weights(self, w: Self::V) -> Self::V;
    /// `sum + (w + SIGNED_OFFSET) . s` for each group of four bytes; `w` went through
    /// [`Isa::signed_weights`], `s` is above -128.
    fn dot_signed(self, sum: Self::V, w: Self::V, s: Self::V) -> Self::V;
    /// `sum + a . b` for each group of two i16.
    fn dot_i16(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;

    /// Opens this thread's tile registers for weights of `words` words and tiles of up to `rows` rows.
    ///
    /// # Panics
    /// Where [`Isa::TILES`] is false.
    fn open_tiles(self, words: usize, rows: usize) -> TileRegisters {
        let _ = (words, rows);
        unreachable!("this instruction set has no tiles")
    }
    /// Writes the dots to `out`, exact in i32: plane by plane, [`TILE_OUT_ROWS`] or, for up to 16 rows, 16
    /// lines each. Lines beyond the rows wanted hold garbage.
    ///
    /// # Panics
    /// When an operand is too short, or where [`Isa::TILES`] is false.
    fn tile_dots(self, tiles: &TileRegisters, job: &TileDots<'_, Self::V>, out: &mut [TileLine]) {
        let _ = (tiles, job, out);
        unreachable!("this instruction set has no tiles")
    }

    /// Opens this thread's tile registers for so many rows of BF16 weights, 1 to 32.
    ///
    /// # Panics
    /// Where [`Isa::BF16_TILES`] is false.
    fn open_bf16_tiles(self, weight_rows: usize) -> Bf16Registers {
        let _ = weight_rows;
        unreachable!("this instruction set has no BF16 tiles")
    }
    /// Writes the dots to `out`, in the tolerant class (`docs/numerics.md`, rule 10): what isn't asked for holds
    /// garbage.
    ///
    /// # Panics
    /// When an operand is too short, or where [`Isa::BF16_TILES`] is false.
    fn bf16_tile_dots(self, tiles: &Bf16Registers, job: &Bf16Dots<'_>, out: &mut Bf16Sums) {
        let _ = (tiles, job, out);
        unreachable!("this instruction set has no BF16 tiles")
    }

    /// Asks for the cache line of a value that is wanted soon; changes nothing.
    #[inline(always)]
    fn prefetch<T>(self, value: &T) {
        let _ = value;
    }

    /// Asks for all cache lines of a slice.
    #[inline(always)]
    fn prefetch_all<T>(self, values: &[T]) {
        let a_line = const { 4 * LANES / size_of::<T>() };
        values
            .chunks(a_line)
            .for_each(|line| self.prefetch(&line[0]));
    }

    /// Asks for the cache line at `at`, which may lie behind the end; changes nothing.
    #[inline(always)]
    fn prefetch_at(self, bytes: &[u8], at: usize) {
        let _ = (bytes, at);
    }

    /// The same for a cache that is further away.
    #[inline(always)]
    fn prefetch_far(self, bytes: &[u8], at: usize) {
        let _ = (bytes, at);
    }

    /// Writes 16 values, past the caches where that is possible.
    #[inline(always)]
    fn stream(self, stream: &mut Stream, y: &mut [f32; LANES], x: &[f32; LANES]) {
        let _ = stream;
        *y = *x;
    }

    /// Lets other threads see what [`Isa::stream`] wrote as they see other writes. [`streaming`] calls it.
    fn end_stream(self) {}

    /// The lanes as an array.
    #[inline(always)]
    fn array(self, x: Self::F) -> [f32; LANES] {
        let mut y = [0.0; LANES];
        self.store(&mut y, x);
        y
    }

    /// The lane tree of rule 2.
    #[inline(always)]
    fn tree(self, x: Self::F) -> f32 {
        lane_tree(self.array(x))
    }

    /// Up to 16 values; lanes without one are +0.
    #[inline(always)]
    fn load_part(self, x: &[f32]) -> Self::F {
        if let Some(x) = x.first_chunk() {
            return self.load(x);
        }
        let mut whole = [0.0; LANES];
        whole[..x.len()].copy_from_slice(x);
        self.load(&whole)
    }

    /// Writes as many lanes as `y` has room for.
    #[inline(always)]
    fn store_part(self, y: &mut [f32], x: Self::F) {
        if let Some(y) = y.first_chunk_mut() {
            return self.store(y, x);
        }
        let len = y.len();
        y.copy_from_slice(&self.array(x)[..len]);
    }
}
