//! Shapes as a runner writes them: outermost axis first, the leading axis fixed or symbolic.

use core::fmt;
use guild_abi::runner::{GUILD_DIM_OUTPUTS, GUILD_DIM_ROWS};

/// The most axes of a tensor.
pub(super) const AXES_MAX: usize = 6;

/// Elements along each axis, outermost first; axis 0 may be [`Shape::ROWS`] or [`Shape::OUTPUTS`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    rank: usize,
    axes: [u64; AXES_MAX],
}

impl Shape {
    /// Axis 0 of a value with one entry for each row of a call.
    pub const ROWS: u64 = GUILD_DIM_ROWS;
    /// Axis 0 of a value with one entry for each output row of a call.
    pub const OUTPUTS: u64 = GUILD_DIM_OUTPUTS;

    /// A shape of 1 to 6 axes, or `None` for another number of axes.
    #[must_use]
    pub fn new(axes: &[u64]) -> Option<Shape> {
        if axes.is_empty() || axes.len() > AXES_MAX {
            return None;
        }
        let mut all = [0; AXES_MAX];
        for (slot, axis) in all.iter_mut().zip(axes) {
            *slot = *axis;
        }
        Some(Shape {
            rank: axes.len(),
            axes: all,
        })
    }

    /// The axes.
    #[must_use]
    pub fn axes(&self) -> &[u64] {
        self.axes.get(..self.rank).unwrap_or_default()
    }

    /// Axis 0.
    #[must_use]
    pub fn leading(&self) -> u64 {
        self.axes[0]
    }

    /// The last axis.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.axes().last().copied().unwrap_or(0)
    }

    /// The axes with zeros up to six, as the C structs hold them.
    pub(super) fn padded(&self) -> [u64; AXES_MAX] {
        self.axes
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (number, axis) in self.axes().iter().enumerate() {
            if number > 0 {
                f.write_str(", ")?;
            }
            match *axis {
                Shape::ROWS => f.write_str("rows")?,
                Shape::OUTPUTS => f.write_str("outputs")?,
                fixed => write!(f, "{fixed}")?,
            }
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_has_one_to_six_axes() {
        assert_eq!(Shape::new(&[]), None);
        assert_eq!(Shape::new(&[1; 7]), None);
        let shape = Shape::new(&[Shape::ROWS, 2, 64]).unwrap();
        assert_eq!(shape.to_string(), "[rows, 2, 64]");
        assert_eq!((shape.leading(), shape.last()), (Shape::ROWS, 64));
    }
}
