//! Broken files: each defect is refused with its own error, and nothing panics.

use guild_model::{Damage, ErrorCode, GgufFile, ModelError, ModelSource, Unsupported, gguf::parse};

use crate::writer::{Writer, array, string};

/// Parses what `change` makes of the sample.
fn parse_sample(change: impl FnOnce(&mut Writer) -> &mut Writer) -> ModelError {
    let mut writer = Writer::sample();
    change(&mut writer);
    parse(&writer.bytes()).expect_err("the defect must be seen")
}

fn damage(change: impl FnOnce(&mut Writer) -> &mut Writer) -> Damage {
    match parse_sample(change) {
        ModelError::Damaged(damage) => damage,
        other => panic!("damage expected, not {other}"),
    }
}

#[test]
fn magic_and_version() {
    let Err(ModelError::Damaged(damage)) = parse(b"GGML____________________") else {
        panic!("refused")
    };
    assert_eq!(damage, Damage::NotGguf { magic: *b"GGML" });
    for (version, want) in [
        (1, Unsupported::Version { found: 1 }),
        (4, Unsupported::Version { found: 4 }),
        (3u32.swap_bytes(), Unsupported::BigEndian),
    ] {
        let error = parse_sample(|writer| {
            writer.version = version;
            writer
        });
        assert_eq!(error.code(), ErrorCode::Unsupported);
        assert!(
            matches!(error, ModelError::Unsupported(found) if found == want),
            "{version}"
        );
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = Writer::sample().bytes();
    // The last tensor has 4 bytes and 28 of padding, which a file may lack.
    for len in 0..bytes.len() - 28 {
        let error = parse(&bytes[..len]).expect_err("bytes are missing");
        assert_eq!(error.code(), ErrorCode::Damaged, "{len}: {error}");
    }
    parse(&bytes[..bytes.len() - 28]).expect("all tensor data is there");
}

#[test]
fn absurd_counts_allocate_nothing() {
    for (counts, what) in [
        ((u64::MAX, 7), "the tensor count"),
        ((3, u64::MAX), "the metadata count"),
        ((1 << 18 | 1, 7), "the tensor count"),
        ((3, 1 << 16 | 1), "the metadata count"),
    ] {
        let damage = damage(|writer| {
            writer.counts = Some(counts);
            writer
        });
        assert!(
            matches!(damage, Damage::OverLimit { what: found, .. } if found == what),
            "{damage}"
        );
    }
    // Within the limit, but more than the file can hold.
    for (counts, what) in [
        ((1 << 18, 7), "the tensor count"),
        ((3, 1 << 16), "the metadata count"),
    ] {
        let damage = damage(|writer| {
            writer.counts = Some(counts);
            writer
        });
        assert!(
            matches!(damage, Damage::Truncated { what: found, .. } if found == what),
            "{damage}"
        );
    }
}

#[test]
fn absurd_lengths_allocate_nothing() {
    let long = |len: u64| len.to_le_bytes();
    let text = damage(|writer| writer.entry("k", 8, &long(u64::MAX)));
    assert!(
        matches!(
            text,
            Damage::OverLimit {
                what: "a metadata string",
                ..
            }
        ),
        "{text}"
    );
    let array =
        damage(|writer| writer.entry("k", 9, &[&[8, 0, 0, 0], &long(1 << 20)[..]].concat()));
    assert!(
        matches!(
            array,
            Damage::Truncated {
                what: "an array's length",
                ..
            }
        ),
        "{array}"
    );
    let array = damage(|writer| writer.entry("k", 9, &[&[0; 4], &long(1 << 24 | 1)[..]].concat()));
    assert!(
        matches!(
            array,
            Damage::OverLimit {
                what: "an array's length",
                ..
            }
        ),
        "{array}"
    );
    let key = damage(|writer| writer.raw_entry(&long(1 << 16)));
    assert!(
        matches!(
            key,
            Damage::OverLimit {
                what: "a metadata key",
                limit: 0xffff,
                ..
            }
        ),
        "{key}"
    );
    let name = damage(|writer| writer.tensor(&"n".repeat(257), &[1], 0, vec![0; 4]));
    assert!(
        matches!(
            name,
            Damage::OverLimit {
                what: "a tensor name",
                limit: 256,
                ..
            }
        ),
        "{name}"
    );
}

#[test]
fn values_are_checked() {
    let found = damage(|writer| writer.entry("k", 13, &[0; 8]));
    assert!(
        matches!(found, Damage::UnknownValueType { found: 13, .. }),
        "{found}"
    );
    let found = damage(|writer| writer.entry("k", 7, &[2]));
    assert!(
        matches!(found, Damage::NotBoolean { found: 2, .. }),
        "{found}"
    );
    let found = damage(|writer| writer.entry("k", 9, &array(7, &[vec![1], vec![3]])));
    assert!(
        matches!(found, Damage::NotBoolean { found: 3, .. }),
        "{found}"
    );
    let bad_text = [&2u64.to_le_bytes()[..], &[0xc3, 0x28]].concat();
    let found = damage(|writer| writer.entry("k", 8, &bad_text));
    assert!(
        matches!(
            found,
            Damage::NotUtf8 {
                what: "a metadata string",
                ..
            }
        ),
        "{found}"
    );
    let found =
        damage(|writer| writer.entry("k", 9, &array(8, &[string("fine"), bad_text.clone()])));
    assert!(
        matches!(
            found,
            Damage::NotUtf8 {
                what: "a metadata string",
                ..
            }
        ),
        "{found}"
    );
    let found = damage(|writer| {
        let entry = [&bad_text[..], &[0; 5]].concat();
        writer.raw_entry(&entry)
    });
    assert!(
        matches!(
            found,
            Damage::NotUtf8 {
                what: "a metadata key",
                ..
            }
        ),
        "{found}"
    );
}

#[test]
fn arrays_nest_four_deep_at_most() {
    let nested = |depth: usize| (1..depth).fold(array(0, &[]), |inner, _| array(9, &[inner]));
    let found = damage(|writer| writer.entry("k", 9, &nested(5)));
    assert!(
        matches!(
            found,
            Damage::OverLimit {
                found: 5,
                limit: 4,
                ..
            }
        ),
        "{found}"
    );
    let mut deepest = Writer::new();
    deepest.entry("k", 9, &nested(4));
    parse(&deepest.bytes()).expect("depth 4 is accepted");
}

#[test]
fn names_are_unique() {
    let found = damage(|writer| writer.entry("a.u32", 0, &[1]));
    assert_eq!(
        found,
        Damage::DuplicateKey {
            key: "a.u32".into()
        }
    );
    let found = damage(|writer| writer.tensor("bias", &[1], 0, vec![0; 4]));
    assert_eq!(
        found,
        Damage::DuplicateTensor {
            name: "bias".into()
        }
    );
}

#[test]
fn alignment_is_a_power_of_two_in_range() {
    for alignment in [0u32, 1, 4, 24, 1 << 17] {
        let found = damage(|writer| writer.entry("general.alignment", 4, &alignment.to_le_bytes()));
        assert!(
            matches!(found, Damage::BadAlignment { found, .. } if found == u64::from(alignment)),
            "{found}"
        );
    }
    let found = damage(|writer| writer.entry("general.alignment", 8, &string("32")));
    assert!(
        matches!(found, Damage::WrongType { ref key, .. } if key == "general.alignment"),
        "{found}"
    );
    let mut writer = Writer::sample();
    writer.alignment = 64;
    writer.entry("general.alignment", 4, &64u32.to_le_bytes());
    let gguf = parse(&writer.bytes()).expect("64 is accepted");
    assert!(
        gguf.tensors
            .iter()
            .all(|tensor| tensor.offset.is_multiple_of(64))
    );
}

#[test]
fn shapes_are_checked() {
    let shaped = |shape: &[u64], ggml_type: u32| {
        damage(|writer| writer.tensor("t", shape, ggml_type, vec![0; 64]))
    };
    assert!(matches!(shaped(&[4, 0], 0), Damage::EmptyAxis { .. }));
    assert!(matches!(
        shaped(&[1 << 40, 1 << 40], 0),
        Damage::SizeOverflow { .. }
    ));
    assert!(
        matches!(shaped(&[1 << 63], 0), Damage::SizeOverflow { .. }),
        "4 bytes each overflow"
    );
    assert!(
        matches!(shaped(&[1 << 40, 1 << 40], 99), Damage::SizeOverflow { .. }),
        "unknown type"
    );
    assert!(matches!(
        shaped(&[1; 5], 0),
        Damage::OverLimit {
            found: 5,
            limit: 4,
            ..
        }
    ));
    let partial = shaped(&[100, 256], 12);
    let want = Damage::PartialBlock {
        tensor: "t".into(),
        type_name: "Q4_K",
        row_elems: 100,
        block_elems: 256,
    };
    assert_eq!(partial, want);
}

#[test]
fn places_are_checked() {
    let placed = |offset: u64| {
        damage(|writer| {
            writer.tensor("t", &[8], 0, vec![0; 32]).last().offset = Some(offset);
            writer
        })
    };
    assert_eq!(
        placed(33),
        Damage::Misaligned {
            tensor: "t".into(),
            offset: 33,
            alignment: 32
        }
    );
    assert!(matches!(
        placed(1 << 20),
        Damage::OutOfBounds { byte_len: 32, .. }
    ));
    assert!(
        matches!(placed(u64::MAX - 31), Damage::OutOfBounds { .. }),
        "the sum overflows"
    );
    assert_eq!(
        placed(32),
        Damage::Overlap {
            first: "weight".into(),
            second: "t".into()
        }
    );
    let short = damage(|writer| {
        writer.tensor("t", &[16], 0, vec![0; 64]).cut = 1;
        writer
    });
    assert!(
        matches!(short, Damage::OutOfBounds { byte_len: 64, .. }),
        "{short}"
    );
}

#[test]
fn an_unsupported_type_is_listed_and_refused_on_use() {
    let folder = tempfile::tempdir().expect("a folder");
    for (ggml_type, type_name, byte_len) in [(42, "Q2_0", Some(72)), (4711, "unknown", None)] {
        let mut writer = Writer::sample();
        writer.tensor("odd", &[256], ggml_type, vec![0; 72]);
        let path = folder.path().join("odd.gguf");
        std::fs::write(&path, writer.bytes()).expect("written");
        let file = GgufFile::open(&path).expect("it can be listed");
        let odd = file.tensor("odd").expect("it is listed");
        assert_eq!((odd.type_name, odd.byte_len), (type_name, byte_len));
        let error = file.tensor_bytes("odd").expect_err("it cannot be used");
        assert_eq!(error.code(), ErrorCode::Unsupported);
        let text = error.to_string();
        assert!(
            text.contains("\"odd\"") && text.contains(&ggml_type.to_string()),
            "{text}"
        );
        assert!(text.contains(type_name) && text.contains("Q4_K"), "{text}");
        assert!(
            file.tensor_bytes("weight").is_ok(),
            "the others can be used"
        );
    }
}
