//! The contract of each core operation: its hash, its numbers, and its place in `docs/ops.md`.

use guild_abi::contract::{CORE_OPS, core_op};
use sha2::{Digest, Sha256};
use std::{collections::HashSet, error::Error, fs};

#[test]
fn hash_is_the_sha256_of_the_text() {
    for op in CORE_OPS {
        assert_eq!(op.hash[..], Sha256::digest(op.contract)[..], "{}", op.name);
    }
}

#[test]
fn text_starts_with_name_and_version() {
    for op in CORE_OPS {
        let start = format!("{}@{}; ", op.name, op.version);
        assert!(op.contract.starts_with(&start), "{}", op.contract);
    }
}

#[test]
fn numbers_and_names_are_unique() {
    let numbers: HashSet<_> = CORE_OPS.iter().map(|op| op.number).collect();
    assert_eq!(numbers.len(), CORE_OPS.len());
    for op in CORE_OPS {
        assert_eq!(
            core_op(op.name, op.version).map(|found| found.number),
            Some(op.number)
        );
    }
}

#[test]
fn text_stands_in_the_document_word_for_word() -> Result<(), Box<dyn Error>> {
    let document = fs::read_to_string(guild_c_abi::root().join("docs/ops.md"))?;
    for op in CORE_OPS {
        assert!(
            document.lines().any(|line| line.trim() == op.contract),
            "docs/ops.md must hold this line:\n{}",
            op.contract
        );
    }
    Ok(())
}
