//! What a sampler is asked to do, and the ranges of it.

use super::weights::TOKENS_MAX;
use crate::error::EngineError;

/// How tokens are chosen. The default is greedy, with every stage off.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// 0 takes the best token; 1 leaves the model's distribution as it is.
    pub temperature: f32,
    /// Tokens that top-k keeps; 0 turns it off.
    pub top_k: u32,
    /// Probability that locally typical sampling keeps, 0 to 1; 1 turns it off.
    pub typical: f32,
    /// Probability that top-p keeps, 0 to 1; 1 turns it off.
    pub top_p: f32,
    /// Least probability as a share of the largest one, 0 to 1; 0 turns it off.
    pub min_p: f32,
    /// Tokens that typical, top-p and min-p keep at least; 0 counts as 1.
    pub min_keep: u32,
    /// Divisor of positive and factor of other logits of tokens in the history; 1 turns it off.
    pub repeat_penalty: f32,
    /// Taken off the logits of tokens in the history; 0 turns it off.
    pub presence_penalty: f32,
    /// Taken off for each time that a token is in the history; 0 turns it off.
    pub frequency_penalty: f32,
    /// Length of the history in tokens; 0 turns all three penalties off.
    pub repeat_last_n: u32,
    /// Biases, at most one a token.
    pub logit_bias: Vec<LogitBias>,
    /// Seed of the random stream.
    pub seed: u64,
}

/// A number that is added to a token's logit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogitBias {
    /// The token.
    pub token: u32,
    /// Finite, or minus infinity, which forbids the token.
    pub bias: f32,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            temperature: 0.0,
            top_k: 0,
            typical: 1.0,
            top_p: 1.0,
            min_p: 0.0,
            min_keep: 1,
            repeat_penalty: 1.0,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            repeat_last_n: 64,
            logit_bias: Vec::new(),
            seed: 0,
        }
    }
}

impl Sampling {
    /// The longest history, which is the longest context that the command line takes.
    pub const REPEAT_LAST_N_MAX: u32 = 1 << 24;

    /// Whether locally typical sampling is on.
    pub(super) fn has_typical(&self) -> bool {
        self.typical < 1.0
    }

    /// Whether top-k takes anything away from `tokens` tokens.
    pub(super) fn has_top_k(&self, tokens: usize) -> bool {
        self.top_k > 0 && (self.top_k as usize) < tokens
    }

    /// Whether a stage that takes tokens away is on.
    pub(super) fn has_filter(&self) -> bool {
        self.top_k > 0 || self.has_typical() || self.top_p < 1.0 || self.min_p > 0.0
    }

    /// Whether a penalty is on.
    pub(super) fn has_penalty(&self) -> bool {
        let neutral = self.repeat_penalty == 1.0
            && self.presence_penalty == 0.0
            && self.frequency_penalty == 0.0;
        self.repeat_last_n > 0 && !neutral
    }

    /// Checks every parameter against its range.
    ///
    /// # Errors
    /// [`EngineError::SamplingParameter`] names the first one that is outside.
    pub fn check(&self) -> Result<(), EngineError> {
        let unit = |x: f32| (0.0..=1.0).contains(&x);
        let positive = |x: f32| x > 0.0 && x.is_finite();
        let not_negative = |x: f32| x >= 0.0 && x.is_finite();
        const FROM_0: &str = "0 or above, and finite";
        const ABOVE_0: &str = "above 0, and finite";
        const UNIT: &str = "from 0 to 1";
        const FINITE: &str = "finite";
        let last_n_fits = self.repeat_last_n <= Self::REPEAT_LAST_N_MAX;
        let rows = [
            (
                "temp",
                self.temperature,
                not_negative(self.temperature),
                FROM_0,
            ),
            ("typical", self.typical, unit(self.typical), UNIT),
            ("top-p", self.top_p, unit(self.top_p), UNIT),
            ("min-p", self.min_p, unit(self.min_p), UNIT),
            (
                "repeat-penalty",
                self.repeat_penalty,
                positive(self.repeat_penalty),
                ABOVE_0,
            ),
            (
                "presence-penalty",
                self.presence_penalty,
                self.presence_penalty.is_finite(),
                FINITE,
            ),
            (
                "frequency-penalty",
                self.frequency_penalty,
                self.frequency_penalty.is_finite(),
                FINITE,
            ),
            (
                "repeat-last-n",
                self.repeat_last_n as f32,
                last_n_fits,
                "from 0 to 16777216",
            ),
        ];
        for (name, value, is_sound, range) in rows {
            if !is_sound {
                return Err(EngineError::SamplingParameter { name, value, range });
            }
        }
        let is_bias = |bias: f32| bias.is_finite() || bias == f32::NEG_INFINITY;
        match self.logit_bias.iter().find(|it| !is_bias(it.bias)) {
            Some(it) => Err(EngineError::SamplingParameter {
                name: "logit-bias",
                value: it.bias,
                range: "finite, or -inf",
            }),
            None => Ok(()),
        }
    }

    /// Checks a vocabulary's size, and the biases' tokens against it.
    ///
    /// # Errors
    /// [`EngineError::VocabularyTooLarge`], [`EngineError::BiasToken`] and [`EngineError::BiasTwice`].
    pub(super) fn check_tokens(&self, vocabulary: usize) -> Result<(), EngineError> {
        if vocabulary > TOKENS_MAX {
            return Err(EngineError::VocabularyTooLarge {
                vocabulary,
                limit: TOKENS_MAX,
            });
        }
        let mut tokens: Vec<u32> = self.logit_bias.iter().map(|it| it.token).collect();
        tokens.sort_unstable();
        if let Some(token) = tokens.last().filter(|token| **token as usize >= vocabulary) {
            let token = *token;
            return Err(EngineError::BiasToken { token, vocabulary });
        }
        match tokens.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(EngineError::BiasTwice { token: pair[0] }),
            None => Ok(()),
        }
    }
}
