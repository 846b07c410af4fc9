//! The operations that the exact class is built from, over any number of lanes.

/// IEEE f32 arithmetic on a group of lanes, all rounding to nearest, ties to even.
///
/// `self` is a token: a value of an instruction set's type exists only where the processor has that
/// instruction set, so that the methods are safe to call.
pub trait Lanes: Copy {
    /// A group of f32 values.
    type F: Copy;
    /// A truth value for each lane.
    type Mask: Copy;

    /// `value` in every lane.
    fn splat(self, value: f32) -> Self::F;
    /// `a + b`.
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a - b`.
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b`.
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a / b`, correctly rounded.
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    /// `sqrt(a)`, correctly rounded.
    fn sqrt(self, a: Self::F) -> Self::F;
    /// `a * b + c`, rounded once.
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `a` without its sign.
    fn abs(self, a: Self::F) -> Self::F;
    /// `a` with the other sign.
    fn neg(self, a: Self::F) -> Self::F;
    /// `a` rounded to an integer, ties to even.
    fn round(self, a: Self::F) -> Self::F;
    /// `2^a` for an integer `a` in `-126..=127`; anything for other values.
    fn exp2_integer(self, a: Self::F) -> Self::F;
    /// Where `a > b`; false where either is NaN.
    fn greater(self, a: Self::F, b: Self::F) -> Self::Mask;
    /// Where `a` is NaN.
    fn is_nan(self, a: Self::F) -> Self::Mask;
    /// `yes` where the mask is set, `no` elsewhere.
    fn select(self, mask: Self::Mask, yes: Self::F, no: Self::F) -> Self::F;

    /// `a * 2^n`, rounded once, for `a` in `0.5..2` and an integer `n` in `-150..=128`; anything for
    /// other values.
    #[inline(always)]
    fn scale(self, a: Self::F, n: Self::F) -> Self::F {
        // In two steps, neither of which leaves the range of `exp2_integer`; the first is exact.
        let half = self.round(self.mul(n, self.splat(0.5)));
        let a = self.mul(a, self.exp2_integer(half));
        self.mul(a, self.exp2_integer(self.sub(n, half)))
    }
}

/// One lane in plain Rust: what every instruction set is compared with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalar;

impl Lanes for Scalar {
    type F = f32;
    type Mask = bool;

    fn splat(self, value: f32) -> f32 {
        value
    }
    fn add(self, a: f32, b: f32) -> f32 {
        a + b
    }
    fn sub(self, a: f32, b: f32) -> f32 {
        a - b
    }
    fn mul(self, a: f32, b: f32) -> f32 {
        a * b
    }
    fn div(self, a: f32, b: f32) -> f32 {
        a / b
    }
    fn sqrt(self, a: f32) -> f32 {
        a.sqrt()
    }
    fn fma(self, a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    fn abs(self, a: f32) -> f32 {
        a.abs()
    }
    fn neg(self, a: f32) -> f32 {
        -a
    }
    fn round(self, a: f32) -> f32 {
        a.round_ties_even()
    }
    fn exp2_integer(self, a: f32) -> f32 {
        f32::from_bits((a as i32).wrapping_add(127).cast_unsigned() << 23)
    }
    fn greater(self, a: f32, b: f32) -> bool {
        a > b
    }
    fn is_nan(self, a: f32) -> bool {
        a.is_nan()
    }
    fn select(self, mask: bool, yes: f32, no: f32) -> f32 {
        if mask { yes } else { no }
    }
}
