//! One answer: the same bits for every way to cut a prompt, thread count, instruction set and package.

use guild_end_to_end::{
    CPU, LLAMA, LLAMA_FACTORS, LLAMA_TIED, QWEN, REFERENCE, SMALL_BF16, Site, TINY_Q4_K_M, id_list,
    json_file,
};

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

#[test]
fn chunks_and_threads_change_no_bit() {
    let site = Site::with(&[CPU, QWEN, LLAMA]);
    for (model, golden) in MODELS {
        let ids = prompt(golden);
        let base = ["--external-only", "-t", "1"];
        let whole = site.logits(model, &ids, &base, &[]);
        for (batch, threads) in [("1", "1"), ("7", "1"), ("512", "2"), ("7", "2"), ("1", "2")] {
            let options = ["--external-only", "--batch", batch, "-t", threads];
            let other = site.logits(model, &ids, &options, &[]);
            assert!(whole == other, "{model}: batch {batch}, {threads} threads");
        }
    }
}

/// Whether the system's list of processor features has this one. The compiler's own question for it isn't stable.
fn kernel_shows(feature: &str) -> bool {
    let list = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    list.split_ascii_whitespace().any(|word| word == feature)
}

#[test]
fn instruction_sets_change_no_bit() {
    let site = Site::with(&[CPU, QWEN, LLAMA]);
    for (model, golden) in MODELS {
        let ids = prompt(golden);
        let force = |isa| site.logits(model, &ids, &["--external-only"], &[("GUILD_CPU_ISA", isa)]);
        let portable = force("portable");
        assert!(portable == force("avx2"), "{model}: avx2");
        for (isa, present) in [
            ("avxvnni", kernel_shows("avx_vnni")),
            ("avx512", std::is_x86_feature_detected!("avx512bw")),
            ("avx512vnni", std::is_x86_feature_detected!("avx512vnni")),
            ("amx", kernel_shows("amx_int8")),
        ] {
            if present {
                assert!(portable == force(isa), "{model}: {isa}");
            } else {
                eprintln!("skipped: this processor has no {isa}");
            }
        }
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
