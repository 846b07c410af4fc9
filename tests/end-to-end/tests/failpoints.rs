//! Row 60: the program for use has no place at which a test could make it fail.

use guild_end_to_end::binaries;

#[test]
fn row_60_the_program_has_no_failpoints() {
    let program = std::fs::read(binaries().join("guild")).unwrap();
    // `guild-crash`'s test of the boundaries finds both in the program that it builds.
    for text in [&b"GUILD_FAILPOINT"[..], b"failpoint reached"] {
        let is_there = program.windows(text.len()).any(|window| window == text);
        assert!(!is_there, "{}", String::from_utf8_lossy(text));
    }
}
