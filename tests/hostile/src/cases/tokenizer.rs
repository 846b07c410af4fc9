//! Vocabularies that contradict themselves. Such a model can be listed and run on token ids.

use super::{Case, Stage, Table};
use crate::tiny;
use crate::writer::{Encoded, f32s, i32, i32s, string, text, texts, u32};

/// Every case of this kind.
pub(super) fn cases() -> Vec<Case> {
    let mut table = Table::new(Stage::Tokenizer);
    special(&mut table);
    vocabulary(&mut table);
    merges(&mut table);
    kinds_of_tokenizer(&mut table);
    sentencepiece(&mut table);
    table.cases
}

fn set(table: &mut Table, name: &str, key: &str, value: Encoded, says: &[&str]) {
    let key = format!("tokenizer.ggml.{key}");
    table.damaged(name, says, move |model| {
        model.set(&key, value.clone());
    });
}

fn special(table: &mut Table) {
    for key in ["bos_token_id", "eos_token_id", "padding_token_id"] {
        for id in [260, u32::MAX] {
            let name = format!("{key} = {id}");
            set(table, &name, key, u32(id), &[key, &id.to_string(), "260"]);
        }
    }
    let key = "eos_token_id";
    set(table, "a negative eos_token_id", key, i32(-1), &[key]);
    set(table, "eos_token_id as text", key, text("</s>"), &[key]);
}

fn vocabulary(table: &mut Table) {
    let short = i32s(&[1; 259]);
    let key = "token_type";
    set(
        table,
        "kinds of too few tokens",
        key,
        short,
        &["260", "259"],
    );
    let mut unknown = [1; 260];
    unknown[17] = 7;
    set(
        table,
        "a kind that doesn't exist",
        key,
        i32s(&unknown),
        &["17", "7"],
    );
    set(table, "kinds as one number", key, u32(1), &[key]);
    let none: [&str; 0] = [];
    set(table, "an empty vocabulary", "tokens", texts(&none), &[]);
    set(
        table,
        "tokens that are numbers",
        "tokens",
        i32s(&[1; 260]),
        &["tokens"],
    );
    table.damaged("no tokens", &["tokenizer.ggml.tokens"], |model| {
        model.remove("tokenizer.ggml.tokens");
    });
    let same = vec!["x"; 260];
    set(
        table,
        "one text for all tokens",
        "tokens",
        texts(&same),
        &["\"x\""],
    );
    let others: Vec<String> = (0..260).map(|token| format!("t{token}")).collect();
    set(
        table,
        "bytes without tokens",
        "tokens",
        texts(&others),
        &["merge 0", "\"h\""],
    );
}

fn merges(table: &mut Table) {
    let key = "merges";
    set(
        table,
        "a merge of no tokens",
        key,
        texts(&["h e", "xx yy"]),
        &["merge 1", "xx"],
    );
    set(
        table,
        "a merge that makes no token",
        key,
        texts(&["q z"]),
        &["merge 0", "qz"],
    );
    set(
        table,
        "a merge without a space",
        key,
        texts(&["he"]),
        &["merge 0", "he"],
    );
    set(
        table,
        "a merge of three",
        key,
        texts(&["h e l"]),
        &["merge 0"],
    );
    set(table, "an empty merge", key, texts(&[""]), &["merge 0"]);
    set(
        table,
        "merges that are numbers",
        key,
        i32s(&[1, 2]),
        &["merges"],
    );
}

fn kinds_of_tokenizer(table: &mut Table) {
    for key in ["model", "pre"] {
        let key = format!("tokenizer.ggml.{key}");
        let name = format!("{key} nobody knows");
        table.unsupported(&name, &[&key.clone(), "nonesuch"], move |model| {
            model.set(&key, text("nonesuch"));
        });
    }
}

fn sentencepiece(table: &mut Table) {
    let mut set = |name: &str, key: &str, value: Encoded, says: &[&str]| {
        let key = format!("tokenizer.ggml.{key}");
        table.damaged(name, says, move |model| {
            *model = tiny::sentencepiece();
            model.set(&key, value.clone());
        });
    };
    set(
        "scores of too few tokens",
        "scores",
        f32s(&[0.0; 259]),
        &["260", "259"],
    );
    let mut scores = [0.0; 260];
    scores[41] = f32::NAN;
    set(
        "a score that is not a number",
        "scores",
        f32s(&scores),
        &["41"],
    );
    set(
        "scores that are texts",
        "scores",
        texts(&["1"; 260]),
        &["score"],
    );
    let mut kinds = [6; 260];
    kinds[..3].copy_from_slice(&[2, 3, 3]);
    set(
        "a byte token that is no byte",
        "token_type",
        i32s(&kinds),
        &["259"],
    );
    set(
        "bos beyond a SentencePiece vocabulary",
        "bos_token_id",
        u32(260),
        &["bos_token_id", "260"],
    );
    let long = vec![string(&"x".repeat(5000)); 1];
    let long = (
        9,
        crate::writer::array(8, &[long, vec![string("y"); 259]].concat()),
    );
    set("a token of 5,000 bytes", "tokens", long, &["5000"]);
    table.damaged("no scores", &["tokenizer.ggml.scores"], |model| {
        *model = tiny::sentencepiece();
        model.remove("tokenizer.ggml.scores");
    });
}
