//! The exact numeric class: lane order, transcendental functions, conversions.
