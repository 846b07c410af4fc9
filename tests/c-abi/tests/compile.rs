//! Every header compiles alone, in every language that promises to read it, without a warning.

use std::{
    error::Error,
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

const WARNINGS: [&str; 5] = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"];

const LANGUAGES: [(&str, &str); 3] = [("c", "-std=c99"), ("c", "-std=c11"), ("c++", "-std=c++17")];

#[test]
fn c99() -> Result<(), Box<dyn Error>> {
    // Hidden padding is a warning here, so the headers hold to "all padding is a named field".
    each_header("c", "-std=c99", &["-Wpadded"])
}

#[test]
fn c11() -> Result<(), Box<dyn Error>> {
    each_header("c", "-std=c11", &[])
}

#[test]
fn cpp17() -> Result<(), Box<dyn Error>> {
    each_header("c++", "-std=c++17", &[])
}

#[test]
fn a_wrong_layout_does_not_compile() -> Result<(), Box<dyn Error>> {
    // Two fields in the other order must be seen by each form of the assertion.
    let wrong = "#define guild_err guild_err_unused\n\
                 #include \"guild/abi.h\"\n\
                 #undef guild_err\n\
                 typedef struct { guild_hdr h; int32_t vendor_code, code; uint32_t vendor_domain, \
                 cap, len, reserved; uint8_t *buf; } guild_err;\n\
                 #include \"guild/layout.h\"\n";
    for (language, standard) in LANGUAGES {
        let output = compile("gcc", language, standard, &[], wrong)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success(),
            "{standard} accepted a wrong layout"
        );
        assert!(text.contains("guild_err_code"), "{standard}: {text}");
    }
    Ok(())
}

#[test]
fn symbolic_dimensions_are_unsigned() -> Result<(), Box<dyn Error>> {
    let source = "#include \"guild/runner.h\"\n\
                  #if GUILD_DIM_ROWS != 18446744073709551615u\n#error rows\n#endif\n\
                  #if GUILD_DIM_OUTPUTS != 18446744073709551614u\n#error outputs\n#endif\n\
                  #if !(GUILD_DIM_OUTPUTS > 0)\n#error signed\n#endif\n";
    for (language, standard) in LANGUAGES {
        let output = compile("gcc", language, standard, &[], source)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{standard}: {text}");
    }
    Ok(())
}

fn each_header(language: &str, standard: &str, more: &[&str]) -> Result<(), Box<dyn Error>> {
    for compiler in ["gcc", "clang"] {
        if Command::new(compiler).arg("--version").output().is_err() {
            assert_ne!(
                compiler, "gcc",
                "a C compiler called gcc is needed for this test"
            );
            // Straight to stderr: the harness hides the printed lines of a passing test.
            writeln!(
                std::io::stderr(),
                "SKIPPED: no {compiler}, {standard} was checked with gcc only"
            )?;
            continue;
        }
        for header in headers()? {
            let source = format!("#include \"guild/{header}\"\n");
            let output = compile(compiler, language, standard, more, &source)?;
            assert!(
                output.status.success(),
                "{compiler} {standard} {header}:\n{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    Ok(())
}

fn headers() -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(include_dir().join("guild"))? {
        names.push(
            entry?
                .file_name()
                .into_string()
                .map_err(|_| "a header's name isn't UTF-8")?,
        );
    }
    assert!(names.len() >= 8, "headers are missing: {names:?}");
    Ok(names)
}

fn compile(
    compiler: &str,
    language: &str,
    standard: &str,
    more: &[&str],
    source: &str,
) -> Result<std::process::Output, Box<dyn Error>> {
    let mut child = Command::new(compiler)
        .args([standard, "-x", language])
        .args(WARNINGS)
        .args(more)
        .arg("-I")
        .arg(include_dir())
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    child
        .stdin
        .take()
        .ok_or("no stdin")?
        .write_all(source.as_bytes())?;
    Ok(child.wait_with_output()?)
}

fn include_dir() -> std::path::PathBuf {
    Path::new(&guild_c_abi::root()).join("include")
}
