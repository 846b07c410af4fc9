//! Shapes whose leading axis may stand for a count that each call fixes.

use core::fmt;

use guild_abi::runner::{GUILD_DIM_OUTPUTS, GUILD_DIM_ROWS};

/// The most axes a tensor has.
pub const AXES_MAX: usize = 6;

/// The length of one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// The rows of a call.
    Rows,
    /// The output rows of a call.
    Outputs,
    /// A fixed number.
    Fixed(u64),
}

impl Dim {
    /// Reads the ABI's number.
    #[must_use]
    pub const fn from_raw(raw: u64) -> Dim {
        match raw {
            GUILD_DIM_ROWS => Dim::Rows,
            GUILD_DIM_OUTPUTS => Dim::Outputs,
            number => Dim::Fixed(number),
        }
    }

    /// The number where it is fixed.
    #[must_use]
    pub const fn fixed(self) -> Option<u64> {
        match self {
            Dim::Fixed(number) => Some(number),
            Dim::Rows | Dim::Outputs => None,
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Rows => f.write_str("rows"),
            Dim::Outputs => f.write_str("outputs"),
            Dim::Fixed(number) => write!(f, "{number}"),
        }
    }
}

/// A checked shape, outermost axis first: 1 to 6 axes, none of length 0, only axis 0 symbolic, and
/// the product of the fixed axes fits 48 bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    dims: Vec<Dim>,
}

/// The most elements that the fixed axes of a shape may have.
const ELEMENTS_MAX: u64 = 1 << 48;

impl Shape {
    /// Checks the axes.
    ///
    /// # Errors
    /// Says what is wrong, as the end of a sentence that names the value.
    pub fn new(dims: &[Dim]) -> Result<Shape, String> {
        if dims.is_empty() || dims.len() > AXES_MAX {
            return Err(format!(
                "has {} axes; 1 to {AXES_MAX} are allowed",
                dims.len()
            ));
        }
        let mut elements = 1u64;
        for (axis, dim) in dims.iter().enumerate() {
            match *dim {
                Dim::Rows | Dim::Outputs if axis == 0 => {}
                Dim::Rows | Dim::Outputs => {
                    return Err(format!(
                        "has `{dim}` as axis {axis}; only axis 0 may be symbolic"
                    ));
                }
                Dim::Fixed(0) => return Err(format!("has length 0 on axis {axis}")),
                Dim::Fixed(number) => {
                    elements = elements
                        .checked_mul(number)
                        .filter(|product| *product <= ELEMENTS_MAX)
                        .ok_or_else(|| format!("has more than {ELEMENTS_MAX} elements"))?;
                }
            }
        }
        Ok(Shape {
            dims: dims.to_vec(),
        })
    }

    /// The axes, outermost first.
    #[must_use]
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }

    /// Number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Axis 0 where it is symbolic.
    #[must_use]
    pub fn leading(&self) -> Option<Dim> {
        self.dims
            .first()
            .copied()
            .filter(|dim| dim.fixed().is_none())
    }

    /// Product of the fixed axes: the elements of one row where axis 0 is symbolic, else of all.
    #[must_use]
    pub fn fixed_elements(&self) -> u64 {
        self.dims.iter().filter_map(|dim| dim.fixed()).product()
    }

    /// Strides in elements of a shape whose elements lie side by side.
    #[must_use]
    pub fn contiguous_strides(&self) -> Vec<u64> {
        let mut strides = vec![1; self.dims.len()];
        for axis in (1..self.dims.len()).rev() {
            let inner = self.dims[axis].fixed().unwrap_or(1);
            strides[axis - 1] = strides[axis] * inner;
        }
        strides
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (axis, dim) in self.dims.iter().enumerate() {
            let comma = if axis == 0 { "" } else { ", " };
            write!(f, "{comma}{dim}")?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(dims: &[Dim], part: &str) {
        let text = Shape::new(dims).expect_err("the shape must be refused");
        assert!(text.contains(part), "{text}");
    }

    #[test]
    fn shapes_are_checked() {
        refused(&[], "has 0 axes");
        refused(&[Dim::Fixed(2); 7], "has 7 axes");
        refused(&[Dim::Fixed(4), Dim::Rows], "axis 1");
        refused(&[Dim::Rows, Dim::Fixed(0)], "length 0 on axis 1");
        refused(&[Dim::Fixed(1 << 30), Dim::Fixed(1 << 30)], "more than");
    }

    #[test]
    fn strides_run_from_the_inside() {
        let shape = Shape::new(&[Dim::Rows, Dim::Fixed(3), Dim::Fixed(5)]).unwrap();
        assert_eq!(shape.contiguous_strides(), [15, 5, 1]);
        assert_eq!(shape.fixed_elements(), 15);
        assert_eq!(shape.to_string(), "[rows, 3, 5]");
    }
}
