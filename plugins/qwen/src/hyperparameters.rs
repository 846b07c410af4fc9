//! The metadata that fixes the graph, read once and checked against the architecture's invariants.
//!
//! Keys are written without their prefix (`qwen35moe.` or `qwen35.`). "Heads" and "dim" are as in the
//! published models; the file calls the delta rule's numbers by the state-space names `ssm.*`.

use crate::refusal::Refusal;
use guild_sdk::Failure;
use guild_sdk::abi::core_ops::{GUILD_ROPE_HALVES, guild_rope_params};
use guild_sdk::runner::Model;

/// The most that one dimension may be, so that products of three can't overflow.
const DIMENSION_MAX: u64 = 1 << 20;
/// The most blocks of a model.
const BLOCKS_MAX: u64 = 4096;
/// The most experts that `moe_route` chooses for a row, and the most that there may be.
const TOP_K_MAX: u64 = 32;
const EXPERTS_MAX: u64 = 1024;

/// Everything that the graph depends on.
#[derive(Clone, Debug)]
pub(crate) struct Hyperparameters {
    /// Layers of the main model.
    pub layers: u32,
    /// Multi-token-prediction blocks after them.
    pub draft_blocks: u32,
    /// Length of the residual stream.
    pub hidden: u64,
    /// Added under the square root of every RMS norm.
    pub epsilon: f32,
    /// Every `interval`-th layer is an attention layer.
    pub interval: u32,
    pub attention: Attention,
    pub delta: Delta,
    pub feed_forward: FeedForward,
}

/// Gated attention with grouped queries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    pub heads: u64,
    pub kv_heads: u64,
    pub head_dim: u64,
    pub rope: guild_rope_params,
}

/// The gated delta rule with its causal convolution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delta {
    pub key_heads: u64,
    pub key_dim: u64,
    pub value_heads: u64,
    pub value_dim: u64,
    /// Taps of the convolution.
    pub width: u64,
}

/// What follows the token mixer in every layer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FeedForward {
    Experts {
        experts: u64,
        top_k: u32,
        ff: u64,
        shared_ff: u64,
    },
    Dense {
        ff: u64,
    },
}

impl Hyperparameters {
    /// Reads and checks the metadata.
    ///
    /// # Errors
    /// The key that is missing or the invariant that is broken, with its numbers.
    pub(crate) fn read(
        model: &Model<'_>,
        prefix: &'static str,
        feed_forward: FeedForward,
    ) -> Result<Hyperparameters, Failure> {
        let keys = Keys { model, prefix };
        keys.refuse_rope_scaling()?;
        keys.check_context()?;
        let blocks = keys.within("block_count", 1, BLOCKS_MAX)?;
        let draft_blocks = keys.draft_blocks(blocks)?;
        let layers = blocks - draft_blocks;
        let interval = keys.interval(layers)?;
        keys.check_layer_list(blocks, layers, interval)?;
        Ok(Hyperparameters {
            layers: layers as u32,
            draft_blocks: draft_blocks as u32,
            hidden: keys.dimension("embedding_length")?,
            epsilon: keys.epsilon("attention.layer_norm_rms_epsilon")?,
            interval: interval as u32,
            attention: Attention::read(&keys)?,
            delta: Delta::read(&keys)?,
            feed_forward,
        })
    }

    /// Whether a layer of the main model mixes tokens by attention rather than by the delta rule.
    pub(crate) fn is_attention(&self, layer: u32) -> bool {
        is_attention(u64::from(layer), u64::from(self.interval))
    }
}

impl FeedForward {
    /// An expert pool with a shared expert.
    ///
    /// # Errors
    /// As [`Hyperparameters::read`].
    pub(crate) fn experts(model: &Model<'_>, prefix: &'static str) -> Result<FeedForward, Failure> {
        let keys = Keys { model, prefix };
        let experts = keys.within("expert_count", 1, EXPERTS_MAX)?;
        let top_k = keys.within("expert_used_count", 1, TOP_K_MAX)?;
        if top_k > experts {
            return Err(Refusal::Exceeds {
                key: keys.full("expert_used_count"),
                found: top_k,
                limit_key: keys.full("expert_count"),
                limit: experts,
            }
            .into());
        }
        Ok(FeedForward::Experts {
            experts,
            top_k: top_k as u32,
            ff: keys.dimension("expert_feed_forward_length")?,
            shared_ff: keys.dimension("expert_shared_feed_forward_length")?,
        })
    }

    /// One dense projection.
    ///
    /// # Errors
    /// As [`Hyperparameters::read`].
    pub(crate) fn dense(model: &Model<'_>, prefix: &'static str) -> Result<FeedForward, Failure> {
        let keys = Keys { model, prefix };
        Ok(FeedForward::Dense {
            ff: keys.dimension("feed_forward_length")?,
        })
    }
}

impl Attention {
    fn read(keys: &Keys<'_>) -> Result<Attention, Failure> {
        let heads = keys.dimension("attention.head_count")?;
        let kv_heads = keys.dimension("attention.head_count_kv")?;
        keys.multiple(
            "attention.head_count",
            heads,
            "attention.head_count_kv",
            kv_heads,
        )?;
        let head_dim = keys.dimension("attention.key_length")?;
        let value_length = keys.dimension("attention.value_length")?;
        if value_length != head_dim {
            return Err(Refusal::Differ {
                key: keys.full("attention.value_length"),
                found: value_length,
                other_key: keys.full("attention.key_length"),
                other: head_dim,
            }
            .into());
        }
        Ok(Attention {
            heads,
            kv_heads,
            head_dim,
            rope: rope(keys, head_dim)?,
        })
    }
}

/// RoPE on the leading part of each head. Qwen 3.5 always interleaves the sections of m-RoPE.
fn rope(keys: &Keys<'_>, head_dim: u64) -> Result<guild_rope_params, Failure> {
    let rotary_dims = keys.dimension("rope.dimension_count")?;
    if !rotary_dims.is_multiple_of(2) {
        return Err(Refusal::OddRotaryDims {
            key: keys.full("rope.dimension_count"),
            found: rotary_dims,
        }
        .into());
    }
    if rotary_dims > head_dim {
        return Err(Refusal::Exceeds {
            key: keys.full("rope.dimension_count"),
            found: rotary_dims,
            limit_key: keys.full("attention.key_length"),
            limit: head_dim,
        }
        .into());
    }
    let sections = sections(keys, rotary_dims / 2)?;
    Ok(guild_rope_params {
        size: size_of::<guild_rope_params>() as u32,
        pairing: GUILD_ROPE_HALVES,
        rotary_dims: rotary_dims as u32,
        interleaved: u32::from(sections != [0; 4]),
        theta: keys.positive("rope.freq_base")?,
        sections,
        reserved: 0,
    })
}

/// Rotary pairs of each position axis of m-RoPE: up to four numbers that share `pairs`.
fn sections(keys: &Keys<'_>, pairs: u64) -> Result<[u32; 4], Failure> {
    let key = keys.full("rope.dimension_sections");
    let mut sections = [0; 4];
    let present = keys.model.length(&key)?.unwrap_or(0);
    let most = sections.len() as u64;
    if present > most {
        return Err(keys.range(&format!("the length of {key}"), present, 0, most));
    }
    let mut sum: u64 = 0;
    for (index, section) in (0..present).zip(&mut sections) {
        let found = keys.model.unsigned_at(&key, index)?;
        sum = sum.saturating_add(found);
        // A sum within the pairs keeps every section within them, and `pairs` fits 32 bits.
        *section = found as u32;
    }
    if sum > pairs {
        return Err(keys.range(&format!("the sum of {key}"), sum, 0, pairs));
    }
    Ok(sections)
}

impl Delta {
    fn read(keys: &Keys<'_>) -> Result<Delta, Failure> {
        let key_heads = keys.dimension("ssm.group_count")?;
        let value_heads = keys.dimension("ssm.time_step_rank")?;
        keys.multiple(
            "ssm.time_step_rank",
            value_heads,
            "ssm.group_count",
            key_heads,
        )?;
        let inner = keys.dimension("ssm.inner_size")?;
        keys.multiple("ssm.inner_size", inner, "ssm.time_step_rank", value_heads)?;
        Ok(Delta {
            key_heads,
            key_dim: keys.dimension("ssm.state_size")?,
            value_heads,
            value_dim: inner / value_heads,
            width: keys.within("ssm.conv_kernel", 2, DIMENSION_MAX)?,
        })
    }

    /// Elements of all query heads, and of all key heads.
    pub(crate) fn keys_len(&self) -> u64 {
        self.key_heads * self.key_dim
    }

    /// Elements of all value heads.
    pub(crate) fn values_len(&self) -> u64 {
        self.value_heads * self.value_dim
    }

    /// Channels of the convolution: queries, keys, values.
    pub(crate) fn channels(&self) -> u64 {
        2 * self.keys_len() + self.values_len()
    }
}

fn is_attention(layer: u64, interval: u64) -> bool {
    (layer + 1).is_multiple_of(interval)
}

/// One architecture's metadata.
struct Keys<'a> {
    model: &'a Model<'a>,
    prefix: &'static str,
}

impl Keys<'_> {
    fn full(&self, key: &str) -> String {
        format!("{}.{key}", self.prefix)
    }

    fn within(&self, key: &str, least: u64, most: u64) -> Result<u64, Failure> {
        let key = self.full(key);
        let found = self.model.unsigned(&key)?;
        if (least..=most).contains(&found) {
            return Ok(found);
        }
        Err(self.range(&key, found, least, most))
    }

    fn dimension(&self, key: &str) -> Result<u64, Failure> {
        self.within(key, 1, DIMENSION_MAX)
    }

    fn range(&self, key: &str, found: u64, least: u64, most: u64) -> Failure {
        let key = key.to_owned();
        Refusal::Range {
            key,
            found,
            least,
            most,
        }
        .into()
    }

    fn positive(&self, key: &str) -> Result<f64, Failure> {
        let key = self.full(key);
        let found = self.model.number(&key)?;
        if found.is_finite() && found > 0.0 {
            return Ok(found);
        }
        Err(Refusal::NotPositive { key, found }.into())
    }

    /// A number that stays above 0 and finite in single precision, in which it is used.
    fn epsilon(&self, key: &str) -> Result<f32, Failure> {
        let found = self.positive(key)?;
        let used = found as f32;
        if used.is_finite() && used > 0.0 {
            return Ok(used);
        }
        let key = self.full(key);
        Err(Refusal::NotSinglePrecision { key, found }.into())
    }

    /// Nothing in the graph depends on the trained context, but a model of no position is none.
    fn check_context(&self) -> Result<(), Failure> {
        let key = self.full("context_length");
        match self.model.unsigned_or(&key, 1)? {
            0 => Err(self.range(&key, 0, 1, u64::MAX)),
            _ => Ok(()),
        }
    }

    fn multiple(
        &self,
        key: &str,
        found: u64,
        divisor_key: &str,
        divisor: u64,
    ) -> Result<(), Failure> {
        if found.is_multiple_of(divisor) {
            return Ok(());
        }
        Err(Refusal::NotMultiple {
            key: self.full(key),
            found,
            divisor_key: self.full(divisor_key),
            divisor,
        }
        .into())
    }

    /// Draft blocks count among the blocks; at least one must be left for the main model.
    fn draft_blocks(&self, blocks: u64) -> Result<u64, Failure> {
        let key = self.full("nextn_predict_layers");
        let draft_blocks = self.model.unsigned_or(&key, 0)?;
        if draft_blocks < blocks {
            return Ok(draft_blocks);
        }
        Err(self.range(&key, draft_blocks, 0, blocks - 1))
    }

    /// The period of the layer pattern; files without the key have the published models' 4.
    fn interval(&self, layers: u64) -> Result<u64, Failure> {
        let key = self.full("full_attention_interval");
        let interval = self.model.unsigned_or(&key, 4)?;
        if interval == 0 || interval > layers {
            return Err(self.range(&key, interval, 1, layers));
        }
        if !layers.is_multiple_of(interval) {
            return Err(Refusal::NotMultiple {
                key: format!(
                    "the number of layers without draft blocks ({})",
                    self.full("block_count")
                ),
                found: layers,
                divisor_key: key,
                divisor: interval,
            }
            .into());
        }
        Ok(interval)
    }

    /// Newer files list the layers one by one as well; the list must say the same.
    fn check_layer_list(&self, blocks: u64, layers: u64, interval: u64) -> Result<(), Failure> {
        let key = self.full("attention.recurrent_layers");
        let Some(length) = self.model.length(&key)? else {
            return Ok(());
        };
        if length != blocks {
            return Err(Refusal::Differ {
                key: format!("the length of {key}"),
                found: length,
                other_key: self.full("block_count"),
                other: blocks,
            }
            .into());
        }
        for layer in 0..blocks {
            let recurrent = self.model.unsigned_at(&key, layer)? != 0;
            let wanted = layer < layers && !is_attention(layer, interval);
            if recurrent != wanted {
                return Err(Refusal::LayerPattern {
                    key,
                    layer,
                    found: kind(recurrent),
                    wanted: kind(wanted),
                    interval_key: self.full("full_attention_interval"),
                    interval,
                }
                .into());
            }
        }
        Ok(())
    }

    /// A stretched context, by its name or by a bare factor.
    fn refuse_rope_scaling(&self) -> Result<(), Failure> {
        let factor = self.full("rope.scaling.factor");
        if self.model.length(&factor)?.is_some() {
            let found = self.model.number(&factor)?;
            if found != 1.0 {
                let found = found.to_string();
                return Err(Refusal::RopeScaling { key: factor, found }.into());
            }
        }
        let key = self.full("rope.scaling.type");
        if self.model.length(&key)?.is_none() {
            return Ok(());
        }
        match self.model.text(&key)? {
            "none" => Ok(()),
            other => Err(Refusal::RopeScaling {
                found: other.to_owned(),
                key,
            }
            .into()),
        }
    }
}

fn kind(recurrent: bool) -> &'static str {
    if recurrent {
        "a delta layer"
    } else {
        "an attention layer"
    }
}
