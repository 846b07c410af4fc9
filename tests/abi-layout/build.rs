//! Gathers the ABI's sources and the v1 snapshot into one module each, as `StableAbi` needs them.
//!
//! The sources carry `StableAbi` derives under `guild_layout_check`, which is set here alone.
//! `StableAbi` follows a function pointer that stands in a field, but not one behind a type alias,
//! so an alias of a function pointer becomes a transparent struct around it. Nothing else changes.

use std::{env, error::Error, fs, path::Path};

const MODULES: [&str; 7] = [
    "abi", "core_ops", "counters", "device", "formats", "ops", "runner",
];

/// Copies with one change each, to show that the checker sees it: module, before, after.
const CHANGES: [(&str, &str, &str); 4] = [
    // A field behind three pointers and a function's argument.
    ("changed_field", "pub slot: u32,", "pub slot: i32,"),
    ("changed_name", "pub seq_stride: u64,", "pub seq_step: u64,"),
    (
        "changed_argument",
        "lo: u64, hi: u64, worker: u32",
        "lo: u64, hi: u64, worker: i32",
    ),
    (
        "changed_size",
        "pub snapshot_slots: *const u32,",
        "pub snapshot_slots: *const u32, pub more: u64,",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rustc-cfg=guild_layout_check");
    println!("cargo::rerun-if-changed=build.rs");
    let here = env::var("CARGO_MANIFEST_DIR")?;
    let out = env::var("OUT_DIR")?;
    let now = Path::new(&here).join("../../sdk/guild-abi/src");
    let then = Path::new(&here).join("snapshot/v1");
    fs::write(Path::new(&out).join("current.rs"), gather(&now, &MODULES)?)?;
    fs::write(
        Path::new(&out).join("snapshot_v1.rs"),
        gather(&then, &MODULES)?,
    )?;
    let abi = gather(&then, &["abi"])?;
    for (name, before, after) in CHANGES {
        if abi.matches(before).count() != 1 {
            return Err(format!("{name}: `{before}` must stand in abi.rs once").into());
        }
        fs::write(
            Path::new(&out).join(name).with_extension("rs"),
            abi.replace(before, after),
        )?;
    }
    Ok(())
}

fn gather(folder: &Path, modules: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    for module in modules {
        let file = folder.join(module).with_extension("rs");
        println!("cargo::rerun-if-changed={}", file.display());
        let source = fs::read_to_string(file)?;
        text.push_str(&format!("#[allow(missing_docs)]\npub mod {module} {{\n"));
        text.push_str(&wrap_aliases(&source)?);
        text.push_str("}\n");
    }
    Ok(text)
}

/// Turns `pub type name = Option<...>;` into a transparent struct.
fn wrap_aliases(source: &str) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("pub type ") {
        let (alias, after) = after.split_once(';').ok_or("a type alias doesn't end")?;
        let (name, ty) = alias.split_once('=').ok_or("a type alias has no `=`")?;
        text.push_str(before);
        if ty.trim_start().starts_with("Option<") {
            text.push_str("#[repr(transparent)]\n#[derive(Clone, Copy, abi_stable::StableAbi)]\n");
            text.push_str(&format!("pub struct {name}(pub {ty});"));
        } else {
            text.push_str(&format!("pub type {alias};"));
        }
        rest = after;
    }
    Ok(text + rest)
}
