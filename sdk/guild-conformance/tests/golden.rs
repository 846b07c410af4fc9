//! Golden vectors: the committed files are what the oracle gives, the reader takes no other bytes, and a
//! wrong number is seen.

use guild_abi::formats::{GUILD_FORMAT_F32, GUILD_FORMAT_Q4_K};
use guild_conformance::case::{self, Case};
use guild_conformance::golden::{Tensor, Vector, Vectors};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// Files of `org.guild.kernels.cpu`, and the cases in them by operation and beginning of their names.
const FILES: &[(&str, &str, &[&str])] = &[
    (
        "rms_norm",
        "guild.core.rms_norm",
        &["[7, 33]", "[7, 3, 16]", "[7, 1, 128]"],
    ),
    (
        "linear-q4_k",
        "guild.core.linear",
        &["[1, 256] x ggml.q4_K 17", "[7, 256] x ggml.q4_K 33"],
    ),
    (
        "moe_route",
        "guild.core.moe_route",
        &[
            "f32 4 of 15, hidden 17, rows 7, flags 1",
            "bf16 8 of 17, hidden 15, rows 7, flags 0",
            "f16 12 of 32, hidden 16, rows 7, flags 1, copies 4",
        ],
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packages/org.guild.kernels.cpu/golden")
}

fn dense(case: &&Case) -> bool {
    let operands = case.inputs.iter().chain(&case.outputs);
    let gaps: usize = operands.map(|it| it.row_gap + it.head_gap).sum();
    gaps == 0 && !case.in_place && !case.invalid && case.states.is_empty()
}

#[test]
fn committed_files_are_what_the_oracle_gives() {
    let cases = case::all();
    let mut stale = Vec::new();
    let mut total = 0;
    for (file, op, names) in FILES {
        let chosen: Vec<Case> = names
            .iter()
            .map(|name| {
                let mut mine = cases
                    .iter()
                    .filter(|case| case.op.name == *op)
                    .filter(dense);
                let found = mine.find(|case| case.name.starts_with(name));
                found
                    .unwrap_or_else(|| panic!("{op} has no case {name}"))
                    .clone()
            })
            .collect();
        let bytes = Vectors::of(&chosen).unwrap().encode().unwrap();
        total += bytes.len();
        let path = folder().join(format!("{file}.golden"));
        if std::fs::read(&path).ok().as_ref() == Some(&bytes) {
            continue;
        }
        if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
            std::fs::create_dir_all(folder()).unwrap();
            std::fs::write(&path, bytes).unwrap();
        } else {
            stale.push(path);
        }
    }
    assert!(total < 64 << 10, "{total} bytes are too many for a package");
    assert!(
        stale.is_empty(),
        "old: run this test with INSTA_UPDATE=always: {stale:?}"
    );
}

fn small() -> Vectors {
    let tensor = |rows: u32, values: &[f32]| Tensor {
        format: GUILD_FORMAT_F32,
        dynamic: true,
        shape: vec![rows, 2],
        bytes: values.iter().flat_map(|x| x.to_le_bytes()).collect(),
    };
    let vector = Vector {
        name: "a call".to_owned(),
        rows: 1,
        params: vec![4, 0, 0, 0],
        inputs: vec![tensor(1, &[1.0, 2.0]), tensor(1, &[3.0, 4.0])],
        outputs: vec![tensor(1, &[4.0, 6.0])],
    };
    Vectors {
        op: "guild.core.add".to_owned(),
        version: 1,
        vectors: vec![vector],
    }
}

#[test]
fn what_is_written_is_read() {
    let vectors = small();
    assert_eq!(
        Vectors::decode(&vectors.encode().unwrap()).unwrap(),
        vectors
    );
    let case = &vectors.cases()[0];
    assert_eq!((case.op.name, case.rows), ("guild.core.add", 1));
    let own = Vectors {
        op: "org.example.op".to_owned(),
        ..vectors
    };
    assert_eq!(own.cases()[0].op.name, "org.example.op");
}

#[test]
fn row_27_truncation_at_every_byte_is_refused() {
    let bytes = small().encode().unwrap();
    for length in 0..bytes.len() {
        assert!(Vectors::decode(&bytes[..length]).is_err(), "{length}");
    }
    assert!(Vectors::decode(&[bytes, vec![0]].concat()).is_err());
}

#[test]
fn broken_rules_are_refused_with_the_rule() {
    #[track_caller]
    fn refuses(change: impl FnOnce(&mut Vectors), rule: &str) {
        let mut vectors = small();
        change(&mut vectors);
        let refused = vectors.encode().unwrap_err();
        assert!(refused.to_string().contains(rule), "{refused}");
    }
    refuses(|it| it.vectors.clear(), "1 to 256");
    refuses(|it| it.op = "Guild.Add".to_owned(), "org.name.op@N");
    refuses(|it| it.vectors[0].rows = 2, "as many rows");
    refuses(|it| it.vectors[0].rows = 0, "no rows");
    refuses(|it| it.vectors[0].outputs.clear(), "no output");
    refuses(|it| it.vectors[0].params = vec![0; 4097], "4096");
    refuses(|it| it.vectors[0].name = "x".repeat(121), "120");
    refuses(|it| it.vectors[0].name = "\u{1b}[2J".to_owned(), "ASCII");
    refuses(|it| it.vectors[0].inputs[0].format = 999, "nobody knows");
    refuses(
        |it| it.vectors[0].inputs[0].format = GUILD_FORMAT_Q4_K,
        "format and shape",
    );
    refuses(
        |it| it.vectors[0].inputs[0].bytes.truncate(7),
        "format and shape",
    );
    refuses(|it| it.vectors[0].inputs[0].shape = vec![1, 0], "empty");
    refuses(|it| it.vectors[0].inputs[0].shape = vec![1; 7], "1 to 6");
    refuses(
        |it| it.vectors[0].inputs[0].shape = vec![1, u32::MAX, u32::MAX, u32::MAX],
        "format and shape",
    );
    let tensor = small().vectors[0].inputs[0].clone();
    refuses(|it| it.vectors[0].inputs = vec![tensor; 17], "more than 16");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Vectors::decode(&bytes);
    }

    /// What is read is the one encoding of what it means.
    #[test]
    fn changed_bytes_are_read_or_refused(at in 0..100usize, to in any::<u8>()) {
        let mut bytes = small().encode().unwrap();
        let at = at % bytes.len();
        bytes[at] = to;
        if let Ok(vectors) = Vectors::decode(&bytes) {
            prop_assert_eq!(vectors.encode().unwrap(), bytes);
            let _ = vectors.cases();
        }
    }
}
