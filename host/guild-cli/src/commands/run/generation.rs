//! The generation loop: a prompt goes in, tokens and their text come out as they are made.

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::measure::milliseconds;
use crate::output::Output;
use guild_engine::{Engine, Sampler, Session};
use guild_model::{ControlTokens, StopStrings, StreamDecoder, Tokenizer};
use serde_json::Value;
use std::time::Instant;

/// Tokens that room is reserved for at most; a longer text grows now and then.
const RESERVED_TOKENS_MAX: usize = 1 << 16;
/// Bytes of text that room is reserved for, a token. Few vocabularies average more.
const TOKEN_TEXT_BYTES: usize = 8;

/// Bytes that are reserved for the text of so many tokens at most.
pub fn reserved_bytes(tokens: usize) -> usize {
    tokens.min(RESERVED_TOKENS_MAX) * TOKEN_TEXT_BYTES
}

/// What generates: a session of an engine, and how tokens are chosen and spelled.
pub struct Generator<'a> {
    /// The engine.
    pub engine: &'a mut Engine,
    /// The sequence that grows.
    pub session: &'a mut Session,
    /// Chooses tokens.
    pub sampler: &'a mut Sampler,
    /// Spells tokens; without one there is no text, no end token and no stop string.
    pub tokenizer: Option<&'a Tokenizer>,
    /// Ends the generation early.
    pub interrupt: &'a Interrupt,
    /// Where progress shows.
    pub output: Output,
}

/// When generation ends.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Tokens at most.
    pub tokens: usize,
    /// Goes on after an end token.
    pub ignore_eos: bool,
    /// Texts that end it.
    pub stops: StopStrings,
}

/// What ended a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// An end token.
    End,
    /// The limit of tokens.
    #[default]
    Length,
    /// A stop string.
    Stop,
    /// Ctrl-C.
    Interrupted,
}

impl Finish {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Finish::End => "end",
            Finish::Length => "length",
            Finish::Stop => "stop",
            Finish::Interrupted => "interrupted",
        }
    }
}

/// The failure of a command that Ctrl-C ended after so many tokens, with the answer so far beside it.
pub fn interrupted(tokens: usize, answer: Value) -> Failure {
    Failure::new(
        Exit::Interrupted,
        format!("interrupted after {tokens} tokens"),
    )
    .with_fields(answer)
}

/// What was generated. The last token is only written, not fed: the session doesn't hold it.
#[derive(Debug, Default)]
pub struct Generated {
    /// Tokens, without the end token; those of a stop string are there.
    pub tokens: Vec<u32>,
    /// Their text, up to a stop string.
    pub text: String,
    /// What ended it.
    pub finish: Finish,
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
        limits: Limits,
        sink: impl FnMut(&str) -> Outcome<()>,
    ) -> Outcome<Generated> {
        self.sampler.remember(prompt);
        let started = Instant::now();
        let mut text = Text::new(self.tokenizer, limits, sink);
        let progress = self.output.progress(prompt.len() as u64, "prefill");
        let logits = self.engine.prefill_while(self.session, prompt, |done| {
            progress.set_position(done as u64);
            !self.interrupt.is_set()
        })?;
        progress.finish_and_clear();
        let Some(logits) = logits else {
            text.generated.prefill_ms = milliseconds(started);
            return text.finish(Finish::Interrupted);
        };
        let mut token = self.sampler.sample(logits)?;
        text.generated.prefill_ms = milliseconds(started);

        let started = Instant::now();
        let finish = loop {
            if self.interrupt.is_set() {
                break Finish::Interrupted;
            }
            if let Some(finish) = text.accept(token)? {
                break finish;
            }
            token = self
                .sampler
                .sample(self.engine.decode(self.session, token)?)?;
        };
        text.generated.decode_ms = milliseconds(started);
        text.finish(finish)
    }
}

/// The tokens so far and where their text goes.
struct Text<'a, S> {
    generated: Generated,
    limits: Limits,
    decoder: StreamDecoder,
    /// What the last token added to the text.
    piece: String,
    tokenizer: Option<&'a Tokenizer>,
    sink: S,
}

impl<'a, S: FnMut(&str) -> Outcome<()>> Text<'a, S> {
    fn new(tokenizer: Option<&'a Tokenizer>, limits: Limits, sink: S) -> Self {
        Text {
            generated: Generated {
                tokens: Vec::with_capacity(limits.tokens.min(RESERVED_TOKENS_MAX)),
                text: String::with_capacity(reserved_bytes(limits.tokens)),
                ..Generated::default()
            },
            limits,
            decoder: StreamDecoder::new(ControlTokens::Show).continuing(),
            piece: String::new(),
            tokenizer,
            sink,
        }
    }

    /// Takes a sampled token; says what ends the generation, if something does.
    fn accept(&mut self, token: u32) -> Outcome<Option<Finish>> {
        if self.generated.tokens.len() >= self.limits.tokens {
            return Ok(Some(Finish::Length));
        }
        let ends = self
            .tokenizer
            .is_some_and(|tokenizer| tokenizer.ends_generation(token));
        if ends && !self.limits.ignore_eos {
            return Ok(Some(Finish::End));
        }
        self.generated.tokens.push(token);
        if let Some(tokenizer) = self.tokenizer {
            self.piece.clear();
            self.decoder.push(tokenizer, token, &mut self.piece)?;
            if self.scan()? {
                return Ok(Some(Finish::Stop));
            }
        }
        let full = self.generated.tokens.len() >= self.limits.tokens;
        Ok(full.then_some(Finish::Length))
    }

    /// Writes what was held back, unless a stop string came before it.
    fn finish(mut self, mut finish: Finish) -> Outcome<Generated> {
        if finish != Finish::Stop {
            self.piece.clear();
            self.decoder.finish(&mut self.piece);
            if self.scan()? {
                finish = Finish::Stop;
            } else {
                let before = self.generated.text.len();
                self.limits.stops.finish(&mut self.generated.text);
                self.emit_after(before)?;
            }
        }
        self.generated.finish = finish;
        Ok(self.generated)
    }

    /// Hands out what is certain of the last piece; true when a stop string was met.
    fn scan(&mut self) -> Outcome<bool> {
        let text = &mut self.generated.text;
        let before = text.len();
        let stopped = self.limits.stops.push(&self.piece, text);
        self.emit_after(before)?;
        Ok(stopped)
    }

    /// Hands out what came since the text was this long.
    fn emit_after(&mut self, before: usize) -> Outcome<()> {
        match &self.generated.text[before..] {
            "" => Ok(()),
            piece => (self.sink)(piece),
        }
    }
}
