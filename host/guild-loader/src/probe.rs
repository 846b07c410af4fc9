//! The trial run of a package's code in a child process (`docs/safety.md`, "The trial run").
//!
//! The host executes its own file again, with an empty environment. The child shuts itself in
//! ([`sandbox`]), maps the sealed image by the same function as the host, negotiates with the plugin, and
//! answers in two lines of JSON. The parent believes nothing of that: [`ChildProbe`] reads the answer as
//! hostile input, and the store compares it with the signed manifest.
//!
//! A trial run finds code that crashes, hangs, lies about itself by mistake, or computes something else
//! than it was signed for. It is no judge of code that means harm: that can behave while it is watched.

mod answer;
mod child;
mod ending;
mod filter;
mod golden;
mod parent;
pub mod sandbox;

pub use child::{COMMAND, serve};
pub use parent::{ChildProbe, Helper};
