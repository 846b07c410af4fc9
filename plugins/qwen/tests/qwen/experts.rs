//! The graph of a small `qwen35moe` model.

use crate::sample::{qwen35moe, without_draft};
use guild_plugin_qwen::{Qwen35, Qwen35Moe};
use guild_sdk::abi::abi::{GUILD_STATE_APPEND, GUILD_STATE_RECURRENT};
use guild_sdk::abi::core_ops::{
    GUILD_ACTIVATION_SILU, GUILD_HEADS_TILED, GUILD_MOE_FUSED_GATE_UP, GUILD_MOE_SHARED,
    GUILD_MOE_SHARED_GATE, GUILD_ROPE_HALVES, GUILD_ROUTE_RENORMALISE,
};
use guild_sdk::abi::formats::{GUILD_FORMAT_F32, GUILD_FORMAT_I32};
use guild_sdk::abi::runner::{
    GUILD_INPUT_HIDDEN, GUILD_INPUT_OUTPUT_ROWS, GUILD_INPUT_TOKENS, GUILD_OUTPUT_HIDDEN,
    GUILD_OUTPUT_LOGITS, GUILD_SECTION_DRAFT, GUILD_SECTION_MAIN,
};
use guild_sdk::runner::{
    Params, RecordedNode, RecordedSection, RecordedState, RecordedView, SampleModel, Shape,
};

fn described(model: &SampleModel) -> Vec<RecordedSection> {
    model.describe(&Qwen35Moe).unwrap().sections
}

fn names(section: &RecordedSection, layer: u32) -> Vec<&str> {
    let nodes = section.nodes.iter().filter(|node| node.layer == layer);
    nodes.map(|node| node.name.as_str()).collect()
}

/// What the inputs of a node are.
fn inputs<'s>(section: &'s RecordedSection, node: &RecordedNode) -> Vec<&'s str> {
    let values = node.inputs.iter();
    values
        .map(|value| section.values[*value as usize].as_str())
        .collect()
}

fn shapes(node: &RecordedNode) -> Vec<String> {
    let outputs = node.output_shapes.iter();
    outputs.map(|(_, shape)| shape.to_string()).collect()
}

#[test]
fn only_the_own_architecture_matches() {
    assert_eq!(qwen35moe().score(&Qwen35Moe), Some(100));
    assert_eq!(qwen35moe().score(&Qwen35), None);
    assert_eq!(SampleModel::new("llama").score(&Qwen35Moe), None);
}

#[test]
fn the_sections_have_their_inputs_and_outputs() {
    let sections = described(&qwen35moe());
    let [main, draft] = &sections[..] else {
        panic!("{} sections", sections.len());
    };
    assert_eq!(
        (main.kind, draft.kind),
        (GUILD_SECTION_MAIN, GUILD_SECTION_DRAFT)
    );
    let input = |kind: u32| format!("input {kind}");
    assert_eq!(
        main.values[..2],
        [input(GUILD_INPUT_TOKENS), input(GUILD_INPUT_OUTPUT_ROWS)]
    );
    assert_eq!(
        draft.values[..3],
        [
            input(GUILD_INPUT_TOKENS),
            input(GUILD_INPUT_HIDDEN),
            input(GUILD_INPUT_OUTPUT_ROWS)
        ]
    );
    for section in &sections {
        let kinds: Vec<u32> = section.outputs.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [GUILD_OUTPUT_HIDDEN, GUILD_OUTPUT_LOGITS]);
    }
    // Every tensor of the file is used: none is forgotten.
    let model = qwen35moe();
    let used = |name: &&str| sections.iter().any(|s| s.weights.iter().any(|w| w == name));
    let unused: Vec<&str> = model.tensor_names().filter(|name| !used(name)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn layers_follow_the_pattern() {
    let main = &described(&qwen35moe())[0];
    let delta = [
        "attn_norm",
        "delta_input",
        "delta_conv",
        "delta_q_norm",
        "delta_k_norm",
        "delta_rule",
        "delta_norm",
        "delta_output",
        "attn_residual",
        "post_attention_norm",
        "ffn_route",
        "ffn_experts",
        "ffn_residual",
    ];
    let attention = [
        "attn_norm",
        "attn_input",
        "attn_q_norm",
        "attn_k_norm",
        "attn_q_rope",
        "attn_k_rope",
        "attention",
        "attn_gate",
        "attn_output",
        "attn_residual",
        "post_attention_norm",
        "ffn_route",
        "ffn_experts",
        "ffn_residual",
    ];
    assert_eq!(names(main, 0)[0], "token_embedding");
    assert_eq!(names(main, 0)[1..], delta);
    assert_eq!(names(main, 1), delta);
    assert_eq!(names(main, 2), delta);
    assert_eq!(names(main, 3), attention);
    assert_eq!(names(main, 4), ["output_norm", "output_rows", "output"]);
    assert_eq!(main.nodes.len(), 1 + 3 * 13 + 14 + 3);
}

#[test]
fn a_delta_layer_has_one_projection_and_two_states() {
    let main = &described(&qwen35moe())[0];
    let projection = main.node(0, "delta_input").unwrap();
    assert_eq!(
        inputs(main, projection),
        [
            "attn_norm",
            "blk.0.attn_qkv.weight",
            "blk.0.attn_gate.weight",
            "blk.0.ssm_alpha.weight",
            "blk.0.ssm_beta.weight"
        ]
    );
    assert_eq!(
        shapes(projection),
        ["[rows, 512]", "[rows, 256]", "[rows, 4]", "[rows, 4]"]
    );
    let state = |name: &str, axes: &[u64]| RecordedState {
        kind: GUILD_STATE_RECURRENT,
        format: GUILD_FORMAT_F32,
        axes: axes.to_vec(),
        name: name.to_owned(),
    };
    let conv = main.node(0, "delta_conv").unwrap();
    assert_eq!(
        main.states[conv.states[0] as usize],
        state("blk.0.conv_window", &[3, 512])
    );
    let Params::Conv(params) = conv.params else {
        panic!("{:?}", conv.params);
    };
    assert_eq!(params.activation, GUILD_ACTIVATION_SILU);

    let rule = main.node(0, "delta_rule").unwrap();
    assert_eq!(
        main.states[rule.states[0] as usize],
        state("blk.0.delta_memory", &[4, 64, 64])
    );
    let Params::Delta(params) = rule.params else {
        panic!("{:?}", rule.params);
    };
    assert_eq!(params.head_order, GUILD_HEADS_TILED);
    let named = inputs(main, rule);
    assert_eq!(named[..2], ["delta_q_norm", "delta_k_norm"]);
    assert_eq!(named[5..], ["blk.0.ssm_a", "blk.0.ssm_dt.bias"]);
    assert_eq!(rule.inputs[3..5], projection.outputs[2..4]);
    assert_eq!(shapes(rule), ["[rows, 4, 64]"]);
}

#[test]
fn queries_keys_and_values_are_windows_on_the_convolution() {
    let main = &described(&qwen35moe())[0];
    let conv = main.node(0, "delta_conv").unwrap().outputs[0];
    let window = |node: &str, input: usize| {
        let value = main.node(0, node).unwrap().inputs[input];
        main.view(value).unwrap()
    };
    for (found, offset, heads) in [
        (window("delta_q_norm", 0), 0, 2),
        (window("delta_k_norm", 0), 128, 2),
        (window("delta_rule", 2), 256, 4),
    ] {
        let wanted = RecordedView {
            value: found.value,
            source: conv,
            offset,
            shape: Shape::new(&[Shape::ROWS, heads, 64]).unwrap(),
            strides: vec![64, 1],
        };
        assert_eq!(*found, wanted);
    }
    // transformers: l2norm(eps = 1e-6) on both, then queries / sqrt(key dim).
    for (node, scale) in [("delta_q_norm", 0.125), ("delta_k_norm", 1.0)] {
        let Params::Norm(params) = main.node(0, node).unwrap().params else {
            panic!("{node}");
        };
        assert_eq!((params.epsilon, params.scale), (1e-6, scale));
    }
    let norm = main.node(0, "delta_norm").unwrap();
    let z = main.view(norm.inputs[2]).unwrap();
    assert_eq!(z.source, main.node(0, "delta_input").unwrap().outputs[1]);
}

#[test]
fn query_and_gate_alternate_by_head() {
    let main = &described(&qwen35moe())[0];
    let projection = main.node(3, "attn_input").unwrap();
    assert_eq!(
        inputs(main, projection),
        [
            "attn_norm",
            "blk.3.attn_q.weight",
            "blk.3.attn_k.weight",
            "blk.3.attn_v.weight"
        ]
    );
    let q = main
        .view(main.node(3, "attn_q_norm").unwrap().inputs[0])
        .unwrap();
    let gate = main
        .view(main.node(3, "attn_gate").unwrap().inputs[1])
        .unwrap();
    for (view, offset) in [(q, 0), (gate, 64)] {
        assert_eq!((view.source, view.offset), (projection.outputs[0], offset));
        assert_eq!(view.shape, Shape::new(&[Shape::ROWS, 4, 64]).unwrap());
        assert_eq!(view.strides, [128, 1]);
    }
}

#[test]
fn attention_has_rope_scale_and_kv_states() {
    let main = &described(&qwen35moe())[0];
    let attention = main.node(3, "attention").unwrap();
    assert_eq!(inputs(main, attention)[..2], ["attn_q_rope", "attn_k_rope"]);
    let Params::Attention(params) = attention.params else {
        panic!("{:?}", attention.params);
    };
    assert_eq!(params.scale, 0.125);
    for (state, name) in attention.states.iter().zip(["blk.3.keys", "blk.3.values"]) {
        let wanted = RecordedState {
            kind: GUILD_STATE_APPEND,
            format: 0,
            axes: vec![2, 64],
            name: name.to_owned(),
        };
        assert_eq!(main.states[*state as usize], wanted);
    }
    for node in ["attn_q_rope", "attn_k_rope"] {
        let Params::Rope(params) = main.node(3, node).unwrap().params else {
            panic!("{node}");
        };
        assert_eq!(params.pairing, GUILD_ROPE_HALVES);
        assert_eq!((params.rotary_dims, params.theta), (16, 1e7));
        assert_eq!((params.sections, params.interleaved), ([3, 3, 2, 0], 1));
    }
    // Two states for each of four layers.
    assert_eq!(main.states.len(), 8);
}

#[test]
fn experts_are_routed_and_shared() {
    let main = &described(&qwen35moe())[0];
    let route = main.node(2, "ffn_route").unwrap();
    let Params::Route(params) = route.params else {
        panic!("{:?}", route.params);
    };
    assert_eq!((params.top_k, params.flags), (2, GUILD_ROUTE_RENORMALISE));
    let formats: Vec<u32> = route
        .output_shapes
        .iter()
        .map(|(format, _)| *format)
        .collect();
    assert_eq!(formats, [GUILD_FORMAT_I32, GUILD_FORMAT_F32]);

    let pool = main.node(2, "ffn_experts").unwrap();
    assert_eq!(
        inputs(main, pool),
        [
            "post_attention_norm",
            "ffn_route",
            "ffn_route",
            "blk.2.ffn_gate_exps.weight",
            "blk.2.ffn_up_exps.weight",
            "blk.2.ffn_down_exps.weight",
            "blk.2.ffn_gate_shexp.weight",
            "blk.2.ffn_up_shexp.weight",
            "blk.2.ffn_down_shexp.weight",
            "blk.2.ffn_gate_inp_shexp.weight"
        ]
    );
    let Params::Experts(params) = pool.params else {
        panic!("{:?}", pool.params);
    };
    assert_eq!(params.flags, GUILD_MOE_SHARED | GUILD_MOE_SHARED_GATE);
}

#[test]
fn a_fused_projection_of_the_experts_is_used_where_present() {
    let mut model = qwen35moe();
    for block in 0..5 {
        let name = |part: &str| format!("blk.{block}.ffn_{part}_exps.weight");
        model.remove_tensor(&name("gate"));
        model.remove_tensor(&name("up"));
        model.set_tensor(&name("gate_up"), GUILD_FORMAT_F32, &[8, 512, 256]);
    }
    let main = &described(&model)[0];
    let pool = main.node(0, "ffn_experts").unwrap();
    assert_eq!(inputs(main, pool)[3], "blk.0.ffn_gate_up_exps.weight");
    assert_eq!(inputs(main, pool)[4], "blk.0.ffn_down_exps.weight");
    let Params::Experts(params) = pool.params else {
        panic!("{:?}", pool.params);
    };
    assert_eq!(
        params.flags & GUILD_MOE_FUSED_GATE_UP,
        GUILD_MOE_FUSED_GATE_UP
    );
}

#[test]
fn the_shared_gate_may_be_flat() {
    let mut model = qwen35moe();
    for block in 0..5 {
        let name = format!("blk.{block}.ffn_gate_inp_shexp.weight");
        model.set_tensor(&name, GUILD_FORMAT_F32, &[256]);
    }
    assert_eq!(described(&model).len(), 2);
}

#[test]
fn without_drafts_only_wanted_rows_are_normalised() {
    let mut model = qwen35moe();
    without_draft(&mut model, "qwen35moe");
    let sections = described(&model);
    assert_eq!(sections.len(), 1);
    let main = &sections[0];
    assert_eq!(names(main, 4), ["output_rows", "output_norm", "output"]);
    assert_eq!(
        shapes(main.node(4, "output_norm").unwrap()),
        ["[outputs, 256]"]
    );
    assert_eq!(shapes(main.node(4, "output").unwrap()), ["[outputs, 1024]"]);
    let kinds: Vec<u32> = main.outputs.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [GUILD_OUTPUT_LOGITS]);
}

#[test]
fn a_file_without_a_head_ties_it_to_the_embedding() {
    let mut model = qwen35moe();
    model.remove_tensor("output.weight");
    let sections = described(&model);
    let head = sections[0].node(4, "output").unwrap();
    assert_eq!(inputs(&sections[0], head)[1], "token_embd.weight");
    let head = sections[1].node(4, "draft_output").unwrap();
    assert_eq!(inputs(&sections[1], head)[1], "token_embd.weight");
}

#[test]
fn a_draft_head_joins_embedding_and_hidden_state() {
    let draft = &described(&qwen35moe())[1];
    let all: Vec<&str> = draft.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(
        all[..5],
        [
            "draft_embedding",
            "draft_embedding_norm",
            "draft_hidden_norm",
            "draft_concat",
            "draft_input"
        ]
    );
    assert_eq!(
        all[5..9],
        ["attn_norm", "attn_input", "attn_q_norm", "attn_k_norm"]
    );
    assert_eq!(
        all[19..],
        ["draft_output_norm", "draft_output_rows", "draft_output"]
    );
    assert!(draft.nodes.iter().all(|node| node.layer == 4));

    let concat = draft.node(4, "draft_concat").unwrap();
    assert_eq!(
        inputs(draft, concat),
        ["draft_embedding_norm", "draft_hidden_norm"]
    );
    assert_eq!(shapes(concat), ["[rows, 512]"]);
    let norm = draft.node(4, "draft_hidden_norm").unwrap();
    assert_eq!(inputs(draft, norm), ["input 3", "blk.4.nextn.hnorm.weight"]);
    let norm = draft.node(4, "draft_output_norm").unwrap();
    assert_eq!(
        inputs(draft, norm)[1],
        "blk.4.nextn.shared_head_norm.weight"
    );
    assert_eq!(draft.outputs[0].1, norm.outputs[0]);
}

#[test]
fn a_draft_head_may_bring_its_own_embedding_and_head() {
    let mut model = qwen35moe();
    model.set_tensor(
        "blk.4.nextn.embed_tokens.weight",
        GUILD_FORMAT_F32,
        &[1024, 256],
    );
    model.set_tensor(
        "blk.4.nextn.shared_head_head.weight",
        GUILD_FORMAT_F32,
        &[1024, 256],
    );
    model.remove_tensor("blk.4.nextn.shared_head_norm.weight");
    let draft = &described(&model)[1];
    let table = draft.node(4, "draft_embedding").unwrap();
    assert_eq!(inputs(draft, table)[0], "blk.4.nextn.embed_tokens.weight");
    let head = draft.node(4, "draft_output").unwrap();
    assert_eq!(
        inputs(draft, head)[1],
        "blk.4.nextn.shared_head_head.weight"
    );
    let norm = draft.node(4, "draft_output_norm").unwrap();
    assert_eq!(inputs(draft, norm)[1], "output_norm.weight");
}
