//! How much a chat template may do. A conversation of a hundred thousand tokens stays far below each limit.

use std::time::Duration;

/// Bytes of a template's source. The largest templates in use have some 17 KiB; the engine counts lines and columns in 16
/// bits.
pub const TEMPLATE_BYTES_MAX: usize = u16::MAX as usize - 1;
/// Bytes of one tag, such as `{{ … }}`. Compiling one takes time that grows with the square of its operators.
pub const TAG_BYTES_MAX: usize = 16 << 10;
/// Work of one rendering in minijinja's unit: an instruction, or [`FUEL_BYTES`] of data. It pays for 256 MiB of values,
/// of a value's own size: with the allocator's share and a list's room to grow they take up to four times that. What
/// the engine can't be made to pay for first, comparisons and the text of a list after `~`, meets [`TIME_MAX`].
pub const FUEL: u64 = 4 << 20;
/// Bytes of data that cost as much as an instruction.
pub const FUEL_BYTES: u64 = 64;
/// The longest that one rendering may take.
pub const TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of the rendered text.
pub const OUTPUT_BYTES_MAX: usize = 64 << 20;
/// Levels of a value that a template stores in a namespace or writes as JSON.
pub const VALUE_LEVELS_MAX: usize = 128;
/// Spaces that `tojson` indents by at most.
pub const INDENT_MAX: usize = 64;
/// Bytes of a format given to `strftime_now`.
pub const TIME_FORMAT_BYTES_MAX: usize = 256;
/// Bytes of the characters that `strip` and `trim` are given.
pub const STRIPPED_BYTES_MAX: usize = 4 << 10;
/// Digits of a number inside a format string, as in `{:>80}`.
pub const FORMAT_WIDTH_DIGITS_MAX: usize = 4;
/// Stack of the thread that compiles and renders. It is reserved, not used: only what a template needs is touched.
pub const STACK_BYTES: usize = 256 << 20;
