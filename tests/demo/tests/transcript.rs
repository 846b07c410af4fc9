//! What the README says `cargo demo` prints is what it prints.

use std::process::Command;

#[test]
fn the_readmes_transcript_is_what_the_demo_prints() {
    let readme = include_str!("../../../README.md");
    let block = readme.split("```text\n$ cargo demo\n").nth(1);
    let block = block.and_then(|block| block.split("```").next());
    let transcript = block.expect("the README has a block that starts with `$ cargo demo`");

    // Compiled as the tests are, so that nothing is compiled twice. The bits are the same.
    let output = Command::new(env!("CARGO_BIN_EXE_guild-demo"))
        .args(["--profile", "dev"])
        .env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let steps = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{steps}");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(steps + &printed, transcript);
}
