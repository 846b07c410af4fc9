//! `--policy fast`: tolerant kernels run where it is asked for, and nowhere else.

use guild_end_to_end::{
    CPU, LLAMA_TIED, QWEN, SMALL_BF16, Site, TINY_Q4_K_M, file, id_list, json_file,
    largest_difference, npy_values, processor_has,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// What multiplies BF16 numbers in tiles.
const KERNEL: &str = "cpu.linear.amx_bf16";
const FAST: [&str; 2] = ["--policy", "fast"];

/// Whether this processor has what [`KERNEL`] needs; says so where it doesn't.
fn has_kernel() -> bool {
    let all = ["amx_bf16", "amx_int8", "avx512_vnni"];
    let has = all.into_iter().all(processor_has);
    if !has {
        eprintln!("skipped: this processor has no AMX-BF16");
    }
    has
}

fn prompt() -> String {
    id_list(&json_file("tests/models/qwen35moe-small.golden.json")["prompt_ids"])
}

/// Implementations of the plan's steps with their class, by phase.
fn chosen(site: &Site, model: &str, phase: &str, more: &[&str]) -> BTreeSet<(String, String)> {
    chosen_under(site, model, phase, more, &[])
}

/// The same under these variables.
fn chosen_under(
    site: &Site,
    model: &str,
    phase: &str,
    more: &[&str],
    environment: &[(&str, &str)],
) -> BTreeSet<(String, String)> {
    let model = file(model);
    let args = [&["plan", &model, "-c", "64", "--external-only"], more].concat();
    let mut command = site.guild.command(&args);
    let output = command.envs(environment.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let policy = if more.contains(&"fast") {
        "fast"
    } else {
        "exact"
    };
    assert_eq!(answer["policy"], policy);
    let steps = answer["plan"]["steps"].as_array().unwrap().iter();
    let phases = steps.flat_map(|step| step["phases"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    phases
        .filter(|one| one["phase"] == phase)
        .map(|one| (text(&one["chosen"]["implementation"]), text(&one["class"])))
        .collect()
}

#[test]
fn the_default_policy_takes_exact_kernels_alone() {
    let site = Site::with(&[CPU, QWEN]);
    for (more, model) in [
        (&[][..], SMALL_BF16),
        (&["--policy", "exact"], SMALL_BF16),
        // There is no tolerant kernel for what this file holds.
        (&FAST, TINY_Q4_K_M),
    ] {
        for phase in ["prefill", "decode", "verify"] {
            let chosen = chosen(&site, model, phase, more);
            let exact = chosen.iter().all(|(_, class)| class == "exact");
            assert!(!chosen.is_empty() && exact, "{model} {more:?}: {chosen:?}");
        }
    }
}

#[test]
fn the_fast_policy_takes_the_tiles_in_prefill() {
    if !has_kernel() {
        return;
    }
    let site = Site::with(&[CPU, QWEN]);
    let tiles = (KERNEL.to_owned(), "tolerant".to_owned());
    let of = |phase| chosen(&site, SMALL_BF16, phase, &FAST);
    assert!(of("prefill").contains(&tiles));
    assert!(!of("decode").contains(&tiles) && !of("verify").contains(&tiles));
    let model = file(SMALL_BF16);
    let args = ["plan", &model, "--steps", "--policy", "fast"];
    let output = site.text_command(&args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines().filter(|line| line.contains(KERNEL));
    assert!(lines.any(|line| line.ends_with(", tolerant")), "{text}");
    // A forced set that isn't AMX has no tiles. A processor with them has it.
    let forced = [("GUILD_CPU_ISA", "avx512")];
    let chosen = chosen_under(&site, SMALL_BF16, "prefill", &FAST, &forced);
    let exact = ("cpu.linear.avx512".to_owned(), "exact".to_owned());
    let tolerant = chosen.iter().any(|(_, class)| class == "tolerant");
    assert!(chosen.contains(&exact) && !tolerant, "{chosen:?}");
}

#[test]
fn a_fast_run_is_near_the_exact_one_and_says_its_policy() {
    if !has_kernel() {
        return;
    }
    let site = Site::with(&[CPU, QWEN]);
    let (model, ids) = (file(SMALL_BF16), prompt());
    let args = ["run", &model, "--prompt-ids", &ids, "-n", "2"];
    let run = |more: &[&str]| -> Value {
        let output = site.output(&[&args[..], more].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let ran = |answer: &Value| answer["packages"].to_string().contains(KERNEL);
    let (exact, fast) = (run(&[]), run(&FAST));
    assert_eq!([&exact["policy"], &fast["policy"]], ["exact", "fast"]);
    assert_eq!([ran(&exact), ran(&fast)], [false, true], "{exact} {fast}");

    // A router may choose another expert for a rounding's sake, so a model without one shows how near that is.
    let ids = id_list(&json_file("tests/models/llama-small-tied.golden.json")["prompt_ids"]);
    let logits = |more: &[&str]| site.logits(LLAMA_TIED, &ids, more, &[]);
    let (exact, fast) = (logits(&[]), logits(&FAST));
    assert!(exact != fast, "the tiles have run");
    let difference = largest_difference(&npy_values(&exact), &npy_values(&fast));
    let largest = npy_values(&exact)
        .into_iter()
        .map(f32::abs)
        .fold(0.0, f32::max);
    assert!(difference < 0.05 * largest, "{difference} of {largest}");
}

#[test]
fn a_fast_run_has_the_same_bits_on_any_number_of_threads() {
    if !has_kernel() {
        return;
    }
    let site = Site::with(&[CPU, QWEN]);
    let ids = prompt();
    let with = |threads| {
        site.logits(
            SMALL_BF16,
            &ids,
            &[&FAST[..], &["-t", threads]].concat(),
            &[],
        )
    };
    let one = with("1");
    assert!(one == with("2") && one == with("3") && one == with("1"));
}
