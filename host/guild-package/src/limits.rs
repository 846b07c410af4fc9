//! Every size and count limit of the package formats, in one place.
//!
//! A limit is compared with the file's real length before anything is allocated from a declared size.
//! The numbers are part of the formats (`docs/package-format.md`, section 1): raising one is a format change.

/// Largest bundle file, in bytes.
pub const BUNDLE_MAX_BYTES: u64 = 1 << 30;
/// Most entries in a bundle, the manifest and the envelope included.
pub const BUNDLE_MAX_ENTRIES: usize = 256;
/// Longest entry name, in bytes.
pub const PATH_MAX_BYTES: usize = 120;
/// Most `/`-separated segments in an entry name.
pub const PATH_MAX_SEGMENTS: usize = 6;
/// Largest `manifest.json`, in bytes.
pub const MANIFEST_MAX_BYTES: u64 = 1 << 20;
/// Largest `signatures.json`, in bytes.
pub const ENVELOPE_MAX_BYTES: u64 = 64 << 10;
/// Most signatures, and most countersignatures, in an envelope.
pub const SIGNATURES_MAX: usize = 32;
/// Largest trust or generation file, in bytes.
pub const STATE_FILE_MAX_BYTES: u64 = 16 << 20;
/// Largest key record, seed file or `HEAD`, in bytes.
pub const SMALL_FILE_MAX_BYTES: u64 = 4 << 10;
/// Largest key rotation, advisory or checkpoint, in bytes.
pub const STATEMENT_MAX_BYTES: u64 = 64 << 10;
/// Most keys that an advisory withdraws, and most floors that it raises.
pub const ADVISORY_LIST_MAX: usize = 128;
/// Largest `package.toml`, in bytes.
pub const PACKAGE_TOML_MAX_BYTES: u64 = 256 << 10;
/// Deepest nesting of a JSON text.
pub const JSON_MAX_DEPTH: usize = 16;
/// Largest integer in a JSON text: 2^53 - 1, the largest that every JSON reader keeps exactly.
pub const JSON_MAX_INTEGER: u64 = (1 << 53) - 1;
/// Longest package id, operation name or runner id, in bytes.
pub const NAME_MAX_BYTES: usize = 96;
/// Most dotted labels in a package id, operation name or runner id.
pub const NAME_MAX_LABELS: usize = 8;
/// Longest version text, in bytes.
pub const VERSION_MAX_BYTES: usize = 64;
/// Longest text for people (`summary`, `license`, a label), in bytes.
pub const TEXT_MAX_BYTES: usize = 1 << 10;
/// Most elements in any list of a manifest.
pub const LIST_MAX: usize = 1024;
/// Largest answer of a trial run, in bytes.
pub const PROBE_ANSWER_MAX_BYTES: usize = 1 << 20;
/// Largest receipt, in bytes.
pub const RECEIPT_MAX_BYTES: u64 = 1 << 20;
/// Piece in which files are copied and hashed, in bytes.
pub const COPY_CHUNK_BYTES: usize = 256 << 10;
/// Largest file of golden vectors, in bytes.
pub const GOLDEN_MAX_BYTES: u64 = 1 << 20;
/// Largest relative error that a golden vector may allow, in units of 1e-9: one per cent.
pub const TOLERANCE_MAX: u64 = 10_000_000;
/// How far a release's security epoch may lie above its package's floor, unless a signer may raise epochs.
pub const EPOCH_RISE_MAX: u64 = 1000;
/// Largest body of a record of the audit log, in bytes.
pub const AUDIT_BODY_MAX_BYTES: usize = 4 << 10;
/// Largest segment of the audit log, in bytes.
pub const AUDIT_SEGMENT_MAX_BYTES: u64 = 1 << 20;
/// Most segments of the audit log.
pub const AUDIT_SEGMENTS_MAX: usize = 8;
/// Longest text of a record of the audit log, in bytes.
pub const AUDIT_DETAIL_MAX_BYTES: usize = 512;
/// The time within which the audit log has one record for refusals that are alike, and so many of all, in seconds.
pub const AUDIT_WINDOW_S: u64 = 60;
/// Most records of the audit log within that time.
pub const AUDIT_RECORDS_MAX: usize = 100;
/// Most kinds of refusals without a record that are counted apart.
pub const AUDIT_KINDS_MAX: usize = 32;
