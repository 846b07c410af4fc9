//! The generation loop: a prompt goes in, tokens and their text come out as they are made.

use crate::failure::Outcome;
use crate::measure::milliseconds;
use crate::output::Output;
use guild_engine::{Engine, Sampler, Session};
use guild_model::{StreamDecoder, Tokenizer};
use std::time::Instant;

/// What generates: a session of an engine, and how tokens are chosen and spelled.
pub struct Generator<'a> {
    /// The engine.
    pub engine: &'a mut Engine,
    /// The sequence that grows.
    pub session: &'a mut Session,
    /// Chooses tokens.
    pub sampler: &'a mut Sampler,
    /// Spells tokens; without one there is no text and no end token.
    pub tokenizer: Option<&'a Tokenizer>,
    /// Where progress shows.
    pub output: Output,
}

/// When generation ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Tokens at most.
    pub tokens: usize,
    /// Goes on after an end token.
    pub ignore_eos: bool,
}

/// What was generated. The last token is only written, not fed: the session doesn't hold it.
#[derive(Debug, Default)]
pub struct Generated {
    /// Tokens, without the one that ended the text.
    pub tokens: Vec<u32>,
    /// Their text.
    pub text: String,
    /// Time of the prompt and of the first token.
    pub prefill_ms: f64,
    /// Time of the other tokens.
    pub decode_ms: f64,
}

impl Generator<'_> {
    /// Feeds `prompt`, then samples and feeds until a limit is met. `sink` gets the text in pieces of
    /// whole characters.
    pub fn run(
        self,
        prompt: &[u32],
        limits: &Limits,
        sink: impl FnMut(&str) -> Outcome<()>,
    ) -> Outcome<Generated> {
        self.sampler.remember(prompt);
        let started = Instant::now();
        let progress = self.output.progress(prompt.len() as u64, "prefill");
        let logits = self.engine.prefill(self.session, prompt, |done| {
            progress.set_position(done as u64)
        })?;
        progress.finish_and_clear();
        let mut token = self.sampler.sample(logits)?;
        let mut text = Text::new(self.tokenizer, limits, sink);
        text.generated.prefill_ms = milliseconds(started);

        let started = Instant::now();
        while text.accept(token)? {
            token = self
                .sampler
                .sample(self.engine.decode(self.session, token)?)?;
        }
        text.generated.decode_ms = milliseconds(started);
        text.finish()
    }
}

/// The tokens so far and where their text goes.
struct Text<'a, S> {
    generated: Generated,
    limits: &'a Limits,
    decoder: StreamDecoder,
    tokenizer: Option<&'a Tokenizer>,
    sink: S,
}

impl<'a, S: FnMut(&str) -> Outcome<()>> Text<'a, S> {
    fn new(tokenizer: Option<&'a Tokenizer>, limits: &'a Limits, sink: S) -> Self {
        Text {
            generated: Generated::default(),
            limits,
            decoder: StreamDecoder::new(),
            tokenizer,
            sink,
        }
    }

    /// Takes a sampled token; false when generation ends: at the limit, or with the end token.
    fn accept(&mut self, token: u32) -> Outcome<bool> {
        if self.generated.tokens.len() >= self.limits.tokens {
            return Ok(false);
        }
        let ends = self
            .tokenizer
            .is_some_and(|tokenizer| tokenizer.ends_generation(token));
        if ends && !self.limits.ignore_eos {
            return Ok(false);
        }
        self.generated.tokens.push(token);
        if let Some(tokenizer) = self.tokenizer {
            let piece = self.decoder.push(tokenizer, token)?;
            self.emit(&piece)?;
        }
        Ok(self.generated.tokens.len() < self.limits.tokens)
    }

    /// Writes the bytes that were held back.
    fn finish(mut self) -> Outcome<Generated> {
        let rest = std::mem::take(&mut self.decoder).finish();
        self.emit(&rest)?;
        Ok(self.generated)
    }

    fn emit(&mut self, piece: &str) -> Outcome<()> {
        self.generated.text.push_str(piece);
        (self.sink)(piece)
    }
}
