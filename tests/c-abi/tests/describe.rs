//! `guild/describe.h` keeps what its head promises: `describe.c` calls it with a made-up host, built with
//! the compiler's sanitizers where it has them.

use std::{
    error::Error,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

const FLAGS: [&str; 6] = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g"];

const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

#[test]
fn the_conveniences_for_c_hold_up() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let probe = folder.join("describe_probe.c");
    std::fs::write(&probe, "int main(void) { return 0; }\n")?;
    let mut more = &SANITIZERS[..];
    if run(&probe, more).is_err() {
        // Straight to stderr: the harness hides the printed lines of a passing test.
        writeln!(
            std::io::stderr(),
            "SKIPPED: cc has no sanitizers; describe.c ran without them"
        )?;
        more = &[];
    }
    let said = run(
        &guild_c_abi::root().join("tests/c-abi/tests/describe.c"),
        more,
    )?;
    assert_eq!(said, "12 checks\n");
    Ok(())
}

/// Compiles and runs a program; gives what it said.
fn run(source: &Path, more: &[&str]) -> Result<String, Box<dyn Error>> {
    let stem = source.file_stem().ok_or("a source without a name")?;
    let program: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(stem);
    let mut compiler = Command::new("cc");
    compiler.args(FLAGS).args(more).arg("-I");
    compiler.arg(guild_c_abi::root().join("include"));
    succeed(compiler.arg(source).arg("-o").arg(&program))?;
    succeed(&mut Command::new(program))
}

/// Runs a command that must end well; gives its standard output.
fn succeed(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output()?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{text}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
