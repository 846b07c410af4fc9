//! What `guild plan` says a model will take of memory, against what a run of it takes, and the refusal
//! of a model that doesn't fit.

use guild_end_to_end::{CPU, QWEN, SMALL_BF16, Site, TINY_Q4_K_M, file};
use serde_json::Value;
use std::process::Output;

/// The program, its packages and the margin are most of what a committed model takes, so the bound of
/// 5 % says nothing about one. What the plan may be above the peak is then the margin itself, which
/// `docs/memory.md` explains, the rest of the last window of each file, and 512 KiB of code and
/// allocator pages that such a small model never uses.
const SMALL_ABOVE_BYTES: u64 = (2048 + 64 + 512) << 10;

/// How a model is planned and run: with every position used.
struct Case {
    model: String,
    context: u64,
    prompt: u64,
    batch: u64,
    threads: u64,
    more: &'static [&'static str],
    /// Options that only `run` has.
    sampling: &'static [&'static str],
}

/// A sampler that holds most of what one can: logits, counts, candidates and keys, 20 bytes a token.
const SAMPLED: &[&str] = &[
    "--temp=0.8",
    "--top-p=0.9",
    "--repeat-penalty=1.1",
    "--seed=5",
];

impl Case {
    fn new(model: String, context: u64, prompt: u64) -> Case {
        Case {
            model,
            context,
            prompt,
            batch: 32,
            threads: 2,
            more: &[],
            sampling: &[],
        }
    }

    fn options(&self) -> Vec<String> {
        let mut options = vec![
            self.model.clone(),
            format!("-c{}", self.context),
            format!("-b{}", self.batch),
            format!("-t{}", self.threads),
        ];
        options.extend(self.more.iter().map(|option| (*option).to_owned()));
        options
    }

    /// The planned bytes and the run's peak. A plan without a sampler is `guild plan`'s; with one it is
    /// the run's own.
    fn measure(&self, site: &Site) -> (u64, u64) {
        let ids: Vec<String> = (0..self.prompt)
            .map(|id| (id % 250 + 1).to_string())
            .collect();
        let tokens = self.context - self.prompt + 1;
        let run = [
            format!("--prompt-ids={}", ids.join(",")),
            format!("-n{tokens}"),
            "--ignore-eos".to_owned(),
        ];
        let sampling = self.sampling.iter().map(|option| (*option).to_owned());
        let run: Vec<String> = run.into_iter().chain(sampling).collect();
        let planned = if self.sampling.is_empty() {
            let plan = json(site, "plan", &self.options(), &[]);
            assert_eq!(plan["fit"]["fits"], true, "{}", plan["fit"]);
            plan["memory"]["total_bytes"].as_u64().unwrap()
        } else {
            planned_by_run(site, &self.options(), &run)
        };
        let run = json(site, "run", &self.options(), &run);
        assert_eq!(run["tokens"].as_array().unwrap().len() as u64, tokens);
        (planned, run["peak_rss_bytes"].as_u64().unwrap())
    }
}

/// What a run says that it needs where it may have nothing.
#[track_caller]
fn planned_by_run(site: &Site, options: &[String], more: &[String]) -> u64 {
    let more = [more, &["--memory-limit=1".to_owned()]].concat();
    let refused = output(site, "run", options, &more);
    assert_eq!(refused.status.code(), Some(5));
    let answer: Value = serde_json::from_slice(&refused.stdout).unwrap();
    let message = answer["message"].as_str().unwrap();
    let (_, needed) = message.split_once('(').unwrap();
    let (needed, _) = needed.split_once(" bytes)").unwrap();
    needed.parse().unwrap()
}

fn output(site: &Site, command: &str, options: &[String], more: &[String]) -> Output {
    let words = [&[command.to_owned()][..], options, more].concat();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    site.output(&words)
}

#[track_caller]
fn json(site: &Site, command: &str, options: &[String], more: &[String]) -> Value {
    let output = output(site, command, options, more);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{answer}");
    answer
}

#[test]
fn the_peak_of_a_committed_model_stays_under_its_plan() {
    let (builtin, installed) = (Site::new(), Site::with(&[CPU, QWEN]));
    for model in [SMALL_BF16, TINY_Q4_K_M] {
        for (site, more, sampling) in [
            (&builtin, &[][..], &[][..]),
            (&builtin, &["--kv=f32"][..], &[][..]),
            (&builtin, &[][..], SAMPLED),
            (&installed, &["--external-only"][..], &[][..]),
        ] {
            let case = Case {
                more,
                sampling,
                ..Case::new(file(model), 300, 40)
            };
            let (planned, peak) = case.measure(site);
            println!("{model} {more:?} {sampling:?}: planned {planned}, peak {peak}");
            assert!(peak <= planned, "{model} {more:?}: {peak} of {planned}");
            let most = peak + SMALL_ABOVE_BYTES;
            assert!(planned <= most, "{model} {more:?}: {peak} of {planned}");
        }
    }
}

/// A model from an environment variable: the peak is under the plan, by at most 5 %, greedy and with a
/// sampler.
fn large(variable: &str, context: u64, prompt: u64) {
    let Some(model) = std::env::var_os(variable) else {
        eprintln!("skipped: {variable} names no model file");
        return;
    };
    for sampling in [&[][..], SAMPLED] {
        let case = Case {
            sampling,
            ..Case::new(model.to_string_lossy().into_owned(), context, prompt)
        };
        let (planned, peak) = case.measure(&Site::new());
        println!("{variable} {sampling:?}: planned {planned}, peak {peak}");
        assert!(peak <= planned, "{sampling:?}: {peak} of {planned}");
        let least = planned - planned / 20;
        assert!(peak >= least, "{sampling:?}: {peak} of {planned}");
    }
}

#[test]
fn the_peak_of_the_golden_model_is_at_most_5_percent_under_its_plan() {
    large("GUILD_TEST_GOLDEN_MODEL", 2048, 64);
}

#[test]
fn the_peak_of_smollm2_is_at_most_5_percent_under_its_plan() {
    large("GUILD_TEST_SMOLLM2", 300, 200);
}

/// A history of 2^24 tokens of 4 bytes is in the plan of the run that asks for it.
#[test]
fn the_sampler_that_was_asked_for_is_planned() {
    let site = Site::new();
    let planned = |more: &[&str]| {
        let more = [&["--prompt-ids=1", "-n1"][..], more].concat();
        let more: Vec<String> = more.into_iter().map(str::to_owned).collect();
        planned_by_run(&site, &[file(SMALL_BF16)], &more)
    };
    let greedy = planned(&[]);
    let history = planned(&["--repeat-penalty=1.1", "--repeat-last-n=16777216"]);
    // Two starts differ by what the program has resident.
    let difference = (history - greedy).abs_diff(64 << 20);
    assert!(difference < 2 << 20, "{greedy}, {history}");
}

/// Counted with gguf-py from the files' directories: every tensor but the draft head's, and what a
/// token reads of them: one row of the embedding, two of eight experts.
#[test]
fn weights_are_counted_by_use() {
    let site = Site::new();
    for (model, bytes, read_bytes) in [
        (SMALL_BF16, 2_860_256, 1_418_720),
        (TINY_Q4_K_M, 5_398_752, 2_495_856),
    ] {
        let plan = json(&site, "plan", &[file(model)], &[]);
        let memory = &plan["plan"]["memory"];
        assert_eq!(memory["weights_bytes"], bytes, "{model}");
        assert_eq!(memory["weights_read_bytes"], read_bytes, "{model}");
        let types = plan["memory"]["weights_by_type"].as_array().unwrap();
        let sum = types.iter().map(|one| one["bytes"].as_u64().unwrap());
        assert_eq!(sum.sum::<u64>(), bytes, "{model}");
        let files = plan["memory"]["weights_by_file"].as_array().unwrap();
        assert_eq!(files.len(), 1);
        assert_eq!(
            (&files[0]["bytes"], &files[0]["tensors"]),
            (&bytes.into(), &76.into())
        );
    }
}

#[test]
fn the_text_begins_with_the_memory_and_lists_steps_on_request() {
    let site = Site::new();
    let model = file(SMALL_BF16);
    let text = |more: &[&str]| {
        let words = [&["plan", &model], more].concat();
        let output = site.text_command(&words).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let short = text(&[]);
    for part in [
        "runner ",
        "package ",
        "KV pages",
        "total ",
        "the machine: fits",
        "it fits",
    ] {
        assert!(short.contains(part), "{part}: {short}");
    }
    assert!(!short.contains("guild.core.embedding@1"), "{short}");
    let long = text(&["--steps"]);
    assert!(long.contains("guild.core.embedding@1"), "{long}");
    let tight = text(&["--memory-limit", "1MiB"]);
    assert!(
        tight.contains("it doesn't fit, with any context"),
        "{tight}"
    );
}

/// A model that doesn't fit is refused before it is loaded, with both numbers and a context that fits.
#[test]
fn what_does_not_fit_is_refused_with_both_numbers_and_a_way_out() {
    let site = Site::new();
    let model = file(TINY_Q4_K_M);
    let with = |context: u64, limit: u64| {
        vec![
            model.clone(),
            "--kv=f32".to_owned(),
            "-t1".to_owned(),
            "-b1".to_owned(),
            format!("-c{context}"),
            format!("--memory-limit={limit}"),
        ]
    };
    let prompt = ["--prompt-ids=1,2,3".to_owned(), "-n2".to_owned()];
    let whole = json(&site, "plan", &with(65_536, 1 << 40), &[]);
    let needed = whole["memory"]["total_bytes"].as_u64().unwrap();
    let kv = whole["memory"]["kv_bytes"].as_u64().unwrap();
    assert_eq!(whole["fit"]["largest_context"], 65_536);

    // Half of the KV pages are too many.
    let limit = needed - kv / 2;
    let plan = json(&site, "plan", &with(65_536, limit), &[]);
    assert_eq!(plan["fit"]["fits"], false);
    let check = &plan["fit"]["checks"][0];
    assert_eq!(check["limit"]["kind"], "chosen");
    assert_eq!(check["available_bytes"], limit);
    let context = plan["fit"]["largest_context"].as_u64().unwrap();
    assert!((32_768 - 4096..=32_768).contains(&context), "{context}");

    let refused = output(&site, "run", &with(65_536, limit), &prompt);
    assert_eq!(refused.status.code(), Some(5));
    let answer: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(answer["code"], "RESOURCE");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains(&format!("({limit} bytes)")), "{message}");
    assert!(message.contains("--memory-limit"), "{message}");
    let hint = answer["hint"].as_str().unwrap();
    for part in ["-c ", "--kv f16", "--no-fit-check"] {
        assert!(hint.contains(part), "{hint}");
    }
    // It was refused before it was loaded: the next run has the limit's memory for itself.
    let fits = json(&site, "run", &with(context, limit), &prompt);
    assert!(fits["peak_rss_bytes"].as_u64().unwrap() <= limit);
    assert_eq!(fits["tokens"].as_array().unwrap().len(), 2);
    let more = context + 8192;
    assert_eq!(
        output(&site, "run", &with(more, limit), &prompt)
            .status
            .code(),
        Some(5)
    );

    // Anyway, and then nothing is spent that isn't used.
    let anyway = [&prompt[..], &["--no-fit-check".to_owned()]].concat();
    let ran = json(&site, "run", &with(65_536, limit), &anyway);
    assert_eq!(ran["tokens"], fits["tokens"]);
    assert!(ran["peak_rss_bytes"].as_u64().unwrap() < limit);
}

#[test]
fn the_limit_of_the_environment_counts_for_every_command_that_loads() {
    let site = Site::new();
    let model = file(SMALL_BF16);
    let out = site.path("x.npy").to_string_lossy().into_owned();
    let commands: [&[&str]; 3] = [
        &["run", &model, "--prompt-ids", "1"],
        &["bench", &model, "-p", "1", "-n", "0"],
        &["logits", &model, "--ids", "1", "--out", &out],
    ];
    for words in commands {
        let mut command = site.guild.command(words);
        let output = command.env("GUILD_MEMORY_LIMIT", "1MiB").output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{words:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains("(1048576 bytes)"), "{message}");
    }
    assert!(!site.path("x.npy").exists());
    let wrong = [
        "run",
        &model,
        "--prompt-ids",
        "1",
        "--memory-limit",
        "8GiBs",
    ];
    assert_eq!(site.output(&wrong).status.code(), Some(2));
}
