//! A conversation: its messages, and the session that has seen part of their text.

use crate::commands::run::generation::{Finish, Generated, Generator, Limits, reserved_bytes};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::wiring::template::Template;
use guild_engine::{Engine, Sampler, Session};
use guild_model::text_scan::SplitAnswer;
use guild_model::{AnswerPart, ReasoningSplitter, StopStrings, Tokenizer};
use serde_json::{Value, json};

/// How answers end.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Positions of the session.
    pub context: u64,
    /// Tokens of an answer at most; `None` leaves it to the model and the context.
    pub tokens: Option<u64>,
    /// Goes on after an end token.
    pub ignore_eos: bool,
    /// Texts that end an answer.
    pub stops: StopStrings,
}

/// The messages so far, and what answers them.
pub struct Conversation {
    engine: Engine,
    sampler: Sampler,
    tokenizer: Tokenizer,
    template: Template,
    rules: Rules,
    system: Option<String>,
    messages: Vec<Value>,
    session: Option<Session>,
    /// The ids that `session` holds.
    seen: Vec<u32>,
}

/// One answer and what it took.
#[derive(Debug)]
pub struct Turn {
    /// The answer.
    pub answer: String,
    /// What the model thought before it.
    pub thinking: String,
    /// Tokens of the whole conversation before the answer.
    pub prompt_tokens: usize,
    /// Of these, the ones that the session held already.
    pub reused_tokens: usize,
    /// Whether the session held something else and started over.
    pub started_over: bool,
    /// Whether the context ended the answer.
    pub context_full: bool,
    /// Tokens and times.
    pub generated: Generated,
}

impl Conversation {
    /// An empty conversation.
    pub fn new(
        engine: Engine,
        sampler: Sampler,
        tokenizer: Tokenizer,
        template: Template,
        rules: Rules,
    ) -> Conversation {
        Conversation {
            engine,
            sampler,
            tokenizer,
            template,
            rules,
            system: None,
            messages: Vec::new(),
            session: None,
            seen: Vec::new(),
        }
    }

    /// Sets the message at the start; an empty one is none.
    pub fn set_system(&mut self, text: Option<&str>) {
        self.system = text.filter(|text| !text.is_empty()).map(str::to_owned);
    }

    /// Lets the model think or not; `None` leaves it to the template.
    pub fn set_thinking(&mut self, thinking: Option<bool>) {
        self.template.thinking = thinking;
    }

    /// Forgets the messages, but for the system's.
    pub fn clear(&mut self) {
        self.messages.clear();
    }

    /// Takes back the last question and its answer; false when there is none.
    pub fn undo(&mut self) -> bool {
        let asked = |message: &Value| message["role"] == "user";
        let last = self.messages.iter().rposition(asked);
        self.messages.truncate(last.unwrap_or(0));
        last.is_some()
    }

    /// All messages, the system's first.
    pub fn messages(&self) -> Vec<Value> {
        let system = self.system.iter();
        system
            .map(|text| json!({ "role": "system", "content": text }))
            .chain(self.messages.iter().cloned())
            .collect()
    }

    /// The messages and tools as `guild template` reads them.
    pub fn to_json(&self) -> Value {
        json!({ "messages": self.messages(), "tools": self.template.tools })
    }

    /// Positions that are used, and positions that there are.
    pub fn positions(&self) -> (u64, u64) {
        (self.seen.len() as u64, self.rules.context)
    }

    /// Puts a question and hands the answer out as it comes. A question that can't be answered is taken back, so that
    /// the conversation is as before; an answer that was cut short is kept.
    pub fn ask(
        &mut self,
        question: &str,
        interrupt: &Interrupt,
        output: Output,
        show: impl FnMut(AnswerPart, &str) -> Outcome<()>,
    ) -> Outcome<Turn> {
        self.messages
            .push(json!({ "role": "user", "content": question }));
        let turn = self.answer(interrupt, output, show);
        match &turn {
            Ok(turn) if !turn.generated.tokens.is_empty() => {
                let mut message = json!({ "role": "assistant", "content": turn.answer });
                if !turn.thinking.is_empty() {
                    message["reasoning_content"] = turn.thinking.clone().into();
                }
                self.messages.push(message);
            }
            _ => {
                self.messages.pop();
            }
        }
        turn
    }

    fn answer(
        &mut self,
        interrupt: &Interrupt,
        output: Output,
        mut show: impl FnMut(AnswerPart, &str) -> Outcome<()>,
    ) -> Outcome<Turn> {
        let text = self.template.render(&self.messages(), true)?;
        let ids = self.tokenizer.encode(&text, true)?;
        let room = self.room(ids.len() as u64)?;
        let limits = Limits {
            tokens: usize::try_from(self.rules.tokens.unwrap_or(u64::MAX).min(room))
                .unwrap_or(usize::MAX),
            ignore_eos: self.rules.ignore_eos,
            stops: self.rules.stops.clone(),
        };
        let held = !self.seen.is_empty();
        let (mut session, reused) = self.session_for(&ids)?;
        self.sampler.forget();
        self.sampler.remember(&ids[..reused]);
        let mut answer = Answer::new(&text, limits.tokens);
        let generator = Generator {
            engine: &mut self.engine,
            session: &mut session,
            sampler: &mut self.sampler,
            tokenizer: Some(&self.tokenizer),
            interrupt,
            output,
        };
        let generated = generator.run(&ids[reused..], limits, |piece| {
            answer.push(piece, &mut show)
        });
        let generated = match generated {
            Ok(generated) => generated,
            // The session may have ended with the failure; the next turn takes a new one.
            Err(failure) => {
                self.engine.release(session);
                return Err(failure);
            }
        };
        answer.finish(&mut show)?;
        self.remember(session, &ids, &generated.tokens);
        Ok(Turn {
            answer: answer.parts.answer,
            thinking: answer.parts.thinking,
            prompt_tokens: ids.len(),
            reused_tokens: reused,
            started_over: held && reused == 0,
            context_full: generated.finish == Finish::Length
                && generated.tokens.len() as u64 >= room,
            generated,
        })
    }

    /// Tokens that an answer may have after a prompt of this many. The last token is only written, so it takes no
    /// position.
    fn room(&self, prompt: u64) -> Outcome<u64> {
        let context = self.rules.context;
        if prompt == 0 {
            let message = "the chat template made an empty text of the conversation";
            return Err(Failure::new(Exit::Usage, message).hint("try another --chat-template"));
        }
        if prompt <= context {
            return Ok(context - prompt + 1);
        }
        let message = format!(
            "the conversation takes {prompt} tokens and the context holds {context}; it is as before the last question"
        );
        Err(Failure::new(Exit::Usage, message).hint(
            "take a question back with /undo, /clear it, at a terminal /save it, or start again with a larger -c",
        ))
    }

    /// A session that holds the start of `ids`, and how much of it: the present one where the conversation only grew,
    /// else an empty one. State that has moved on can't be taken back, so nothing in between is kept.
    fn session_for(&mut self, ids: &[u32]) -> Outcome<(Session, usize)> {
        if let Some(session) = self.session.take() {
            if self.seen.len() < ids.len() && ids.starts_with(&self.seen) {
                return Ok((session, self.seen.len()));
            }
            self.engine.release(session);
        }
        self.seen.clear();
        Ok((self.engine.start()?, 0))
    }

    fn remember(&mut self, session: Session, ids: &[u32], answered: &[u32]) {
        self.seen.clear();
        self.seen.extend(ids.iter().chain(answered));
        self.seen
            .truncate(usize::try_from(session.position()).unwrap_or(usize::MAX));
        self.session = Some(session);
    }
}

/// An answer as it comes, with the reasoning told from the rest.
struct Answer {
    splitter: ReasoningSplitter,
    parts: SplitAnswer,
}

impl Answer {
    fn new(prompt: &str, tokens: usize) -> Answer {
        Answer {
            splitter: ReasoningSplitter::after(prompt),
            parts: SplitAnswer {
                thinking: String::with_capacity(reserved_bytes(tokens)),
                answer: String::with_capacity(reserved_bytes(tokens)),
            },
        }
    }

    fn push(
        &mut self,
        piece: &str,
        show: &mut impl FnMut(AnswerPart, &str) -> Outcome<()>,
    ) -> Outcome<()> {
        let before = self.parts.lengths();
        self.splitter.push(piece, &mut self.parts);
        self.show_after(before, show)
    }

    fn finish(&mut self, show: &mut impl FnMut(AnswerPart, &str) -> Outcome<()>) -> Outcome<()> {
        let before = self.parts.lengths();
        self.splitter.finish(&mut self.parts);
        self.show_after(before, show)
    }

    /// Shows what came since the parts were this long. Reasoning only ever comes before the answer.
    fn show_after(
        &self,
        (thinking, answer): (usize, usize),
        show: &mut impl FnMut(AnswerPart, &str) -> Outcome<()>,
    ) -> Outcome<()> {
        let new = [
            (AnswerPart::Thinking, &self.parts.thinking[thinking..]),
            (AnswerPart::Answer, &self.parts.answer[answer..]),
        ];
        for (part, text) in new {
            if !text.is_empty() {
                show(part, text)?;
            }
        }
        Ok(())
    }
}
