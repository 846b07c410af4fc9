//! A test's result, and its lines in each format.

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

const OPERATION_COLUMNS: [Column; 11] = [
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
];

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
            operations,
        }
    }

    /// Its line in the table of results.
    pub fn line(&self, format: TableFormat) -> String {
        let rate = self.weights_bytes_per_second;
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
            rate.map_or_else(String::new, |rate| format!("{:.2}", rate / 1e9)),
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
            ];
            text.push('\n');
            text.push_str(&table::row(format, &OPERATION_COLUMNS, &cells));
        }
        text
    }
}
