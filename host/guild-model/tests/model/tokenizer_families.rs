//! Every family against ids made elsewhere, on small vocabularies cut from published ones
//! (`tests/data/tokenizer/make_small_vocabularies.py`); and what holds for any text and any ids.

use guild_model::{ControlTokens, StreamDecoder, TokenizeError, Tokenizer};
use proptest::prelude::*;

use crate::vocabulary::{Vocabulary, committed, ids};

const BYTE_LEVEL: [&str; 4] = ["gpt-2", "qwen2", "llama-bpe", "smollm"];

fn tokenizer(name: &str) -> Tokenizer {
    Vocabulary::committed(name).tokenizer().expect("supported")
}

#[test]
fn byte_level_ids_are_those_of_the_python_package() {
    for name in BYTE_LEVEL {
        let tokenizer = tokenizer(name);
        let data = committed(name);
        let cases = data["cases"].as_array().expect("an array");
        assert!(cases.len() > 40);
        for case in cases {
            let text = case["text"].as_str().expect("a text");
            for (list, parse_special) in [("ids", true), ("ids_without_control", false)] {
                let got = tokenizer.encode(text, parse_special);
                if case["missing"] == true {
                    assert!(
                        matches!(got, Err(TokenizeError::NoToken { .. })),
                        "{name}: {text:?} has a byte without a token"
                    );
                    continue;
                }
                let got = got.expect("encodes");
                assert_eq!(got, ids(&case[list]), "{name}: {text:?}, {list}");
                let decoded = tokenizer.decode(&got, ControlTokens::Show);
                assert_eq!(decoded.expect("decodes"), text, "{name}");
            }
        }
    }
}

#[test]
fn sentencepiece_ids_are_those_of_the_python_package() {
    for name in ["sentencepiece-prefixed", "sentencepiece-bare"] {
        let tokenizer = tokenizer(name);
        let data = committed(name);
        let cases = data["cases"].as_array().expect("an array");
        assert!(cases.len() > 40);
        for case in cases {
            let text = case["text"].as_str().expect("a text");
            let got = tokenizer.encode(text, false).expect("encodes");
            assert_eq!(got, ids(&case["ids_without_control"]), "{name}: {text:?}");
        }
    }
}

/// A vocabulary lacks bytes; SmolLM2's has none for U+0004.
#[test]
fn a_character_without_a_token_is_refused_with_its_place() {
    let tokenizer = tokenizer("smollm");
    let refused = tokenizer.encode("é<|user|>ab\u{4}c", true);
    let (character, at) = ('\u{4}', 12);
    assert_eq!(refused, Err(TokenizeError::NoToken { character, at }));
    let mut vocabulary = Vocabulary::committed("sentencepiece-bare");
    vocabulary.types[0] = 3;
    let tokenizer = vocabulary.tokenizer().expect("supported");
    let (character, at) = ('語', 4);
    let refused = tokenizer.encode("<s>a語", true);
    assert_eq!(refused, Err(TokenizeError::NoToken { character, at }));
}

#[test]
fn the_space_in_front_is_added_after_markers_and_taken_away_again() {
    let tokenizer = tokenizer("sentencepiece-prefixed");
    let encode = |text| tokenizer.encode(text, true).expect("encodes");
    let hello = encode("Hello");
    assert_eq!(tokenizer.token_bytes(hello[0]), Ok(&b" H"[..]));
    let marked = encode("<s>Hello</s>Hello");
    assert_eq!(marked, [&[1], &hello[..], &[2], &hello[..]].concat());
    let decode = |ids: &[u32], control| tokenizer.decode(ids, control).expect("decodes");
    assert_eq!(decode(&marked, ControlTokens::Show), "<s>Hello</s>Hello");
    assert_eq!(decode(&marked, ControlTokens::Hide), "HelloHello");
    let mut continued = String::new();
    let mut decoder = StreamDecoder::default().continuing();
    for id in hello {
        decoder.push(&tokenizer, id, &mut continued).expect("known");
    }
    assert_eq!(continued, " Hello");
}

#[test]
fn a_text_begins_with_a_token_where_the_file_or_its_family_says_so() {
    let adds = |name, flag: Option<bool>| {
        let mut vocabulary = Vocabulary::committed(name);
        vocabulary.ids = vec![
            ("tokenizer.ggml.bos_token_id", 1),
            ("tokenizer.ggml.eot_token_id", 5),
        ];
        let flag = flag.map(|flag| ("tokenizer.ggml.add_bos_token", flag));
        vocabulary.flags.extend(flag);
        let tokenizer = vocabulary.tokenizer().expect("supported");
        assert!(tokenizer.ends_generation(5), "the file's end of turn");
        assert_eq!(tokenizer.special_tokens().bos, Some(1));
        let adds = tokenizer.special_tokens().adds_bos;
        for (text, special) in [("", true), ("Hello", true), ("Hello", false)] {
            let mut expected = if adds { vec![1] } else { vec![] };
            expected.extend(tokenizer.encode(text, special).expect("encodes"));
            let prompt = tokenizer.encode_prompt(text, special).expect("encodes");
            assert_eq!(prompt, expected, "{name}: {text:?}");
        }
        adds
    };
    for (name, by_itself) in [
        ("gpt-2", false),
        ("smollm", false),
        ("qwen2", false),
        ("llama-bpe", true),
        ("sentencepiece-bare", true),
    ] {
        assert_eq!(adds(name, None), by_itself, "{name}");
        assert!(adds(name, Some(true)) && !adds(name, Some(false)));
    }
}

/// The engine that cuts has no cliff, and merging none: runs far longer than any word come out right. The last two tokens
/// show whether the text behind the run was still cut.
#[test]
fn long_runs_are_encoded_rightly() {
    const CHARS: usize = 150_000;
    for name in BYTE_LEVEL {
        let tokenizer = tokenizer(name);
        for unit in [" ", "\n", "a", "7", "=", "é", "\u{3000}"] {
            let tail = |chars: usize| {
                let text = format!("{}x y", unit.repeat(chars));
                let ids = tokenizer.encode(&text, false).expect("encodes");
                let decoded = tokenizer.decode(&ids, ControlTokens::Show);
                assert_eq!(decoded.expect("decodes"), text);
                ids[ids.len() - 2..].to_vec()
            };
            assert_eq!(tail(CHARS), tail(CHARS / 100), "{name}: {unit:?}");
        }
    }
    let tokenizer = tokenizer("sentencepiece-prefixed");
    for unit in [" ", "a", "語", "\0"] {
        let text = format!("{}x y", unit.repeat(CHARS));
        let ids = tokenizer.encode(&text, false).expect("encodes");
        let decoded = tokenizer.decode(&ids, ControlTokens::Show);
        assert_eq!(decoded.expect("decodes"), text);
    }
}

thread_local!(static TOKENIZERS: Vec<(&'static str, Tokenizer)> = BYTE_LEVEL
    .into_iter()
    .chain(["sentencepiece-prefixed", "sentencepiece-bare"])
    .map(|name| (name, tokenizer(name)))
    .collect());

proptest! {
    /// Text comes back, whole and in a stream, with a literal `▁` as a space from SentencePiece. The bare vocabulary is
    /// left out: it has no bytes, so characters that it lacks are lost by design.
    #[test]
    fn any_text_comes_back(
        text in prop_oneof![
            any::<String>(),
            "(<\\|user\\|>|<s>|</s>|<think>|<| |  |▁|\\n|\\r|'s|a|é|漢|🦙|7|\\PC){0,24}",
        ],
        parse_special: bool,
    ) {
        TOKENIZERS.with(|tokenizers| for (name, tokenizer) in tokenizers {
            let ids = match tokenizer.encode(&text, parse_special) {
                Ok(ids) => ids,
                Err(TokenizeError::NoToken { character, at }) => {
                    assert_eq!(*name, "smollm");
                    assert!(text[at..].starts_with(character));
                    continue;
                }
                Err(error) => panic!("{name}: {error}"),
            };
            let want = match *name {
                "sentencepiece-bare" => continue,
                "sentencepiece-prefixed" => text.replace('▁', " "),
                _ => text.clone(),
            };
            let whole = tokenizer.decode(&ids, ControlTokens::Show).expect("decodes");
            assert_eq!(whole, want, "{name}");
            assert_eq!(stream(tokenizer, &ids, ControlTokens::Show), want, "{name}");
        });
    }

    /// Ids in any order can spell bytes that are no characters. The stream agrees with the standard library's reading of
    /// all bytes; a SentencePiece vocabulary's decoder may take one space away after each marker.
    #[test]
    fn any_ids_stream_to_what_their_bytes_say(
        numbers in prop::collection::vec(any::<u32>(), 0..40),
        low in prop::collection::vec(0u32..300, 0..40),
    ) {
        TOKENIZERS.with(|tokenizers| for (name, tokenizer) in tokenizers {
            let len = tokenizer.vocabulary_len();
            let ids: Vec<u32> = numbers.iter().chain(&low).map(|id| id % len).collect();
            let whole = tokenizer.decode(&ids, ControlTokens::Show).expect("decodes");
            assert_eq!(stream(tokenizer, &ids, ControlTokens::Show), whole, "{name}");
            if *name != "sentencepiece-prefixed" {
                let bytes: Vec<u8> = ids
                    .iter()
                    .flat_map(|&id| tokenizer.token_bytes(id).expect("known").to_vec())
                    .collect();
                assert_eq!(whole, String::from_utf8_lossy(&bytes), "{name}");
            }
        });
    }
}

/// Decodes token by token into a buffer that is emptied each time.
fn stream(tokenizer: &Tokenizer, ids: &[u32], control: ControlTokens) -> String {
    let mut decoder = StreamDecoder::new(control);
    let (mut piece, mut text) = (String::new(), String::new());
    for &id in ids {
        piece.clear();
        decoder.push(tokenizer, id, &mut piece).expect("known ids");
        text.push_str(&piece);
    }
    decoder.finish(&mut text);
    text
}

/// Texts over few letters, so that random vocabularies join and nest a lot.
fn letters() -> impl Strategy<Value = String> {
    "(▁|a|b|c|é| |<s>){1,5}"
}

proptest! {
    /// A vocabulary that says anything is refused, or encodes and decodes without a panic.
    #[test]
    fn a_hostile_sentencepiece_vocabulary_does_no_harm(
        tokens in prop::collection::vec((letters(), 1i32..=6, -3i32..3), 1..60),
        text in prop::collection::vec(letters(), 0..12),
    ) {
        let mut vocabulary = Vocabulary::committed("sentencepiece-bare");
        vocabulary.tokens = vec!["▁".into()];
        vocabulary.types = vec![1];
        vocabulary.scores = vec![0.0];
        for (token, kind, score) in tokens {
            vocabulary.tokens.push(token);
            vocabulary.types.push(kind);
            vocabulary.scores.push(score as f32);
        }
        encode_and_decode(&vocabulary, &text.concat());
    }

    #[test]
    fn a_hostile_byte_level_vocabulary_does_no_harm(
        tokens in prop::collection::vec(("[abc<]{1,4}", 1i32..=6), 0..40),
        merges in prop::collection::vec("[abc]{1,2} [abc]{1,2}", 0..40),
        text in "[abc<é ]{0,40}",
    ) {
        let mut vocabulary = Vocabulary::committed("llama-bpe");
        // The bytes, and whatever comes.
        vocabulary.tokens.truncate(256);
        vocabulary.types.truncate(256);
        vocabulary.merges.clear();
        for (token, kind) in tokens {
            vocabulary.tokens.push(token);
            vocabulary.types.push(kind);
        }
        for merge in merges {
            let known = |text: &str| vocabulary.tokens.iter().any(|token| token == text);
            let halves = merge.split(' ').all(known);
            if halves && known(&merge.replace(' ', "")) {
                vocabulary.merges.push(merge);
            }
        }
        encode_and_decode(&vocabulary, &text);
    }
}

fn encode_and_decode(vocabulary: &Vocabulary, text: &str) {
    let Ok(tokenizer) = vocabulary.tokenizer() else {
        return;
    };
    for parse_special in [true, false] {
        if let Ok(ids) = tokenizer.encode(text, parse_special) {
            let whole = tokenizer.decode(&ids, ControlTokens::Hide);
            let streamed = stream(&tokenizer, &ids, ControlTokens::Hide);
            assert_eq!(whole.expect("its own ids"), streamed);
        }
    }
}
