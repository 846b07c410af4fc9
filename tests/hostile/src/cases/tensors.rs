//! Tensors that are missing, misshapen, of a type that nobody can compute with, or full of nothing.

use super::{Case, Stage, Table};

/// Every case of this kind.
pub(super) fn cases() -> Vec<Case> {
    let mut table = Table::new(Stage::Model);
    missing(&mut table);
    misshapen(&mut table);
    types(&mut table);
    let mut cases = table.cases;
    let mut table = Table::new(Stage::Weights);
    weights(&mut table);
    cases.append(&mut table.cases);
    cases
}

fn missing(table: &mut Table) {
    for name in [
        "token_embd.weight",
        "output_norm.weight",
        "blk.0.ssm_a",
        "blk.0.ffn_gate_inp.weight",
        "blk.1.attn_q.weight",
        "blk.1.ffn_down_exps.weight",
    ] {
        table.damaged(&format!("no {name}"), &[name], move |model| {
            model.remove_tensor(name);
        });
    }
    let last = "blk.1.ffn_down_shexp.weight";
    table.damaged("a tensor count that is one short", &[last], |model| {
        let (tensors, entries) = model.counted();
        model.counts = Some((tensors - 1, entries));
    });
}

fn misshapen(table: &mut Table) {
    let rows: [(&str, &[u64], &str); 6] = [
        ("token_embd.weight", &[16, 520], "32"),
        ("output.weight", &[32, 130], "260"),
        ("output_norm.weight", &[16], "32"),
        ("blk.0.ssm_conv1d.weight", &[64, 4], "64"),
        ("blk.1.attn_k.weight", &[16, 32], "32"),
        ("blk.1.ffn_gate_exps.weight", &[32, 128], "4"),
    ];
    for (name, shape, says) in rows {
        table.damaged(&format!("{name} misshapen"), &[name, says], move |model| {
            model.find(name).shape = shape.to_vec();
        });
    }
}

fn types(table: &mut Table) {
    // Types of one element, or of blocks of 32, so that every row is whole.
    for (number, type_name) in [
        (4, "Q4_2"),
        (9, "Q8_1"),
        (24, "I8"),
        (26, "I32"),
        (28, "F64"),
        (31, "Q4_0_4_4"),
        (99, "number 99"),
        (u32::MAX, "number 4294967295"),
    ] {
        let name = format!("weights of type {type_name}");
        let tensor = "blk.1.attn_k.weight";
        table.unsupported(&name, &[tensor, type_name], move |model| {
            let tensor = model.find(tensor);
            tensor.ggml_type = number;
            // The widest of them.
            tensor.data = vec![0; 32 * 16 * 8];
        });
    }
}

fn weights(table: &mut Table) {
    table.damaged("a norm of NaN", &["NaN"], |model| {
        let bytes = &mut model.find("output_norm.weight").data;
        *bytes = f32::NAN.to_le_bytes().repeat(bytes.len() / 4);
    });
}
