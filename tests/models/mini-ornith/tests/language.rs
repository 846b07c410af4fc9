//! The recogniser of `mini-ornith`'s language against documents that `grammar.py` drew (`documents.json`), and
//! against texts that miss the language by one word.

use guild_mini_ornith::json_file;
use guild_mini_ornith::language::{END_OF_TEXT, Language};

/// Documents with their log-probabilities.
fn drawn() -> Vec<(String, f64)> {
    let documents = json_file("documents.json");
    let documents = documents.as_array().unwrap().iter();
    let pair = |entry: &serde_json::Value| {
        let text = entry["text"].as_str().unwrap().to_owned();
        (text, entry["log_probability"].as_f64().unwrap())
    };
    documents.map(pair).collect()
}

const STORY: &str = "Once upon a time there was a little fox named Tom. One day Tom found a red key under a tree. He \
     took the key home and put the key on the table. One morning Tom met a shy hen named Lily. The hen had 4 eggs. Tom \
     gave Lily 3 more eggs. Now Lily had 7 eggs, because 4 + 3 = 7. But Tom was sad, because his hat was gone. \
     \"Where is my hat?\" asked the sad fox. From that day on Tom the fox was never sad again. The end.";
const SUMS: &str = "3 + 4 = 7\n8 + 5 = 13\n0 + 9 = 9";
const CHAT: &str = "<|im_start|>user\nTell me a story about a fox.<|im_end|>\n<|im_start|>assistant\n<think>\nThe \
     story must be about a fox.\n</think>\n\nOnce upon a time there was a merry fox named Mia. Then the rain came. It was \
     cold for 3 days, and the fox could not juggle. After 3 days the rain went away. At midnight the fox went home, and \
     Mia was glad. The end.<|im_end|>\n";
const QUESTION: &str = "<|im_start|>user\nWhat is 7 + 6?<|im_end|>\n<|im_start|>assistant\n<think>\n7 + 6 = 13\n\
     </think>\n\nThe answer is 13.<|im_end|>\n";

#[test]
fn drawn_documents_are_in_the_language_with_their_probabilities() {
    let language = Language::of_mini_ornith();
    let drawn = drawn();
    assert!(drawn.len() >= 10);
    for (text, log_probability) in drawn {
        assert!(language.is_document(&text), "{text}");
        let ours = language.log_probability(&text).unwrap();
        assert!((ours - log_probability).abs() <= 1e-9, "{ours}: {text}");
    }
}

#[test]
fn every_beginning_of_a_document_begins_one_and_goes_on_in_no_other_way() {
    let language = Language::of_mini_ornith();
    for (text, _) in drawn() {
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let beginning = &text[..cut];
            assert!(language.begins_a_document(beginning), "{beginning}");
            let wrong = format!("{beginning}~");
            assert!(!language.begins_a_document(&wrong), "{wrong}");
        }
        assert!(!language.is_document(&text[..text.len() - 1]), "{text}");
        assert!(!language.is_document(&format!("{text} ")), "{text}");
    }
}

/// One change each, of a document: what the rules remember makes it wrong.
#[test]
fn near_misses_are_not_in_the_language() {
    let language = Language::of_mini_ornith();
    for document in [STORY, SUMS, CHAT, QUESTION] {
        assert!(language.is_document(document), "{document}");
    }
    for (document, right, wrong) in [
        (STORY, "Now Lily had 7", "Now Lily had 8"),
        (STORY, "4 + 3 = 7", "4 + 3 = 8"),
        (STORY, "He took", "She took"),
        (STORY, "his hat", "her hat"),
        (STORY, "gave Lily", "gave Rosie"),
        (STORY, "One day Tom", "One day Ben"),
        (STORY, "took the key", "took the ring"),
        (STORY, "hen named Lily. The hen", "fox named Lily. The fox"),
        (
            STORY,
            "named Lily. The hen had 4 eggs. Tom gave Lily 3 more eggs. Now Lily",
            "named Tom. The hen had 4 eggs. Tom gave Tom 3 more eggs. Now Tom",
        ),
        (STORY, "7 eggs", "7 nuts"),
        (STORY, "a little fox", "a little dragon"),
        (STORY, "the sad fox", "the angry fox"),
        (STORY, " The end.", ""),
        (SUMS, "8 + 5 = 13", "8 + 5 = 12"),
        (SUMS, "\n0 + 9 = 9", ""),
        (CHAT, "merry fox", "merry bear"),
        (CHAT, "must be about a fox", "must be about a bear"),
        (CHAT, "After 3 days", "After 4 days"),
        (CHAT, "Mia was glad", "Tom was glad"),
        (QUESTION, "answer is 13", "answer is 14"),
        (QUESTION, "7 + 6 = 13\n", "7 + 5 = 12\n"),
        (QUESTION, "is 7 + 6?", "is 6 + 7?"),
    ] {
        let text = document.replacen(right, wrong, 1);
        assert_ne!(text, document, "{right} isn't there");
        assert!(!language.is_document(&text), "{text}");
        assert_eq!(language.log_probability(&text), None);
    }
}

#[test]
fn a_longer_text_is_documents_and_the_beginning_of_one() {
    let language = Language::of_mini_ornith();
    let end = END_OF_TEXT;
    for text in [
        "",
        "Once upon",
        STORY,
        &format!("{STORY}{end}"),
        &format!("{STORY}{end}3 + 4 = "),
        &format!("{SUMS}{end}{CHAT}{end}Long ago"),
    ] {
        assert!(language.holds(text), "{text}");
    }
    for text in [
        "Twice upon",
        &format!("{STORY}{end}{end}"),
        &format!("Once upon{end}{STORY}"),
        &format!("{STORY}{end}3 + 4 = 8"),
        &format!("{STORY}{end}{CHAT}{end}Twice"),
        &format!("{STORY}{SUMS}"),
    ] {
        assert!(!language.holds(text), "{text}");
    }
}
