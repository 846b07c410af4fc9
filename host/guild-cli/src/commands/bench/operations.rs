//! What each operation takes, in one repetition with timed steps.

use super::case::Case;
use crate::failure::Outcome;
use guild_engine::Engine;
use guild_graph::{OperationTime, Phase};
use serde::Serialize;

/// One operation of one implementation in one phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationRow {
    /// The phase.
    pub phase: Phase,
    /// Its sums.
    #[serde(flatten)]
    pub time: OperationTime,
    /// Its part of the phase's time, 0 to 1.
    pub share: f64,
    /// Microseconds a call.
    pub call_us: f64,
    /// Bytes of weights that a second of its time reads, in decode; null where it reads none.
    pub weights_bytes_per_second: Option<f64>,
    /// That over the bandwidth of memory; null without `--roofline`.
    pub roofline: Option<f64>,
}

/// Runs `case` once with timed steps; what was in the context before isn't timed.
pub fn time(case: &Case, engine: &mut Engine) -> Outcome<Vec<OperationRow>> {
    case.run(engine, |engine| engine.time_operations(true))?;
    let phases = [Phase::Prefill, Phase::Decode].into_iter();
    let rows = phases.flat_map(|phase| rows(phase, engine.operation_times(phase)));
    let rows = rows.collect();
    engine.time_operations(false);
    Ok(rows)
}

fn rows(phase: Phase, times: Vec<OperationTime>) -> Vec<OperationRow> {
    let total: f64 = times.iter().map(|time| time.seconds).sum();
    let rows = times.into_iter().map(|time| OperationRow {
        phase,
        share: time.seconds / total.max(f64::MIN_POSITIVE),
        call_us: time.seconds * 1e6 / time.calls.max(1) as f64,
        weights_bytes_per_second: (time.weights_read_bytes > 0)
            .then(|| time.weights_read_bytes as f64 / time.seconds.max(f64::MIN_POSITIVE)),
        roofline: None,
        time,
    });
    rows.collect()
}
