//! A test's result, and its lines in each format.

use super::bandwidth::Bandwidth;
use super::case::Case;
use super::operations::OperationRow;
use super::rates::Rates;
use super::table::{self, Column, left, right};
use crate::args::TableFormat;
use serde::Serialize;

/// What a test gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseResult {
    /// The test's name.
    pub test: String,
    /// Prompt tokens.
    pub prompt: u64,
    /// Generated tokens.
    pub tokens: u64,
    /// Tokens before them.
    pub depth: u64,
    /// Rows in one pass of a prompt.
    pub batch: u64,
    /// Threads.
    pub threads: u32,
    /// Tokens per second.
    pub tps: Rates,
    /// Bytes of weights that a second of decode reads, at the median; null for a test with a prompt.
    pub weights_bytes_per_second: Option<f64>,
    /// That over the bandwidth of memory; null without `--roofline`.
    pub roofline: Option<f64>,
    /// What each operation took; empty without `--ops`.
    pub operations: Vec<OperationRow>,
}

const COLUMNS: [Column; 10] = [
    left("test", 14),
    right("depth", 7),
    right("batch", 6),
    right("threads", 7),
    right("median t/s", 11),
    right("min", 10),
    right("max", 10),
    right("sd", 8),
    right("runs", 5),
    right("weights GB/s", 12),
];

const OPERATION_COLUMNS: [Column; 12] = [
    left("test", 14),
    right("depth", 7),
    right("batch", 6),
    left("phase", 8),
    left("operation", 32),
    left("implementation", 28),
    right("calls", 7),
    right("rows", 9),
    right("ms", 10),
    right("share %", 8),
    right("us/call", 10),
    right("weights GB/s", 12),
];

const ROOFLINE_COLUMNS: [Column; 7] = [
    left("test", 14),
    right("depth", 7),
    right("threads", 7),
    left("operation", 32),
    right("weights GB/s", 12),
    right("memory GB/s", 12),
    right("reached %", 10),
];

/// A number of bytes a second as tables show it.
fn gigabytes(rate: Option<f64>) -> String {
    rate.map_or_else(String::new, |rate| format!("{:.2}", rate / 1e9))
}

/// The table of what decode reaches of the bandwidth of memory, with a line before it that is empty. A line
/// without an operation is of the whole test.
pub fn roofline_table(results: &[CaseResult], format: TableFormat) -> String {
    let mut text = format!("\n{}", table::header(format, &ROOFLINE_COLUMNS));
    for result in results {
        let whole = ("", result.weights_bytes_per_second, result.roofline);
        let operations = result.operations.iter();
        let operations = operations.map(|row| {
            let name = row.time.operation.as_str();
            (name, row.weights_bytes_per_second, row.roofline)
        });
        for (operation, rate, roofline) in std::iter::once(whole).chain(operations) {
            let (Some(rate), Some(roofline)) = (rate, roofline) else {
                continue;
            };
            let cells = [
                result.test.clone(),
                result.depth.to_string(),
                result.threads.to_string(),
                operation.to_owned(),
                gigabytes(Some(rate)),
                gigabytes(Some(rate / roofline.max(f64::MIN_POSITIVE))),
                format!("{:.1}", roofline * 100.0),
            ];
            text.push('\n');
            text.push_str(&table::row(format, &ROOFLINE_COLUMNS, &cells));
        }
    }
    text
}

/// The first line or lines of the table of results.
pub fn header(format: TableFormat) -> String {
    table::header(format, &COLUMNS)
}

impl CaseResult {
    /// The result of `case`; `read_bytes` are the weights that one decoded token reads.
    pub fn new(
        case: Case,
        batch: u64,
        threads: u32,
        tps: Rates,
        read_bytes: u64,
        operations: Vec<OperationRow>,
    ) -> CaseResult {
        let decode = case.prompt == 0;
        CaseResult {
            test: case.name(),
            prompt: case.prompt,
            tokens: case.tokens,
            depth: case.depth,
            batch,
            threads,
            weights_bytes_per_second: decode.then_some(read_bytes as f64 * tps.median),
            tps,
            roofline: None,
            operations,
        }
    }

    /// Compares what the test and its operations read with the bandwidth of memory at the test's threads.
    pub fn compare(&mut self, bandwidths: &[Bandwidth]) {
        let same = |bandwidth: &&Bandwidth| bandwidth.threads == self.threads;
        let Some(most) = bandwidths.iter().find(same).map(|one| one.bytes_per_second) else {
            return;
        };
        let over = |rate: Option<f64>| rate.map(|rate| rate / most.max(f64::MIN_POSITIVE));
        self.roofline = over(self.weights_bytes_per_second);
        for row in &mut self.operations {
            row.roofline = over(row.weights_bytes_per_second);
        }
    }

    /// Its line in the table of results.
    pub fn line(&self, format: TableFormat) -> String {
        let cells = [
            self.test.clone(),
            self.depth.to_string(),
            self.batch.to_string(),
            self.threads.to_string(),
            format!("{:.2}", self.tps.median),
            format!("{:.2}", self.tps.min),
            format!("{:.2}", self.tps.max),
            format!("{:.2}", self.tps.standard_deviation),
            self.tps.samples.len().to_string(),
            gigabytes(self.weights_bytes_per_second),
        ];
        table::row(format, &COLUMNS, &cells)
    }

    /// The table of its operations, with a line before it that is empty.
    pub fn operations_table(&self, format: TableFormat) -> String {
        let mut text = format!("\n{}", table::header(format, &OPERATION_COLUMNS));
        for row in &self.operations {
            let cells = [
                self.test.clone(),
                self.depth.to_string(),
                self.batch.to_string(),
                row.phase.name().to_owned(),
                row.time.operation.clone(),
                row.time.provider.implementation.clone(),
                row.time.calls.to_string(),
                row.time.rows.to_string(),
                format!("{:.3}", row.time.seconds * 1e3),
                format!("{:.1}", row.share * 100.0),
                format!("{:.2}", row.call_us),
                gigabytes(row.weights_bytes_per_second),
            ];
            text.push('\n');
            text.push_str(&table::row(format, &OPERATION_COLUMNS, &cells));
        }
        text
    }
}
