//! `cargo demo`: from a signed package to generated text.
//!
//! Builds the host and the plugins, each apart; makes a throw-away key in a temporary data folder;
//! signs, trusts and installs the packages; lets a small committed model tell a story with installed
//! packages alone and again with the built-in ones; and shows that tokens and logits are the same
//! bits. Every step is the real `guild` binary in a process of its own.
#![forbid(unsafe_code)]

use clap::Parser;
use guild_demo::build::Profile;
use guild_demo::error::DemoError;
use guild_demo::guild::Guild;
use guild_demo::receipt::{self, Comparison, InstalledPackages};
use guild_demo::seed::ThrowAwayKey;
use guild_demo::staging::Package;
use guild_demo::{build, staging, upgrade};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Packages of this project that the demo installs.
const PACKAGES: [(&str, &str, &str); 2] = [
    (upgrade::PACKAGE, upgrade::MEMBER, upgrade::LIBRARY),
    (
        "org.guild.runners.qwen",
        "guild-plugin-qwen-cdylib",
        "libguild_qwen.so",
    ),
];
const MODEL: &str = "tests/models/mini-ornith/mini-ornith-Q8_0.gguf";
const PROMPT: &str = "Once upon a time";
const TOKENS: &str = "64";

/// From a signed package to generated text.
#[derive(Parser)]
struct Args {
    /// Keep bundles, public key and a receipt in this folder.
    #[arg(long, value_name = "DIR")]
    artifact_output: Option<PathBuf>,
    /// Add somebody else's staging folder. May be repeated.
    #[arg(long, value_name = "DIR")]
    package: Vec<PathBuf>,
    /// How the host and the plugins are compiled.
    #[arg(long, value_enum, default_value_t = Profile::Release)]
    profile: Profile,
}

fn main() -> std::process::ExitCode {
    match run(&Args::parse()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), DemoError> {
    let root = build::project_root()?;
    let folder =
        tempfile::tempdir().map_err(DemoError::io("make", Path::new("a temporary folder")))?;
    let binaries = build::binaries(&root, args.profile)?;
    step("Building the host");
    build::host(&root, args.profile)?;
    let mut packages = Vec::new();
    for (id, member, library) in PACKAGES {
        step(&format!("Building {id} apart"));
        build::plugin(&root, member, args.profile)?;
        let staged = folder.path().join("staging").join(id);
        staging::stage(
            &root.join("packages").join(id),
            &binaries.join(library),
            &staged,
        )?;
        packages.push(Package {
            folder: staged,
            id: id.to_owned(),
        });
    }
    for extra in &args.package {
        packages.push(Package {
            folder: extra.clone(),
            id: staging::package_id(extra)?,
        });
    }

    let guild = Guild::new(binaries.join("guild"), folder.path().join("data"));
    step("Making a throw-away key (a test identity)");
    let key = ThrowAwayKey::new(&guild, folder.path())?;
    let installed = sign_and_install(&guild, &key, folder.path(), &packages)?;
    let comparison = compare(&guild, folder.path(), &root.join(MODEL))?;
    print_active(&guild, &comparison.external)?;
    println!();
    show_upgrade(args, &root, &guild, &key, folder.path(), &comparison)?;
    if let Some(output) = &args.artifact_output {
        receipt::keep(
            &root,
            output,
            &binaries.join("guild"),
            &installed,
            &comparison,
        )?;
        step(&format!(
            "Kept the bundles, the public key and receipt.json in {}",
            output.display()
        ));
    }
    Ok(())
}

/// A newer version, back to the older one, and without it.
fn show_upgrade(
    args: &Args,
    root: &Path,
    guild: &Guild,
    key: &ThrowAwayKey,
    folder: &Path,
    comparison: &Comparison,
) -> Result<(), DemoError> {
    step(&format!(
        "Building another version of {} apart",
        upgrade::PACKAGE
    ));
    let staged = folder.join("staging").join("newer");
    let binaries = build::binaries(root, args.profile)?;
    upgrade::stage(root, &binaries, args.profile, &staged)?;
    let bundle = folder.join("newer.gkernel");
    sign(guild, key, &staged, &bundle)?;
    let model = root.join(MODEL);
    let run = ["run", text(&model), "-p", PROMPT, "-n", TOKENS];
    let tokens = &comparison.external["tokens"];
    upgrade::show(guild, text(&bundle), &run, tokens, |line| {
        println!("{line}")
    })
}

fn sign(
    guild: &Guild,
    key: &ThrowAwayKey,
    staged: &Path,
    bundle: &Path,
) -> Result<Value, DemoError> {
    guild.json(&[
        "kernel",
        "sign",
        text(staged),
        "--key-id",
        &key.id,
        "--seed-file",
        text(&key.seed),
        "--bundle",
        text(bundle),
    ])
}

fn sign_and_install(
    guild: &Guild,
    key: &ThrowAwayKey,
    folder: &Path,
    packages: &[Package],
) -> Result<InstalledPackages, DemoError> {
    let mut scopes = vec!["--scope", "org.guild"];
    for package in packages
        .iter()
        .filter(|package| !package.id.starts_with("org.guild."))
    {
        scopes.extend(["--scope", package.id.as_str()]);
    }
    let mut trust = vec!["kernel", "trust", "add", text(&key.public)];
    trust.extend(scopes);
    guild.json(&trust)?;
    let mut bundles = Vec::new();
    for package in packages {
        let bundle = folder.join(format!("{}.gkernel", package.id));
        sign(guild, key, &package.folder, &bundle)?;
        guild.json(&["kernel", "verify", text(&bundle), "--id", &package.id])?;
        let answer = guild.json(&["kernel", "install", text(&bundle), "--id", &package.id])?;
        let (id, version) = (string(&answer["id"]), string(&answer["version"]));
        step(&format!("Signed, verified and installed {id} {version}"));
        bundles.push((bundle, answer));
    }
    Ok(InstalledPackages {
        public_key: key.public.clone(),
        bundles,
    })
}

/// Runs the model with the installed packages alone, then with the built-in ones alone.
fn compare(guild: &Guild, folder: &Path, model: &Path) -> Result<Comparison, DemoError> {
    let builtin = guild.with_data_dir(folder.join("no-packages"));
    let model = text(model);
    let run = ["run", model, "-p", PROMPT, "-n", TOKENS];
    step("Running the model with installed packages alone");
    let external_run = guild.json(&[&run[..], &["--external-only"]].concat())?;
    step("Running it with the built-in packages alone");
    let builtin_run = builtin.json(&run)?;
    println!("{PROMPT}{}", string(&external_run["text"]));
    println!();
    same("token ids", &external_run["tokens"], &builtin_run["tokens"])?;

    // Of the prompt and of all that was told.
    let prompt = guild.json(&["tokenize", model, "-p", PROMPT])?;
    let tokens = [&prompt["ids"], &external_run["tokens"]];
    let ids = tokens.into_iter().flat_map(Value::as_array).flatten();
    let ids: Vec<String> = ids.map(Value::to_string).collect();
    let ids = ids.join(",");
    let files = [folder.join("external.npy"), folder.join("builtin.npy")];
    let logits = ["logits", model, "--ids", &ids, "--out"];
    guild.json(&[&logits[..], &[text(&files[0]), "--external-only"]].concat())?;
    builtin.json(&[&logits[..], &[text(&files[1])]].concat())?;
    let digests = [
        receipt::file_sha256(&files[0])?,
        receipt::file_sha256(&files[1])?,
    ];
    same(
        "logits (SHA-256)",
        &Value::from(digests[0].as_str()),
        &Value::from(digests[1].as_str()),
    )?;
    let [logits_sha256, _] = digests;
    Ok(Comparison {
        external: external_run,
        logits_sha256,
    })
}

fn same(what: &'static str, external: &Value, builtin: &Value) -> Result<(), DemoError> {
    if external != builtin {
        return Err(DemoError::Differs {
            what,
            external: external.to_string(),
            builtin: builtin.to_string(),
        });
    }
    println!("{what:<17} the same bits: {external}");
    Ok(())
}

/// Which package provides each operation, and what it ran in the external run.
fn print_active(guild: &Guild, run: &Value) -> Result<(), DemoError> {
    let active = guild.json(&["kernel", "active"])?;
    println!();
    println!(
        "{:<34} {:<32} {:>7} {:>8}",
        "operation", "package", "calls", "rows"
    );
    for entry in active["active"].as_array().into_iter().flatten() {
        let (name, package) = (string(&entry["name"]), string(&entry["package"]));
        let (calls, rows) = counts(run, name, package);
        let package = format!("{package} {}", string(&entry["version"]));
        println!("{name:<34} {package:<32} {calls:>7} {rows:>8}");
    }
    Ok(())
}

/// Calls and rows of an operation or runner in a run report.
fn counts(run: &Value, name: &str, package: &str) -> (u64, u64) {
    let packages = run["packages"].as_array().into_iter().flatten();
    let entries = packages
        .filter(|entry| entry["id"] == package)
        .flat_map(|entry| entry["operations"].as_array().into_iter().flatten())
        .filter(|entry| entry["name"] == name || entry["implementation"] == name);
    entries.fold((0, 0), |(calls, rows), entry| {
        let number = |key: &str| entry[key].as_u64().unwrap_or(0);
        (calls + number("calls"), rows + number("rows"))
    })
}

fn step(line: &str) {
    eprintln!("- {line}");
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Paths of the demo are its own temporary ones or come from the command line as text.
fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}
