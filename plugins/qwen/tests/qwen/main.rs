//! What the runners describe for small models, and what they refuse.

mod dense;
mod experts;
mod refusals;
mod sample;
