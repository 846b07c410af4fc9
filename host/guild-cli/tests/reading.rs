//! Commands that only read a package store: where there is none of one's own they read the machine's, and say so. A new
//! command has to say in a table here what it does.

mod home;
mod program;
mod published;

use guild_cli::args::definition;
use home::Home;
use published::publish;
use std::collections::BTreeSet;

/// Command lines that read a store. Words in braces are filled in.
const READING: &[&str] = &[
    "kernel active",
    "kernel countersign {bundle} --role reviewer --statement good --key-id {author} --seed-file author.seed --out {out}",
    "kernel floor",
    "kernel floor org.guild.crash",
    "kernel fsck",
    "kernel list",
    "kernel list org.guild.crash",
    "kernel log",
    "kernel log --verify",
    "kernel log --checkpoint {out} --key-id {author} --seed-file author.seed",
    "kernel outdated .",
    "kernel receipt org.guild.crash",
    "kernel rollback --list",
    "kernel trust list",
    "kernel trust policy org.guild",
    "kernel trust show {key}",
    "kernel verify {bundle}",
];
/// Those that say in a line of their own whose store it is.
const IN_OTHER_WORDS: &[&str] = &["kernel doctor", "doctor"];
/// Command lines that change a store, and make none.
const CHANGING: &[&str] = &[
    "kernel disable org.guild.crash",
    "kernel enable org.guild.crash",
    "kernel floor org.guild.crash 3 --dry-run",
    "kernel remove org.guild.crash",
    "kernel rollback",
    "kernel trust advisory no-file",
    "kernel trust revoke {key} --superseded",
    "kernel trust rotate no-file",
];
/// Commands that make a store, or do nothing without one.
const MAKING: &[&str] = &["kernel gc", "kernel install", "kernel trust add"];
/// Commands that look at no store.
const WITHOUT: &[&str] = &[
    "kernel advisory",
    "kernel audit",
    "kernel cosign",
    "kernel keygen",
    "kernel rotate-key",
    "kernel selftest",
    "kernel sign",
];

/// The options that name the machine's store.
const MACHINE: &str = "--machine-data-dir machine";
/// What is said where the machine's is read in place of one's own.
const WHOSE: &str = "This is the machine's package store; there is none of your own.";

/// A home folder in which the machine alone has a store.
struct Machine {
    home: Home,
    key: String,
    author: String,
}

impl Machine {
    fn new() -> Machine {
        let home = Home::new();
        let key = publish(&home, "machine", &format!("--machine {MACHINE} "));
        let keygen = "kernel keygen --seed-file author.seed --public author.json --test-identity";
        let author = home.json(keygen)["key_id"].as_str().unwrap().to_owned();
        Machine { home, key, author }
    }

    /// Another one each time, so that a command that writes a file finds none.
    fn fill(&self, line: &str, nth: usize) -> String {
        line.replace("{key}", &self.key)
            .replace("{author}", &self.author)
            .replace("{bundle}", "1.0.0.gkernel")
            .replace("{out}", &format!("out{nth}"))
    }

    /// What a reading command says to people, and whose store its answer names.
    fn reads(&self, options: &str, line: &str, nth: usize) -> (String, serde_json::Value) {
        let filled = format!("{options} {}", self.fill(line, 2 * nth));
        let (code, _, said) = self.home.text(&filled);
        assert_eq!(code, 0, "{filled}: {said}");
        let filled = format!("{options} {}", self.fill(line, 2 * nth + 1));
        (said, self.home.json(&filled)["store"].clone())
    }
}

#[test]
fn reading_commands_read_the_machine_s_store_and_say_so() {
    let machine = Machine::new();
    for (nth, line) in READING.iter().enumerate() {
        let (said, store) = machine.reads(MACHINE, line, nth);
        assert!(said.contains(WHOSE), "{line}: {said}");
        assert_eq!(store, "machine", "{line}");
        // Nobody needs to be told what they asked for.
        let asked = format!("--machine {MACHINE}");
        let (said, store) = machine.reads(&asked, line, 100 + nth);
        assert!(!said.contains(WHOSE), "{line}: {said}");
        assert_eq!(store, "machine", "{line}");
    }
    // The package has no code that could be loaded.
    let disable = format!("--machine {MACHINE} kernel disable org.guild.crash");
    machine.home.json(&disable);
    for line in IN_OTHER_WORDS {
        let (_, report, _) = machine.home.text(&format!("{MACHINE} {line}"));
        let words = "machine/kernels on ";
        assert!(report.contains(words), "{line}: {report}");
        let words = "; the machine's, there is none of your own";
        assert!(report.contains(words), "{line}: {report}");
        let answer = machine.home.answer(&format!("{MACHINE} {line}"));
        let checks = answer["checks"].as_array().unwrap().iter();
        let store = checks.clone().find(|check| check["name"] == "store");
        assert_eq!(store.unwrap()["details"]["store"], "machine", "{line}");
    }
    assert!(!machine.home.path().join(".local").exists());
}

#[test]
fn with_a_store_of_one_s_own_that_one_is_read() {
    let machine = Machine::new();
    machine
        .home
        .json("kernel trust add publisher.json --scope org.guild");
    for (nth, line) in READING.iter().enumerate() {
        let (said, store) = machine.reads(MACHINE, line, nth);
        assert!(!said.contains(WHOSE), "{line}: {said}");
        assert_eq!(store, "own", "{line}");
    }
}

#[test]
fn changing_commands_name_the_way_to_the_machine_s_store() {
    let machine = Machine::new();
    for line in CHANGING {
        let answer = machine
            .home
            .answer(&format!("{MACHINE} {}", machine.fill(line, 0)));
        assert_eq!(answer["code"], "NOT_FOUND", "{line}: {answer}");
        let hint = answer["hint"].as_str().unwrap();
        assert!(hint.contains("trust add"), "{line}: {hint}");
        assert!(hint.contains("--machine"), "{line}: {hint}");
    }
    assert!(!machine.home.path().join(".local").exists());
}

/// Without any store there is nothing to say whose it is.
#[test]
fn without_a_store_the_answer_names_none() {
    let home = Home::new();
    for line in [
        "kernel active",
        "kernel list",
        "kernel log",
        "kernel floor",
        "kernel trust list",
        "kernel trust policy org.guild",
    ] {
        assert_eq!(home.json(line)["store"], serde_json::Value::Null, "{line}");
    }
    assert!(!home.path().join(".local").exists());
    let (code, _, said) = home.text("kernel fsck");
    assert_eq!(code, 33, "{said}");
}

#[test]
fn every_command_is_in_a_table() {
    let known = [READING, IN_OTHER_WORDS, CHANGING, MAKING, WITHOUT].concat();
    let mut open = vec![("kernel".to_owned(), definition())];
    let mut commands = BTreeSet::new();
    while let Some((words, above)) = open.pop() {
        let name = words.rsplit(' ').next().unwrap();
        let command = above.find_subcommand(name).unwrap().clone();
        if !command.has_subcommands() {
            commands.insert(words);
            continue;
        }
        let below = command.get_subcommands().map(clap::Command::get_name);
        open.extend(below.map(|name| (format!("{words} {name}"), command.clone())));
    }
    assert!(commands.len() > 25, "{commands:?}");
    for command in commands {
        let is_of = |line: &&str| *line == command || line.starts_with(&format!("{command} "));
        assert!(known.iter().any(is_of), "{command}: which is it?");
    }
}

/// What mends the store that was read is said for that store.
#[test]
fn the_next_step_is_one_for_the_store_that_was_read() {
    let machine = Machine::new();
    let objects = machine.home.path().join("machine/kernels/objects/sha256");
    let mut folders = std::fs::read_dir(objects).unwrap();
    let folder = folders.next().unwrap().unwrap().path();
    std::fs::remove_dir_all(folder).unwrap();
    let damaged = machine.home.answer(&format!("{MACHINE} kernel fsck"));
    assert_eq!(damaged["ok"], false, "{damaged}");
    let hint = damaged["hint"].as_str().unwrap();
    assert!(hint.contains("`guild --machine kernel install`"), "{hint}");
    assert!(!hint.contains("`guild kernel"), "{hint}");
}
