//! Split models whose files contradict each other, or aren't all there.

use super::{Case, Change, DAMAGED, Stage, Table};
use crate::writer::{Writer, i32, text, u16};

/// Every case of this kind.
pub(super) fn cases() -> Vec<Case> {
    let mut table = Table::new(Stage::Container);
    places(&mut table);
    contents(&mut table);
    alone(&mut table);
    table.cases
}

fn shards(table: &mut Table, name: &str, says: &[&str], edit: impl Fn(&mut Vec<Writer>) + 'static) {
    table.add(name, DAMAGED, says, Change::Shards(Box::new(edit)));
}

fn places(table: &mut Table) {
    let missing = ["model-00003-of-00003.gguf", "shard 3 of 3"];
    shards(table, "the last shard is missing", &missing, |set| {
        set.truncate(2)
    });
    let swapped = ["model-00001-of-00003.gguf", "shard 1 of 3", "shard 3 of 3"];
    shards(table, "two shards are swapped", &swapped, |set| {
        set.swap(0, 2)
    });
    shards(
        table,
        "a shard twice",
        &["shard 3 of 3", "shard 2 of 3"],
        |set| {
            set[2] = set[1].clone();
        },
    );
    shards(
        table,
        "split.no beyond split.count",
        &["split.no", "7"],
        |set| {
            set[1].set("split.no", u16(7));
        },
    );
    shards(table, "a negative split.no", &["split.no", "I32"], |set| {
        set[1].set("split.no", i32(-1));
    });
    shards(
        table,
        "another split.count",
        &["shard 2 of 3", "shard 2 of 4"],
        |set| {
            set[1].set("split.count", u16(4));
        },
    );
    shards(
        table,
        "split.count 65535",
        &["split.count", "65535"],
        |set| {
            set[0].set("split.count", u16(u16::MAX));
        },
    );
    shards(
        table,
        "a whole model among shards",
        &["shard 2 of 3", "a whole model"],
        |set| {
            for key in ["split.no", "split.count", "split.tensors.count"] {
                set[1].remove(key);
            }
        },
    );
}

fn contents(table: &mut Table) {
    shards(
        table,
        "a shard that isn't GGUF",
        &["model-00002-of-00003.gguf", "the version"],
        |set| {
            set[1].cut = set[1].bytes().len() - 5;
        },
    );
    shards(
        table,
        "split.tensors.count lies",
        &["split.tensors.count", "999"],
        |set| {
            for shard in set {
                shard.set("split.tensors.count", i32(999));
            }
        },
    );
    shards(
        table,
        "a tensor in two shards",
        &["output_norm.weight", "shard 3"],
        |set| {
            set[2].find("blk.1.ffn_down_shexp.weight").name = b"output_norm.weight".to_vec();
        },
    );
    shards(
        table,
        "shards of different versions",
        &["shard 3", "version 2"],
        |set| {
            set[2].version = 2;
        },
    );
    shards(
        table,
        "a shard of another model",
        &["general.architecture", "shard 2"],
        |set| {
            set[1].set("general.architecture", text("qwen35"));
        },
    );
    shards(
        table,
        "metadata in a later shard",
        &["qwen35moe.extra", "shard 3"],
        |set| {
            set[2].set("qwen35moe.extra", text("x"));
        },
    );
}

fn alone(table: &mut Table) {
    table.damaged(
        "a shard under a model's name",
        &["shard 1 of 3", "model.gguf"],
        |model| {
            *model = model.split(3).swap_remove(0);
        },
    );
    table.damaged("a whole model with split.no", &["split.no", "2"], |model| {
        model.set("split.no", u16(2));
    });
    table.damaged("split.count as text", &["split.count", "String"], |model| {
        model.set("split.count", text("3"));
    });
}
