//! What the package commands say, where no package is needed to see it.

mod home;
mod program;

use home::Home;
use serde_json::Value;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;

/// A home folder with two keys, of which one is trusted.
struct Author {
    home: Home,
    key: String,
}

impl Deref for Author {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.home
    }
}

impl Author {
    fn new() -> Author {
        let mut author = Author {
            home: Home::new(),
            key: String::new(),
        };
        author.key = author.keygen("author");
        author.keygen("other");
        author.json("kernel trust add author.json --scope org.example");
        author
    }

    fn keygen(&self, name: &str) -> String {
        let line = format!(
            "kernel keygen --seed-file {name}.seed --public {name}.json --label {name} --operator {name}-org --test-identity"
        );
        self.json(&line)["key_id"].as_str().unwrap().to_owned()
    }
}

#[test]
fn the_log_names_what_a_change_of_trust_changed() {
    let home = Author::new();
    home.json("kernel trust policy org.example --reviewers 1");
    let revoke = format!("kernel trust revoke {} --superseded", home.key);
    home.json(&revoke);
    let short = &home.key[..20];
    let (_, log, _) = home.text("kernel log");
    let lines: Vec<&str> = log.lines().collect();
    for (line, words) in [
        (lines[0], format!("key withdrawn {short} (author): retired")),
        (
            lines[1],
            "policy set org.example: publishers 1, reviewers 1".to_owned(),
        ),
        (
            lines[2],
            format!("key added {short} (author) for org.example"),
        ),
    ] {
        assert!(line.contains(&words), "no {words:?} in {line:?}");
    }
    let log = home.json("kernel log");
    let changes: Vec<&Value> = log["generations"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|entry| entry["trust_changes"].as_array().unwrap())
        .collect();
    let kinds: Vec<&str> = changes
        .iter()
        .map(|change| change["change"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["key_withdrawn", "policy_set", "key_added"]);
    assert_eq!(changes[2]["key"]["id"], home.key.as_str());
}

#[test]
fn a_checkpoint_is_all_that_is_printed_and_is_told_from_a_grown_chain() {
    let home = Author::new();
    let seed = format!("--key-id {} --seed-file author.seed", home.key);
    let (code, out, said) = home.text(&format!("kernel log --checkpoint note {seed}"));
    assert_eq!(code, 0, "{said}");
    let root = home.json("kernel log -n 1")["generations"][0]["sha256"].clone();
    assert_eq!(out.trim_end(), root.as_str().unwrap());
    assert!(said.contains("2 generations to note"), "{said}");
    let (_, _, same) = home.text("kernel log --verify --against note");
    assert!(same.contains("the same as the 2 generations"), "{same}");
    assert!(!same.contains("grown"), "{same}");
    home.json("kernel trust policy org.example --reviewers 1");
    let (_, _, grown) = home.text("kernel log --verify --against note");
    assert!(
        grown.contains("has grown from the 2 generations"),
        "{grown}"
    );
    let answer = home.json("kernel log --verify --against note");
    assert_eq!(answer["against"]["grown_by"], 1);

    // The note's file is named by whoever signs it, too, and a key that didn't sign it is no matter of a store.
    let other = home.answer(
        "kernel cosign note --public other.json --key-id x --seed-file other.seed --out out",
    );
    assert_eq!(other["code"], "KEY_UNTRUSTED");
    assert!(
        other["hint"].as_str().unwrap().contains("--public"),
        "{other}"
    );
    let id = home.keygen("witness");
    let (code, _, said) = home.text(&format!(
        "kernel cosign note --public author.json --key-id {id} --seed-file witness.seed --out cosigned"
    ));
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Checkpoint cosigned"), "{said}");
}

#[test]
fn trusted_keys_are_listed_with_rights_holder_age_and_packages() {
    let home = Author::new();
    let (_, list, _) = home.text("kernel trust list");
    for words in [
        "author (test identity)\torg.example (publish)\theld by author-org",
        "\tadded 2",
        "\tno package",
    ] {
        assert!(list.contains(words), "no {words:?} in {list:?}");
    }
    home.json(&format!("kernel trust revoke {} --superseded", home.key));
    let key = home.json("kernel trust list")["keys"][0].clone();
    assert_eq!(
        (&key["added_generation"], &key["since_gen"]),
        (&1.into(), &2.into())
    );
    assert_eq!(key["packages"], Value::Array(Vec::new()));
}

#[test]
fn a_withdrawal_says_that_nothing_stops() {
    let home = Author::new();
    let line = format!("kernel trust revoke {} --compromised --dry-run", home.key);
    let (_, _, said) = home.text(&line);
    assert!(said.contains("would be withdrawn"), "{said}");
    assert!(
        said.contains("No installed version stops loading"),
        "{said}"
    );
}

#[test]
fn a_floor_of_an_unknown_package_is_taken_and_said() {
    let home = Author::new();
    for line in [
        "kernel floor org.example.none",
        "kernel floor org.example.none 2",
    ] {
        let (code, _, said) = home.text(line);
        assert_eq!(code, 0, "{said}");
        let words = "No version of org.example.none is or was installed here";
        assert!(said.contains(words), "{line}: {said}");
    }
    let raised = home.json("kernel floor org.example.none 3");
    assert_eq!(raised["raised"]["known"], false);
}

/// A floor never falls, so a slip of the finger is asked about before it counts.
#[test]
fn a_floor_far_above_the_one_in_force_needs_a_word_more() {
    let home = Author::new();
    let floors = || home.json("kernel floor")["floors"].clone();
    home.json("kernel floor org.example.x 5");
    let before = floors();
    for dry_run in ["", " --dry-run"] {
        let refused = home.answer(&format!("kernel floor org.example.x 1006{dry_run}"));
        assert_eq!(refused["code"], "USAGE", "{refused}");
        let (message, hint) = (&refused["message"], &refused["hint"]);
        let message = message.as_str().unwrap();
        assert!(message.contains("is 5, and 1006 is more"), "{message}");
        assert!(hint.as_str().unwrap().contains("--i-understand"), "{hint}");
    }
    let (code, data, said) = home.text("kernel floor org.example.x 1005 --dry-run");
    assert_eq!(
        (code, data.as_str()),
        (0, "org.example.x\t1005\n"),
        "{said}"
    );
    assert!(said.contains("would be 1005"), "{said}");
    let preview = home.json("kernel floor org.example.x 2000 --dry-run --i-understand");
    assert_eq!(preview["dry_run"], true);
    assert_eq!(preview["raised"]["previous"], 5);
    assert_eq!(floors(), before);
    home.json("kernel floor org.example.x 1005");
    home.json("kernel floor org.example.x 9007199254740991 --i-understand");
    assert_eq!(floors()[0]["floor"], 9_007_199_254_740_991_u64);
    // What is refused makes no store.
    let fresh = Home::new();
    assert_eq!(
        fresh.answer("kernel floor org.example.x 1001")["code"],
        "USAGE"
    );
    assert!(!fresh.path().join(".local").exists());
}

/// What was got instead of a bundle is named as somebody would who looks at it.
#[test]
fn what_is_no_bundle_is_called_so() {
    let home = Author::new();
    let long = "Hello, this is no bundle, and it is longer than a record.";
    let cut = [b"PK\x03\x04".as_slice(), &[1; 100]].concat();
    for (bytes, words) in [
        (b"Hello".as_slice(), "too short to be a bundle"),
        (long.as_bytes(), "neither begins nor ends as a bundle does"),
        (&cut, "it is cut off"),
    ] {
        std::fs::write(home.path().join("file"), bytes).unwrap();
        let refused = home.answer("kernel verify file");
        assert_eq!(refused["code"], "BUNDLE_MALFORMED", "{refused}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_key_that_is_named_too_briefly_or_twice_is_a_matter_of_the_command_line() {
    let home = Author::new();
    let key = home.key.clone();
    let advisory = |id: &str| {
        let line =
            "kernel advisory --floor org.example.x=1 --reason x --seed-file author.seed -o out";
        home.answer(&format!("{line} --key-id {id}"))
    };
    let brief = advisory(&key[..15]);
    assert_eq!(brief["code"], "USAGE", "{brief}");
    assert!(
        brief["message"].as_str().unwrap().contains("too little"),
        "{brief}"
    );
    let other = advisory("gk1-0123456789ab");
    assert!(
        other["message"]
            .as_str()
            .unwrap()
            .contains("is the seed of"),
        "{other}"
    );
    let itself = home.answer(&format!(
        "kernel rotate-key --key-id {key} --seed-file author.seed --new-public author.json --new-seed-file author.seed --scope org.example --out out"
    ));
    assert_eq!(itself["code"], "USAGE", "{itself}");
    assert!(!home.path().join("out").exists());
}

/// What is signed hasn't happened yet, and a floor that nobody takes at once is told.
#[test]
fn an_advisory_says_what_it_will_do() {
    let home = Author::new();
    let line = format!(
        "kernel advisory --key-id {key} --seed-file author.seed --reason x --compromised {key}",
        key = home.key
    );
    let (_, _, said) = home.text(&format!("{line} --floor org.example.x=1000 -o near"));
    assert!(said.contains("Withdraws gk1-"), "{said}");
    assert!(!said.contains("is withdrawn"), "{said}");
    assert!(!said.contains("refused"), "{said}");
    let (_, _, said) = home.text(&format!("{line} --floor org.example.x=1002 -o far"));
    assert!(
        said.contains("is below 2 the whole advisory is refused"),
        "{said}"
    );
}

#[test]
fn a_store_without_any_selection_has_nothing_to_roll_back() {
    let home = Author::new();
    let answer = home.answer("kernel rollback");
    assert_eq!(answer["code"], "ROLLBACK_UNAVAILABLE", "{answer}");
    assert!(
        answer["hint"]
            .as_str()
            .unwrap()
            .contains("guild kernel log"),
        "{answer}"
    );
    // On the machine's store the next command is one for that store.
    home.json(
        "--machine --machine-data-dir machine kernel trust add author.json --scope org.example",
    );
    let machine = home.answer("--machine --machine-data-dir machine kernel rollback");
    let hint = machine["hint"].as_str().unwrap();
    assert!(hint.contains("`guild --machine kernel log`"), "{machine}");
    let missing = home.answer("kernel list org.example.none");
    assert_eq!(missing["code"], "NOT_FOUND", "{missing}");
}

/// A store that others could have written isn't read, and the machine's can be left out.
#[test]
fn the_machine_s_store_that_can_t_be_believed_can_be_left_out() {
    let home = Author::new();
    let machine = home.path().join("machine/kernels");
    std::fs::create_dir_all(&machine).unwrap();
    std::fs::set_permissions(&machine, PermissionsExt::from_mode(0o777)).unwrap();
    let run = |line: &[&str]| -> Value {
        let mut command = program::command(home.path());
        command.env_remove("GUILD_NO_MACHINE_STORE");
        command.args(["--json", "--machine-data-dir", "machine"]);
        let output = command.args(line).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    for line in [&["kernel", "list"][..], &["kernel", "trust", "list"]] {
        let refused = run(line);
        assert_eq!(refused["code"], "STORE_CORRUPT", "{refused}");
        let (message, hint) = (&refused["message"], &refused["hint"]);
        assert!(
            message.as_str().unwrap().contains("may write to it"),
            "{message}"
        );
        let hint = hint.as_str().unwrap();
        assert!(
            hint.contains("--no-machine-store") && hint.contains("chmod go-w"),
            "{hint}"
        );
        let left_out = run(&[line, &["--no-machine-store"]].concat());
        assert_eq!(left_out["ok"], true, "{left_out}");
    }
    let doctor = run(&["kernel", "doctor"]);
    let checks = doctor["checks"].as_array().unwrap();
    let failed = checks
        .iter()
        .find(|check| check["name"] == "store")
        .unwrap();
    assert!(
        failed["fix"]
            .as_str()
            .unwrap()
            .contains("--no-machine-store"),
        "{failed}"
    );
}

#[test]
fn the_doctor_s_steps_are_those_that_mend() {
    let home = Author::new();
    let check = |name: &str| {
        let report = home.answer("kernel doctor");
        let checks = report["checks"].as_array().unwrap().clone();
        checks
            .into_iter()
            .find(|check| check["name"] == name)
            .unwrap()
    };
    let revoke = format!("guild kernel trust revoke {} --superseded", &home.key[..20]);
    assert_eq!(check("trust")["fix"], revoke.as_str());
    let store = home.path().join(".local/share/guild/kernels");
    std::fs::create_dir(store.join("staging/0123456789abcdef")).unwrap();
    assert_eq!(check("store state")["fix"], "guild kernel gc");
    home.json("kernel gc");
    assert_eq!(check("store state")["status"], "ok");
    home.json(&revoke["guild ".len()..]);
    assert_eq!(check("trust")["status"], "ok");
    std::fs::write(store.join("HEAD"), "nonsense").unwrap();
    let fix = check("store")["fix"].as_str().unwrap().to_owned();
    assert!(fix.contains("from a backup"), "{fix}");
    let listed = home.answer("kernel list");
    assert_eq!(listed["hint"], fix.as_str());
}

#[test]
fn a_selftest_says_what_is_made_at_least() {
    let home = Author::new();
    let (code, _, said) = home.text("kernel selftest --crash --kills 0 --images 1");
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("--images 1 is less than is made at least: up to "),
        "{said}"
    );
}

#[test]
fn a_rotation_is_previewed_and_says_what_becomes_of_the_old_key() {
    for (more, words, name) in [
        (
            " --leave-nothing",
            "compromised: nothing that it signed loads",
            "compromised",
        ),
        ("", "retired: it signs nothing new", "retired"),
    ] {
        let home = Author::new();
        home.json(
            "kernel trust add author.json --scope org.example.x --right publish --right rotate",
        );
        home.json("kernel keygen --seed-file new.seed --public new.json --label new --operator author-org --test-identity");
        let old = &home.key;
        home.json(&format!(
            "kernel rotate-key --key-id {old} --seed-file author.seed --new-public new.json --new-seed-file new.seed --scope org.example.x --out rotation{more}"
        ));
        let before = home.json("kernel log");
        let (code, _, said) = home.text("kernel trust rotate rotation --dry-run");
        assert_eq!(code, 0, "{said}");
        assert!(
            said.contains("would follow") && said.contains(&format!("would be {words}")),
            "{said}"
        );
        let preview = home.json("kernel trust rotate rotation --dry-run");
        assert_eq!(
            (&preview["dry_run"], &preview["is_new"]),
            (&true.into(), &true.into())
        );
        assert_eq!(home.json("kernel log"), before, "a preview changed it");
        let (code, _, said) = home.text("kernel trust rotate rotation");
        assert_eq!(code, 0, "{said}");
        assert!(said.contains(&format!("is {words}")), "{said}");
        let again = home.json("kernel trust rotate rotation");
        assert_eq!(
            (&again["is_new"], &again["old_status"]),
            (&false.into(), &name.into())
        );
        let (_, _, said) = home.text("kernel trust rotate rotation");
        assert!(said.contains("Nothing new"), "{said}");
        let (_, log, _) = home.text("kernel log -n 1");
        let followed = format!("(author) by {}", &again["to"].as_str().unwrap()[..20]);
        for words in [
            &followed[..],
            &format!("the old one is {name}"),
            "(new) for org.example.x (publish rotate)",
        ] {
            assert!(log.contains(words), "no {words:?} in {log:?}");
        }
        let changes = &home.json("kernel log -n 1")["generations"][0]["trust_changes"];
        let followed = changes.as_array().unwrap().last().unwrap();
        assert_eq!(
            (&followed["change"], &followed["status"]),
            (&"key_followed".into(), &name.into())
        );
    }
}

/// A file that is refused in a preview leaves no record of a refusal.
#[test]
fn a_preview_of_a_rotation_is_no_attempt() {
    let home = Author::new();
    let line = format!(
        "kernel rotate-key --key-id {} --seed-file author.seed --new-public other.json --new-seed-file other.seed --scope org.example --out rotation",
        home.key
    );
    home.json(&line);
    for (line, refusals) in [
        ("kernel trust rotate rotation --dry-run", 0),
        ("kernel trust rotate rotation", 1),
    ] {
        assert_eq!(home.answer(line)["code"], "SCOPE_DENIED");
        let audit = home.json("kernel audit");
        assert_eq!(
            audit["refusals"].as_array().unwrap().len(),
            refusals,
            "{line}"
        );
    }
}
