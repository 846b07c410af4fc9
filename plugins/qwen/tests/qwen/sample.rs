//! The metadata and tensors of a small `qwen35moe` file, as llama.cpp's converter wrote them, and of a
//! dense model of the same width.

use guild_sdk::abi::formats::{GUILD_FORMAT_BF16, GUILD_FORMAT_F32};
use guild_sdk::runner::SampleModel;

/// Five blocks: three delta layers, one attention layer, one draft block; 8 experts, 2 used.
pub fn qwen35moe() -> SampleModel {
    let mut model = SampleModel::new("qwen35moe");
    shared_metadata(&mut model, "qwen35moe");
    for (key, value) in [
        ("expert_count", 8),
        ("expert_used_count", 2),
        ("expert_feed_forward_length", 256),
        ("expert_shared_feed_forward_length", 256),
    ] {
        model.set_unsigned(&format!("qwen35moe.{key}"), value);
    }
    shared_tensors(&mut model);
    for block in 0..5 {
        let mut bf16 = |name: &str, axes: &[u64]| {
            model.set_tensor(&format!("blk.{block}.{name}"), GUILD_FORMAT_BF16, axes);
        };
        bf16("ffn_gate_exps.weight", &[8, 256, 256]);
        bf16("ffn_up_exps.weight", &[8, 256, 256]);
        bf16("ffn_down_exps.weight", &[8, 256, 256]);
        bf16("ffn_gate_shexp.weight", &[256, 256]);
        bf16("ffn_up_shexp.weight", &[256, 256]);
        bf16("ffn_down_shexp.weight", &[256, 256]);
        let mut f32 = |name: &str, axes: &[u64]| {
            model.set_tensor(&format!("blk.{block}.{name}"), GUILD_FORMAT_F32, axes);
        };
        f32("ffn_gate_inp.weight", &[8, 256]);
        f32("ffn_gate_inp_shexp.weight", &[1, 256]);
    }
    model
}

/// The same blocks with a dense feed-forward part of 640.
pub fn qwen35() -> SampleModel {
    let mut model = SampleModel::new("qwen35");
    shared_metadata(&mut model, "qwen35");
    model.set_unsigned("qwen35.feed_forward_length", 640);
    shared_tensors(&mut model);
    for block in 0..5 {
        for (name, axes) in [
            ("ffn_gate.weight", [640, 256]),
            ("ffn_up.weight", [640, 256]),
            ("ffn_down.weight", [256, 640]),
        ] {
            model.set_tensor(&format!("blk.{block}.{name}"), GUILD_FORMAT_BF16, &axes);
        }
    }
    model
}

/// Takes the draft block away.
pub fn without_draft(model: &mut SampleModel, architecture: &str) {
    model.remove_key(&format!("{architecture}.nextn_predict_layers"));
    model.set_unsigned(&format!("{architecture}.block_count"), 4);
    model.set_array(
        &format!("{architecture}.attention.recurrent_layers"),
        &[1, 1, 1, 0],
    );
}

fn shared_metadata(model: &mut SampleModel, architecture: &str) {
    let key = |name: &str| format!("{architecture}.{name}");
    for (name, value) in [
        ("block_count", 5),
        ("embedding_length", 256),
        ("attention.head_count", 4),
        ("attention.head_count_kv", 2),
        ("attention.key_length", 64),
        ("attention.value_length", 64),
        ("nextn_predict_layers", 1),
        ("ssm.conv_kernel", 4),
        ("ssm.state_size", 64),
        ("ssm.group_count", 2),
        ("ssm.time_step_rank", 4),
        ("ssm.inner_size", 256),
        ("full_attention_interval", 4),
        ("rope.dimension_count", 16),
    ] {
        model.set_unsigned(&key(name), value);
    }
    model.set_array(&key("rope.dimension_sections"), &[3, 3, 2, 0]);
    model.set_array(&key("attention.recurrent_layers"), &[1, 1, 1, 0, 0]);
    model.set_number(&key("rope.freq_base"), 10_000_000.0);
    model.set_number(
        &key("attention.layer_norm_rms_epsilon"),
        9.999_999_974_752_427e-7,
    );
}

fn shared_tensors(model: &mut SampleModel) {
    model.set_tensor("token_embd.weight", GUILD_FORMAT_BF16, &[1024, 256]);
    model.set_tensor("output.weight", GUILD_FORMAT_BF16, &[1024, 256]);
    model.set_tensor("output_norm.weight", GUILD_FORMAT_F32, &[256]);
    for block in 0..5 {
        let mut tensor = |name: &str, format: u32, axes: &[u64]| {
            model.set_tensor(&format!("blk.{block}.{name}"), format, axes);
        };
        tensor("attn_norm.weight", GUILD_FORMAT_F32, &[256]);
        tensor("post_attention_norm.weight", GUILD_FORMAT_F32, &[256]);
        if block < 3 {
            delta_tensors(tensor);
        } else {
            tensor("attn_q.weight", GUILD_FORMAT_BF16, &[512, 256]);
            tensor("attn_k.weight", GUILD_FORMAT_BF16, &[128, 256]);
            tensor("attn_v.weight", GUILD_FORMAT_BF16, &[128, 256]);
            tensor("attn_q_norm.weight", GUILD_FORMAT_F32, &[64]);
            tensor("attn_k_norm.weight", GUILD_FORMAT_F32, &[64]);
            tensor("attn_output.weight", GUILD_FORMAT_BF16, &[256, 256]);
        }
    }
    let mut draft = |name: &str, format: u32, axes: &[u64]| {
        model.set_tensor(&format!("blk.4.nextn.{name}"), format, axes);
    };
    draft("eh_proj.weight", GUILD_FORMAT_BF16, &[256, 512]);
    draft("enorm.weight", GUILD_FORMAT_F32, &[256]);
    draft("hnorm.weight", GUILD_FORMAT_F32, &[256]);
    draft("shared_head_norm.weight", GUILD_FORMAT_F32, &[256]);
}

fn delta_tensors(mut tensor: impl FnMut(&str, u32, &[u64])) {
    tensor("attn_qkv.weight", GUILD_FORMAT_BF16, &[512, 256]);
    tensor("attn_gate.weight", GUILD_FORMAT_BF16, &[256, 256]);
    tensor("ssm_alpha.weight", GUILD_FORMAT_BF16, &[4, 256]);
    tensor("ssm_beta.weight", GUILD_FORMAT_BF16, &[4, 256]);
    tensor("ssm_conv1d.weight", GUILD_FORMAT_F32, &[512, 4]);
    tensor("ssm_a", GUILD_FORMAT_F32, &[4]);
    tensor("ssm_dt.bias", GUILD_FORMAT_F32, &[4]);
    tensor("ssm_norm.weight", GUILD_FORMAT_F32, &[64]);
    tensor("ssm_out.weight", GUILD_FORMAT_BF16, &[256, 256]);
}
