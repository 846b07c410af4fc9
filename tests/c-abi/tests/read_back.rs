//! The committed bindings are what bindgen reads from the headers.

use std::io::Write;

#[test]
fn committed_bindings_are_what_bindgen_reads() -> Result<(), Box<dyn std::error::Error>> {
    if let Err(reason) = std::panic::catch_unwind(bindgen::clang_version) {
        let reason = reason.downcast_ref::<String>().map_or("", String::as_str);
        // Straight to stderr: the harness hides the printed lines of a passing test.
        writeln!(
            std::io::stderr(),
            "SKIPPED: no libclang, so the bindings were compared but not made anew ({reason})"
        )?;
        return Ok(());
    }
    let header = guild_c_abi::root().join("include/guild/guild.h");
    let text = bindgen::Builder::default()
        .header(header.to_str().ok_or("the checkout's path isn't UTF-8")?)
        .allowlist_item("(guild|GUILD)_.*")
        .blocklist_item("GUILD_.*_H")
        // A declaration of a foreign function is unsafe code, which this crate forbids.
        .blocklist_function("guild_plugin_entry_v1")
        .clang_macro_fallback()
        .clang_macro_fallback_build_dir(env!("CARGO_TARGET_TMPDIR"))
        .use_core()
        .layout_tests(true)
        .generate_comments(false)
        .disable_header_comment()
        .formatter(bindgen::Formatter::Prettyplease)
        .raw_line(
            "//! bindgen's reading of `include/guild/guild.h`; made by tests/c-abi, don't edit.",
        )
        .generate()?
        .to_string();
    assert!(
        guild_c_abi::refresh("tests/c-abi/src/bindings.rs", &text)?,
        "src/bindings.rs was written anew: commit the change and run the tests again"
    );
    Ok(())
}
