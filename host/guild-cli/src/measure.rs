//! What is measured of a run: time, rate and memory.

use crate::memory::process::ProcessMemory;
use std::time::Instant;

/// Milliseconds since `start`.
pub fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Tokens per second; 0 where no time was measured.
pub fn per_second(tokens: usize, milliseconds: f64) -> f64 {
    if milliseconds > 0.0 {
        tokens as f64 * 1e3 / milliseconds
    } else {
        0.0
    }
}

/// The largest resident size of this process so far; `None` where the system doesn't say.
pub fn peak_rss_bytes() -> Option<u64> {
    let peak_bytes = ProcessMemory::now().peak_bytes;
    (peak_bytes > 0).then_some(peak_bytes)
}
