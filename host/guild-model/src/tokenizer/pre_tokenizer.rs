//! How the families of byte-level BPE cut text into pieces before merging.
//!
//! A family is a list of stages. Each stage cuts every piece of the one before it by a pattern; what a pattern matches is
//! a piece, and so is what lies between two matches. The patterns are those of the families' own `tokenizer.json`, except
//! that the two last alternatives of most of them, `\s+(?!\S)|\s+`, are a rule of the stage ([`Stage::spaces`]): the
//! engine has no look-ahead, which is why its time is linear in the text whatever the text is.

use std::ops::Range;

use regex_automata::Input;
use regex_automata::meta::Regex;

use crate::error::Unsupported;

/// One way to cut, and the names that it has in `tokenizer.ggml.pre`.
#[derive(Debug)]
struct Family {
    names: &'static [&'static str],
    stages: &'static [Stage],
    /// A piece that is a token as a whole is not merged (`ignore_merges` in `tokenizer.json`).
    whole_pieces: bool,
    /// Whether a text begins with the beginning-of-text token when the file does not say.
    adds_bos: bool,
}

/// One cut.
#[derive(Debug)]
struct Stage {
    pattern: &'static str,
    /// Whether runs of white space that `pattern` does not match are pieces, without their last character where another
    /// character follows: that one goes with what follows, or is a piece of its own.
    spaces: bool,
}

/// GPT-2's own pattern.
const GPT_2: Stage = Stage {
    pattern: r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+",
    spaces: true,
};

/// Each digit is a piece.
const DIGITS: Stage = Stage {
    pattern: r"\p{N}",
    spaces: false,
};

/// The names are llama.cpp's; those of one row are one and the same to it.
static FAMILIES: [Family; 5] = [
    Family {
        names: &["qwen35"],
        stages: &[Stage {
            pattern: concat!(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
                r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+",
                r"|\p{N}",
                r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*",
                r"|\s*[\r\n]+",
            ),
            spaces: true,
        }],
        whole_pieces: false,
        adds_bos: false,
    },
    Family {
        names: &["qwen2", "deepseek-r1-qwen", "megrez"],
        stages: &[Stage {
            pattern: concat!(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
                r"|[^\r\n\p{L}\p{N}]?\p{L}+",
                r"|\p{N}",
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*",
                r"|\s*[\r\n]+",
            ),
            spaces: true,
        }],
        whole_pieces: false,
        adds_bos: false,
    },
    Family {
        names: &["llama-bpe", "llama3", "llama-v3", "falcon3"],
        stages: &[Stage {
            pattern: concat!(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
                r"|[^\r\n\p{L}\p{N}]?\p{L}+",
                r"|\p{N}{1,3}",
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*",
                r"|\s*[\r\n]+",
            ),
            spaces: true,
        }],
        whole_pieces: true,
        adds_bos: true,
    },
    Family {
        names: &["gpt-2", "phi-2"],
        stages: &[GPT_2],
        whole_pieces: false,
        adds_bos: false,
    },
    Family {
        names: &["smollm"],
        stages: &[DIGITS, GPT_2],
        whole_pieces: false,
        adds_bos: false,
    },
];

/// A family, ready to cut.
#[derive(Debug)]
pub(super) struct PreTokenizer {
    /// First cut first.
    stages: Vec<CompiledStage>,
    /// See [`Family::whole_pieces`].
    pub(super) whole_pieces: bool,
    /// See [`Family::adds_bos`].
    pub(super) adds_bos: bool,
}

#[derive(Debug)]
struct CompiledStage {
    /// Pattern 0 is the stage's own, pattern 1 a run of white space.
    patterns: Regex,
}

/// The pattern of [`Stage::spaces`].
const SPACES: (&str, usize) = (r"\s+", 1);

impl PreTokenizer {
    /// The family with this name. Compiles its patterns, which takes some milliseconds.
    ///
    /// # Errors
    /// [`Unsupported::PreTokenizer`] with the names that there are.
    pub(super) fn find(name: &str) -> Result<Self, Unsupported> {
        let unknown = || Unsupported::PreTokenizer {
            found: name.to_owned(),
            supported: supported(),
        };
        let family = FAMILIES
            .iter()
            .find(|family| family.names.contains(&name))
            .ok_or_else(unknown)?;
        let stages: Option<Vec<_>> = family.stages.iter().map(CompiledStage::new).collect();
        Ok(Self {
            // A pattern that does not compile is a family that does not exist; a test compiles them all.
            stages: stages.ok_or_else(unknown)?,
            whole_pieces: family.whole_pieces,
            adds_bos: family.adds_bos,
        })
    }

    /// Hands the pieces of `text` to `piece` in order. Together they are the text.
    pub(super) fn cut<'t>(&self, text: &'t str, piece: &mut dyn FnMut(&'t str)) {
        cut(&self.stages, text, piece);
    }
}

fn cut<'t>(stages: &[CompiledStage], text: &'t str, piece: &mut dyn FnMut(&'t str)) {
    let Some((stage, later)) = stages.split_first() else {
        piece(text);
        return;
    };
    let mut next = |range: Range<usize>| {
        if let Some(between) = text.get(range).filter(|between| !between.is_empty()) {
            cut(later, between, piece);
        }
    };
    let mut end = 0;
    while let Some(found) = stage.find(text, end) {
        next(end..found.start);
        next(found.clone());
        end = found.end;
    }
    next(end..text.len());
}

impl CompiledStage {
    /// `None` when the pattern is wrong.
    fn new(stage: &Stage) -> Option<Self> {
        let mut patterns = vec![stage.pattern];
        patterns.extend(stage.spaces.then_some(SPACES.0));
        let patterns = Regex::new_many(&patterns).ok()?;
        Some(Self { patterns })
    }

    /// The first match at or after `from`. No pattern matches nothing, so the search moves on.
    fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let found = self.patterns.find(Input::new(text).range(from..))?;
        let mut range = found.range();
        // The run is the longest one, so what follows it is no white space.
        if found.pattern().as_usize() == SPACES.1 && range.end < text.len() {
            let last = text[range.clone()].char_indices().next_back()?.0;
            if last > 0 {
                range.end = range.start + last;
            }
        }
        Some(range)
    }
}

/// All names, for an error.
fn supported() -> String {
    let names: Vec<&str> = FAMILIES
        .iter()
        .flat_map(|family| family.names)
        .copied()
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces<'t>(family: &str, text: &'t str) -> Vec<&'t str> {
        let mut pieces = Vec::new();
        PreTokenizer::find(family)
            .expect("known")
            .cut(text, &mut |piece| pieces.push(piece));
        pieces
    }

    #[test]
    fn every_name_has_patterns_that_compile_and_is_there_once() {
        let mut names: Vec<&str> = FAMILIES
            .iter()
            .flat_map(|family| family.names)
            .copied()
            .collect();
        for name in &names {
            PreTokenizer::find(name).expect("its patterns compile");
        }
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let error = PreTokenizer::find("qwen")
            .expect_err("not a name")
            .to_string();
        assert!(error.contains("llama-bpe"), "{error}");
    }

    /// As `(?!\S)` has it: the last white space goes with the word, or alone before what takes none.
    #[test]
    fn white_space_leaves_its_last_character_to_what_follows() {
        assert_eq!(pieces("gpt-2", "a   b"), ["a", "  ", " b"]);
        assert_eq!(pieces("gpt-2", "a \n\tb"), ["a", " \n", "\t", "b"]);
        assert_eq!(pieces("gpt-2", "a \u{3000}"), ["a", " \u{3000}"]);
        assert_eq!(pieces("qwen2", "a \n\tb"), ["a", " \n", "\tb"]);
        assert_eq!(pieces("qwen2", "  \n \n  1"), ["  \n \n", " ", " ", "1"]);
    }

    /// GPT-2's contractions are in small letters; the others' are in any, with Unicode's folding (`ſ` is an `s`).
    #[test]
    fn contractions_are_pieces() {
        assert_eq!(pieces("gpt-2", "I've I'VE"), ["I", "'ve", " I", "'", "VE"]);
        for family in ["qwen35", "qwen2", "llama-bpe"] {
            assert_eq!(
                pieces(family, "I've I'VE x'ſ"),
                ["I", "'ve", " I", "'VE", " x", "'ſ"]
            );
        }
    }

    /// Digits are cut out first, so white space before one ends its piece and stays whole.
    #[test]
    fn stages_cut_one_after_the_other() {
        assert_eq!(pieces("smollm", "x  12 "), ["x", "  ", "1", "2", " "]);
        assert_eq!(pieces("gpt-2", "x  12 "), ["x", " ", " 12", " "]);
    }
}
