//! Tensor directories that break the container's rules: names, shapes, alignment, places.

use super::{Case, Stage, Table};
use crate::writer::{f32, i32, text, u32};

const NORM: &str = "output_norm.weight";

/// Every case of this kind.
pub(super) fn cases() -> Vec<Case> {
    let mut table = Table::new(Stage::Container);
    names(&mut table);
    shapes(&mut table);
    places(&mut table);
    alignment(&mut table);
    table.cases
}

fn names(table: &mut Table) {
    table.damaged("a tensor twice", &[NORM, "twice"], |model| {
        model.tensor(NORM, &[32], 0, vec![0; 128]);
    });
    table.damaged(
        "a tensor name that is not UTF-8",
        &["a tensor name", "UTF-8"],
        |model| {
            model.find(NORM).name = vec![b'n', 0xff];
        },
    );
    table.damaged(
        "a tensor name of 257 bytes",
        &["a tensor name", "257", "256"],
        |model| {
            model.find(NORM).name = vec![b'n'; 257];
        },
    );
}

fn shapes(table: &mut Table) {
    let rows: [(&str, &[u64], &[&str]); 8] = [
        ("an axis of 0", &[32, 0], &[NORM, "[32, 0]"]),
        ("every axis 0", &[0, 0, 0, 0], &[NORM, "[0, 0, 0, 0]"]),
        (
            "five axes",
            &[2, 2, 2, 2, 2],
            &["a tensor's axis count", "5"],
        ),
        (
            "elements beyond 64 bits",
            &[1 << 40, 1 << 40],
            &[NORM, "overflows"],
        ),
        (
            "exactly 2^64 elements",
            &[1 << 32, 1 << 32],
            &[NORM, "overflows"],
        ),
        ("bytes beyond 64 bits", &[1 << 63], &[NORM, "overflows"]),
        ("an axis of 2^64-1", &[u64::MAX], &[NORM, "overflows"]),
        (
            "more bytes than the file",
            &[1 << 40],
            &[NORM, "4398046511104"],
        ),
    ];
    for (name, shape, says) in rows {
        table.damaged(name, says, move |model| {
            model.find(NORM).shape = shape.to_vec()
        });
    }
    table.damaged(
        "a row of half a block",
        &[NORM, "Q4_K", "256", "100"],
        |model| {
            let tensor = model.find(NORM);
            (tensor.shape, tensor.ggml_type) = (vec![100], 12);
        },
    );
}

fn places(table: &mut Table) {
    let rows: [(&str, u64, &[&str]); 5] = [
        ("data at an odd place", 33, &[NORM, "33", "32"]),
        ("data past the end", 1 << 30, &[NORM, "file has"]),
        (
            "data at the end of 64 bits",
            u64::MAX - 31,
            &[NORM, "file has"],
        ),
        ("data at 2^63", 1 << 63, &[NORM, "file has"]),
        (
            "data inside another tensor",
            64,
            &["token_embd.weight", NORM, "overlap"],
        ),
    ];
    for (name, offset, says) in rows {
        table.damaged(name, says, move |model| {
            model.find(NORM).offset = Some(offset)
        });
    }
    table.damaged("two tensors in one place", &["overlap", NORM], |model| {
        model.find(NORM).offset = Some(0);
    });
}

fn alignment(table: &mut Table) {
    const KEY: &str = "general.alignment";
    for (name, value, says) in [
        ("alignment 0", u32(0), "0"),
        ("alignment 1", u32(1), "1"),
        ("alignment 24", u32(24), "24"),
        ("alignment 2^31", u32(1 << 31), "2147483648"),
        ("negative alignment", i32(-32), "I32"),
        ("alignment as text", text("32"), "String"),
        ("alignment as a fraction", f32(32.0), "F32"),
    ] {
        table.damaged(name, &[KEY, says], move |model| {
            model.set(KEY, value.clone());
        });
    }
    table.damaged(
        "alignment that the data doesn't have",
        &["multiple of 4096"],
        |model| {
            model.set(KEY, u32(4096));
        },
    );
}
