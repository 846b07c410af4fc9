//! The graph of a small dense `qwen35` model.

use crate::sample::qwen35;
use guild_plugin_qwen::{Qwen35, Qwen35Moe};

#[test]
fn a_dense_model_has_one_projection_pair_in_every_layer() {
    let model = qwen35();
    assert_eq!(model.score(&Qwen35), Some(100));
    assert_eq!(model.score(&Qwen35Moe), None);
    let sections = model.describe(&Qwen35).unwrap().sections;
    assert_eq!(sections.len(), 2);
    let main = &sections[0];
    for layer in 0..4 {
        let nodes = main.nodes.iter().filter(|node| node.layer == layer);
        let feed_forward: Vec<&str> = nodes
            .map(|node| node.name.as_str())
            .filter(|name| name.starts_with("ffn"))
            .collect();
        assert_eq!(
            feed_forward,
            ["ffn_input", "ffn_swiglu", "ffn_output", "ffn_residual"]
        );
    }
    let input = main.node(1, "ffn_input").unwrap();
    let shapes: Vec<String> = input
        .output_shapes
        .iter()
        .map(|(_, shape)| shape.to_string())
        .collect();
    assert_eq!(shapes, ["[rows, 640]", "[rows, 640]"]);
    let weights: Vec<&str> = input.inputs[1..]
        .iter()
        .map(|value| main.values[*value as usize].as_str())
        .collect();
    assert_eq!(weights, ["blk.1.ffn_gate.weight", "blk.1.ffn_up.weight"]);
    let used = |name: &&str| sections.iter().any(|s| s.weights.iter().any(|w| w == name));
    let unused: Vec<&str> = model.tensor_names().filter(|name| !used(name)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
