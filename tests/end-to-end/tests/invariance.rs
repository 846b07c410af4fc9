//! One answer: the same bits for every way to cut a prompt, thread count, instruction set and package.

use guild_end_to_end::{
    CPU, LLAMA, LLAMA_FACTORS, LLAMA_TIED, QWEN, REFERENCE, SMALL_BF16, Site, TINY_Q4_K_M, id_list,
    json_file, npy_values, processor_has,
};
use serde_json::Value;

const MODELS: [(&str, &str); 4] = [
    (SMALL_BF16, "tests/models/qwen35moe-small.golden.json"),
    (
        TINY_Q4_K_M,
        "tests/models/qwen35moe-tiny-Q4_K_M.golden.json",
    ),
    (LLAMA_TIED, "tests/models/llama-small-tied.golden.json"),
    (
        LLAMA_FACTORS,
        "tests/models/llama-small-factors.golden.json",
    ),
];

fn prompt(golden: &str) -> String {
    id_list(&json_file(golden)["prompt_ids"])
}

/// The instruction sets that this processor has, the portable one first. Says which it lacks.
fn sets() -> Vec<&'static str> {
    let sets = [
        ("portable", true),
        ("avx2", true),
        ("avxvnni", processor_has("avx_vnni")),
        ("avx512", std::is_x86_feature_detected!("avx512bw")),
        ("avx512vnni", std::is_x86_feature_detected!("avx512vnni")),
        ("amx", processor_has("amx_int8")),
    ];
    let (present, lacking): (Vec<_>, Vec<_>) = sets.into_iter().partition(|(_, present)| *present);
    for (set, _) in lacking {
        eprintln!("skipped: this processor has no {set}");
    }
    present.into_iter().map(|(set, _)| set).collect()
}

const THREADS: [&str; 3] = ["1", "2", "3"];
const BATCHES: [&str; 4] = ["1", "7", "64", "512"];
/// For models beside the one that goes through the whole grid: every number of threads and every batch once.
const CORNERS: [(&str, &str); 4] = [("3", "1"), ("2", "7"), ("3", "64"), ("1", "512")];

/// Tokens of a long prompt: more than two chunks of 64 with a rest, and more than one page of the cache.
const LONG_PROMPT: usize = 275;

/// The ids of a golden prompt again and again, turned by one more each time so that no two rounds are the same.
fn long_prompt(golden: &str) -> String {
    let ids = json_file(golden)["prompt_ids"].clone();
    let ids = ids.as_array().unwrap();
    let id = |at: usize| ids[(at + at / ids.len()) % ids.len()].to_string();
    (0..LONG_PROMPT).map(id).collect::<Vec<_>>().join(",")
}

/// What a long prompt gives and leaves behind.
struct Answer {
    logits: Vec<u8>,
    /// Kind and digest of each state: of all KV pages of a layer, or of its recurrent state.
    states: Vec<(String, String)>,
}

/// The answer on one instruction set with so many threads and rows a pass.
fn on_grid(
    site: &Site,
    model: &str,
    ids: &str,
    (set, threads, batch): (&str, &str, &str),
) -> Answer {
    let log = site.path("states.log");
    // Lines are added to a file that is there.
    drop(std::fs::remove_file(&log));
    let log_text = log.to_string_lossy();
    let options = ["--external-only", "-t", threads, "--batch", batch];
    let logged = [
        "--log",
        "trace",
        "--log-format",
        "json",
        "--log-file",
        &log_text,
    ];
    let options = [&options[..], &logged].concat();
    let logits = site.logits(model, ids, &options, &[("GUILD_CPU_ISA", set)]);
    let lines = std::fs::read_to_string(log).unwrap();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let states = lines.filter_map(|line| {
        let fields = &line["fields"];
        let text = |key: &str| fields[key].as_str().unwrap().to_owned();
        (fields["message"] == "state at the end").then(|| (text("kind"), text("sha256")))
    });
    let states = states.collect();
    Answer { logits, states }
}

/// The whole grid, on quantised weights of several formats. Of other models the corners. The cache is F16, which the
/// next test shows.
#[test]
fn sets_threads_and_batches_together_change_no_bit_of_logits_cache_and_states() {
    let site = Site::with(&[CPU, QWEN, LLAMA]);
    let whole: Vec<(&str, &str)> = THREADS
        .iter()
        .flat_map(|threads| BATCHES.map(|batch| (*threads, batch)))
        .collect();
    for (model, golden) in MODELS {
        let ids = long_prompt(golden);
        let points = if model == TINY_Q4_K_M {
            &whole[..]
        } else {
            &CORNERS
        };
        let first = on_grid(&site, model, &ids, ("portable", "1", "512"));
        let finite = npy_values(&first.logits)
            .iter()
            .all(|logit| logit.is_finite());
        assert!(finite, "{model}: a comparison of NaN says nothing");
        let caches = first.states.iter().filter(|(kind, _)| kind == "Append");
        assert!(caches.count() > 0, "{model}: no cache was compared");
        let turned = ids.split_once(',').map(|(id, rest)| format!("{rest},{id}"));
        let turned = on_grid(&site, model, &turned.unwrap(), ("portable", "1", "512"));
        for (one, other) in first.states.iter().zip(&turned.states) {
            assert!(one != other, "{model}: the digest doesn't see the prompt");
        }
        for set in sets() {
            for (threads, batch) in points {
                let other = on_grid(&site, model, &ids, (set, threads, batch));
                let point = format!("{model}: {set}, {threads} threads, batch {batch}");
                assert!(first.logits == other.logits, "{point}: logits");
                assert_eq!(first.states, other.states, "{point}");
            }
        }
    }
}

/// So the grid above goes through a cache that rounds.
#[test]
fn the_cache_is_f16_where_nothing_else_is_asked_for() {
    let site = Site::with(&[CPU, QWEN, LLAMA]);
    for (model, golden) in MODELS {
        let ids = prompt(golden);
        let with =
            |more: &[&str]| site.logits(model, &ids, &[&["--external-only"], more].concat(), &[]);
        let default = with(&[]);
        assert!(default == with(&["--kv", "f16"]), "{model}");
        assert!(
            default != with(&["--kv", "f32"]),
            "{model}: f32 is the same"
        );
    }
}

#[test]
fn the_reference_package_gives_the_same_bits() {
    let kernels = Site::with(&[CPU, QWEN, LLAMA]);
    let reference = Site::with(&[REFERENCE, QWEN, LLAMA]);
    for (model, golden) in MODELS {
        let ids = prompt(golden);
        let fast = kernels.logits(model, &ids, &["--external-only"], &[]);
        let options = ["--external-only", "--allow-reference"];
        assert!(
            fast == reference.logits(model, &ids, &options, &[]),
            "{model}"
        );
    }
}

#[test]
fn built_in_and_installed_packages_give_the_same_bits() {
    let installed = Site::with(&[CPU, QWEN, LLAMA]);
    let empty = Site::new();
    for (model, golden) in MODELS {
        let ids = prompt(golden);
        let external = installed.logits(model, &ids, &["--external-only"], &[]);
        assert!(external == empty.logits(model, &ids, &[], &[]), "{model}");
    }
}
