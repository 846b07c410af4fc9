//! The tokenizer against ids made elsewhere, and against vocabularies that are broken.

use std::fs;
use std::path::Path;

use guild_model::tokenizer::{SpecialTokens, TokenKind};
use guild_model::{
    ControlTokens, Damage, ErrorCode, GgufFile, Metadata, ModelError, ModelSource, StreamDecoder,
    TokenizeError, Tokenizer, Unsupported, error::TokenizerDamage, gguf::parse,
};
use proptest::prelude::*;

use crate::container::models;
use crate::writer::{Writer, array, string};

fn tiny() -> GgufFile {
    GgufFile::open(&models().join("qwen35moe-tiny-Q4_K_M.gguf")).expect("the model is valid")
}

fn tiny_tokenizer() -> Tokenizer {
    Tokenizer::from_metadata(tiny().metadata()).expect("a supported tokenizer")
}

/// Made by the `tokenizers` Python package from the same vocabulary.
fn golden_cases() -> Vec<serde_json::Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/tokenizer/qwen35moe-tiny.json");
    let golden: serde_json::Value =
        serde_json::from_slice(&fs::read(path).expect("it is committed")).expect("it is JSON");
    golden["cases"].as_array().expect("an array").clone()
}

fn ids(value: &serde_json::Value) -> Vec<u32> {
    serde_json::from_value(value.clone()).expect("a list of ids")
}

#[test]
fn ids_are_those_of_the_python_package() {
    let tokenizer = tiny_tokenizer();
    let cases = golden_cases();
    assert!(cases.len() > 60);
    for case in cases {
        let text = case["text"].as_str().expect("a text");
        let got = tokenizer.encode(text, true).expect("encodes");
        assert_eq!(got, ids(&case["ids"]), "{text:?}");
        assert_eq!(
            tokenizer
                .decode(&got, ControlTokens::Show)
                .expect("decodes"),
            text
        );
        let plain = tokenizer.encode(text, false).expect("encodes");
        assert_eq!(
            plain,
            ids(&case["ids_without_control"]),
            "{text:?} without control tokens"
        );
        assert_eq!(
            tokenizer
                .decode(&plain, ControlTokens::Show)
                .expect("decodes"),
            text
        );
    }
}

#[test]
fn user_defined_tokens_are_found_in_any_text() {
    let file = tiny();
    let mut parts = Parts::of(file.metadata());
    parts.types[1019..=1022].fill(4);
    let tokenizer = parts.tokenizer().expect("valid");
    for case in golden_cases() {
        let text = case["text"].as_str().expect("a text");
        let got = tokenizer.encode(text, false).expect("encodes");
        assert_eq!(got, ids(&case["ids_with_user_defined"]), "{text:?}");
    }
}

#[test]
fn the_longest_of_two_markers_wins() {
    let file = tiny();
    let mut parts = Parts::of(file.metadata());
    parts.tokens[1020] = "<think>ing".into();
    let tokenizer = parts.tokenizer().expect("valid");
    assert_eq!(
        tokenizer
            .encode("<think><think>ing<think>in", true)
            .expect("encodes")[..3],
        [1019, 1020, 1019]
    );
}

/// The family's pattern makes each digit a piece, so a merge of two digits is never used.
#[test]
fn digits_are_never_merged() {
    let file = tiny();
    let mut parts = Parts::of(file.metadata());
    let digit = |digit: &str| {
        parts
            .tokens
            .iter()
            .position(|text| text == digit)
            .expect("a token") as u32
    };
    let (one, two) = (digit("1"), digit("2"));
    parts.tokens[1023] = "12".into();
    parts.types[1023] = 1;
    parts.merges.insert(0, "1 2".into());
    let tokenizer = parts.tokenizer().expect("valid");
    assert_eq!(
        tokenizer.encode("1212", true).expect("encodes"),
        [one, two, one, two]
    );
}

#[test]
fn roles_and_kinds_are_the_file_s() {
    let tokenizer = tiny_tokenizer();
    let want = SpecialTokens {
        bos: None,
        eos: Some(1018),
        padding: Some(1016),
        adds_bos: false,
    };
    assert_eq!(tokenizer.special_tokens(), want);
    assert_eq!(tokenizer.vocabulary_len(), 1024);
    assert_eq!(tokenizer.token_kind(1017), Some(TokenKind::Control));
    assert_eq!(tokenizer.token_kind(0), Some(TokenKind::Normal));
    assert_eq!(tokenizer.token_kind(1024), None);
    let ends: Vec<u32> = (0..1024)
        .filter(|&id| tokenizer.ends_generation(id))
        .collect();
    assert_eq!(ends, [1016, 1018], "<|endoftext|> and <|im_end|>");
    let unknown = TokenizeError::UnknownToken {
        id: 1024,
        tokens: 1024,
    };
    assert_eq!(
        tokenizer.decode(&[0, 1024], ControlTokens::Show),
        Err(unknown.clone())
    );
    assert_eq!(
        StreamDecoder::default().push(&tokenizer, 1024, &mut String::new()),
        Err(unknown)
    );
}

/// White space before a word: all but the last character is one piece, the last belongs to the word. The tiny vocabulary
/// merges nothing across that border, so the end of the answer shows whether the pattern was obeyed.
#[test]
fn long_white_space_is_cut_rightly_or_refused() {
    let tokenizer = tiny_tokenizer();
    let encode = |chars: usize| tokenizer.encode(&format!("{}x y", " ".repeat(chars)), false);
    let short = encode(3).expect("encodes");
    let tail = &short[short.len() - 2..];
    let longest = encode(100_000).expect("the limit itself is accepted");
    assert_eq!(&longest[longest.len() - 2..], tail);
    assert_eq!(
        encode(100_001),
        Err(TokenizeError::WhitespaceRun {
            limit_chars: 100_000
        })
    );
}

/// llama.cpp's own cases for the full vocabulary. The vocabulary is too large to commit.
#[test]
fn ids_are_those_of_llama_cpp() {
    const VARIABLE: &str = "GUILD_TEST_QWEN35_VOCAB";
    let Some(path) = std::env::var_os(VARIABLE) else {
        eprintln!(
            "skipped: set {VARIABLE} to ggml-vocab-qwen35.gguf, with its .inp and .out beside it"
        );
        return;
    };
    let path = path.into_string().expect("a UTF-8 path");
    let file = GgufFile::open(Path::new(&path)).expect("valid");
    let started = std::time::Instant::now();
    let tokenizer = Tokenizer::from_metadata(file.metadata()).expect("supported");
    eprintln!(
        "{} tokens in {:?}",
        tokenizer.vocabulary_len(),
        started.elapsed()
    );
    let input = fs::read_to_string(format!("{path}.inp")).expect("the cases");
    let output = fs::read_to_string(format!("{path}.out")).expect("their ids");
    let mut texts: Vec<&str> = input.split("\n__ggml_vocab_test__\n").collect();
    assert_eq!(texts.pop(), Some(""), "a separator ends each case");
    let lines: Vec<&str> = output.lines().collect();
    assert!(lines.len() > 40);
    for (text, line) in texts.iter().zip(&lines) {
        let want: Vec<u32> = line
            .split_whitespace()
            .map(|id| id.parse().expect("an id"))
            .collect();
        assert_eq!(
            tokenizer.encode(text, false).expect("encodes"),
            want,
            "{text:?}"
        );
        assert_eq!(
            tokenizer
                .decode(&want, ControlTokens::Show)
                .expect("decodes"),
            *text
        );
    }
    assert_eq!(texts.len(), lines.len());
}

proptest! {
    #[test]
    fn text_comes_back_whole_and_in_a_stream(
        text in prop_oneof![
            any::<String>(),
            "(<\\|im_end\\|>|<think>|<\\|| |\\n|a|é|漢|🦙|\\PC){0,20}",
        ],
        parse_special: bool,
    ) {
        thread_local!(static TOKENIZER: Tokenizer = tiny_tokenizer());
        TOKENIZER.with(|tokenizer| {
            let ids = tokenizer.encode(&text, parse_special).expect("encodes");
            assert_eq!(tokenizer.decode(&ids, ControlTokens::Show).expect("decodes"), text);
            assert_eq!(stream(tokenizer, &ids), text);
        });
    }

    /// Ids in any order can spell bytes that are no characters; the stream agrees with the whole.
    #[test]
    fn any_ids_stream_to_what_they_decode_to(ids in prop::collection::vec(0u32..300, 0..40)) {
        thread_local!(static TOKENIZER: Tokenizer = tiny_tokenizer());
        TOKENIZER.with(|tokenizer| {
            assert_eq!(stream(tokenizer, &ids), tokenizer.decode(&ids, ControlTokens::Show).expect("decodes"));
        });
    }
}

fn stream(tokenizer: &Tokenizer, ids: &[u32]) -> String {
    let mut decoder = StreamDecoder::default();
    let (mut piece, mut text) = (String::new(), String::new());
    for &id in ids {
        piece.clear();
        decoder.push(tokenizer, id, &mut piece).expect("known ids");
        text.push_str(&piece);
    }
    decoder.finish(&mut text);
    text
}

/// A vocabulary taken apart, to be changed and written again.
struct Parts {
    model: String,
    pre: String,
    tokens: Vec<String>,
    types: Vec<i32>,
    merges: Vec<String>,
    eos: u32,
}

impl Parts {
    fn of(metadata: &Metadata) -> Self {
        let strings = |key| -> Vec<String> {
            metadata
                .require_strings(key)
                .expect("there")
                .into_iter()
                .map(String::from)
                .collect()
        };
        let tokens = strings("tokenizer.ggml.tokens");
        let types = (0..tokens.len())
            .map(|id| if id < 1016 { 1 } else { 3 })
            .collect();
        let merges = strings("tokenizer.ggml.merges");
        Self {
            model: "gpt2".into(),
            pre: "qwen35".into(),
            tokens,
            types,
            merges,
            eos: 1018,
        }
    }

    fn tokenizer(&self) -> Result<Tokenizer, ModelError> {
        let strings = |texts: &[String]| {
            array(
                8,
                &texts.iter().map(|text| string(text)).collect::<Vec<_>>(),
            )
        };
        let types: Vec<Vec<u8>> = self
            .types
            .iter()
            .map(|kind| kind.to_le_bytes().to_vec())
            .collect();
        let mut writer = Writer::new();
        writer
            .entry("tokenizer.ggml.model", 8, &string(&self.model))
            .entry("tokenizer.ggml.pre", 8, &string(&self.pre))
            .entry("tokenizer.ggml.tokens", 9, &strings(&self.tokens))
            .entry("tokenizer.ggml.token_type", 9, &array(5, &types))
            .entry("tokenizer.ggml.merges", 9, &strings(&self.merges))
            .entry("tokenizer.ggml.eos_token_id", 4, &self.eos.to_le_bytes());
        Tokenizer::from_metadata(&parse(&writer.bytes()).expect("a valid container").metadata)
    }
}

/// What the tiny vocabulary is refused with after `change`.
fn refused(change: impl FnOnce(&mut Parts)) -> ModelError {
    let file = tiny();
    let mut parts = Parts::of(file.metadata());
    change(&mut parts);
    parts.tokenizer().expect_err("the defect must be seen")
}

fn damage(change: impl FnOnce(&mut Parts)) -> TokenizerDamage {
    match refused(change) {
        ModelError::Damaged(Damage::Tokenizer(damage)) => damage,
        other => panic!("tokenizer damage expected, not {other}"),
    }
}

#[test]
fn unknown_families_are_named_with_those_that_are_known() {
    let error = refused(|parts| parts.pre = "deepseek-v9".into());
    assert_eq!(error.code(), ErrorCode::Unsupported);
    let text = error.to_string();
    assert!(
        text.contains("deepseek-v9") && text.contains("qwen35"),
        "{text}"
    );
    let error = refused(|parts| parts.model = "llama".into());
    let want = Unsupported::TokenizerModel {
        found: "llama".into(),
        supported: "gpt2".into(),
    };
    assert!(matches!(error, ModelError::Unsupported(found) if found == want));
    let missing = Tokenizer::from_metadata(&parse(&Writer::new().bytes()).expect("valid").metadata);
    let Err(ModelError::Damaged(found)) = missing else {
        panic!("no tokenizer in the file")
    };
    assert_eq!(
        found,
        Damage::MissingKey {
            key: "tokenizer.ggml.model".into()
        }
    );
}

#[test]
fn contradictions_in_a_vocabulary_are_refused() {
    assert_eq!(
        damage(|parts| parts.types.truncate(5)),
        TokenizerDamage::TypeCount {
            tokens: 1024,
            types: 5
        }
    );
    assert_eq!(
        damage(|parts| parts.types[3] = 7),
        TokenizerDamage::UnknownTokenType { id: 3, found: 7 }
    );
    assert_eq!(
        damage(|parts| parts.tokens[1020] = String::new()),
        TokenizerDamage::EmptyMarker { id: 1020 }
    );
    assert_eq!(
        damage(|parts| parts.tokens[700] = "!".into()),
        TokenizerDamage::DuplicateToken {
            first: 0,
            second: 700,
            text: "!".into()
        }
    );
    assert_eq!(
        damage(|parts| parts.tokens[0] = "no byte".into()),
        TokenizerDamage::MissingByte { byte: b'!' }
    );
    assert_eq!(
        damage(|parts| parts.eos = 1024),
        TokenizerDamage::IdOutOfRange {
            key: "tokenizer.ggml.eos_token_id",
            id: 1024,
            tokens: 1024
        }
    );
    assert_eq!(
        damage(|parts| {
            parts.tokens.clear();
            parts.types.clear();
        }),
        TokenizerDamage::Empty
    );
}

#[test]
fn broken_merges_are_refused_before_the_library_sees_them() {
    for text in ["ab", " b", "a ", "a b c"] {
        assert_eq!(
            damage(|parts| parts.merges[4] = text.into()),
            TokenizerDamage::BadMerge {
                index: 4,
                text: text.into()
            }
        );
    }
    assert_eq!(
        damage(|parts| parts.merges[0] = "Ġ ĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠĠ".into()),
        TokenizerDamage::MergeWithoutToken {
            index: 0,
            text: "Ġ".repeat(40)
        }
    );
    let file = tiny();
    let mut parts = Parts::of(file.metadata());
    let longest = parts
        .tokens
        .iter()
        .max_by_key(|text| text.len())
        .expect("tokens")
        .clone();
    parts.merges[0] = format!("{longest} {longest}");
    let error = parts.tokenizer().expect_err("the result is no token");
    assert!(error.to_string().contains(&longest.repeat(2)), "{error}");
}
