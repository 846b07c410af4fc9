//! The tokenizer of a committed model against ids made elsewhere, and against vocabularies that are broken.

use guild_model::tokenizer::{SpecialTokens, TokenKind};
use guild_model::{
    ControlTokens, Damage, ErrorCode, GgufFile, ModelError, ModelSource, StreamDecoder,
    TokenizeError, Tokenizer, Unsupported, error::TokenizerDamage, gguf::parse,
};

use crate::container::models;
use crate::vocabulary::{Vocabulary, committed, ids};
use crate::writer::Writer;

fn tiny() -> GgufFile {
    GgufFile::open(&models().join("qwen35moe-tiny-Q4_K_M.gguf")).expect("the model is valid")
}

fn tiny_tokenizer() -> Tokenizer {
    Tokenizer::from_metadata(tiny().metadata()).expect("a supported tokenizer")
}

/// Made by the `tokenizers` Python package from the same vocabulary.
fn golden_cases() -> Vec<serde_json::Value> {
    let golden = committed("qwen35moe-tiny");
    golden["cases"].as_array().expect("an array").clone()
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
    let mut parts = Vocabulary::of(file.metadata());
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
    let mut parts = Vocabulary::of(file.metadata());
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
    let mut parts = Vocabulary::of(file.metadata());
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
        unknown: None,
        adds_bos: false,
        adds_eos: false,
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

/// What the tiny vocabulary is refused with after `change`.
fn refused(change: impl FnOnce(&mut Vocabulary)) -> ModelError {
    let file = tiny();
    let mut parts = Vocabulary::of(file.metadata());
    change(&mut parts);
    parts.tokenizer().expect_err("the defect must be seen")
}

fn damage(change: impl FnOnce(&mut Vocabulary)) -> TokenizerDamage {
    match refused(change) {
        ModelError::Damaged(Damage::Tokenizer(damage)) => damage,
        other => panic!("tokenizer damage expected, not {other}"),
    }
}

#[test]
fn unknown_families_are_named_with_those_that_are_known() {
    for pre in [Some("deepseek-v9".to_owned()), Some("default".into()), None] {
        let error = refused(|parts| parts.pre = pre.clone());
        assert_eq!(error.code(), ErrorCode::Unsupported);
        let text = error.to_string();
        assert!(text.contains(&pre.unwrap_or_default()), "{text}");
        for known in ["qwen35", "qwen2", "llama-bpe", "gpt-2", "smollm"] {
            assert!(text.contains(known), "{text}");
        }
    }
    let error = refused(|parts| parts.model = "bert".into());
    let want = Unsupported::TokenizerModel {
        found: "bert".into(),
        supported: "gpt2, llama".into(),
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
        damage(|parts| parts.tokens[5] = "x".repeat(4097)),
        TokenizerDamage::LongToken {
            id: 5,
            bytes: 4097,
            limit_bytes: 4096
        }
    );
    assert_eq!(
        damage(|parts| parts.ids[0].1 = 1024),
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
fn broken_merges_are_refused() {
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
    let mut parts = Vocabulary::of(file.metadata());
    let longest = parts
        .tokens
        .iter()
        .max_by_key(|text| text.len())
        .expect("tokens")
        .clone();
    parts.merges[0] = format!("{longest} {longest}");
    let error = parts.tokenizer().expect_err("the result is no token");
    assert!(error.to_string().contains(&longest.repeat(2)), "{error}");
    assert_eq!(
        damage(|parts| parts.merges[9] = parts.merges[2].clone()),
        TokenizerDamage::DuplicateMerge {
            index: 9,
            text: file_merge(2)
        }
    );
}

/// A merge of the tiny model.
fn file_merge(index: usize) -> String {
    Vocabulary::of(tiny().metadata()).merges.swap_remove(index)
}

/// What a SentencePiece vocabulary is refused with after `change`.
fn sentencepiece_refused(change: impl FnOnce(&mut Vocabulary)) -> ModelError {
    let mut vocabulary = Vocabulary::committed("sentencepiece-prefixed");
    change(&mut vocabulary);
    vocabulary.tokenizer().expect_err("the defect must be seen")
}

#[test]
fn contradictions_in_a_sentencepiece_vocabulary_are_refused() {
    let damage = |change: fn(&mut Vocabulary)| match sentencepiece_refused(change) {
        ModelError::Damaged(damage) => damage,
        other => panic!("damage expected, not {other}"),
    };
    let tokens = Vocabulary::committed("sentencepiece-prefixed").tokens.len() as u64;
    assert_eq!(
        damage(|parts| parts.scores.truncate(7)),
        Damage::Tokenizer(TokenizerDamage::ScoreCount { tokens, scores: 7 })
    );
    assert_eq!(
        damage(|parts| parts.scores[300] = f32::NAN),
        Damage::Tokenizer(TokenizerDamage::BadScore { id: 300 })
    );
    assert_eq!(
        damage(|parts| parts.tokens[3 + 0x41] = "<0x4>".into()),
        Damage::Tokenizer(TokenizerDamage::BadByteToken {
            id: 3 + 0x41,
            text: "<0x4>".into()
        })
    );
    assert_eq!(
        damage(|parts| parts.types[3 + 0x41] = 1),
        Damage::Tokenizer(TokenizerDamage::MissingByte { byte: 0x41 })
    );
    let no_space = damage(|parts| {
        let space = parts.tokens.iter().position(|text| text == "▁");
        parts.tokens[space.expect("a token")] = "no space".into();
    });
    assert_eq!(no_space, Damage::Tokenizer(TokenizerDamage::MissingSpace));
    let missing = |key: &str| Damage::MissingKey { key: key.into() };
    assert_eq!(
        damage(|parts| parts.types.clear()),
        missing("tokenizer.ggml.token_type")
    );
    assert_eq!(
        damage(|parts| parts.scores.clear()),
        missing("tokenizer.ggml.scores")
    );
}

#[test]
fn a_sentencepiece_model_that_changes_texts_first_is_refused() {
    let key = "tokenizer.ggml.remove_extra_whitespaces";
    let error = sentencepiece_refused(|parts| parts.flags.push((key, true)));
    let want = Unsupported::Normalisation { key };
    assert!(matches!(error, ModelError::Unsupported(found) if found == want));
}
