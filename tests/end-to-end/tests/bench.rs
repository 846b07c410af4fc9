//! `guild bench` as a subprocess: what it measures, how it is written, what it refuses.

use guild_end_to_end::{SMALL_BF16, Site, file};
use serde_json::Value;

fn site_and_model() -> (Site, String) {
    (Site::new(), file(SMALL_BF16))
}

#[test]
fn every_size_depth_and_batch_is_measured() {
    let (site, model) = site_and_model();
    let answer = site
        .guild
        .json(&[
            "bench", &model, "-p", "8,0,16", "-n", "3", "--pg", "4,2", "-d", "0,9", "-b", "4,64",
            "-r", "3", "-t", "1",
        ])
        .unwrap();
    let results = answer["results"].as_array().unwrap();
    let tests: Vec<(&str, u64, u64)> = results
        .iter()
        .map(|result| {
            let number = |name: &str| result[name].as_u64().unwrap();
            (
                result["test"].as_str().unwrap(),
                number("depth"),
                number("batch"),
            )
        })
        .collect();
    let names = ["pp8", "pp16", "tg3", "pp4+tg2"];
    let mut expected = Vec::new();
    for batch in [4, 64] {
        for depth in [0, 9] {
            expected.extend(names.map(|name| (name, depth, batch)));
        }
    }
    assert_eq!(tests, expected);
    // The longest test is 16 tokens after 9.
    assert_eq!(answer["context"], 25);
    for result in results {
        let tps = &result["tps"];
        let number = |name: &str| tps[name].as_f64().unwrap();
        assert_eq!(tps["samples"].as_array().unwrap().len(), 3);
        assert!(0.0 < number("min") && number("min") <= number("median"));
        assert!(number("median") <= number("max"));
        let decode = result["prompt"] == 0;
        assert_eq!(result["weights_bytes_per_second"].is_number(), decode);
        assert!(result["operations"].as_array().unwrap().is_empty());
    }
    let peak = answer["peak_rss_bytes"].as_u64().unwrap();
    assert!(peak > 0 && peak <= answer["planned_bytes"].as_u64().unwrap());
}

#[test]
fn operations_are_timed_apart_from_the_rates() {
    let (site, model) = site_and_model();
    let answer = site
        .guild
        .json(&[
            "bench",
            &model,
            "-p",
            "6",
            "-n",
            "5",
            "-d",
            "7",
            "-b",
            "4",
            "-r",
            "2",
            "--no-warmup",
            "--ops",
        ])
        .unwrap();
    let results = answer["results"].as_array().unwrap();
    // Six tokens are two passes of four rows at most, five are five; what was before isn't counted.
    for (result, phase, calls, rows) in [
        (&results[0], "prefill", 2, 6),
        (&results[1], "decode", 5, 5),
    ] {
        let operations = result["operations"].as_array().unwrap();
        assert!(
            operations
                .iter()
                .all(|operation| operation["phase"] == phase)
        );
        let find = |name: &str| {
            let found = operations.iter().find(|one| one["operation"] == name);
            found.unwrap_or_else(|| panic!("{name}: {operations:?}"))
        };
        let embedding = find("guild.core.embedding@1");
        assert_eq!(
            (&embedding["calls"], &embedding["rows"]),
            (&calls.into(), &rows.into())
        );
        assert_eq!(
            embedding["provider"]["package"]["id"],
            "builtin.org.guild.kernels.cpu"
        );
        let shares = operations.iter().map(|one| one["share"].as_f64().unwrap());
        assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
    }
    // The package's own counts: three runs of each test, with the prompts of seven before.
    let packages = answer["packages"].as_array().unwrap();
    let cpu = packages
        .iter()
        .find(|one| one["id"] == "builtin.org.guild.kernels.cpu")
        .unwrap();
    let operations = cpu["operations"].as_array().unwrap();
    let embedding = operations
        .iter()
        .find(|one| one["name"] == "guild.core.embedding@1")
        .unwrap();
    assert_eq!(embedding["rows"], 3 * (7 + 6) + 3 * (7 + 5));
}

/// The lines on standard output of a command without `--json`.
fn lines(site: &Site, words: &[&str]) -> Vec<String> {
    let output = site.text_command(words).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn tables_come_as_text_markdown_and_values() {
    let (site, model) = site_and_model();
    let words = ["bench", &model, "-p", "4", "-n", "2", "-r", "1", "--format"];
    let text = lines(&site, &[&words[..], &["text"]].concat());
    assert!(
        text[0].starts_with("test ") && text[0].contains("median t/s"),
        "{}",
        text[0]
    );
    assert!(text[1].starts_with("pp4 ") && text[2].starts_with("tg2 "));
    assert_eq!(text.len(), 3);
    let markdown = lines(&site, &[&words[..], &["markdown"]].concat());
    assert!(
        markdown
            .iter()
            .all(|line| line.starts_with("| ") && line.ends_with(" |"))
    );
    assert!(markdown[1].starts_with("| --- | ---: "));
    let columns = |line: &String| line.matches('|').count();
    assert!(
        markdown
            .iter()
            .all(|line| columns(line) == columns(&markdown[0]))
    );
    let values = lines(&site, &[&words[..], &["csv"]].concat());
    assert!(values[0].starts_with("test,depth,batch,threads,"));
    assert!(values[2].starts_with("tg2,0,512,"));
    assert_eq!(values.len(), 3);
    let operations = lines(&site, &[&words[..], &["markdown", "--ops"]].concat());
    assert!(
        operations.contains(&String::new()),
        "operations are a table of their own"
    );
    let embedding = operations
        .iter()
        .find(|line| line.contains("guild.core.embedding@1"));
    assert!(
        embedding
            .unwrap()
            .starts_with("| pp4 | 0 | 512 | prefill | guild.core.embedding@1 | cpu.")
    );
}

#[test]
fn nothing_to_measure_and_too_few_positions_are_refused() {
    let (site, model) = site_and_model();
    let refused = |words: &[&str], part: &str| {
        let output = site.output(&[&["bench", &model], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains(part), "{message}");
    };
    refused(&["-p", "0", "-n", "0"], "nothing to measure");
    refused(
        &["-p", "8", "-n", "0", "-d", "5", "-c", "12"],
        "needs 13 positions",
    );
    refused(&["--pg", "8"], "two numbers");
    refused(&["-b", "0"], "1..=65536");
}

#[test]
fn a_list_of_threads_is_measured_and_compared_with_memory() {
    let (site, model) = site_and_model();
    let words = [
        "bench", &model, "-p", "4", "-n", "3", "-r", "1", "-t", "1,2", "--ops",
    ];
    let answer = site.guild.json(&[&words[..], &["--roofline"]].concat());
    let answer = answer.unwrap();
    let results = answer["results"].as_array().unwrap();
    let tests: Vec<(&str, u64)> = results
        .iter()
        .map(|one| {
            (
                one["test"].as_str().unwrap(),
                one["threads"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(tests, [("pp4", 1), ("tg3", 1), ("pp4", 2), ("tg3", 2)]);
    let bandwidth = |threads: u64| {
        let all = answer["bandwidths"].as_array().unwrap();
        let of = all.iter().find(|one| one["threads"] == threads).unwrap();
        of["bytes_per_second"].as_f64().unwrap()
    };
    let token_bytes = answer_of_plan(&site, &model);
    for result in results {
        let operations = result["operations"].as_array().unwrap();
        let read = operations
            .iter()
            .map(|one| one["weights_read_bytes"].as_u64().unwrap());
        if result["prompt"] != 0 {
            assert_eq!(read.sum::<u64>(), 0);
            assert!(result["roofline"].is_null());
            continue;
        }
        // Three tokens; what the operations read is what a token reads.
        assert_eq!(read.sum::<u64>(), 3 * token_bytes);
        let most = bandwidth(result["threads"].as_u64().unwrap());
        let rates = operations.iter().chain([result]);
        for one in rates.filter(|one| !one["weights_bytes_per_second"].is_null()) {
            let rate = one["weights_bytes_per_second"].as_f64().unwrap();
            let reached = one["roofline"].as_f64().unwrap();
            assert!((reached * most / rate - 1.0).abs() < 1e-9, "{one}");
        }
    }
    let plain = site.guild.json(&words).unwrap();
    assert!(plain["bandwidths"].as_array().unwrap().is_empty());
    assert!(plain["results"][1]["roofline"].is_null());
}

#[test]
fn a_roofline_that_has_no_room_beside_the_model_is_refused_before_the_tests() {
    let (site, model) = site_and_model();
    let with = |more: &[&str]| {
        let bench = ["bench", &model, "-p", "1", "-n", "0", "-r", "1"];
        site.output(&[&bench[..], &["--memory-limit", "1GiB"], more].concat())
    };
    assert!(with(&[]).status.success());
    let refused = with(&["--roofline"]);
    assert_eq!(refused.status.code(), Some(5));
    let answer: Value = serde_json::from_slice(&refused.stdout).unwrap();
    let message = answer["message"].as_str().unwrap();
    assert!(
        message.starts_with("--roofline reads 1.00 GiB"),
        "{message}"
    );
}

/// Bytes of weights that a token reads, as `guild plan` says.
fn answer_of_plan(site: &Site, model: &str) -> u64 {
    let plan = site.guild.json(&["plan", model]).unwrap();
    plan["plan"]["memory"]["weights_read_bytes"]
        .as_u64()
        .unwrap()
}

#[test]
fn an_instruction_set_is_forced_or_refused() {
    let (site, model) = site_and_model();
    let bench = ["bench", &model, "-p", "4", "-n", "0", "-r", "1", "--ops"];
    let forced = [&bench[..], &["--isa", "portable"]].concat();
    let answer = site.guild.json(&forced).unwrap();
    assert_eq!(answer["isa"], "portable");
    let operations = answer["results"][0]["operations"].as_array().unwrap();
    let of_cpu = operations
        .iter()
        .map(|one| one["provider"]["implementation"].as_str().unwrap());
    assert!(
        of_cpu.clone().any(|name| name.ends_with("portable")),
        "{operations:?}"
    );
    assert!(
        of_cpu.clone().all(|name| !name.contains("avx")),
        "{operations:?}"
    );
    let output = site.output(&[&bench[..], &["--isa", "sse2"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        answer["hint"].as_str().unwrap().contains("avx512vnni"),
        "{answer}"
    );
}
