//! `mini-ornith`, which was trained on a language of our own (`tests/models/mini-ornith`), through the whole program:
//! the numbers that transformers finds, and text that the language's grammar accepts.
//!
//! The committed file is Q8_0, and its values are BF16 ones too. transformers computes with them in f32. guild rounds
//! activations to 8 bits where weights are Q8_0 and not at all where they are BF16, so the file with the same values
//! in BF16 is the one that is held to transformers' numbers closely.

use guild_end_to_end::bf16_twin::bf16_twin;
use guild_end_to_end::language::{END_OF_TEXT, Language};
use guild_end_to_end::{CPU, MINI_ORNITH, QWEN, Site, file, id_list, json_file, npy_values, root};
use guild_model::{GgufFile, ModelSource, TensorInfo};
use serde_json::Value;
use std::path::Path;

const GOLDEN: &str = "tests/models/mini-ornith/golden.json";
const HELD_OUT: &str = "tests/models/mini-ornith/held-out.txt";
/// What is committed stays small.
const FILE_BYTES_MAX: u64 = 8_000_000;
/// A beginning that only stories have.
const PROMPT: &str = "Once upon a time";

/// Kernels and runner installed; no command below uses a built-in package.
fn site() -> Site {
    Site::with(&[CPU, QWEN])
}

/// The file with the same values in BF16, in the site's own folder.
fn bf16_file(site: &Site) -> String {
    let path = site.path("mini-ornith-BF16.gguf");
    std::fs::write(&path, bf16_twin(Path::new(&file(MINI_ORNITH)))).unwrap();
    path.to_string_lossy().into_owned()
}

/// The answer of `guild run` with installed packages alone.
fn run(site: &Site, model: &str, more: &[&str]) -> Value {
    let line = [&["run", model, "--external-only"], more].concat();
    site.guild.json(&line).unwrap()
}

#[test]
fn the_file_is_small() {
    let metadata = std::fs::metadata(root().join(MINI_ORNITH)).unwrap();
    assert!(metadata.len() <= FILE_BYTES_MAX, "{} bytes", metadata.len());
}

/// A tensor's values.
fn values(model: &GgufFile, tensor: &TensorInfo) -> Vec<f32> {
    let mut values = vec![0.0; usize::try_from(tensor.elements()).unwrap()];
    let bytes = model.tensor_bytes(&tensor.name).unwrap();
    let format = tensor.format().unwrap();
    (format.decode_row)(bytes, &mut values).unwrap();
    values
}

#[test]
fn the_bf16_file_has_the_same_metadata_and_values() {
    let site = Site::new();
    let stored = GgufFile::open(Path::new(&file(MINI_ORNITH))).unwrap();
    let twin = GgufFile::open(Path::new(&bf16_file(&site))).unwrap();
    let types = |model: &GgufFile| {
        let mut types: Vec<_> = model.tensors().iter().map(|one| one.type_name).collect();
        types.sort_unstable();
        types.dedup();
        types
    };
    assert_eq!(types(&stored), ["F32", "Q8_0"]);
    assert_eq!(types(&twin), ["BF16", "F32"]);
    for (ours, theirs) in stored.metadata().iter().zip(twin.metadata().iter()) {
        match ours.0 {
            "general.file_type" => assert_eq!(theirs, (ours.0, guild_model::Value::U32(32))),
            _ => assert_eq!(ours, theirs),
        }
    }
    assert_eq!(stored.metadata().len(), twin.metadata().len());
    for (ours, theirs) in stored.tensors().iter().zip(twin.tensors()) {
        assert_eq!((&ours.name, &ours.shape), (&theirs.name, &theirs.shape));
        assert!(values(&stored, ours) == values(&twin, theirs), "{}", ours.name);
    }
    assert_eq!(stored.tensors().len(), twin.tensors().len());
}

/// The ids of every golden greedy text.
fn check_greedy(site: &Site, model: &str, kv: &str) {
    for golden in json_file(GOLDEN)["greedy"].as_array().unwrap() {
        let (prompt, ids) = (&golden["prompt"], id_list(&golden["prompt_ids"]));
        let line = ["--prompt-ids", &ids, "-n", "64", "--ignore-eos", "--temp", "0", "--kv", kv];
        let answer = run(site, model, &line);
        assert_eq!(answer["tokens"], golden["ids"], "{kv} {prompt}");
        let whole = [prompt, &answer["text"]].map(|text| text.as_str().unwrap());
        assert_eq!(golden["text"], whole.concat(), "{kv}");
    }
}

#[test]
fn greedy_ids_are_transformers_with_bf16_weights() {
    let site = site();
    let model = bf16_file(&site);
    check_greedy(&site, &model, "f32");
    check_greedy(&site, &model, "f16");
}

#[test]
fn greedy_ids_are_transformers_with_8_bit_weights_and_activations() {
    let site = site();
    let model = file(MINI_ORNITH);
    check_greedy(&site, &model, "f32");
    check_greedy(&site, &model, "f16");
}

/// The largest difference from the golden logits, which have six digits.
fn logits_difference(site: &Site, model: &str) -> f32 {
    let golden = json_file(GOLDEN);
    let rows: Vec<Vec<f32>> = serde_json::from_value(golden["logits"].clone()).unwrap();
    let first = &golden["greedy"][0];
    let ids = [&first["prompt_ids"], &first["ids"]].map(|ids| ids.as_array().unwrap().clone());
    let ids = ids.concat()[..rows.len()].to_vec();
    let options = ["--kv", "f32", "--external-only"];
    let logits = npy_values(&site.logits(model, &id_list(&Value::Array(ids)), &options, &[]));
    let rows = rows.concat();
    assert_eq!(logits.len(), rows.len());
    let differences = logits.iter().zip(&rows).map(|(a, b)| (a - b).abs());
    let largest = differences.fold(0.0, f32::max);
    eprintln!("{model}: largest difference {largest:e}");
    largest
}

#[test]
fn logits_are_transformers() {
    let site = site();
    let exact = logits_difference(&site, &bf16_file(&site));
    assert!(exact <= 1e-4, "BF16: {exact:e}");
    let rounded = logits_difference(&site, &file(MINI_ORNITH));
    assert!(rounded <= 0.5, "Q8_0: {rounded:e}");
}

/// How far the perplexity of held-out text is from transformers', relative to it.
fn perplexity_deviation(site: &Site, model: &str) -> f64 {
    let golden = &json_file(GOLDEN)["window_perplexity"];
    let (text, context) = (file(HELD_OUT), golden["context"].to_string());
    let line = ["perplexity", model, "-f", &text, "--special", "-c", &context];
    let options = ["--kv", "f32", "--external-only"];
    let ours = site.guild.json(&[&line[..], &options].concat()).unwrap();
    assert_eq!(ours["chunks"], golden["windows"]);
    assert_eq!(ours["tokens_scored"], golden["tokens_scored"]);
    let [ours, theirs] = [&ours, golden].map(|object| object["perplexity"].as_f64().unwrap());
    eprintln!("{model}: {ours}, transformers {theirs}");
    (ours / theirs - 1.0).abs()
}

#[test]
fn held_out_text_has_the_perplexity_that_transformers_finds() {
    let site = site();
    let exact = perplexity_deviation(&site, &bf16_file(&site));
    assert!(exact <= 1e-4, "BF16: {exact:e}");
    let rounded = perplexity_deviation(&site, &file(MINI_ORNITH));
    assert!(rounded <= 1e-2, "Q8_0: {rounded:e}");
}

/// What a person sees who asks for a story, and goes on reading.
#[test]
fn the_best_text_is_stories_of_the_language() {
    let (site, language) = (site(), Language::of_mini_ornith());
    let model = file(MINI_ORNITH);
    let line = ["run", &model, "--external-only", "-p", PROMPT, "-n", "256"];
    let shown = |more: &[&str]| {
        let output = site.text_command(&[&line[..], more].concat()).output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let text = text.strip_suffix('\n').expect("a newline after the text");
        format!("{PROMPT}{text}")
    };
    let long = shown(&["--ignore-eos"]);
    assert!(language.holds(&long), "{long}");
    let (first, rest) = long.split_once(END_OF_TEXT).expect("a story has an end");
    assert!(!rest.is_empty());
    assert_eq!(shown(&[]), first);
    assert!(language.is_document(first), "{first}");
    let answer = run(&site, &model, &["-p", PROMPT, "-n", "256"]);
    assert_eq!(answer["finish"], "end");
}

/// Texts that transformers drew for `sampled_in_language`, and that are drawn here.
const GOLDEN_SAMPLES: f64 = 200.0;
const SAMPLES: u32 = 50;

/// The share of samples in the language is the model's own share, seen twice: in transformers' samples and in ours. The
/// difference of the two has the variance `p (1 - p) (1 / 200 + 1 / 50)`, and three standard deviations of it are
/// allowed. For `p` the golden share serves with two samples of either kind added (Agresti and Coull), so that a share
/// of 1 has a deviation too.
fn least_share() -> f64 {
    let golden = json_file(GOLDEN)["sampled_in_language"].as_f64().unwrap();
    let share = (golden * GOLDEN_SAMPLES + 2.0) / (GOLDEN_SAMPLES + 4.0);
    let variance = share * (1.0 - share) * (1.0 / GOLDEN_SAMPLES + 1.0 / f64::from(SAMPLES));
    share - 3.0 * variance.sqrt()
}

#[test]
fn samples_are_in_the_language_as_often_as_transformers_samples() {
    let (site, language) = (site(), Language::of_mini_ornith());
    let model = file(MINI_ORNITH);
    let sample = |seed: u32| {
        let seed = seed.to_string();
        let line = ["-p", PROMPT, "-n", "64", "--ignore-eos", "--temp", "1", "--seed", &seed];
        let answer = run(&site, &model, &line);
        format!("{PROMPT}{}", answer["text"].as_str().unwrap())
    };
    let samples: Vec<String> = (1..=SAMPLES).map(sample).collect();
    let good = samples.iter().filter(|text| language.holds(text)).count();
    let (share, least) = (good as f64 / f64::from(SAMPLES), least_share());
    eprintln!("{good} of {SAMPLES} samples are in the language, {least:.3} of them must be");
    assert!(least > 0.0 && share >= least, "{share} are in the language, {least} must be");
    let mut different = samples;
    different.sort_unstable();
    different.dedup();
    assert!(different.len() > SAMPLES as usize / 2, "the seeds make no difference");
}

#[test]
fn sums_of_two_digits_are_right() {
    let (site, model) = (site(), file(MINI_ORNITH));
    let answer = |a: u32, b: u32| {
        let prompt = format!("{a} + {b} =");
        let answer = run(&site, &model, &["-p", &prompt, "-n", "8", "--stop", "\n"]);
        let ended = answer["finish"] == "stop" || answer["finish"] == "end";
        ended && answer["text"] == format!(" {}", a + b)
    };
    let pairs = (0..10).flat_map(|a| (0..10).map(move |b| (a, b)));
    let right = pairs.filter(|(a, b)| answer(*a, *b)).count();
    eprintln!("{right} of 100 sums are right");
    assert!(right >= 95, "{right} of 100 sums are right");
}
