//! Every JSON answer against its schema in `schemas/cli/`, and standard output that carries data only.
//!
//! A command is added with one line in [`CASES`] and the file `schemas/cli/<command>.v1.schema.json`,
//! where the words of a sub-command are joined by `-`.

use clap::CommandFactory;
use guild_cli::args::Cli;
use guild_cli::exit::Exit;
use guild_end_to_end::{QWEN, SMALL_BF16, Site, file, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// A text for commands that read one.
const TEXT: &str = "README.md";

/// A chat template and messages for it.
const TEMPLATE: &str = "{% for message in messages %}{{ message.content }}{% endfor %}";
const MESSAGES: &str = r#"[{"role": "user", "content": "Hello"}]"#;

/// Command lines that succeed, run in this order in one store. Words in braces are filled in by
/// [`fill`]; every other word stands for itself.
const CASES: &[&str] = &[
    "kernel keygen --seed-file {folder}/author.seed --public {folder}/public.json --label author --passphrase-file {folder}/words",
    "kernel keygen --seed-file {folder}/other.seed --public {folder}/other.json --no-passphrase --operator author",
    "kernel trust add {folder}/public.json --scope org.guild",
    "kernel trust list",
    "kernel sign {staged} --key-id {key} --seed-file {seed} --bundle {folder}/case.gkernel",
    "kernel verify {folder}/case.gkernel",
    "kernel sign {staged} --external {folder}/to-sign",
    "kernel countersign {folder}/case.gkernel --role reviewer --statement good --key-id {author} --seed-file {folder}/author.seed --passphrase-file {folder}/words --out {folder}/reviewed.gkernel",
    "kernel list",
    "kernel active",
    "kernel install {folder}/case.gkernel --dry-run",
    "kernel install {folder}/case.gkernel",
    "kernel install {folder}/case.gkernel",
    "kernel list",
    "kernel active",
    "kernel list org.guild.runners.qwen",
    "kernel receipt org.guild.runners.qwen",
    "kernel log",
    "kernel disable org.guild.runners.qwen",
    "kernel disable org.guild.runners.qwen",
    "kernel enable org.guild.runners.qwen",
    "kernel disable org.guild.runners.qwen --drain 1",
    "kernel rollback",
    "kernel rollback --list",
    "kernel log --verify -n 2",
    "run {model} --prompt-ids 1,2 -n 2",
    "run {model} -p Hello -n 2 --chat --chat-template {folder}/chat.jinja",
    "template {model} --messages {folder}/messages.json --chat-template {folder}/chat.jinja",
    "inspect {model}",
    "plan {model} -c 64",
    "plan {model} -c 64 --steps",
    "bench {model} -p 4 -n 2 -r 1",
    "bench {model} -p 4 -n 2 -r 1 --ops -t 1,2 --roofline --isa portable",
    "perplexity {model} -f {text} -c 64 --chunks 2",
    "logits {model} --ids 1,2,3 --out {folder}/logits.npy",
    "tokenize {model} -f {text}",
    "tokenize {model} --ids 1,200,100",
    "config show",
    "doctor",
    "kernel doctor",
    "man {folder}/man",
    "kernel log --verify --checkpoint {folder}/checkpoint --key-id {author} --seed-file {folder}/author.seed --passphrase-file {folder}/words",
    "kernel log --verify --against {folder}/checkpoint -n 1",
    "kernel log --against {folder}/checkpoint --public {folder}/public.json",
    "kernel cosign {folder}/checkpoint --public {folder}/public.json --key-id {key} --seed-file {seed} --out {folder}/cosigned",
    "kernel cosign {folder}/checkpoint --after {folder}/cosigned --public {folder}/public.json --key-id {key} --seed-file {seed} --out {folder}/cosigned-again",
    "kernel trust policy org.guild.runners --distinct-operators",
    "kernel trust policy org.guild.runners",
    "kernel trust add {folder}/public.json --scope org.example --right publish --right rotate --valid-days 9",
    "kernel rotate-key --key-id {author} --seed-file {folder}/author.seed --passphrase-file {folder}/words --new-public {folder}/other.json --new-seed-file {folder}/other.seed --scope org.example --out {folder}/rotation",
    "kernel trust rotate {folder}/rotation --dry-run",
    "kernel trust rotate {folder}/rotation",
    "kernel trust rotate {folder}/rotation",
    "kernel log -n 2",
    "kernel outdated {folder}",
    "kernel audit",
    "kernel audit --verify -n 1",
    "kernel fsck",
    "kernel selftest --crash --kills 2 --images 300",
    "kernel floor",
    "kernel floor org.guild.runners.qwen 2 --dry-run",
    "kernel floor org.guild.runners.qwen 2",
    "kernel trust show {key}",
    "kernel trust add {folder}/other.json --scope org --right revoke --right epoch",
    "kernel advisory --key-id {other} --seed-file {folder}/other.seed --compromised {key} --floor org.guild.runners.qwen=3 --reason stolen -o {folder}/advisory",
    "kernel trust advisory {folder}/advisory --dry-run",
    "kernel advisory --key-id {other} --seed-file {folder}/other.seed --superseded gk1-0000000000000000000000000000000000000000000000000000000000000000 --reason stolen -o {folder}/unknown",
    "kernel trust advisory {folder}/unknown",
    "kernel trust revoke {key} --superseded --dry-run",
    "kernel trust revoke {key} --compromised --since-gen 1 --reason lost",
    "kernel log -n 1",
    "kernel trust list",
    "kernel trust show {key}",
    "kernel list org.guild.runners.qwen",
    "kernel remove org.guild.runners.qwen@1.0.0",
    "kernel gc",
    "--version",
];

/// Command lines that fail, each in its own way.
const FAILURES: &[&str] = &[
    "kernel instal",
    "inspect {folder}/no-such-file",
    "kernel verify {seed}",
    "run {model}",
];

/// Commands whose standard output is no JSON object at all: text for a shell or a pager.
const WITHOUT_JSON: &[&str] = &["completions"];

/// Answers that belong to no command.
const OF_NO_COMMAND: &[&str] = &["failure", "version"];

/// The id in a key's record; empty where there is none yet.
fn key_id(record: &Path) -> String {
    let text = std::fs::read_to_string(record).unwrap_or_default();
    let record: Value = serde_json::from_str(&text).unwrap_or_default();
    record["id"].as_str().unwrap_or_default().to_owned()
}

/// Replaces the words in braces.
fn fill(site: &Site, staged: &str, line: &str) -> Vec<String> {
    let folder = site.path("");
    let author = key_id(&site.path("public.json"));
    let other = key_id(&site.path("other.json"));
    let words = line.split_whitespace().map(|word| {
        word.replace("{folder}", folder.to_string_lossy().trim_end_matches('/'))
            .replace("{model}", &file(SMALL_BF16))
            .replace("{text}", &file(TEXT))
            .replace("{staged}", staged)
            .replace("{author}", &author)
            .replace("{other}", &other)
            .replace("{key}", &site.key.id)
            .replace("{seed}", &site.key.seed.to_string_lossy())
    });
    words.collect()
}

/// Runs a case with standard error thrown away, so that nothing on it can be needed.
fn run(site: &Site, staged: &str, line: &str) -> Output {
    let words = fill(site, staged, line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = site.guild.command(&words);
    command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap()
}

/// The one object on standard output.
fn answer(line: &str, output: &Output) -> Value {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{line}: {text}");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{line}: {error}: {text}"))
}

/// The names of the commands that do something, such as `kernel trust add`.
fn commands() -> BTreeSet<String> {
    fn walk(command: &clap::Command, path: &str, names: &mut BTreeSet<String>) {
        let below: Vec<_> = command
            .get_subcommands()
            .filter(|command| command.get_name() != "help")
            .collect();
        if below.is_empty() {
            names.insert(path.to_owned());
        }
        for command in below {
            let name = format!("{path} {}", command.get_name());
            walk(command, name.trim_start(), names);
        }
    }
    let mut names = BTreeSet::new();
    walk(&Cli::command(), "", &mut names);
    names
}

/// The command of a case: the longest one whose words the line starts with.
fn command_of(line: &str, commands: &BTreeSet<String>) -> String {
    if line == "--version" {
        return "version".to_owned();
    }
    let starts = |command: &&String| line == *command || line.starts_with(&format!("{command} "));
    commands.iter().filter(starts).max().unwrap().clone()
}

fn schema_path(name: &str) -> PathBuf {
    let file = format!("{}.v1.schema.json", name.replace(' ', "-"));
    root().join("schemas/cli").join(file)
}

fn validator(name: &str) -> jsonschema::Validator {
    let path = schema_path(name);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{name} needs a schema: {}: {error}", path.display()));
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::draft202012::meta::validate(&schema)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    jsonschema::draft202012::new(&schema).unwrap()
}

/// What is wrong with an answer; empty where nothing is.
fn faults(validator: &jsonschema::Validator, line: &str, answer: &Value) -> Vec<String> {
    let fault = |error: jsonschema::ValidationError<'_>| {
        let place = error.instance_path().to_string();
        format!("{line}: at {place:?}: {error}\n  {answer}")
    };
    validator.iter_errors(answer).map(fault).collect()
}

/// A file that only its owner may read.
fn write_private(path: &Path, text: &str) {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = std::fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}

/// Fails with everything that was found.
#[track_caller]
fn report(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_answer_is_the_one_its_schema_describes() {
    let commands = commands();
    let site = Site::new();
    let staged = site.stage(QWEN).to_string_lossy().into_owned();
    std::fs::write(site.path("chat.jinja"), TEMPLATE).unwrap();
    std::fs::write(site.path("messages.json"), MESSAGES).unwrap();
    write_private(&site.path("words"), "a passphrase\n");
    let mut validators = BTreeMap::new();
    let mut found = Vec::new();
    for line in CASES {
        let output = run(&site, &staged, line);
        let answer = answer(line, &output);
        if !output.status.success() {
            found.push(format!("{line}: {}: {answer}", output.status));
        }
        let command = command_of(line, &commands);
        let validator = validators
            .entry(command.clone())
            .or_insert_with(|| validator(&command));
        found.extend(faults(validator, line, &answer));
        // A field that the schema doesn't know is refused: the check isn't vacuous.
        let mut more = answer.clone();
        more["a_field_that_no_schema_has"] = Value::Null;
        if validator.is_valid(&more) {
            found.push(format!("{command}: an open schema"));
        }
    }
    report(&found);
    for command in &commands {
        let skip = WITHOUT_JSON.contains(&command.as_str());
        assert!(
            skip != validators.contains_key(command),
            "{command}: give it a case in CASES and a schema, or an entry in WITHOUT_JSON; not both"
        );
    }
}

#[test]
fn every_failure_is_the_object_that_the_schema_describes() {
    let validator = validator("failure");
    let site = Site::new();
    for line in FAILURES {
        let output = run(&site, "", line);
        assert_ne!(output.status.code(), Some(0), "{line}");
        report(&faults(&validator, line, &answer(line, &output)));
    }
}

/// An interrupted run has its answer beside the failure.
#[test]
fn an_interrupted_run_follows_the_schema_of_failures() {
    let validator = validator("failure");
    let site = Site::new();
    std::fs::write(site.path("chat.jinja"), TEMPLATE).unwrap();
    let run = "run {model} -t 1 -p a --ignore-eos -n 30000 -c 32000";
    for (more, field) in [
        ("", "text"),
        (" --chat --chat-template {folder}/chat.jinja", "turns"),
    ] {
        let words = fill(&site, "", &format!("{run}{more}"));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = site.guild.command(&words);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::null()).spawn().unwrap();
        // The handler is set long before, and the whole answer takes far longer.
        std::thread::sleep(std::time::Duration::from_secs(2));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let answer = answer(run, &child.wait_with_output().unwrap());
        assert!(answer.get(field).is_some(), "{answer}");
        report(&faults(&validator, run, &answer));
    }
}

/// A report that holds a failed check is whole, and a failure as well.
#[test]
fn a_doctors_report_of_a_failure_follows_its_schema() {
    let site = Site::new();
    std::fs::write(site.guild.data_dir().join("kernels/HEAD"), "nonsense").unwrap();
    let output = run(&site, "", "doctor");
    let answer = answer("doctor", &output);
    assert_eq!(output.status.code(), Some(Exit::StoreCorrupt as i32));
    assert_eq!(
        (&answer["ok"], &answer["code"]),
        (&false.into(), &"STORE_CORRUPT".into())
    );
    report(&faults(&validator("doctor"), "doctor", &answer));
}

/// So is what `fsck` says of a damaged store, and every fault is in it.
#[test]
fn an_fsck_of_a_damaged_store_follows_its_schema() {
    let site = Site::with(&[QWEN]);
    let objects = site.guild.data_dir().join("kernels/objects/sha256");
    for folder in std::fs::read_dir(objects).unwrap() {
        for object in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            std::fs::remove_file(object.unwrap().path()).unwrap();
        }
    }
    let output = run(&site, "", "kernel fsck");
    let answer = answer("kernel fsck", &output);
    assert_eq!(output.status.code(), Some(Exit::StoreCorrupt as i32));
    assert_eq!(
        answer["faults"].as_array().unwrap().len() as u64,
        answer["files"]
    );
    report(&faults(&validator("kernel fsck"), "kernel fsck", &answer));
}

/// What was refused is listed, also from a log that is damaged.
#[test]
fn a_list_of_refusals_follows_its_schema() {
    let site = Site::new();
    for bundle in ["{seed}", "{seed}", "{text}"] {
        let output = run(&site, "", &format!("kernel install {bundle}"));
        assert_eq!(output.status.code(), Some(Exit::BundleMalformed as i32));
    }
    let check = |refusals: usize, exit: Exit| {
        let line = "kernel audit --verify";
        let output = run(&site, "", line);
        let answer = answer(line, &output);
        assert_eq!(output.status.code(), Some(exit as i32), "{answer}");
        assert_eq!(answer["refusals"].as_array().unwrap().len(), refusals);
        assert_eq!(answer["counted"], 1);
        report(&faults(&validator("kernel audit"), line, &answer));
    };
    check(2, Exit::Ok);
    let segment = site.guild.data_dir().join("audit/00000000.log");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    check(1, Exit::StoreCorrupt);
}

#[test]
fn a_failures_code_is_a_name_of_the_table() {
    let text = std::fs::read_to_string(schema_path("failure")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let known = schema["properties"]["code"]["enum"].as_array().unwrap();
    let known: Vec<&str> = known.iter().filter_map(Value::as_str).collect();
    let table = Exit::TABLE.iter().filter(|(exit, _)| *exit != Exit::Ok);
    assert_eq!(known, table.map(|(_, name)| *name).collect::<Vec<_>>());
}

#[test]
fn every_schema_belongs_to_a_command_and_is_closed() {
    let commands = commands();
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("schemas/cli")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let name = name
            .strip_suffix(".v1.schema.json")
            .unwrap_or_else(|| panic!("{name}: the name is COMMAND.v1.schema.json"));
        let known = OF_NO_COMMAND.contains(&name)
            || commands
                .iter()
                .any(|command| command.replace(' ', "-") == name);
        assert!(known, "{name}: no such command");
        let schema: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        closed(&schema, name);
        seen += 1;
    }
    assert!(seen > 1);
}

/// Each schema stands alone, so what several describe is written in each.
#[test]
fn what_several_schemas_describe_is_the_same_in_all() {
    let read = |path: &Path| -> Value {
        serde_json::from_slice(&std::fs::read(path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let mut definitions: BTreeMap<String, (Value, PathBuf)> = BTreeMap::new();
    for folder in ["schemas", "schemas/cli"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        for path in paths.filter(|path| path.is_file()) {
            let schema = read(&path);
            for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
                let first = || (definition.clone(), path.clone());
                let (other, file) = definitions.entry(name.clone()).or_insert_with(first);
                let place = format!("{name} in {} and {}", file.display(), path.display());
                assert_eq!(other, definition, "{place}");
            }
        }
    }
    assert!(definitions.len() > 20);
    let receipt = read(&root().join("schemas/receipt.v1.schema.json"));
    let answer = read(&schema_path("kernel receipt"));
    for part in ["type", "additionalProperties", "required", "properties"] {
        let shown = &answer["properties"]["receipt"][part];
        assert_eq!(&receipt[part], shown, "{part} of a receipt");
    }
}

/// Every object that a schema describes says what else may stand in it.
fn closed(schema: &Value, place: &str) {
    if let Value::Object(fields) = schema {
        let object = fields.get("type").is_some_and(|kind| kind == "object");
        assert!(
            !object || fields.contains_key("additionalProperties"),
            "{place}: additionalProperties is missing"
        );
        for (key, value) in fields {
            closed(value, &format!("{place}/{key}"));
        }
    } else if let Value::Array(items) = schema {
        for item in items {
            closed(item, place);
        }
    }
}
