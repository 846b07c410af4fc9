//! Vocabularies for tests: taken from a model or a committed list, changed, and made into a tokenizer again.

use std::path::Path;

use guild_model::gguf::parse;
use guild_model::{Array, Metadata, ModelError, Tokenizer};

use crate::writer::{Writer, array, boolean, i32s, text, texts, u32};

/// A vocabulary taken apart.
#[derive(Clone)]
pub struct Vocabulary {
    pub model: String,
    pub pre: Option<String>,
    pub tokens: Vec<String>,
    pub types: Vec<i32>,
    pub merges: Vec<String>,
    /// Left out when empty.
    pub scores: Vec<f32>,
    /// Further numbers and flags.
    pub ids: Vec<(&'static str, u32)>,
    pub flags: Vec<(&'static str, bool)>,
}

impl Vocabulary {
    /// The byte-level vocabulary of a model file.
    pub fn of(metadata: &Metadata) -> Self {
        let strings = |key| -> Vec<String> {
            let texts = metadata.require_strings(key).expect("there");
            texts.into_iter().map(String::from).collect()
        };
        let types: Array<'_> = metadata
            .require("tokenizer.ggml.token_type")
            .expect("there");
        let types = types.to_vec::<i64>().expect("integers");
        Self {
            model: "gpt2".into(),
            pre: Some("qwen35".into()),
            tokens: strings("tokenizer.ggml.tokens"),
            types: types.into_iter().map(|kind| kind as i32).collect(),
            merges: strings("tokenizer.ggml.merges"),
            scores: vec![],
            ids: vec![("tokenizer.ggml.eos_token_id", 1018)],
            flags: vec![],
        }
    }

    /// A vocabulary of `tests/data/tokenizer`.
    pub fn committed(name: &str) -> Self {
        let data = committed(name);
        let list = |key: &str| match &data[key] {
            serde_json::Value::Null => serde_json::json!([]),
            list => list.clone(),
        };
        let strings = |key| serde_json::from_value(list(key)).expect("texts");
        let prefix = data["add_space_prefix"].as_bool();
        Self {
            model: data["model"].as_str().expect("a name").into(),
            pre: data["pre"].as_str().map(String::from),
            tokens: strings("tokens"),
            types: serde_json::from_value(list("types")).expect("numbers"),
            merges: strings("merges"),
            scores: serde_json::from_value(list("scores")).expect("numbers"),
            ids: vec![],
            flags: prefix
                .map(|prefix| ("tokenizer.ggml.add_space_prefix", prefix))
                .into_iter()
                .collect(),
        }
    }

    /// The tokenizer of a file with this vocabulary.
    pub fn tokenizer(&self) -> Result<Tokenizer, ModelError> {
        let mut writer = Writer::new();
        writer
            .set("tokenizer.ggml.model", text(&self.model))
            .set("tokenizer.ggml.tokens", texts(&self.tokens));
        if let Some(pre) = &self.pre {
            writer.set("tokenizer.ggml.pre", text(pre));
        }
        if !self.types.is_empty() {
            writer.set("tokenizer.ggml.token_type", i32s(&self.types));
        }
        if self.model == "gpt2" {
            writer.set("tokenizer.ggml.merges", texts(&self.merges));
        }
        if !self.scores.is_empty() {
            let scores = self.scores.iter().map(|score| score.to_le_bytes().to_vec());
            let scores = array(6, &scores.collect::<Vec<_>>());
            writer.entry("tokenizer.ggml.scores", 9, &scores);
        }
        for (key, id) in &self.ids {
            writer.set(key, u32(*id));
        }
        for (key, flag) in &self.flags {
            writer.set(key, boolean(*flag));
        }
        Tokenizer::from_metadata(&parse(&writer.bytes()).expect("a valid container").metadata)
    }
}

/// A file of `tests/data/tokenizer`.
pub fn committed(name: &str) -> serde_json::Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tokenizer");
    let bytes = std::fs::read(folder.join(name).with_extension("json")).expect("it is committed");
    serde_json::from_slice(&bytes).expect("it is JSON")
}

/// A list of ids from a committed file.
pub fn ids(value: &serde_json::Value) -> Vec<u32> {
    serde_json::from_value(value.clone()).expect("a list of ids")
}
