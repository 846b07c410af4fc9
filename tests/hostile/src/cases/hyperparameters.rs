//! Metadata that describes no possible model.

use super::{Case, Stage, Table};
use crate::writer::{Encoded, f32, i32, i32s, text, texts, u32};

/// Every case of this kind.
pub(super) fn cases() -> Vec<Case> {
    let mut table = Table::new(Stage::Model);
    architecture(&mut table);
    missing(&mut table);
    out_of_range(&mut table);
    wrong_types(&mut table);
    not_numbers(&mut table);
    contradictions(&mut table);
    rope(&mut table);
    layers(&mut table);
    table.cases
}

/// The entry `qwen35moe.KEY` set to a value; the message must name it.
fn set(table: &mut Table, name: &str, key: &str, value: Encoded, says: &[&str]) {
    let key = format!("qwen35moe.{key}");
    let mut parts = vec![key.as_str()];
    parts.extend(says);
    let edited = key.clone();
    table.damaged(name, &parts, move |model| {
        model.set(&edited, value.clone());
    });
}

fn architecture(table: &mut Table) {
    const KEY: &str = "general.architecture";
    table.damaged("no architecture", &[KEY, "missing"], |model| {
        model.remove(KEY);
    });
    table.damaged("an architecture that is a number", &[KEY, "U32"], |model| {
        model.set(KEY, u32(7));
    });
    for name in ["qwen99", "", "qwen35moe\u{1b}[2J", "../../etc/passwd"] {
        let says = format!("{name:?}");
        let label = format!("the architecture {name:?}");
        table.unsupported(&label, &[&says, "qwen35moe", "qwen35"], move |model| {
            model.set(KEY, text(name));
        });
    }
    // The other architecture of the same package reads other keys.
    table.damaged(
        "another family's name",
        &["qwen35.feed_forward_length"],
        |model| {
            model.set(KEY, text("qwen35"));
        },
    );
}

fn missing(table: &mut Table) {
    for key in [
        "block_count",
        "embedding_length",
        "attention.head_count",
        "attention.head_count_kv",
        "attention.layer_norm_rms_epsilon",
        "expert_count",
        "rope.freq_base",
        "ssm.state_size",
    ] {
        let key = format!("qwen35moe.{key}");
        table.damaged(&format!("no {key}"), &[&key.clone()], move |model| {
            model.remove(&key);
        });
    }
}

fn out_of_range(table: &mut Table) {
    for (key, number) in [
        ("block_count", 0),
        ("block_count", 4097),
        ("block_count", u32::MAX),
        ("embedding_length", 0),
        ("embedding_length", u32::MAX),
        ("context_length", 0),
        ("attention.head_count", 0),
        ("attention.head_count", 1 << 31),
        ("attention.head_count_kv", 0),
        ("attention.key_length", 0),
        ("attention.key_length", u32::MAX),
        ("full_attention_interval", 0),
        ("full_attention_interval", 3),
        ("expert_count", 0),
        ("expert_count", 1_000_000),
        ("expert_used_count", 0),
        ("expert_used_count", 33),
        ("expert_feed_forward_length", 0),
        ("expert_shared_feed_forward_length", u32::MAX),
        ("ssm.conv_kernel", 1),
        ("ssm.group_count", 0),
        ("ssm.time_step_rank", 0),
        ("ssm.inner_size", 0),
        ("ssm.state_size", 0),
        ("nextn_predict_layers", 2),
        ("nextn_predict_layers", u32::MAX),
    ] {
        let name = format!("{key} = {number}");
        set(table, &name, key, u32(number), &[&number.to_string()]);
    }
}

fn wrong_types(table: &mut Table) {
    set(table, "a negative block_count", "block_count", i32(-1), &[]);
    let key = "attention.head_count";
    set(table, "a negative head count", key, i32(-8), &[]);
    set(table, "a negative context", "context_length", i32(-1), &[]);
    set(table, "heads as text", key, text("8"), &[]);
    set(table, "heads as a fraction", key, f32(8.0), &[]);
    set(table, "no heads in a list", key, i32s(&[]), &["0"]);
    set(
        table,
        "heads for each layer",
        key,
        i32s(&[2, 2]),
        &["list of 2"],
    );
    let key = "attention.layer_norm_rms_epsilon";
    set(table, "epsilon as text", key, text("small"), &[]);
    let key = "rope.scaling.type";
    set(table, "RoPE scaling as a number", key, u32(1), &[]);
}

fn not_numbers(table: &mut Table) {
    for key in ["attention.layer_norm_rms_epsilon", "rope.freq_base"] {
        for (value, says) in [
            (f32::NAN, "NaN"),
            (f32::INFINITY, "inf"),
            (0.0, "0"),
            (-1.0, "-1"),
        ] {
            set(table, &format!("{key} = {value}"), key, f32(value), &[says]);
        }
    }
    let tiny = (12, 1e-300f64.to_le_bytes().to_vec());
    let key = "attention.layer_norm_rms_epsilon";
    set(table, "an epsilon that rounds to 0", key, tiny, &[]);
}

fn contradictions(table: &mut Table) {
    let key = "attention.head_count_kv";
    set(
        table,
        "heads that don't divide",
        key,
        u32(3),
        &["3", "head_count is 2"],
    );
    let key = "attention.value_length";
    set(table, "values of another length", key, u32(8), &["8", "16"]);
    let key = "expert_used_count";
    set(
        table,
        "more experts used than there are",
        key,
        u32(5),
        &["5", "expert_count = 4"],
    );
    let key = "ssm.group_count";
    set(
        table,
        "value heads that don't divide",
        key,
        u32(5),
        &["time_step_rank", "5"],
    );
    let key = "ssm.inner_size";
    set(
        table,
        "an inner size that doesn't divide",
        key,
        u32(33),
        &["33", "2"],
    );
    table.damaged(
        "more tokens than rows of the embedding",
        &["300", "260"],
        |model| {
            let tokens: Vec<String> = (0..300).map(|token| token.to_string()).collect();
            model.set("tokenizer.ggml.tokens", texts(&tokens));
        },
    );
}

fn rope(table: &mut Table) {
    for number in [0, 7, 18, 1 << 20, u32::MAX] {
        let name = format!("{number} rotary dimensions");
        set(
            table,
            &name,
            "rope.dimension_count",
            u32(number),
            &[&number.to_string()],
        );
    }
    let key = "rope.dimension_sections";
    set(
        table,
        "sections beyond the pairs",
        key,
        i32s(&[2, 2, 1, 0]),
        &["5", "4"],
    );
    set(table, "a negative section", key, i32s(&[-1, 0, 0, 0]), &[]);
    set(
        table,
        "five sections",
        key,
        i32s(&[1, 1, 1, 1, 0]),
        &["5", "4"],
    );
    table.unsupported("RoPE scaling", &["rope.scaling.type", "yarn"], |model| {
        model.set("qwen35moe.rope.scaling.type", text("yarn"));
    });
}

fn layers(table: &mut Table) {
    let says = ["qwen35moe.full_attention_interval", "2"];
    table.damaged("one layer of two kinds", &says, |model| {
        model.set("qwen35moe.block_count", u32(1));
    });
    table.damaged("4096 blocks of which two are there", &["blk.2."], |model| {
        model.set("qwen35moe.block_count", u32(4096));
    });
    let key = "attention.recurrent_layers";
    let kinds = |flags: &[u8]| {
        let flags: Vec<Vec<u8>> = flags.iter().map(|&flag| vec![flag]).collect();
        (9, crate::writer::array(7, &flags))
    };
    set(
        table,
        "kinds of three layers",
        key,
        kinds(&[1, 0, 1]),
        &["3", "2"],
    );
    set(
        table,
        "kinds against the interval",
        key,
        kinds(&[0, 0]),
        &["layer 0"],
    );
}
