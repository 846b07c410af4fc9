//! Every core operation, computed the plain way: the contracts of `docs/ops.md` word for word.
//!
//! Safe scalar code over dense slices, outermost axis first, independent of any kernel. Slower than
//! any provider, on purpose. A function panics where its slices don't fit the shapes; cases and the
//! reference plugin check those before.

pub mod add;
pub mod attention;
pub mod causal_conv;
pub mod concat;
pub mod embedding;
pub mod gated_delta;
pub mod gated_rms_norm;
pub mod l2_norm;
pub mod linear;
pub mod matrix;
pub mod moe_experts;
pub mod moe_route;
pub mod rms_norm;
pub mod rope;
pub mod select_rows;
pub mod sigmoid_mul;
pub mod swiglu;

pub use matrix::Matrix;

/// An operation was asked for something that its contract calls `INVALID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Which rule was broken.
    pub rule: &'static str,
}

impl core::fmt::Display for Invalid {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.rule)
    }
}

impl core::error::Error for Invalid {}

/// The index that an id stands for, where it is below `limit`.
fn index(id: i32, limit: usize, rule: &'static str) -> Result<usize, Invalid> {
    usize::try_from(id)
        .ok()
        .filter(|&index| index < limit)
        .ok_or(Invalid { rule })
}
