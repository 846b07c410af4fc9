//! Every invariant, broken once: the refusal names the key or tensor and the numbers.

use crate::sample::{qwen35, qwen35moe, without_draft};
use guild_plugin_qwen::{Qwen35, Qwen35Moe};
use guild_sdk::abi::abi::{
    GUILD_STATUS_ERR_INVALID, GUILD_STATUS_ERR_NOT_FOUND, GUILD_STATUS_ERR_UNSUPPORTED,
    guild_status,
};
use guild_sdk::abi::formats::GUILD_FORMAT_F32;
use guild_sdk::runner::SampleModel;

/// The refusal of the model after `change` has `status`, and its text has all of `parts`.
#[track_caller]
fn refused(change: impl FnOnce(&mut SampleModel), status: guild_status, parts: &[&str]) {
    let mut model = qwen35moe();
    change(&mut model);
    let failure = model.describe(&Qwen35Moe).map(|_| ()).unwrap_err();
    for part in parts {
        assert!(
            failure.text.contains(part),
            "{part:?} isn't in {:?}",
            failure.text
        );
    }
    assert_eq!(failure.status, status, "{}", failure.text);
}

#[track_caller]
fn invalid(key: &str, value: u64, parts: &[&str]) {
    let key = format!("qwen35moe.{key}");
    let change = |model: &mut SampleModel| model.set_unsigned(&key, value);
    refused(change, GUILD_STATUS_ERR_INVALID, parts);
}

#[test]
fn a_missing_key_is_named() {
    for key in [
        "block_count",
        "embedding_length",
        "attention.head_count",
        "attention.head_count_kv",
        "attention.key_length",
        "attention.value_length",
        "ssm.conv_kernel",
        "ssm.state_size",
        "ssm.group_count",
        "ssm.time_step_rank",
        "ssm.inner_size",
        "rope.dimension_count",
        "rope.freq_base",
        "attention.layer_norm_rms_epsilon",
        "expert_count",
        "expert_used_count",
        "expert_feed_forward_length",
        "expert_shared_feed_forward_length",
    ] {
        let key = format!("qwen35moe.{key}");
        let change = |model: &mut SampleModel| model.remove_key(&key);
        refused(change, GUILD_STATUS_ERR_NOT_FOUND, &[&key]);
    }
}

#[test]
fn a_key_of_another_type_is_named() {
    let change = |model: &mut SampleModel| model.set_text("qwen35moe.block_count", "five");
    refused(
        change,
        GUILD_STATUS_ERR_INVALID,
        &["qwen35moe.block_count", "integer"],
    );
}

#[test]
fn a_list_where_one_number_is_for_all_layers_is_named() {
    for key in [
        "attention.head_count",
        "attention.head_count_kv",
        "ssm.conv_kernel",
    ] {
        let key = format!("qwen35moe.{key}");
        let change = |model: &mut SampleModel| model.set_array(&key, &[4, 4, 4, 2, 4]);
        refused(
            change,
            GUILD_STATUS_ERR_INVALID,
            &[&key, "list of 5 values"],
        );
    }
}

#[test]
fn every_missing_tensor_is_named() {
    let model = qwen35moe();
    for name in model.tensor_names() {
        if name == "output.weight" || name.ends_with("shared_head_norm.weight") {
            continue;
        }
        let change = |model: &mut SampleModel| model.remove_tensor(name);
        refused(change, GUILD_STATUS_ERR_NOT_FOUND, &[&format!("{name:?}")]);
    }
}

#[test]
fn every_tensor_of_another_shape_is_named_with_both_shapes() {
    let model = qwen35moe();
    for name in model.tensor_names() {
        let change = |model: &mut SampleModel| model.set_tensor(name, GUILD_FORMAT_F32, &[7, 9]);
        refused(
            change,
            GUILD_STATUS_ERR_INVALID,
            &[name, "[7, 9]", "asks for ["],
        );
    }
    let change = |model: &mut SampleModel| {
        model.set_tensor("blk.3.attn_q.weight", GUILD_FORMAT_F32, &[256, 256]);
    };
    refused(
        change,
        GUILD_STATUS_ERR_INVALID,
        &["blk.3.attn_q.weight", "[256, 256]", "[512, 256]"],
    );
}

#[test]
fn the_interval_divides_the_layers() {
    let parts = ["qwen35moe.full_attention_interval = 3", "is 4"];
    invalid("full_attention_interval", 3, &parts);
}

#[test]
fn the_interval_is_in_range() {
    invalid(
        "full_attention_interval",
        0,
        &["full_attention_interval is 0", "1 to 4"],
    );
    invalid(
        "full_attention_interval",
        5,
        &["full_attention_interval is 5", "1 to 4"],
    );
}

#[test]
fn the_layer_list_follows_the_interval() {
    const KEY: &str = "qwen35moe.attention.recurrent_layers";
    let parts = [
        KEY,
        "layer 1 is an attention layer",
        "full_attention_interval = 4",
    ];
    let change = |model: &mut SampleModel| model.set_array(KEY, &[1, 0, 1, 0, 0]);
    refused(change, GUILD_STATUS_ERR_INVALID, &parts);
    let change = |model: &mut SampleModel| model.set_array(KEY, &[1, 1, 1, 0, 1]);
    refused(
        change,
        GUILD_STATUS_ERR_INVALID,
        &["layer 4 is a delta layer"],
    );
    let change = |model: &mut SampleModel| model.set_array(KEY, &[1, 1, 1, 0]);
    refused(
        change,
        GUILD_STATUS_ERR_INVALID,
        &[KEY, "is 4", "block_count is 5"],
    );
}

#[test]
fn the_blocks_are_in_range() {
    invalid(
        "block_count",
        0,
        &["qwen35moe.block_count is 0", "1 to 4096"],
    );
    invalid(
        "block_count",
        5000,
        &["qwen35moe.block_count is 5000", "1 to 4096"],
    );
}

#[test]
fn draft_blocks_leave_a_main_model() {
    invalid(
        "nextn_predict_layers",
        5,
        &["nextn_predict_layers is 5", "0 to 4"],
    );
}

#[test]
fn a_dimension_is_in_range() {
    invalid(
        "embedding_length",
        0,
        &["embedding_length is 0", "1 to 1048576"],
    );
    invalid(
        "embedding_length",
        u64::MAX,
        &["embedding_length is 18446744073709551615"],
    );
}

#[test]
fn key_value_heads_divide_the_heads() {
    let parts = ["attention.head_count is 4", "attention.head_count_kv = 3"];
    invalid("attention.head_count_kv", 3, &parts);
}

#[test]
fn keys_and_values_have_one_length() {
    let parts = ["attention.value_length is 32", "attention.key_length is 64"];
    invalid("attention.value_length", 32, &parts);
}

#[test]
fn rotary_dimensions_are_pairs_inside_a_head() {
    invalid(
        "rope.dimension_count",
        15,
        &["rope.dimension_count is 15", "pairs"],
    );
    let parts = ["rope.dimension_count is 66", "attention.key_length = 64"];
    invalid("rope.dimension_count", 66, &parts);
}

#[test]
fn key_heads_divide_the_value_heads() {
    invalid(
        "ssm.group_count",
        3,
        &["ssm.time_step_rank is 4", "ssm.group_count = 3"],
    );
}

#[test]
fn value_heads_divide_the_inner_size() {
    invalid(
        "ssm.inner_size",
        254,
        &["ssm.inner_size is 254", "ssm.time_step_rank = 4"],
    );
}

#[test]
fn the_convolution_has_two_taps_or_more() {
    invalid("ssm.conv_kernel", 1, &["ssm.conv_kernel is 1", "2 to"]);
}

#[test]
fn no_more_experts_are_used_than_there_are() {
    invalid(
        "expert_used_count",
        9,
        &["expert_used_count is 9", "expert_count = 8"],
    );
    invalid(
        "expert_used_count",
        33,
        &["expert_used_count is 33", "1 to 32"],
    );
    invalid("expert_count", 1025, &["expert_count is 1025", "1 to 1024"]);
}

#[test]
fn base_and_epsilon_are_positive() {
    for (key, value) in [
        ("qwen35moe.rope.freq_base", 0.0),
        ("qwen35moe.attention.layer_norm_rms_epsilon", f64::NAN),
        ("qwen35moe.attention.layer_norm_rms_epsilon", -1e-6),
    ] {
        let change = |model: &mut SampleModel| model.set_number(key, value);
        refused(
            change,
            GUILD_STATUS_ERR_INVALID,
            &[key, &value.to_string(), "above 0"],
        );
    }
}

#[test]
fn an_epsilon_that_single_precision_loses_is_refused() {
    const KEY: &str = "qwen35moe.attention.layer_norm_rms_epsilon";
    for value in [1e-300, 1e300] {
        let change = |model: &mut SampleModel| model.set_number(KEY, value);
        refused(change, GUILD_STATUS_ERR_INVALID, &[KEY, "single precision"]);
    }
}

#[test]
fn a_context_of_no_position_is_refused() {
    invalid(
        "context_length",
        0,
        &["qwen35moe.context_length is 0", "1 to"],
    );
}

#[test]
fn rope_sections_share_the_pairs() {
    const KEY: &str = "qwen35moe.rope.dimension_sections";
    let mut model = qwen35moe();
    model.set_array(KEY, &[3, 3, 2]);
    assert!(model.describe(&Qwen35Moe).is_ok());
    let change = |model: &mut SampleModel| model.set_array(KEY, &[3, 3, 3, 0]);
    refused(change, GUILD_STATUS_ERR_INVALID, &[KEY, "is 9", "0 to 8"]);
    let change = |model: &mut SampleModel| model.set_array(KEY, &[1, 1, 1, 0, 0]);
    refused(change, GUILD_STATUS_ERR_INVALID, &[KEY, "is 5", "0 to 4"]);
    let change = |model: &mut SampleModel| model.set_array(KEY, &[u64::MAX, 1]);
    refused(change, GUILD_STATUS_ERR_INVALID, &[KEY]);
}

#[test]
fn every_token_has_a_row_of_the_embedding() {
    const KEY: &str = "tokenizer.ggml.tokens";
    let rows = 1024;
    let mut model = qwen35moe();
    model.set_array(KEY, &vec![0; rows]);
    assert!(model.describe(&Qwen35Moe).is_ok());
    let change = |model: &mut SampleModel| model.set_array(KEY, &vec![0; rows + 1]);
    let found = (rows + 1).to_string();
    refused(
        change,
        GUILD_STATUS_ERR_INVALID,
        &[KEY, &found, "token_embd.weight"],
    );
}

#[test]
fn scaled_rope_isnt_served() {
    const KEY: &str = "qwen35moe.rope.scaling.type";
    let change = |model: &mut SampleModel| model.set_text(KEY, "yarn");
    refused(change, GUILD_STATUS_ERR_UNSUPPORTED, &[KEY, "yarn"]);
    const FACTOR: &str = "qwen35moe.rope.scaling.factor";
    let change = |model: &mut SampleModel| model.set_number(FACTOR, 4.0);
    refused(change, GUILD_STATUS_ERR_UNSUPPORTED, &[FACTOR, "\"4\""]);
    let mut model = qwen35moe();
    model.set_text(KEY, "none");
    model.set_number(FACTOR, 1.0);
    assert!(model.describe(&Qwen35Moe).is_ok());
}

#[test]
fn older_files_without_interval_and_list_have_the_published_pattern() {
    let mut model = qwen35moe();
    without_draft(&mut model, "qwen35moe");
    model.remove_key("qwen35moe.full_attention_interval");
    model.remove_key("qwen35moe.attention.recurrent_layers");
    let main = &model.describe(&Qwen35Moe).unwrap().sections[0];
    assert!(main.node(2, "delta_rule").is_some());
    assert!(main.node(3, "attention").is_some());
}

#[test]
fn a_dense_model_names_its_own_keys() {
    let mut model = qwen35();
    model.remove_key("qwen35.feed_forward_length");
    let failure = model.describe(&Qwen35).unwrap_err();
    assert!(
        failure.text.contains("qwen35.feed_forward_length"),
        "{failure}"
    );
    let mut model = qwen35();
    model.set_tensor("blk.2.ffn_down.weight", GUILD_FORMAT_F32, &[640, 256]);
    let failure = model.describe(&Qwen35).unwrap_err();
    for part in ["blk.2.ffn_down.weight", "[640, 256]", "[256, 640]"] {
        assert!(failure.text.contains(part), "{failure}");
    }
}
