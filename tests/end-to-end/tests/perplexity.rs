//! Perplexity against llama.cpp's on the same files, text and windows (`tests/data/perplexity`).

use guild_end_to_end::{CPU, QWEN, SMALL_BF16, Site, TINY_Q4_K_M, file, json_file};
use serde_json::Value;
use std::path::Path;

const TEXT: &str = "tests/data/perplexity/text.txt";

/// llama.cpp's figures for a model file, or an explanation of their absence.
fn figures(model: &Path) -> Option<Value> {
    let name = model.file_name().unwrap().to_string_lossy();
    let all = json_file("tests/data/perplexity/figures.json");
    let models = all["models"].as_array().unwrap();
    models.iter().find(|entry| entry["model"] == *name).cloned()
}

/// Which of llama.cpp's two runs to compare with.
#[derive(Clone, Copy)]
enum Run {
    /// The file, with activations rounded to the weights' kind.
    AsItIs,
    /// The same weights as F32, with no rounding of activations.
    WidenedToF32,
}

/// Evaluates the first `chunks` windows and returns the relative deviation after the last one.
fn deviation(site: &Site, model: &Path, chunks: usize, run: Run) -> f64 {
    let run = match run {
        Run::AsItIs => "as_it_is",
        Run::WidenedToF32 => "widened_to_f32",
    };
    let theirs = &figures(model).unwrap()[run]["running"][chunks - 1];
    let (text, count) = (file(TEXT), chunks.to_string());
    let model = model.to_string_lossy();
    let line = [
        "perplexity",
        &model,
        "-f",
        &text,
        "--chunks",
        &count,
        "--kv",
        "f32",
    ];
    let ours = site.guild.json(&line).unwrap();
    assert_eq!(ours["running"].as_array().unwrap().len(), chunks);
    assert_eq!(ours["tokens_scored"], 255 * chunks);
    let (ours, theirs) = (ours["perplexity"].as_f64(), theirs.as_f64().unwrap());
    let deviation = ours.unwrap() / theirs - 1.0;
    eprintln!(
        "{model}: {ours:?} against {theirs}, {:+.4} %",
        deviation * 100.0
    );
    deviation.abs()
}

/// guild multiplies BF16 weights with f32 activations, so it agrees with llama.cpp's f32 run.
#[test]
fn the_bf16_model_has_the_perplexity_that_llama_cpp_finds() {
    let site = Site::with(&[CPU, QWEN]);
    let model = file(SMALL_BF16);
    assert!(deviation(&site, Path::new(&model), 4, Run::WidenedToF32) <= 2e-5);
}

/// Both round activations, each its own way. A model of random weights is so far from certain that one
/// window's perplexity moves by 1.9 % (standard deviation); over thirty windows that is 0.34 %.
#[test]
fn the_quantised_model_agrees_within_the_noise_of_rounding() {
    let site = Site::with(&[CPU, QWEN]);
    let model = file(TINY_Q4_K_M);
    assert!(deviation(&site, Path::new(&model), 30, Run::AsItIs) <= 1e-2);
}

/// As above, but one window moves by 0.5 %, and seventeen by 0.12 %.
#[test]
fn a_real_model_agrees_within_the_noise_of_rounding() {
    let variable = "GUILD_TEST_SMOLLM2";
    let Some(model) = std::env::var_os(variable) else {
        eprintln!("skipped: {variable} names no SmolLM2-135M-Instruct.Q4_1.gguf");
        return;
    };
    let site = Site::new();
    assert!(deviation(&site, Path::new(&model), 17, Run::AsItIs) <= 2e-3);
}

/// The exit code for a text file with these bytes, and the failure's object.
fn failure(site: &Site, bytes: &[u8], more: &[&str]) -> (i32, String) {
    let text = site.path("text.txt").to_string_lossy().into_owned();
    std::fs::write(&text, bytes).unwrap();
    let model = file(SMALL_BF16);
    let line = [&["perplexity", &model, "-f", &text], more].concat();
    let output = site.output(&line);
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code().unwrap(), words)
}

#[test]
fn texts_that_cannot_be_scored_are_refused() {
    let site = Site::new();
    let (code, words) = failure(&site, b"", &[]);
    assert!(code == 2 && words.contains("has no text"), "{words}");
    let (code, words) = failure(&site, b"\n", &[]);
    assert!(code == 2 && words.contains("has no text"), "{words}");
    let (code, words) = failure(&site, b"abc\xff", &[]);
    assert!(code == 3 && words.contains("byte 3"), "{words}");
    let (code, words) = failure(&site, b"a short text", &[]);
    assert!(
        code == 2 && words.contains("windows of 512 need 1024"),
        "{words}"
    );
    let (code, words) = failure(&site, b"a text", &["-c", "3"]);
    assert!(code == 2 && words.contains("4 is the shortest"), "{words}");
    let missing = site.output(&["perplexity", &file(SMALL_BF16), "-f", "no-such-text"]);
    assert_eq!(missing.status.code(), Some(40));
}

#[test]
fn batch_and_threads_change_no_bit() {
    let site = Site::with(&[CPU, QWEN]);
    let (model, text) = (file(SMALL_BF16), file(TEXT));
    let ask = |more: &[&str]| {
        let line = [
            "perplexity",
            &model,
            "-f",
            &text,
            "-c",
            "64",
            "--chunks",
            "2",
        ];
        let answer = site.guild.json(&[&line[..], more].concat()).unwrap();
        (answer["running"].clone(), answer["error"].clone())
    };
    let first = ask(&[]);
    assert_eq!(first, ask(&["-b", "7", "-t", "1"]));
}
