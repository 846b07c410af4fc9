//! The exact numeric class: lane order, transcendental functions, conversions.
//!
//! `docs/numerics.md` holds the rules; a rule's number stands beside the code that carries it out.
//! Functions over [`Lanes`] are written once: the scalar oracle and every instruction set run the
//! same steps, so they give the same bits. Everything here is pure and may be called from any
//! thread.
#![forbid(unsafe_code)]

pub mod convert;
pub mod double;
pub mod exp;
pub mod lanes;
pub mod log1p;
pub mod reduce;
pub mod rope;
