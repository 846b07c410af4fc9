//! Perplexity against llama.cpp's on the same files, text and windows (`tests/data/perplexity`).
//!
//! The sharp comparison is the one in which nothing is rounded: guild multiplies BF16 weights with f32 activations, as
//! llama.cpp does once the weights are widened to F32. Quantised weights are multiplied with rounded activations, by
//! each of the two in its own way; what is left there is the noise of two roundings.

use guild_end_to_end::{CPU, QWEN, SMALL_BF16, Site, TINY_Q4_K_M, file, json_file};
use serde_json::Value;
use std::path::{Path, PathBuf};

const TEXT: &str = "tests/data/perplexity/text.txt";

/// llama.cpp's figures for a model file, `None` where there are none.
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

/// Evaluates the first `chunks` windows and returns the relative deviation after each.
fn deviations(site: &Site, model: &Path, chunks: usize, run: Run) -> Vec<f64> {
    let run = match run {
        Run::AsItIs => "as_it_is",
        Run::WidenedToF32 => "widened_to_f32",
    };
    let theirs = running(&figures(model).unwrap()[run]);
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
    assert_eq!(ours["tokens_scored"], 255 * chunks);
    let answer = running(&ours);
    assert_eq!(answer.len(), chunks);
    assert_eq!(ours["perplexity"], answer[chunks - 1]);
    let pairs = answer.iter().zip(&theirs);
    let deviations: Vec<f64> = pairs.map(|(ours, theirs)| ours / theirs - 1.0).collect();
    eprintln!("{model}: {:+.2e}", deviations[chunks - 1]);
    deviations.into_iter().map(f64::abs).collect()
}

/// The perplexity after each window.
fn running(run: &Value) -> Vec<f64> {
    let values = run["running"].as_array().unwrap().iter();
    values.map(|value| value.as_f64().unwrap()).collect()
}

/// Nothing is rounded: after every window guild agrees with llama.cpp's f32 run to 1e-5. Measured: 2.5e-6 at most, in
/// the first window, and 1.4e-7 after the last; llama.cpp prints four decimals.
fn agrees_exactly(site: &Site, model: &Path) {
    let deviations = deviations(site, model, 30, Run::WidenedToF32);
    let largest = deviations.into_iter().fold(0.0, f64::max);
    assert!(largest <= 1e-5, "{}: {largest:e}", model.display());
}

#[test]
fn the_bf16_model_has_the_perplexity_that_llama_cpp_finds() {
    let site = Site::with(&[CPU, QWEN]);
    agrees_exactly(&site, Path::new(&file(SMALL_BF16)));
}

#[test]
fn a_given_bf16_model_has_the_perplexity_that_llama_cpp_finds() {
    let variable = "GUILD_TEST_GOLDEN_MODEL";
    let model = std::env::var_os(variable).map(PathBuf::from);
    let Some(model) = model.filter(|model| figures(model).is_some()) else {
        eprintln!("skipped: {variable} names no qwen35moe-tiny-bf16.gguf");
        return;
    };
    agrees_exactly(&Site::with(&[CPU, QWEN]), &model);
}

/// The noise of two roundings, so this can't be sharp: a model of random weights is so far from certain that the
/// logarithm of one window's perplexity differs by 1.85 % (standard deviation), which over thirty windows is a standard
/// error of 0.34 %. Measured: 0.36 %. Three standard errors are allowed.
#[test]
fn the_quantised_model_agrees_within_the_noise_of_rounding() {
    let site = Site::with(&[CPU, QWEN]);
    let model = file(TINY_Q4_K_M);
    let deviations = deviations(&site, Path::new(&model), 30, Run::AsItIs);
    assert!(deviations[29] <= 1e-2);
}

/// As above: the standard error is 0.12 % over seventeen windows. 0.1 % was aimed at and isn't reached: measured is
/// 0.13 %, which the noise alone explains. 0.2 % is allowed.
#[test]
fn a_real_model_agrees_within_the_noise_of_rounding() {
    let variable = "GUILD_TEST_SMOLLM2";
    let Some(model) = std::env::var_os(variable) else {
        eprintln!("skipped: {variable} names no SmolLM2-135M-Instruct.Q4_1.gguf");
        return;
    };
    let site = Site::new();
    let deviations = deviations(&site, Path::new(&model), 17, Run::AsItIs);
    assert!(deviations[16] <= 2e-3);
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
    assert!(code == 2 && words.contains("byte 3"), "{words}");
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

/// How many tokens a text with markers has, by the `tokenizers` Python package.
#[test]
fn markers_are_text_unless_they_are_asked_for() {
    let site = Site::with(&[CPU, QWEN]);
    let golden = json_file("tests/data/tokenizer/qwen35moe-tiny.json");
    let length = |ids: &Value| ids.as_array().map_or(0, Vec::len);
    let [plain, special] = ["ids_without_control", "ids"];
    let mut cases = golden["cases"].as_array().unwrap().iter();
    // Two windows of four at least.
    let case = cases
        .find(|case| length(&case[plain]) > length(&case[special]) && length(&case[special]) >= 8);
    let (case, model) = (case.unwrap(), file(TINY_Q4_K_M));
    let path = site.path("markers.txt").to_string_lossy().into_owned();
    // One newline at the end of a file is left out.
    std::fs::write(&path, format!("{}\n", case["text"].as_str().unwrap())).unwrap();
    let line = [
        "perplexity",
        &model,
        "-f",
        &path,
        "-c",
        "4",
        "--chunks",
        "1",
    ];
    for (more, ids) in [(&[][..], plain), (&["--special"][..], special)] {
        let answer = site.guild.json(&[&line[..], more].concat()).unwrap();
        assert_eq!(answer["tokens"], length(&case[ids]), "{more:?}");
    }
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
