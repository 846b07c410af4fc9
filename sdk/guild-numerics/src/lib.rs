//! The exact numeric class: lane order, transcendental functions, conversions.

#![forbid(unsafe_code)]

pub mod convert;
