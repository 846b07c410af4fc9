//! The table of threats in `docs/safety.md`: each row has a test that is named after it, or a reason why it has none.
//! `INSTA_UPDATE=always` writes the table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- threats: written by tests/hostile/tests/threats.rs -->\n";
const END: &str = "<!-- threats end -->\n";
/// The parts of the list, in the order of the rows.
const PARTS: [&str; 7] = [
    "archive",
    "signature",
    "trust",
    "versions",
    "store",
    "load",
    "inference",
];
const SOURCES: [&str; 4] = ["host", "sdk", "plugins", "tests"];

type Rows = BTreeMap<u32, String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What each row is about, and why some have no test.
fn listed() -> (Rows, Rows) {
    let text = include_str!("../threats.toml");
    let table: BTreeMap<String, BTreeMap<String, String>> = toml::from_str(text).unwrap();
    let rows = |part: &str| -> Vec<(u32, String)> {
        let rows = table[part].iter();
        let rows = rows.map(|(number, text)| (number.parse().unwrap(), text.clone()));
        rows.collect()
    };
    let threats = PARTS.iter().flat_map(|part| rows(part)).collect();
    (threats, rows("left_out").into_iter().collect())
}

/// The rows in a test's name: 60, 63 and 64 in `rows_60_63_64_every_call_may_fail`.
fn rows_of(name: &str) -> Vec<u32> {
    let rest = name.strip_prefix("rows_").or(name.strip_prefix("row_"));
    let numbers = rest.unwrap_or_default().split('_');
    numbers.map_while(|word| word.parse().ok()).collect()
}

/// Tests named after rows, by row, in one file.
fn tests_in(source: &str) -> Vec<(u32, String)> {
    let mut tests = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        let function = line
            .strip_prefix("fn ")
            .and_then(|rest| rest.split('(').next());
        if let Some(name) = function.filter(|_| is_test) {
            let rows = rows_of(name).into_iter();
            tests.extend(rows.map(|row| (row, name.to_owned())));
        }
        // Attributes and comments may stand between.
        // One that is ignored is run by another test, which has the name that counts.
        let goes_on =
            (line.starts_with("#[") && !line.starts_with("#[ignore")) || line.starts_with("//");
        is_test = line == "#[test]" || (is_test && goes_on);
    }
    tests
}

/// Every such test of the project, with its file, by row.
fn found() -> BTreeMap<u32, Vec<String>> {
    let mut found: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut folders: Vec<PathBuf> = SOURCES.iter().map(|part| root().join(part)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let file = path.strip_prefix(root()).unwrap().display().to_string();
                for (row, name) in tests_in(&fs::read_to_string(&path).unwrap()) {
                    let test = format!("`{file}`: `{name}`");
                    found.entry(row).or_default().push(test);
                }
            }
        }
    }
    found.values_mut().for_each(|tests| tests.sort());
    found
}

fn table(threats: &Rows, left_out: &Rows, found: &BTreeMap<u32, Vec<String>>) -> String {
    let mut table = format!("{BEGIN}| Row | Threat | Tests |\n|---|---|---|\n");
    for (row, threat) in threats {
        let tests = match (found.get(row), left_out.get(row)) {
            (Some(tests), None) => tests.join("<br>"),
            (None, Some(reason)) => format!("none: {reason}"),
            (Some(_), Some(_)) => panic!("row {row} has a test, and a reason why it has none"),
            (None, None) => panic!("row {row} has no test: {threat}"),
        };
        writeln!(table, "| {row} | {threat} | {tests} |").unwrap();
    }
    table + END
}

#[test]
fn every_threat_has_its_test_and_its_row_in_the_documents() {
    let (threats, left_out) = listed();
    assert!(threats.keys().copied().eq(1..=84), "{:?}", threats.keys());
    let found = found();
    let unknown: Vec<_> = found
        .keys()
        .filter(|row| !threats.contains_key(row))
        .collect();
    assert!(unknown.is_empty(), "rows that aren't listed: {unknown:?}");
    let table = table(&threats, &left_out, &found);
    let path = root().join("docs/safety.md");
    let page = fs::read_to_string(&path).unwrap();
    let start = page.find(BEGIN).expect("the page has the table's mark");
    let end = page.find(END).expect("the page has the mark of its end") + END.len();
    if page[start..end] == table {
        return;
    }
    if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
        return fs::write(&path, format!("{}{table}{}", &page[..start], &page[end..])).unwrap();
    }
    panic!("the table in docs/safety.md is old: run this test with INSTA_UPDATE=always");
}

#[test]
fn names_of_tests_lead_to_rows() {
    assert_eq!(rows_of("row_07_names_with_3_dots"), [7]);
    assert_eq!(rows_of("rows_60_63_64_every_call"), [60, 63, 64]);
    assert!(rows_of("the_row_of_7").is_empty() && rows_of("row_of_7").is_empty());
    let source = "#[test]\n#[expect]\n/// x\nfn row_3_a() {}\nfn row_4_no_test() {}\n#[test]\n#[ignore]\nfn row_5_b() {}";
    assert_eq!(tests_in(source), [(3, "row_3_a".to_owned())]);
}
