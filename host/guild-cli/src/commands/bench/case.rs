//! What is measured: a prompt, tokens after it, or both, with so many tokens before them.

use crate::args::BenchArgs;
use crate::failure::Outcome;
use guild_engine::Engine;
use std::time::Instant;

/// One test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Prompt tokens that are measured; 0 for none.
    pub prompt: u64,
    /// Generated tokens that are measured; 0 for none.
    pub tokens: u64,
    /// Tokens before them, which aren't.
    pub depth: u64,
}

/// Every test that the arguments ask for, in the order in which they run.
pub fn cases(args: &BenchArgs) -> Vec<Case> {
    let prompts = args.prompt.iter().map(|prompt| (*prompt, 0));
    let tokens = args.tokens.iter().map(|tokens| (0, *tokens));
    let both = args.pg.iter().map(|both| (both.prompt, both.tokens));
    let sizes: Vec<(u64, u64)> = prompts
        .chain(tokens)
        .chain(both)
        .filter(|size| *size != (0, 0))
        .collect();
    let depths = args.depth.iter();
    let cases = depths.flat_map(|depth| {
        sizes.iter().map(|(prompt, tokens)| Case {
            prompt: *prompt,
            tokens: *tokens,
            depth: *depth,
        })
    });
    cases.collect()
}

impl Case {
    /// The test's name: `pp512` for a prompt of 512 tokens, `tg64` for 64 generated ones.
    pub fn name(&self) -> String {
        match (self.prompt, self.tokens) {
            (prompt, 0) => format!("pp{prompt}"),
            (0, tokens) => format!("tg{tokens}"),
            (prompt, tokens) => format!("pp{prompt}+tg{tokens}"),
        }
    }

    /// Positions that it takes.
    pub fn positions(&self) -> u64 {
        self.depth + self.tokens_measured()
    }

    /// Tokens that its rate counts.
    pub fn tokens_measured(&self) -> u64 {
        self.prompt + self.tokens
    }

    /// Rows of its longest prefill, at least 1.
    pub fn longest_prefill(&self) -> u64 {
        self.depth.max(self.prompt).max(1)
    }

    /// Runs it in a session of its own and returns the seconds of the measured part. `begin` is called
    /// just before that part.
    ///
    /// The tokens are fixed, so that routing is the same in every run.
    pub fn run(&self, engine: &mut Engine, begin: impl FnOnce(&mut Engine)) -> Outcome<f64> {
        let ids = ids(engine.vocabulary(), self.positions());
        let (before, measured) = ids.split_at(self.depth as usize);
        let (prompt, tokens) = measured.split_at(self.prompt as usize);
        let mut session = engine.start()?;
        if !before.is_empty() {
            engine.prefill(&mut session, before, |_| {})?;
        }
        begin(engine);
        let started = Instant::now();
        if !prompt.is_empty() {
            engine.prefill(&mut session, prompt, |_| {})?;
        }
        for token in tokens {
            engine.decode(&mut session, *token)?;
        }
        let seconds = started.elapsed().as_secs_f64();
        engine.release(session);
        Ok(seconds)
    }
}

/// Token ids spread over the vocabulary, the same in every run.
fn ids(vocabulary: usize, count: u64) -> Vec<u32> {
    let vocabulary = vocabulary.max(1) as u64;
    (0..count)
        .map(|i| ((i * 7_919 + 13) % vocabulary) as u32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_a_name_and_its_positions() {
        let case = |prompt, tokens, depth| Case {
            prompt,
            tokens,
            depth,
        };
        assert_eq!(case(512, 0, 0).name(), "pp512");
        assert_eq!(case(0, 64, 9).name(), "tg64");
        let both = case(16, 4, 100);
        assert_eq!(
            (both.name(), both.positions()),
            ("pp16+tg4".to_owned(), 120)
        );
        assert_eq!((both.tokens_measured(), both.longest_prefill()), (20, 100));
        assert_eq!(case(0, 4, 0).longest_prefill(), 1);
    }

    #[test]
    fn ids_are_spread_and_inside_the_vocabulary() {
        let ids = ids(1000, 100);
        assert!(ids.iter().all(|id| *id < 1000));
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), 100);
    }
}
