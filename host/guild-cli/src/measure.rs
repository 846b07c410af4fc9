//! What is measured of a run: time, rate and memory.

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
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
