//! Published vocabularies against llama.cpp's own cases and transformers. They are too large to commit;
//! `tests/data/fetch.sh` fetches them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use guild_model::{ControlTokens, ErrorCode, GgufFile, ModelSource, Tokenizer};

use crate::vocabulary::{committed, ids};

/// The path in a variable, or a word that the test skipped.
fn path_in(variable: &str, what: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        eprintln!("skipped: set {variable} to {what} (tests/data/fetch.sh)");
    }
    path
}

/// Vocabularies of the folder whose kind guild knows. Every other one must be refused.
const SUPPORTED: [&str; 7] = [
    "qwen35",
    "qwen2",
    "llama-bpe",
    "gpt-2",
    "llama-spm",
    "phi-3",
    "baichuan",
];

#[test]
fn ids_are_those_of_llama_cpp_and_other_vocabularies_are_refused() {
    let what = "a folder with ggml-vocab-*.gguf and their .inp and .out";
    let Some(folder) = path_in("GUILD_TEST_TOKENIZERS", what) else {
        return;
    };
    let mut seen = Vec::new();
    for entry in fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("readable").path();
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.and_then(|name| name.strip_prefix("ggml-vocab-")?.strip_suffix(".gguf"));
        let Some(name) = name else { continue };
        let file = GgufFile::open(&path).expect("valid");
        let started = Instant::now();
        let tokenizer = Tokenizer::from_metadata(file.metadata());
        let took = started.elapsed();
        if !SUPPORTED.contains(&name) {
            let error = tokenizer.expect_err("its family is not known");
            assert_eq!(error.code(), ErrorCode::Unsupported, "{name}: {error}");
            eprintln!("{name}: {error}");
            continue;
        }
        let tokenizer = tokenizer.unwrap_or_else(|error| panic!("{name}: {error}"));
        let tokens = tokenizer.vocabulary_len();
        let cases = check_cases(&path, &tokenizer);
        eprintln!("{name}: {tokens} tokens built in {took:?}, {cases} cases");
        seen.push(name.to_owned());
    }
    for name in &SUPPORTED[..5] {
        assert!(seen.iter().any(|seen| seen == name), "{name} is not there");
    }
}

/// Compares with the ids beside a vocabulary, where there are any; returns how many texts there were.
fn check_cases(path: &Path, tokenizer: &Tokenizer) -> usize {
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        fs::read_to_string(name)
    };
    let (Ok(input), Ok(output)) = (beside(".inp"), beside(".out")) else {
        return 0;
    };
    let mut texts: Vec<&str> = input.split("\n__ggml_vocab_test__\n").collect();
    assert_eq!(texts.pop(), Some(""), "a separator ends each case");
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(texts.len(), lines.len());
    assert!(lines.len() > 40);
    for (text, line) in texts.iter().zip(&lines) {
        let want: Vec<u32> = line
            .split_whitespace()
            .map(|id| id.parse().expect("an id"))
            .collect();
        let got = tokenizer.encode(text, false).expect("encodes");
        assert_eq!(got, want, "{}: {text:?}", path.display());
        let decoded = tokenizer.decode(&want, ControlTokens::Show);
        assert_eq!(decoded.expect("decodes"), *text);
    }
    lines.len()
}

#[test]
fn smollm2_s_ids_are_those_of_transformers() {
    let data = committed("smollm2-135m-instruct");
    let Some(path) = path_in("GUILD_TEST_SMOLLM2", data["file"].as_str().expect("a name")) else {
        return;
    };
    let file = GgufFile::open(&path).expect("valid");
    let tokenizer = Tokenizer::from_metadata(file.metadata()).expect("supported");
    let cases = data["cases"].as_array().expect("an array");
    assert_eq!(cases.len(), 11);
    for case in cases {
        let text = case["text"].as_str().expect("a text");
        let got = tokenizer.encode(text, true).expect("encodes");
        assert_eq!(got, ids(&case["ids"]), "{text:?}");
        let decoded = tokenizer.decode(&got, ControlTokens::Show);
        assert_eq!(decoded.expect("decodes"), text);
    }
}
