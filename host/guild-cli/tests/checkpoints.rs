//! Checkpoints as `docs/cli.md` shows them, and what `cosign` and `log --against` don't take.

mod home;
mod program;

use home::Home;
use serde_json::Value;

/// What stands in the page for a key's id.
const ID: &str = "gk1-0123456789ab";

/// The page's commands, as lines of words in which `_` stands for a blank.
fn documented() -> Vec<String> {
    let page = include_str!("../../../docs/cli.md");
    let (_, section) = page.split_once("## Checkpoints\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let lines = section
        .lines()
        .filter_map(|line| line.strip_prefix("guild "));
    let quoted = |line: &str| {
        let parts = line.split('"').enumerate();
        let parts = parts.map(|(nth, part)| match nth % 2 {
            0 => part.to_owned(),
            _ => part.replace(' ', "_"),
        });
        parts.collect::<String>()
    };
    lines.map(quoted).collect()
}

/// A home folder with a store whose history has two generations.
fn home_with_history() -> Home {
    let home = Home::new();
    keygen(&home, "author");
    home.json("kernel trust add author.json --scope org.example");
    home
}

fn keygen(home: &Home, name: &str) -> String {
    let line =
        format!("kernel keygen --seed-file {name}.seed --public {name}.json --test-identity");
    home.json(&line)["key_id"].as_str().unwrap().to_owned()
}

/// The line with the id of the key whose seed it names.
fn with_id(home: &Home, line: &str) -> String {
    let seed = line.split(' ').find(|word| word.ends_with(".seed"));
    let Some(seed) = seed.filter(|_| line.contains(ID)) else {
        return line.to_owned();
    };
    let record = home.path().join(seed.replace(".seed", ".json"));
    let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    line.replace(ID, record["id"].as_str().unwrap())
}

#[test]
fn the_documented_commands_work_and_show_a_history_written_anew() {
    let home = home_with_history();
    let lines = documented();
    assert!(lines.len() >= 8, "{lines:?}");
    for line in &lines {
        let line = match line.contains("keygen") {
            // It would ask for a passphrase.
            true => format!("{line} --no-passphrase"),
            false => with_id(&home, line),
        };
        let (code, _, said) = home.text(&line);
        assert_eq!(code, 0, "{line}: {said}");
        if line.contains("--against") {
            assert!(
                said.contains("It is the same as the 2 generations"),
                "{said}"
            );
        }
    }
    let compared = "kernel log --against monday-seen.json --public witness.json";
    assert_eq!(home.json(compared)["against"]["grown_by"], 0);
    home.json("kernel trust policy org.example --reviewers 1");
    assert_eq!(home.json(compared)["against"]["grown_by"], 1);
    assert_eq!(home.json(compared)["verified"]["generations"], 3);

    // The same history once more, at another time and by another key.
    std::fs::remove_dir_all(home.path().join(".local")).unwrap();
    keygen(&home, "stranger");
    home.json("kernel trust add stranger.json --scope org.example");
    home.json("kernel log --verify");
    let refused = home.answer(compared);
    assert_eq!(refused["code"], "STORE_CORRUPT", "{refused}");
}

/// Comparing is no reason to trust anybody with packages.
#[test]
fn whose_signature_counts_is_asked_for_and_nothing_else() {
    let home = home_with_history();
    let id = keygen(&home, "machine");
    keygen(&home, "witness");
    home.json(&format!(
        "kernel log --checkpoint note --key-id {id} --seed-file machine.seed"
    ));
    for line in [
        "kernel log --against note",
        "kernel log --against note --public witness.json",
    ] {
        let refused = home.answer(line);
        assert_eq!(refused["code"], "KEY_UNTRUSTED", "{refused}");
        let hint = refused["hint"].as_str().unwrap();
        assert!(hint.contains("--public"), "{hint}");
        assert!(!hint.contains("trust add"), "{hint}");
    }
    home.json("kernel log --against note --public machine.json");
}

#[test]
fn what_the_key_never_cosigned_is_nothing_to_follow() {
    let home = home_with_history();
    let machine = keygen(&home, "machine");
    let witness = keygen(&home, "witness");
    home.json(&format!(
        "kernel log --checkpoint first --key-id {machine} --seed-file machine.seed"
    ));
    let cosign = |after: &str, out: &str| {
        home.answer(&format!(
            "kernel cosign first {after}--public machine.json --key-id {witness} --seed-file witness.seed --out {out}"
        ))
    };
    let refused = cosign("--after first ", "out");
    assert_eq!(refused["code"], "KEY_UNTRUSTED", "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains(&witness), "{message}");
    assert!(!home.path().join("out").exists());
    assert_eq!(cosign("", "seen")["ok"], true);
    assert_eq!(cosign("--after seen ", "again")["ok"], true);
}
