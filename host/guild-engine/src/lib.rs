//! Sessions, state, the thread pool and sampling.
//!
//! [`Engine`] owns a bound plan and lends its sequence slots to sessions. A pass takes rows of one or
//! more sessions through the plan. After [`Engine::new`] nothing here allocates: the token loop fills
//! tables whose sizes are fixed.
#![deny(unsafe_code)]

mod engine;
mod error;
mod log_probability;
#[expect(unsafe_code, reason = "a system call that no safe crate has")]
pub mod numa;
#[expect(
    unsafe_code,
    reason = "threads share a loop's descriptor; plugins call through a C table"
)]
mod pool;
mod sample;

pub use engine::{Engine, Outputs, Part, Session};
pub use error::EngineError;
pub use log_probability::LogProbability;
pub use pool::{ThreadPool, allowed_workers, parallel_for};
pub use sample::{LogitBias, Sampler, Sampling};
