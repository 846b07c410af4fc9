//! Arbitrary and mutated bytes: the parser answers, and what it accepts keeps its promises.

use guild_model::{Value, gguf::parse};
use proptest::prelude::*;

use crate::writer::{Writer, string};

/// Parses and, when the bytes are accepted, checks what the rest of the host relies on.
fn exercise(bytes: &[u8]) {
    let Ok(gguf) = parse(bytes) else { return };
    assert_eq!(
        gguf.metadata.iter().count(),
        gguf.metadata.len(),
        "every entry can be read"
    );
    for (key, value) in gguf.metadata.iter() {
        assert_eq!(
            gguf.metadata.value(key).map(|v| v.value_type()),
            Some(value.value_type())
        );
        if let Value::Array(array) = value {
            assert_eq!(
                array.iter().count() as u64,
                array.len(),
                "every element can be read"
            );
        }
    }
    let mut ends: Vec<(u64, u64)> = Vec::new();
    for tensor in &gguf.tensors {
        assert!(tensor.offset.is_multiple_of(gguf.alignment));
        let end = tensor.offset + tensor.byte_len.unwrap_or(1);
        assert!(end <= bytes.len() as u64, "inside the file");
        assert_eq!(gguf.tensor(&tensor.name), Some(tensor), "found by name");
        ends.push((tensor.offset, end));
    }
    ends.sort_unstable();
    assert!(
        ends.windows(2).all(|pair| pair[0].1 <= pair[1].0),
        "no two tensors share bytes"
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        exercise(&bytes);
        exercise(&[&b"GGUF\x03\0\0\0"[..], &bytes].concat());
    }

    #[test]
    fn small_counts_before_arbitrary_bytes_never_panic(
        (tensors, entries) in (0u64..3, 0u64..3),
        bytes in prop::collection::vec(prop_oneof![Just(0u8), 0..16u8, any::<u8>()], 0..256),
    ) {
        let mut file = b"GGUF\x03\0\0\0".to_vec();
        file.extend(tensors.to_le_bytes());
        file.extend(entries.to_le_bytes());
        file.extend(bytes);
        exercise(&file);
    }

    #[test]
    fn mutations_of_a_valid_file_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in 0usize..64,
    ) {
        let mut bytes = Writer::sample().bytes();
        for (index, byte) in edits {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        bytes.truncate(bytes.len() - cut);
        exercise(&bytes);
    }

    #[test]
    fn files_round_trip(
        texts in prop::collection::btree_map("[a-z.]{1,12}", ".{0,20}", 0..8),
        tensors in prop::collection::btree_map("[a-z.]{1,12}", (1u64..4, 1u64..4), 0..8),
    ) {
        let mut writer = Writer::new();
        for (key, text) in &texts {
            writer.entry(key, 8, &string(text));
        }
        for (name, &(blocks, rows)) in &tensors {
            writer.tensor(name, &[32 * blocks, rows], 8, vec![7; (34 * blocks * rows) as usize]);
        }
        let bytes = writer.bytes();
        exercise(&bytes);
        let gguf = parse(&bytes).expect("the writer's file is valid");
        prop_assert_eq!(gguf.metadata.len(), texts.len());
        for (key, text) in &texts {
            prop_assert_eq!(gguf.metadata.require::<&str>(key).unwrap(), text);
        }
        prop_assert_eq!(gguf.tensors.len(), tensors.len());
        for (name, &(blocks, rows)) in &tensors {
            let tensor = gguf.tensor(name).expect("it was written");
            prop_assert_eq!(&tensor.shape, &[32 * blocks, rows]);
            let data = &bytes[tensor.offset as usize..][..tensor.byte_len.unwrap() as usize];
            prop_assert!(data.iter().all(|&byte| byte == 7));
        }
    }
}
