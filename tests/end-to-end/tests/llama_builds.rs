//! The C runner's library, built by the very commands of `docs/adding-an-architecture.md`.

use guild_end_to_end::{
    CPU, LLAMA, LLAMA_FACTORS, Site, file, id_list, json_file, page_commands, shell,
};
use std::path::{Path, PathBuf};
use std::process::Command;

const GOLDEN: &str = "tests/models/llama-small-factors.golden.json";
const CMAKE: &str = "cmake -S plugins/llama -B BUILD -DCMAKE_BUILD_TYPE=Release";

/// The symbols that a library lets others see.
fn exports(library: &Path) -> Vec<String> {
    let mut nm = Command::new("nm");
    let output = nm.args(["-D", "--defined-only"]).arg(library).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split(' ').next_back());
    names.map(str::to_owned).collect()
}

/// The logits of the small model, by installed packages alone.
fn logits(site: &Site) -> Vec<u8> {
    let ids = id_list(&json_file(GOLDEN)["prompt_ids"]);
    site.logits(LLAMA_FACTORS, &ids, &["--external-only"], &[])
}

#[test]
fn cc_makes_a_library_that_exports_the_entry_alone() {
    let site = Site::new();
    let staged = site.stage(LLAMA);
    let library = staged.join("lib").join(LLAMA.2);
    assert_eq!(exports(&library), ["guild_plugin_entry_v1"]);
}

#[test]
fn cmake_makes_a_library_that_does_the_same() {
    if Command::new("cmake").arg("--version").output().is_err() {
        eprintln!("skipped: there is no cmake");
        return;
    }
    let site = Site::with(&[CPU]);
    let build = site.path("cmake-build");
    let commands = page_commands(CMAKE).replace("BUILD -D", "BUILD_FOLDER -D");
    let commands = commands.replace("--build BUILD", "--build BUILD_FOLDER");
    shell(&commands.replace("BUILD_FOLDER", &build.to_string_lossy()));
    let library = build.join(LLAMA.2);
    assert_eq!(exports(&library), ["guild_plugin_entry_v1"]);

    let staged = site.stage_library(LLAMA.0, &library);
    let bundle = site.sign(&staged, LLAMA.0);
    site.guild.json(&["kernel", "install", &bundle]).unwrap();
    assert!(logits(&site) == logits(&Site::with(&[CPU, LLAMA])));
}

/// An architecture needs no change of the host: one that was built without any package runs it.
#[test]
fn a_host_without_built_in_packages_runs_the_installed_runner() {
    let variable = "GUILD_TEST_BARE_HOST";
    let Some(binary) = std::env::var_os(variable) else {
        eprintln!("skipped: {variable} names no guild built with --no-default-features");
        return;
    };
    let site = Site::with(&[CPU, LLAMA]);
    let bare = site.under(PathBuf::from(binary));
    let golden = json_file(GOLDEN);
    let prompt = golden["prompt_ids"].as_array().unwrap()[..16].to_vec();
    let (model, prompt) = (file(LLAMA_FACTORS), id_list(&prompt.into()));
    let run = [
        "run",
        &model,
        "--prompt-ids",
        &prompt,
        "-n",
        "48",
        "--ignore-eos",
        "--kv",
        "f32",
    ];
    assert_eq!(bare.json(&run).unwrap()["tokens"], golden["greedy_from_16"]);
    let empty = Site::new().under(PathBuf::from(std::env::var_os(variable).unwrap()));
    assert_eq!(empty.command(&run).status().unwrap().code(), Some(4));
}
