//! A sound, tiny `qwen35moe` model of some 200 KB with a tokenizer: two layers, one of each kind. Its weights are pseudo-random
//! and mean nothing.

use crate::writer::{Writer, boolean, f32, f32s, i32s, text, texts, u32};

/// Length of the residual stream.
pub const HIDDEN: u64 = 32;
/// Tokens: one a byte, two merged ones, two markers.
pub const VOCABULARY: u64 = 260;
const HEADS: u64 = 2;
const KV_HEADS: u64 = 1;
const HEAD_DIM: u64 = 16;
const EXPERTS: u64 = 4;
const FF: u64 = 32;
const KEY_HEADS: u64 = 1;
const VALUE_HEADS: u64 = 2;
const STATE: u64 = 16;
const TAPS: u64 = 4;

/// The model. Its tensors are F32.
#[must_use]
pub fn qwen35moe() -> Writer {
    let mut writer = Writer::new();
    hyperparameters(&mut writer);
    tokenizer(&mut writer);
    let mut weights = Weights {
        writer: &mut writer,
        state: 1,
    };
    weights.tensor("token_embd.weight", &[HIDDEN, VOCABULARY]);
    weights.tensor("output_norm.weight", &[HIDDEN]);
    weights.tensor("output.weight", &[HIDDEN, VOCABULARY]);
    for block in 0..2 {
        weights.block(block, "attn_norm.weight", &[HIDDEN]);
        weights.block(block, "post_attention_norm.weight", &[HIDDEN]);
        match block {
            0 => delta(&mut weights, block),
            _ => attention(&mut weights, block),
        }
        experts(&mut weights, block);
    }
    writer
}

/// The same metadata and directory with one element in each tensor: no model, but a small file.
#[must_use]
pub fn directory() -> Writer {
    let mut writer = qwen35moe();
    for tensor in writer.tensors_mut() {
        tensor.shape = vec![1];
        tensor.data.truncate(4);
    }
    writer
}

/// The model's metadata without tensors, a long vocabulary, and thousands of keys that look like special tokens', each of
/// the vocabulary's last token. Nothing in it is wrong; a reader that walks over the vocabulary for every key takes minutes.
#[must_use]
pub fn many_roles() -> Writer {
    const TOKENS: u32 = 100_000;
    const KEYS: u32 = 20_000;
    let mut writer = Writer::new();
    hyperparameters(&mut writer);
    tokenizer(&mut writer);
    let tokens: Vec<String> = (0..TOKENS).map(|id| format!("t{id}")).collect();
    writer
        .set("tokenizer.ggml.tokens", texts(&tokens))
        .set("tokenizer.ggml.token_type", i32s(&vec![1; tokens.len()]))
        .set("tokenizer.ggml.merges", texts::<&str>(&[]))
        .set("tokenizer.ggml.eos_token_id", u32(TOKENS - 1));
    let (value_type, last) = u32(TOKENS - 1);
    for key in 0..KEYS {
        let key = format!("tokenizer.ggml.role{key}_token_id");
        writer.entry(&key, value_type, &last);
    }
    writer
}

fn hyperparameters(writer: &mut Writer) {
    writer.set("general.architecture", text("qwen35moe"));
    writer.set("general.name", text("tiny"));
    let numbers = [
        ("block_count", 2),
        ("context_length", 4096),
        ("embedding_length", HIDDEN),
        ("full_attention_interval", 2),
        ("attention.head_count", HEADS),
        ("attention.head_count_kv", KV_HEADS),
        ("attention.key_length", HEAD_DIM),
        ("attention.value_length", HEAD_DIM),
        ("rope.dimension_count", 8),
        ("expert_count", EXPERTS),
        ("expert_used_count", 2),
        ("expert_feed_forward_length", FF),
        ("expert_shared_feed_forward_length", FF),
        ("ssm.conv_kernel", TAPS),
        ("ssm.state_size", STATE),
        ("ssm.group_count", KEY_HEADS),
        ("ssm.time_step_rank", VALUE_HEADS),
        ("ssm.inner_size", VALUE_HEADS * STATE),
    ];
    for (key, number) in numbers {
        writer.set(&format!("qwen35moe.{key}"), u32(number as u32));
    }
    writer
        .set("qwen35moe.rope.dimension_sections", i32s(&[2, 1, 1, 0]))
        .set("qwen35moe.rope.freq_base", f32(1e7))
        .set("qwen35moe.attention.layer_norm_rms_epsilon", f32(1e-6));
}

fn tokenizer(writer: &mut Writer) {
    let mut tokens: Vec<String> = (0..=255u8)
        .map(|byte| byte_text(byte).to_string())
        .collect();
    tokens.extend(["he", "hel", "<|endoftext|>", "<|im_end|>"].map(str::to_owned));
    let mut kinds = vec![1; tokens.len()];
    kinds[258..].fill(3);
    writer
        .set("tokenizer.ggml.model", text("gpt2"))
        .set("tokenizer.ggml.pre", text("qwen35"))
        .set("tokenizer.ggml.tokens", texts(&tokens))
        .set("tokenizer.ggml.token_type", i32s(&kinds))
        .set("tokenizer.ggml.merges", texts(&["h e", "he l"]))
        .set("tokenizer.ggml.eos_token_id", u32(259))
        .set("tokenizer.ggml.bos_token_id", u32(258))
        .set("tokenizer.ggml.add_bos_token", boolean(false))
        .set("tokenizer.chat_template", text("{{ messages[0].content }}"));
}

/// The model with a SentencePiece vocabulary of the same length: three markers, a token for each byte, and the space.
#[must_use]
pub fn sentencepiece() -> Writer {
    let mut writer = qwen35moe();
    let mut tokens = ["<unk>", "<s>", "</s>"].map(str::to_owned).to_vec();
    tokens.extend((0..=255u8).map(|byte| format!("<0x{byte:02X}>")));
    tokens.push("\u{2581}".to_owned());
    let mut kinds = vec![6; tokens.len()];
    kinds[..3].copy_from_slice(&[2, 3, 3]);
    kinds[259] = 1;
    writer
        .remove("tokenizer.ggml.pre")
        .remove("tokenizer.ggml.merges")
        .set("tokenizer.ggml.model", text("llama"))
        .set("tokenizer.ggml.tokens", texts(&tokens))
        .set("tokenizer.ggml.token_type", i32s(&kinds))
        .set("tokenizer.ggml.scores", f32s(&vec![0.0; tokens.len()]))
        .set("tokenizer.ggml.bos_token_id", u32(1))
        .set("tokenizer.ggml.eos_token_id", u32(2));
    writer
}

/// The character that stands for a byte in byte-level BPE: itself where it can be seen, else one from U+0100 on.
fn byte_text(byte: u8) -> char {
    let seen = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if seen(byte) {
        return byte.into();
    }
    let before = (0..byte).filter(|&other| !seen(other)).count();
    char::from_u32(0x100 + before as u32).unwrap_or('?')
}

struct Weights<'a> {
    writer: &'a mut Writer,
    state: u32,
}

impl Weights<'_> {
    fn block(&mut self, block: u32, suffix: &str, shape: &[u64]) {
        self.tensor(&format!("blk.{block}.{suffix}"), shape);
    }

    /// Values between -0.25 and 0.25.
    fn tensor(&mut self, name: &str, shape: &[u64]) {
        let elements = shape.iter().product::<u64>();
        let mut data = Vec::with_capacity(4 * elements as usize);
        for _ in 0..elements {
            self.state = self
                .state
                .wrapping_mul(1_664_525)
                .wrapping_add(1_013_904_223);
            let value = (self.state >> 16) as f32 / 131_072.0 - 0.25;
            data.extend(value.to_le_bytes());
        }
        self.writer.tensor(name, shape, 0, data);
    }
}

fn attention(weights: &mut Weights<'_>, block: u32) {
    let mut tensor = |suffix: &str, shape: &[u64]| weights.block(block, suffix, shape);
    tensor("attn_q.weight", &[HIDDEN, 2 * HEADS * HEAD_DIM]);
    tensor("attn_k.weight", &[HIDDEN, KV_HEADS * HEAD_DIM]);
    tensor("attn_v.weight", &[HIDDEN, KV_HEADS * HEAD_DIM]);
    tensor("attn_output.weight", &[HEADS * HEAD_DIM, HIDDEN]);
    tensor("attn_q_norm.weight", &[HEAD_DIM]);
    tensor("attn_k_norm.weight", &[HEAD_DIM]);
}

fn delta(weights: &mut Weights<'_>, block: u32) {
    let channels = 2 * KEY_HEADS * STATE + VALUE_HEADS * STATE;
    let mut tensor = |suffix: &str, shape: &[u64]| weights.block(block, suffix, shape);
    tensor("attn_qkv.weight", &[HIDDEN, channels]);
    tensor("attn_gate.weight", &[HIDDEN, VALUE_HEADS * STATE]);
    tensor("ssm_alpha.weight", &[HIDDEN, VALUE_HEADS]);
    tensor("ssm_beta.weight", &[HIDDEN, VALUE_HEADS]);
    tensor("ssm_a", &[VALUE_HEADS]);
    tensor("ssm_dt.bias", &[VALUE_HEADS]);
    tensor("ssm_conv1d.weight", &[TAPS, channels]);
    tensor("ssm_norm.weight", &[STATE]);
    tensor("ssm_out.weight", &[VALUE_HEADS * STATE, HIDDEN]);
}

fn experts(weights: &mut Weights<'_>, block: u32) {
    let mut tensor = |suffix: &str, shape: &[u64]| weights.block(block, suffix, shape);
    tensor("ffn_gate_inp.weight", &[HIDDEN, EXPERTS]);
    tensor("ffn_gate_inp_shexp.weight", &[HIDDEN]);
    tensor("ffn_gate_exps.weight", &[HIDDEN, FF, EXPERTS]);
    tensor("ffn_up_exps.weight", &[HIDDEN, FF, EXPERTS]);
    tensor("ffn_down_exps.weight", &[FF, HIDDEN, EXPERTS]);
    tensor("ffn_gate_shexp.weight", &[HIDDEN, FF]);
    tensor("ffn_up_shexp.weight", &[HIDDEN, FF]);
    tensor("ffn_down_shexp.weight", &[FF, HIDDEN]);
}
