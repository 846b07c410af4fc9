//! The engine and its sessions.

use crate::error::EngineError;
use guild_abi::abi::GUILD_PAGE_POSITIONS;
use guild_graph::{
    BindOptions, BoundPlan, GraphError, OperationTime, Phase, PlanReport, SequenceRows, StatePools,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// A bound plan and the slots that sessions borrow from it. One thread uses it at a time.
pub struct Engine {
    /// Tells this engine's sessions from another's.
    number: u64,
    plan: BoundPlan,
    options: BindOptions,
    free_slots: Vec<u32>,
    /// Token ids of the pass in the ABI's type.
    tokens: Vec<i32>,
    output_rows: Vec<i32>,
}

/// A sequence: its slot, its pages and its length. It belongs to one engine.
#[derive(Debug)]
pub struct Session {
    engine: u64,
    slot: u32,
    position: u64,
    pages: Vec<u32>,
    ended: bool,
}

/// Rows whose logits are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// None: the head isn't computed.
    None,
    /// The last row of the part.
    Last,
    /// Every row of the part.
    All,
}

/// One session's rows in a pass.
pub struct Part<'a> {
    /// The session; its position moves on when the pass succeeds.
    pub session: &'a mut Session,
    /// Token ids, 1 or more.
    pub tokens: &'a [u32],
    /// Rows whose logits are wanted.
    pub outputs: Outputs,
}

impl Session {
    /// Positions in use.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }
}

impl Engine {
    /// Takes over a plan that was bound with these options.
    #[must_use]
    pub fn new(plan: BoundPlan, options: BindOptions) -> Engine {
        let slots = u32::try_from(options.max_sequences).unwrap_or(u32::MAX);
        static ENGINES: AtomicU64 = AtomicU64::new(0);
        Engine {
            number: ENGINES.fetch_add(1, Ordering::Relaxed),
            plan,
            options,
            free_slots: (0..slots).rev().collect(),
            tokens: Vec::with_capacity(options.max_rows as usize),
            output_rows: Vec::with_capacity(options.max_outputs as usize),
        }
    }

    /// Bytes of what an engine of these options keeps for a pass and for its sequences.
    #[must_use]
    pub const fn table_bytes(options: &BindOptions) -> u64 {
        let rows = options.max_rows + options.max_outputs;
        4 * (rows + options.max_sequences + options.pages())
    }

    /// Asks for pages of 2 MiB; see [`BoundPlan::ask_for_huge_pages`].
    pub fn ask_for_huge_pages(&mut self) {
        self.plan.ask_for_huge_pages();
    }

    /// Spends all memory that the plan reserved now; see [`BoundPlan::touch`].
    pub fn touch(&mut self) {
        self.plan.touch();
    }

    /// Times every operation of the passes that follow, from zero; or no longer.
    pub fn time_operations(&mut self, on: bool) {
        self.plan.time_steps(on);
    }

    /// What each operation has taken in a phase; see [`BoundPlan::operation_times`].
    #[must_use]
    pub fn operation_times(&self, phase: Phase) -> Vec<OperationTime> {
        self.plan.operation_times(phase)
    }

    /// KV pages and recurrent slots of all sequences.
    #[must_use]
    pub fn states(&self) -> &StatePools {
        self.plan.states()
    }

    /// Starts an empty sequence.
    ///
    /// # Errors
    /// [`EngineError::NoSlot`] when all slots are in use.
    pub fn start(&mut self) -> Result<Session, EngineError> {
        let slots = self.options.max_sequences as u32;
        let slot = self.free_slots.pop().ok_or(EngineError::NoSlot { slots })?;
        self.plan.states_mut().reset_slot(slot);
        // Each slot has pages of its own, so that no two sessions can write the same one.
        let per_sequence = self.options.pages_per_sequence() as u32;
        let pages = (0..per_sequence)
            .map(|page| slot * per_sequence + page)
            .collect();
        Ok(Session {
            engine: self.number,
            slot,
            position: 0,
            pages,
            ended: false,
        })
    }

    /// Ends a sequence; its slot is free again. Another engine's session is only dropped.
    pub fn release(&mut self, session: Session) {
        if session.engine == self.number {
            self.free_slots.push(session.slot);
        }
    }

    /// Takes rows of one or more sessions through the plan and returns the logits of the wanted rows,
    /// f32 `[outputs, vocabulary]`, in the order of the parts.
    ///
    /// # Errors
    /// - [`EngineError::TokenOutOfRange`], [`EngineError::ContextFull`], [`EngineError::SessionEnded`],
    ///   [`EngineError::Batch`]: nothing has run, the sessions are as before.
    /// - [`EngineError::Step`]: an operation failed; the sessions have ended.
    pub fn pass(&mut self, phase: Phase, parts: &mut [Part<'_>]) -> Result<&[f32], EngineError> {
        self.fill_batch(parts)?;
        self.plan
            .model()
            .check_unchanged()
            .map_err(GraphError::from)?;
        let ran = self.plan.run(phase);
        for part in parts {
            part.session.position += part.tokens.len() as u64;
            part.session.ended |= ran.is_err();
        }
        ran?;
        Ok(self.plan.logits())
    }

    /// A prompt through the plan, in passes of at most the plan's rows. Returns the last row's logits.
    ///
    /// `progress` is told the rows done after each pass.
    ///
    /// # Errors
    /// As [`Engine::pass`]; [`EngineError::Batch`] for a prompt without tokens.
    pub fn prefill(
        &mut self,
        session: &mut Session,
        tokens: &[u32],
        mut progress: impl FnMut(usize),
    ) -> Result<&[f32], EngineError> {
        self.prefill_while(session, tokens, |done| {
            progress(done);
            true
        })?;
        Ok(self.plan.logits())
    }

    /// As [`Engine::prefill`], but ends after a pass where `go_on` says false: then the session holds the
    /// rows done, and there are no logits.
    ///
    /// # Errors
    /// As [`Engine::prefill`].
    pub fn prefill_while(
        &mut self,
        session: &mut Session,
        tokens: &[u32],
        mut go_on: impl FnMut(usize) -> bool,
    ) -> Result<Option<&[f32]>, EngineError> {
        // No token is one pass without rows, which the batch refuses: the logits that lie there are
        // another call's.
        let rows = self.options.max_rows as usize;
        let passes = tokens.len().div_ceil(rows).max(1);
        let mut done = 0;
        for pass in 0..passes {
            let chunk = &tokens[done..tokens.len().min((pass + 1) * rows)];
            done += chunk.len();
            let outputs = if done == tokens.len() {
                Outputs::Last
            } else {
                Outputs::None
            };
            let part = Part {
                session: &mut *session,
                tokens: chunk,
                outputs,
            };
            self.pass(Phase::Prefill, &mut [part])?;
            if !go_on(done) && done < tokens.len() {
                return Ok(None);
            }
        }
        Ok(Some(self.plan.logits()))
    }

    /// One token through the plan; returns its logits.
    ///
    /// # Errors
    /// As [`Engine::pass`].
    pub fn decode(&mut self, session: &mut Session, token: u32) -> Result<&[f32], EngineError> {
        let part = Part {
            session,
            tokens: &[token],
            outputs: Outputs::Last,
        };
        self.pass(Phase::Decode, &mut [part])
    }

    /// Entries of a row of logits.
    #[must_use]
    pub fn vocabulary(&self) -> usize {
        self.plan.vocabulary()
    }

    /// Rows that fit one pass.
    #[must_use]
    pub fn max_rows(&self) -> u64 {
        self.options.max_rows
    }

    /// Output rows that fit one pass.
    #[must_use]
    pub fn max_outputs(&self) -> u64 {
        self.options.max_outputs
    }

    /// What was chosen for each step, and the memory it takes.
    #[must_use]
    pub fn report(&self) -> &PlanReport {
        self.plan.report()
    }

    fn fill_batch(&mut self, parts: &[Part<'_>]) -> Result<(), EngineError> {
        self.plan.batch_mut().clear();
        self.output_rows.clear();
        let mut first_row = 0i32;
        for part in parts {
            self.check(part)?;
            self.tokens.clear();
            self.tokens
                .extend(part.tokens.iter().map(|token| *token as i32));
            let end = part.session.position + part.tokens.len() as u64;
            let pages = end.div_ceil(u64::from(GUILD_PAGE_POSITIONS)) as usize;
            self.plan.batch_mut().push(&SequenceRows {
                slot: part.session.slot,
                position: part.session.position,
                tokens: &self.tokens,
                pages: &part.session.pages[..pages],
                snapshot_slots: &[],
            })?;
            let rows = part.tokens.len() as i32;
            let wanted = match part.outputs {
                Outputs::None => first_row..first_row,
                Outputs::Last => first_row + rows - 1..first_row + rows,
                Outputs::All => first_row..first_row + rows,
            };
            self.output_rows.extend(wanted);
            first_row += rows;
        }
        Ok(self.plan.batch_mut().set_output_rows(&self.output_rows)?)
    }

    fn check(&self, part: &Part<'_>) -> Result<(), EngineError> {
        let (context, used) = (self.options.max_positions, part.session.position);
        let wanted = part.tokens.len() as u64;
        let vocabulary = self.vocabulary();
        if part.session.ended || part.session.engine != self.number {
            return Err(EngineError::SessionEnded);
        }
        if wanted > context.saturating_sub(used) {
            return Err(EngineError::ContextFull {
                context,
                used,
                wanted,
            });
        }
        let outside = part
            .tokens
            .iter()
            .find(|token| **token as usize >= vocabulary);
        match outside {
            Some(token) => Err(EngineError::TokenOutOfRange {
                token: *token,
                vocabulary,
            }),
            None => Ok(()),
        }
    }
}
