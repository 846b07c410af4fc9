//! The second half of the demo: a newer version of a package, back to the older one, and without it, under one host that
//! stays as it is.

use crate::build::{self, Profile};
use crate::error::DemoError;
use crate::guild::Guild;
use crate::receipt::file_sha256;
use crate::staging;
use serde_json::Value;
use std::path::Path;

/// The package that gets a newer version.
pub const PACKAGE: &str = "org.guild.kernels.cpu";
/// What builds it.
pub const MEMBER: &str = "guild-plugin-cpu-cdylib";
/// The library's file.
pub const LIBRARY: &str = "libguild_cpu.so";
const OLD: &str = "1.0.0";
const NEW: &str = "1.0.1";

/// Stages the newer version, built apart from everything that ran so far.
pub fn stage(
    root: &Path,
    binaries: &Path,
    profile: Profile,
    staged: &Path,
) -> Result<(), DemoError> {
    build::cpu_version(root, MEMBER, NEW, profile)?;
    let package = root.join("packages").join(PACKAGE);
    staging::stage(&package, &binaries.join(LIBRARY), staged)?;
    staging::set_version(staged, OLD, NEW)
}

/// Runs the model under each selection: the newer version, the older one again, none. The token ids are `tokens` each
/// time, the package that provided them is another, and the host is the same file. `run` is the command line of a run
/// that may use the built-in packages.
pub fn show(
    guild: &Guild,
    bundle: &str,
    run: &[&str],
    tokens: &Value,
    mut say: impl FnMut(String),
) -> Result<(), DemoError> {
    let host = file_sha256(guild.binary())?;
    let external = [run, &["--external-only"]].concat();
    let turns: [(&[&str], &[&str], String); 3] = [
        (
            &["kernel", "install", bundle],
            &external,
            format!("{PACKAGE} {NEW}"),
        ),
        (
            &["kernel", "rollback"],
            &external,
            format!("{PACKAGE} {OLD}"),
        ),
        (
            &["kernel", "disable", PACKAGE],
            run,
            format!("builtin.{PACKAGE} {OLD}"),
        ),
    ];
    for (select, run, expected) in turns {
        guild.json(select)?;
        let answer = guild.json(run)?;
        let provider = provider(&answer);
        check("the provider", &provider, &expected)?;
        check(
            "the token ids",
            &answer["tokens"].to_string(),
            &tokens.to_string(),
        )?;
        say(format!(
            "`guild {}`: the same token ids by {provider}",
            words(select)
        ));
    }
    check("the host's SHA-256", &file_sha256(guild.binary())?, &host)?;
    say("The host's file is the same all the time".to_owned());
    Ok(())
}

/// Which package ran the linear operations.
fn provider(answer: &Value) -> String {
    let packages = answer["packages"].as_array().into_iter().flatten();
    let ran = |package: &&Value| {
        let operations = package["operations"].as_array().into_iter().flatten();
        let mut calls = operations.filter(|operation| operation["name"] == "guild.core.linear@1");
        calls.any(|operation| operation["calls"].as_u64() > Some(0))
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let names = packages
        .filter(ran)
        .map(|package| format!("{} {}", text(&package["id"]), text(&package["version"])));
    names.collect::<Vec<_>>().join(" and ")
}

/// The command without the folder of the bundle.
fn words(select: &[&str]) -> String {
    let short = |word: &&str| {
        let name = Path::new(word).file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    select.iter().map(short).collect::<Vec<_>>().join(" ")
}

fn check(what: &'static str, found: &str, expected: &str) -> Result<(), DemoError> {
    match found == expected {
        true => Ok(()),
        false => Err(DemoError::Changed {
            what,
            found: found.to_owned(),
            expected: expected.to_owned(),
        }),
    }
}
