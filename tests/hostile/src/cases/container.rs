//! Headers, metadata and lengths that break the container's rules.

use super::{Case, Change, DAMAGED, Stage, Table, UNSUPPORTED};
use crate::writer::{array, string};

/// Every case of this kind.
pub(super) fn cases() -> Vec<Case> {
    let mut table = Table::new(Stage::Container);
    header(&mut table);
    counts(&mut table);
    lengths(&mut table);
    values(&mut table);
    keys(&mut table);
    truncations(&mut table);
    table.cases
}

fn bytes(table: &mut Table, name: &str, says: &[&str], edit: impl Fn(&mut Vec<u8>) + 'static) {
    table.add(name, DAMAGED, says, Change::Bytes(Box::new(edit)));
}

fn header(table: &mut Table) {
    bytes(
        table,
        "an empty file",
        &["the magic", "4 bytes"],
        Vec::clear,
    );
    bytes(table, "another magic", &["GGUF"], |file| {
        file[..4].copy_from_slice(b"GGML")
    });
    bytes(table, "zeros", &["GGUF"], |file| file.fill(0));
    bytes(table, "text", &["GGUF"], |file| {
        *file = b"<html>404 Not Found</html>".repeat(100);
    });
    for version in [0, 1, 4, u32::MAX] {
        let says = format!("version {version}");
        table.unsupported(&says, &[&says], move |model| model.version = version);
    }
    let swapped = 3u32.swap_bytes();
    table.unsupported("big-endian", &["big-endian"], move |model| {
        model.version = swapped
    });
}

fn counts(table: &mut Table) {
    let rows = [
        ("2^64-1 tensors", (u64::MAX, 1), "the tensor count"),
        ("2^63 tensors", (1 << 63, 1), "the tensor count"),
        (
            "2^18 tensors in a small file",
            (1 << 18, 1),
            "the tensor count",
        ),
        ("2^64-1 entries", (1, u64::MAX), "the metadata count"),
        ("2^32 entries", (1, 1 << 32), "the metadata count"),
        (
            "2^16 entries in a small file",
            (1, 1 << 16),
            "the metadata count",
        ),
    ];
    for (name, counts, says) in rows {
        table.damaged(name, &[says], move |model| model.counts = Some(counts));
    }
    table.damaged(
        "one entry too few",
        &["a tensor's axis count", "8"],
        |model| {
            let (tensors, entries) = model.counted();
            model.counts = Some((tensors, entries - 1));
        },
    );
    table.damaged("70,000 entries", &["the metadata count", "70"], |model| {
        for number in 0..70_000 {
            model.entry(&format!("k{number}"), 0, &[0]);
        }
    });
}

fn lengths(table: &mut Table) {
    let long = |length: u64| length.to_le_bytes();
    for (name, length) in [
        ("a key of 2^64-1 bytes", u64::MAX),
        ("a key of 64 KiB", 1 << 16),
    ] {
        let says = length.to_string();
        table.damaged(name, &["a metadata key", &says], move |model| {
            model.raw_entry(&[&long(length)[..], &[b'k'; 1 << 16], &[0; 5]].concat());
        });
    }
    table.damaged(
        "a string of 2^64-1 bytes",
        &["a metadata string"],
        move |model| {
            model.entry("k", 8, &long(u64::MAX));
        },
    );
    table.damaged(
        "a string past the end",
        &["a metadata string", "10000000"],
        move |model| {
            model.entry("k", 8, &long(10_000_000));
        },
    );
    for (name, element, length) in [
        ("an array of 2^64-1 bytes", 0u32, u64::MAX),
        ("an array whose size overflows", 10, 1 << 61),
        ("an array past the end", 10, 1 << 24),
        ("strings past the end", 8, 1 << 20),
        ("arrays past the end", 9, 1 << 20),
    ] {
        table.damaged(name, &["an array's length"], move |model| {
            model.entry(
                "k",
                9,
                &[&element.to_le_bytes()[..], &long(length)].concat(),
            );
        });
    }
    table.damaged(
        "2^20 strings and one",
        &["an array's length", "1048577"],
        move |model| {
            let empty = [0; 8].repeat((1 << 20) + 1);
            model.entry(
                "k",
                9,
                &[&[8, 0, 0, 0], &long((1 << 20) + 1)[..], &empty].concat(),
            );
        },
    );
    for depth in [5, 100_000] {
        let name = format!("arrays {depth} deep");
        table.damaged(&name, &["the depth of nested arrays", "4"], move |model| {
            let opening = [&9u32.to_le_bytes()[..], &long(1)].concat();
            model.entry("k", 9, &[opening.repeat(depth - 1), array(0, &[])].concat());
        });
    }
}

fn values(table: &mut Table) {
    for number in [13, u32::MAX] {
        let name = format!("value type {number}");
        table.damaged(&name, &[&name], move |model| {
            model.entry("k", number, &[0; 8]);
        });
    }
    table.damaged("an array of value type 99", &["value type 99"], |model| {
        model.entry("k", 9, &array(99, &[vec![0; 8]]));
    });
    table.damaged("a boolean of 2", &["boolean", "2"], |model| {
        model.entry("k", 7, &[2]);
    });
    table.damaged(
        "a boolean of 255 in an array",
        &["boolean", "255"],
        |model| {
            model.entry("k", 9, &array(7, &[vec![1], vec![255]]));
        },
    );
    let broken = || [&2u64.to_le_bytes()[..], &[0xc3, 0x28]].concat();
    table.damaged(
        "a string that is not UTF-8",
        &["a metadata string", "UTF-8"],
        move |model| {
            model.entry("k", 8, &broken());
        },
    );
    table.damaged(
        "a token that is not UTF-8",
        &["a metadata string", "UTF-8"],
        move |model| {
            model.set(
                "tokenizer.ggml.tokens",
                (9, array(8, &[string("fine"), broken()])),
            );
        },
    );
}

fn keys(table: &mut Table) {
    table.damaged(
        "a key that is not UTF-8",
        &["a metadata key", "UTF-8"],
        |model| {
            model.raw_entry(&[&1u64.to_le_bytes()[..], &[0xff, 0, 0, 0, 0, 0]].concat());
        },
    );
    table.damaged("a key twice", &["general.architecture", "twice"], |model| {
        model.entry("general.architecture", 8, &string("qwen35"));
    });
}

fn truncations(table: &mut Table) {
    let rows = [
        (2, "the magic"),
        (6, "the version"),
        (12, "the tensor count"),
        (20, "the tensor count"),
        (28, "count"),
        (40, "count"),
    ];
    for (length, says) in rows {
        bytes(
            table,
            &format!("cut to {length} bytes"),
            &[says, "bytes"],
            move |file| {
                file.truncate(length);
            },
        );
    }
    for percent in [1, 2, 3, 5, 10, 25, 50, 75, 99] {
        bytes(
            table,
            &format!("cut to {percent} %"),
            &["needs", "bytes"],
            move |file| {
                file.truncate(file.len() * percent / 100);
            },
        );
    }
    let last = "blk.1.ffn_down_shexp.weight";
    bytes(table, "one byte short", &[last], |file| {
        file.truncate(file.len() - 1)
    });
    table.add(
        "the header of another file alone",
        UNSUPPORTED,
        &["version 1717986918"],
        Change::Bytes(Box::new(|file| {
            *file = b"GGUFffffffffffffffffffffffff".to_vec()
        })),
    );
}
