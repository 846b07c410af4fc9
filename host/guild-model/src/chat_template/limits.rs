//! How much a chat template may do. A conversation of a hundred thousand tokens stays far below each limit.

/// Bytes of a template's source. The largest templates in use have some 17 KiB; the engine counts lines and columns in 16
/// bits.
pub const TEMPLATE_BYTES_MAX: usize = u16::MAX as usize - 1;
/// Bytes of one tag, such as `{{ … }}`. Compiling one takes time that grows with the square of its operators.
pub const TAG_BYTES_MAX: usize = 16 << 10;
/// Work of one rendering in minijinja's unit: an instruction, or 64 bytes of data. It bounds the memory that values
/// take to 256 MiB.
pub const FUEL: u64 = 4 << 20;
/// Bytes of the rendered text.
pub const OUTPUT_BYTES_MAX: usize = 64 << 20;
/// Levels of a value that a template stores in a namespace or writes as JSON.
pub const VALUE_LEVELS_MAX: usize = 128;
/// Spaces that `tojson` indents by at most.
pub const INDENT_MAX: usize = 64;
/// Bytes of a format given to `strftime_now`.
pub const TIME_FORMAT_BYTES_MAX: usize = 256;
/// Digits of a number inside a format string, as in `{:>80}`.
pub const FORMAT_WIDTH_DIGITS_MAX: usize = 4;
/// Stack of the thread that compiles and renders. It is reserved, not used: only what a template needs is touched.
pub const STACK_BYTES: usize = 256 << 20;
