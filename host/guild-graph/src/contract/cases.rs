//! One accepted node for each operation, and nodes that differ from it in one thing.

use guild_abi::core_ops::*;
use guild_abi::formats::{
    GUILD_FORMAT_BF16, GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_FORMAT_I32, GUILD_FORMAT_Q4_K,
};

use super::{Operands, contract};
use crate::error::Mismatch;
use crate::graph::{Origin, Params, State, StateKind, Value};
use crate::shape::{Dim, Shape};

const F32: u32 = GUILD_FORMAT_F32;
const I32: u32 = GUILD_FORMAT_I32;
const Q4: u32 = GUILD_FORMAT_Q4_K;
/// Stand for the symbolic axes in the tables below.
const R: u64 = 0;
const O: u64 = u64::MAX;

#[derive(Clone)]
struct Case {
    op: &'static str,
    inputs: Vec<(u32, Vec<u64>)>,
    outputs: Vec<(u32, Vec<u64>)>,
    states: Vec<(StateKind, u32, Vec<u64>)>,
    params: Vec<u8>,
}

fn tensors(list: &[(u32, &[u64])]) -> Vec<(u32, Vec<u64>)> {
    list.iter()
        .map(|(format, shape)| (*format, shape.to_vec()))
        .collect()
}

fn case(op: &'static str, inputs: &[(u32, &[u64])], outputs: &[(u32, &[u64])]) -> Case {
    Case {
        op,
        inputs: tensors(inputs),
        outputs: tensors(outputs),
        states: vec![],
        params: vec![],
    }
}

impl Case {
    fn params(mut self, words: &[u32]) -> Case {
        self.params = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self
    }

    fn state(mut self, kind: StateKind, format: u32, shape: &[u64]) -> Case {
        self.states.push((kind, format, shape.to_vec()));
        self
    }

    fn check(&self) -> Result<(), Mismatch> {
        let value = |(format, shape): &(u32, Vec<u64>)| {
            let dims: Vec<Dim> = shape
                .iter()
                .map(|dim| match *dim {
                    R => Dim::Rows,
                    O => Dim::Outputs,
                    number => Dim::Fixed(number),
                })
                .collect();
            let shape = Shape::new(&dims).unwrap();
            Value {
                format: *format,
                strides: shape.contiguous_strides(),
                shape,
                origin: Origin::Node { node: 0, output: 0 },
            }
        };
        let inputs: Vec<Value> = self.inputs.iter().map(value).collect();
        let outputs: Vec<Value> = self.outputs.iter().map(value).collect();
        let states = self.states.iter().map(|(kind, format, shape)| State {
            kind: *kind,
            format: *format,
            shape: shape.clone(),
            name: "state".to_owned(),
        });
        let states: Vec<State> = states.collect();
        let params = Params::new(&self.params);
        let mut operands = Operands::new(
            inputs.iter().collect(),
            outputs.iter().collect(),
            states.iter().collect(),
            &params,
        );
        contract(&format!("guild.core.{}", self.op), 1)
            .unwrap()
            .check(&mut operands)
    }

    /// The case with `change` must be refused at `operand`.
    #[track_caller]
    fn refused(&self, operand: &str, change: impl FnOnce(&mut Case)) {
        let mut case = self.clone();
        change(&mut case);
        let mismatch = case.check().expect_err("the change must be refused");
        assert_eq!(mismatch.operand, operand, "{mismatch}");
    }

    #[track_caller]
    fn accepted(self) -> Case {
        assert_eq!(self.check(), Ok(()));
        // A node with an operand too many is refused, whatever it is.
        self.refused("number of inputs", |case| {
            case.inputs.extend(vec![(F32, vec![R, 1]); 9])
        });
        self.refused("number of outputs", |case| {
            case.outputs.extend(vec![(F32, vec![R, 1]); 9])
        });
        let state = (StateKind::Append, 0, vec![1, 1]);
        self.refused("number of states", |case| case.states.push(state));
        self.refused("params", |case| match case.params.len() {
            0 => case.params = vec![8, 0, 0, 0, 0, 0, 0, 0],
            _ => case.params[0] += 1,
        });
        self
    }
}

fn norm(op: &'static str, inputs: &[(u32, &[u64])], output: &[u64]) -> Case {
    let params = [16, 1e-6f32.to_bits(), 1f32.to_bits(), 0];
    let case = case(op, inputs, &[(F32, output)])
        .params(&params)
        .accepted();
    case.refused("epsilon", |case| {
        case.params[4..8].copy_from_slice(&f32::NAN.to_ne_bytes())
    });
    case.refused("y", |case| case.outputs[0].1[0] = O);
    case
}

#[test]
fn embedding_and_select_rows() {
    let ok = case(
        "embedding",
        &[(Q4, &[7, 256]), (I32, &[R])],
        &[(F32, &[R, 256])],
    )
    .accepted();
    ok.refused("table", |case| case.inputs[0].1 = vec![R, 256]);
    ok.refused("ids", |case| case.inputs[1].0 = F32);
    ok.refused("y", |case| case.outputs[0].1[1] = 128);
    let ok = case(
        "select_rows",
        &[(F32, &[R, 5]), (I32, &[O])],
        &[(F32, &[O, 5])],
    )
    .accepted();
    ok.refused("x", |case| case.inputs[0].1[0] = O);
    ok.refused("y", |case| case.outputs[0].1[0] = R);
}

#[test]
fn elementwise() {
    for op in ["add", "sigmoid_mul"] {
        let shape: &[u64] = &[R, 3, 5];
        let ok = case(op, &[(F32, shape), (F32, shape)], &[(F32, shape)]).accepted();
        let second = if op == "add" { "b" } else { "gate" };
        ok.refused(second, |case| case.inputs[1].1 = vec![R, 15]);
        ok.refused("y", |case| case.outputs[0].1[2] = 6);
        ok.refused("y", |case| case.outputs[0].0 = GUILD_FORMAT_F16);
    }
    let ok = case(
        "swiglu",
        &[(F32, &[O, 5]), (F32, &[O, 5])],
        &[(F32, &[O, 5])],
    )
    .accepted();
    ok.refused("up", |case| case.inputs[1].1[0] = R);
    let ok = case(
        "concat",
        &[(F32, &[R, 5]), (F32, &[R, 3])],
        &[(F32, &[R, 8])],
    )
    .accepted();
    ok.refused("y", |case| case.outputs[0].1[1] = 5);
}

#[test]
fn norms() {
    let ok = norm("rms_norm", &[(F32, &[R, 2, 8]), (F32, &[8])], &[R, 2, 8]);
    ok.refused("weight", |case| case.inputs[1].1[0] = 2);
    ok.refused("scale", |case| {
        case.params[8..12].copy_from_slice(&2f32.to_ne_bytes())
    });
    norm("rms_norm", &[(F32, &[R, 8]), (F32, &[8])], &[R, 8]);
    let heads: &[u64] = &[R, 2, 8];
    let inputs: &[(u32, &[u64])] = &[(F32, heads), (F32, &[8]), (F32, heads)];
    let ok = norm("gated_rms_norm", inputs, heads);
    ok.refused("z", |case| case.inputs[2].1[1] = 3);
    let ok = norm("l2_norm", &[(F32, heads)], heads);
    ok.refused("x", |case| case.inputs[0].1 = vec![R, 16]);
    ok.refused("scale", |case| {
        case.params[8..12].copy_from_slice(&f32::INFINITY.to_ne_bytes())
    });
}

#[test]
fn linear_takes_several_matrices() {
    let inputs: &[(u32, &[u64])] = &[(F32, &[R, 256]), (Q4, &[3, 256]), (F32, &[5, 256])];
    let ok = case("linear", inputs, &[(F32, &[R, 3]), (F32, &[R, 5])]).accepted();
    ok.refused("weight 1", |case| case.inputs[2].1[1] = 255);
    ok.refused("y 0", |case| case.outputs[0].1[1] = 5);
    ok.refused("number of outputs", |case| drop(case.outputs.pop()));
    ok.refused("number of inputs", |case| case.inputs.truncate(1));
}

#[test]
fn rope() {
    let theta = 1e7f64.to_bits();
    let words = [
        48,
        0,
        6,
        1,
        theta as u32,
        (theta >> 32) as u32,
        1,
        1,
        1,
        0,
        0,
        0,
    ];
    let shape: &[u64] = &[R, 2, 8];
    let ok = case("rope", &[(F32, shape)], &[(F32, shape)])
        .params(&words)
        .accepted();
    let word = |at: usize, value: u32| {
        move |case: &mut Case| case.params[4 * at..4 * at + 4].copy_from_slice(&value.to_ne_bytes())
    };
    ok.refused("pairing", word(1, 2));
    ok.refused("rotary_dims", word(2, 10));
    ok.refused("rotary_dims", word(2, 5));
    ok.refused("rotary_dims", word(2, 0));
    ok.refused("interleaved", word(3, 2));
    ok.refused("theta", word(5, 0xffff_ffff));
    ok.refused("sections", word(6, 2));
    ok.refused("x", |case| case.inputs[0].1[0] = O);
    let ok = case("rope", &[(F32, shape), (F32, &[3])], &[(F32, shape)])
        .params(&words)
        .accepted();
    ok.refused("factors", |case| case.inputs[1].1[0] = 4);
    ok.refused("factors", |case| case.inputs[1].0 = GUILD_FORMAT_F16);
    ok.refused("number of inputs", |case| {
        case.inputs.push(case.inputs[1].clone());
    });
}

#[test]
fn attention() {
    let (q, kv): (&[u64], &[u64]) = (&[R, 4, 8], &[R, 2, 8]);
    let ok = case("attention", &[(F32, q), (F32, kv), (F32, kv)], &[(F32, q)])
        .params(&[16, 0.5f32.to_bits(), 0, 0])
        .state(StateKind::Append, 0, &[2, 8])
        .state(StateKind::Append, GUILD_FORMAT_F32, &[2, 8])
        .accepted();
    ok.refused("v", |case| case.inputs[2].1[1] = 4);
    ok.refused("keys", |case| case.states[0].2[1] = 4);
    ok.refused("values", |case| case.states[1].0 = StateKind::Recurrent);
    ok.refused("values", |case| case.states[1].1 = I32);
    ok.refused("scale", |case| case.params[4..8].fill(0));
    ok.refused("heads", |case| {
        (case.inputs[0].1[1], case.outputs[0].1[1]) = (3, 3);
    });
}

#[test]
fn causal_conv() {
    let inputs: &[(u32, &[u64])] = &[(F32, &[R, 6]), (F32, &[6, 4])];
    let ok = case("causal_conv", inputs, &[(F32, &[R, 6])])
        .params(&[16, 1, 0, 0])
        .state(StateKind::Recurrent, F32, &[3, 6])
        .accepted();
    ok.refused("window", |case| case.states[0].2[0] = 4);
    ok.refused("window", |case| case.states[0].1 = GUILD_FORMAT_F16);
    ok.refused("weight", |case| case.inputs[1].1[0] = 5);
    ok.refused("width", |case| case.inputs[1].1[1] = 1);
    ok.refused("activation", |case| case.params[4] = 2);
}

#[test]
fn gated_delta() {
    let (qk, v, head): (&[u64], &[u64], &[u64]) = (&[R, 2, 8], &[R, 4, 16], &[R, 4]);
    let inputs = &[
        (F32, qk),
        (F32, qk),
        (F32, v),
        (F32, head),
        (F32, head),
        (F32, &[4][..]),
        (F32, &[4]),
    ];
    let ok = case("gated_delta", inputs, &[(F32, v)])
        .params(&[16, 1, 0, 0])
        .state(StateKind::Recurrent, F32, &[4, 8, 16])
        .accepted();
    ok.refused("k", |case| case.inputs[1].1[2] = 16);
    ok.refused("beta", |case| case.inputs[4].1[1] = 2);
    ok.refused("dt", |case| case.inputs[6].1 = vec![R]);
    ok.refused("memory", |case| case.states[0].2 = vec![4, 16, 8]);
    ok.refused("head_order", |case| case.params[4] = 2);
    ok.refused("value_heads", |case| {
        (case.inputs[0].1[1], case.inputs[1].1[1]) = (3, 3);
    });
}

#[test]
fn moe_route() {
    let outputs: &[(u32, &[u64])] = &[(I32, &[R, 2]), (F32, &[R, 2])];
    let inputs: &[(u32, &[u64])] = &[(F32, &[R, 8]), (GUILD_FORMAT_BF16, &[6, 8])];
    let ok = case("moe_route", inputs, outputs)
        .params(&[16, 2, 1, 0])
        .accepted();
    ok.refused("weight", |case| case.inputs[1].0 = Q4);
    ok.refused("top_k", |case| case.params[4] = 7);
    ok.refused("top_k", |case| case.params[4] = 0);
    ok.refused("flags", |case| case.params[8] = 2);
    ok.refused("experts", |case| case.inputs[1].1[0] = 1025);
    ok.refused("ids", |case| case.outputs[0].1[1] = 3);
    ok.refused("weights", |case| case.outputs[1].0 = I32);
}

#[test]
fn moe_experts() {
    let head: [(u32, &[u64]); 3] = [(F32, &[R, 8]), (I32, &[R, 2]), (F32, &[R, 2])];
    let shared: [(u32, &[u64]); 3] = [(Q4, &[5, 8]), (Q4, &[5, 8]), (Q4, &[8, 5])];
    let plain: [(u32, &[u64]); 3] = [(Q4, &[6, 4, 8]), (Q4, &[6, 4, 8]), (Q4, &[6, 8, 4])];
    let with = |weights: &[&[(u32, &[u64])]], flags| {
        let inputs = [&head[..], &weights.concat()].concat();
        case("moe_experts", &inputs, &[(F32, &[R, 8])])
            .params(&[16, flags, 0, 0])
            .accepted()
    };
    let ok = with(&[&plain], 0);
    ok.refused("ids", |case| case.inputs[1].0 = F32);
    ok.refused("up", |case| case.inputs[4].1[0] = 5);
    ok.refused("down", |case| case.inputs[5].1 = vec![6, 4, 8]);
    ok.refused("flags", |case| case.params[4] = 8);
    ok.refused("flags", |case| case.params[4] = GUILD_MOE_SHARED_GATE as u8);
    ok.refused("number of inputs", |case| {
        case.params[4] = GUILD_MOE_SHARED as u8
    });
    let fused: [(u32, &[u64]); 2] = [(Q4, &[6, 8, 8]), (Q4, &[6, 8, 4])];
    let ok = with(&[&fused], GUILD_MOE_FUSED_GATE_UP);
    ok.refused("gate_up", |case| case.inputs[3].1[1] = 6);
    let both = GUILD_MOE_SHARED | GUILD_MOE_SHARED_GATE;
    let ok = with(&[&plain, &shared, &[(F32, &[8])]], both);
    ok.refused("shared_down", |case| case.inputs[8].1 = vec![5, 8]);
    ok.refused("shared_gate_input", |case| case.inputs[9].1 = vec![7]);
    let ok = with(&[&plain, &shared, &[(F32, &[1, 8])]], both);
    ok.refused("shared_gate_input", |case| case.inputs[9].1 = vec![2, 8]);
}
