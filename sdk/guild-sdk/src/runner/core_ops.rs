//! One method for each core operation: fills the parameter struct and works out the outputs' shapes.
//!
//! `docs/ops.md` has the contracts. The host checks every operand against them; these methods add no
//! second check.

use super::builder::{Builder, Node, Params, State, Value, misuse, shape};
use super::shape::Shape;
use crate::kernel::Failure;
use guild_abi::contract::{self, CoreOp};
use guild_abi::core_ops::{
    GUILD_MOE_FUSED_GATE_UP, GUILD_MOE_SHARED, GUILD_MOE_SHARED_GATE, guild_attention_params,
    guild_conv_params, guild_delta_params, guild_experts_params, guild_norm_params,
    guild_rope_params, guild_route_params,
};
use guild_abi::formats::{GUILD_FORMAT_F32, GUILD_FORMAT_I32};

/// Operands of `gated_delta`.
#[derive(Clone, Copy, Debug)]
pub struct Delta {
    /// `[rows, key_heads, key_dim]`, normalised and scaled.
    pub q: Value,
    /// `[rows, key_heads, key_dim]`, normalised.
    pub k: Value,
    /// `[rows, value_heads, value_dim]`.
    pub v: Value,
    /// `[rows, value_heads]`.
    pub alpha: Value,
    /// `[rows, value_heads]`.
    pub beta: Value,
    /// `[value_heads]`, the negative decay rate.
    pub a: Value,
    /// `[value_heads]`, the bias of the time step.
    pub dt: Value,
    /// `GUILD_HEADS_GROUPED` or `GUILD_HEADS_TILED`.
    pub head_order: u32,
}

/// Weights of an expert pool.
#[derive(Clone, Copy, Debug)]
pub struct Experts {
    /// Gate and up projections.
    pub gate_up: GateUp,
    /// `[experts, hidden, ff]`.
    pub down: Value,
    /// The expert that every row uses.
    pub shared: Option<SharedExpert>,
}

/// Gate and up projections of the experts.
#[derive(Clone, Copy, Debug)]
pub enum GateUp {
    /// Two tensors `[experts, ff, hidden]`: gate, up.
    Apart(Value, Value),
    /// One tensor `[experts, 2 ff, hidden]`: gate rows, then up rows.
    Fused(Value),
}

/// The expert that every row uses.
#[derive(Clone, Copy, Debug)]
pub struct SharedExpert {
    /// `[shared_ff, hidden]`.
    pub gate: Value,
    /// `[shared_ff, hidden]`.
    pub up: Value,
    /// `[hidden, shared_ff]`.
    pub down: Value,
    /// `[hidden]`: the sigmoid of its product with the row scales the expert's result.
    pub input_gate: Option<Value>,
}

/// Each method describes one node called `name` and gives its output.
///
/// # Errors
/// All methods: the host's, for operands that break the operation's contract.
impl Builder<'_> {
    /// Rows of `table` `[vocabulary, hidden]` by `ids` `[rows]`.
    pub fn embedding(&mut self, name: &str, table: Value, ids: Value) -> Result<Value, Failure> {
        let y = shape(&[ids.shape().leading(), table.shape().last()])?;
        self.one(&contract::EMBEDDING, name, Params::None, &[table, ids], y)
    }

    /// Rows of `x` `[rows, hidden]` by `ids` `[outputs]`.
    pub fn select_rows(&mut self, name: &str, x: Value, ids: Value) -> Result<Value, Failure> {
        let y = shape(&[ids.shape().leading(), x.shape().last()])?;
        self.one(&contract::SELECT_ROWS, name, Params::None, &[x, ids], y)
    }

    /// `a + b`, of one shape.
    pub fn add(&mut self, name: &str, a: Value, b: Value) -> Result<Value, Failure> {
        self.one(&contract::ADD, name, Params::None, &[a, b], a.shape())
    }

    /// `a` `[n, p]` and `b` `[n, q]` side by side: `[n, p + q]`.
    pub fn concat(&mut self, name: &str, a: Value, b: Value) -> Result<Value, Failure> {
        let length = a.shape().last().checked_add(b.shape().last());
        let length = length.ok_or_else(|| misuse("a row is too long".to_owned()))?;
        let y = shape(&[a.shape().leading(), length])?;
        self.one(&contract::CONCAT, name, Params::None, &[a, b], y)
    }

    /// Root-mean-square norm over the last axis, times `weight` `[dim]`.
    pub fn rms_norm(
        &mut self,
        name: &str,
        x: Value,
        weight: Value,
        epsilon: f32,
    ) -> Result<Value, Failure> {
        let params = norm(epsilon, 1.0);
        self.one(&contract::RMS_NORM, name, params, &[x, weight], x.shape())
    }

    /// `rms_norm`, times `silu(z)`; `x` and `z` are `[rows, heads, dim]`.
    pub fn gated_rms_norm(
        &mut self,
        name: &str,
        x: Value,
        weight: Value,
        z: Value,
        epsilon: f32,
    ) -> Result<Value, Failure> {
        let params = norm(epsilon, 1.0);
        self.one(
            &contract::GATED_RMS_NORM,
            name,
            params,
            &[x, weight, z],
            x.shape(),
        )
    }

    /// Each head of `x` `[rows, heads, dim]` brought to length 1, times `scale`.
    pub fn l2_norm(
        &mut self,
        name: &str,
        x: Value,
        epsilon: f32,
        scale: f32,
    ) -> Result<Value, Failure> {
        self.one(
            &contract::L2_NORM,
            name,
            norm(epsilon, scale),
            &[x],
            x.shape(),
        )
    }

    /// `x` `[n, k]` times each weight `[m, k]`: one output `[n, m]` for each weight.
    pub fn linear<const N: usize>(
        &mut self,
        name: &str,
        x: Value,
        weights: [Value; N],
    ) -> Result<[Value; N], Failure> {
        let mut inputs = vec![x];
        inputs.extend(weights);
        let mut outputs = Vec::with_capacity(N);
        for weight in weights {
            let y = shape(&[x.shape().leading(), weight.shape().leading()])?;
            outputs.push((GUILD_FORMAT_F32, y));
        }
        self.many(
            &contract::LINEAR,
            name,
            Params::None,
            &inputs,
            &[],
            &outputs,
        )
    }

    /// `silu(gate) * up`, both `[n, dim]`.
    pub fn swiglu(&mut self, name: &str, gate: Value, up: Value) -> Result<Value, Failure> {
        self.one(
            &contract::SWIGLU,
            name,
            Params::None,
            &[gate, up],
            gate.shape(),
        )
    }

    /// `x * sigmoid(gate)`, of one shape.
    pub fn sigmoid_mul(&mut self, name: &str, x: Value, gate: Value) -> Result<Value, Failure> {
        self.one(
            &contract::SIGMOID_MUL,
            name,
            Params::None,
            &[x, gate],
            x.shape(),
        )
    }

    /// Rotary position embedding of `x` `[rows, heads, dim]`; `factors` `[rotary_dims / 2]` divide the
    /// frequencies. `params.size` is filled in.
    pub fn rope(
        &mut self,
        name: &str,
        x: Value,
        factors: Option<Value>,
        params: guild_rope_params,
    ) -> Result<Value, Failure> {
        let size = size_of::<guild_rope_params>() as u32;
        let params = Params::Rope(guild_rope_params { size, ..params });
        let inputs: Vec<Value> = [x].into_iter().chain(factors).collect();
        self.one(&contract::ROPE, name, params, &inputs, x.shape())
    }

    /// Causal attention of `q` `[rows, heads, dim]` over `k`, `v` `[rows, kv_heads, dim]` and what the
    /// two append-only states hold; `scale` multiplies the scores.
    pub fn attention(
        &mut self,
        name: &str,
        [q, k, v]: [Value; 3],
        [keys, values]: [State; 2],
        scale: f32,
    ) -> Result<Value, Failure> {
        let params = Params::Attention(guild_attention_params {
            size: size_of::<guild_attention_params>() as u32,
            scale,
            reserved: 0,
        });
        let outputs = [(GUILD_FORMAT_F32, q.shape())];
        let states = [keys, values];
        let [y] = self.many(
            &contract::ATTENTION,
            name,
            params,
            &[q, k, v],
            &states,
            &outputs,
        )?;
        Ok(y)
    }

    /// Depthwise causal convolution of `x` `[rows, channels]` with `weight` `[channels, width]`, then
    /// `activation`, one of `GUILD_ACTIVATION_*`. `window` is `[width - 1, channels]`.
    pub fn causal_conv(
        &mut self,
        name: &str,
        x: Value,
        weight: Value,
        window: State,
        activation: u32,
    ) -> Result<Value, Failure> {
        let params = Params::Conv(guild_conv_params {
            size: size_of::<guild_conv_params>() as u32,
            activation,
            reserved: 0,
        });
        let outputs = [(GUILD_FORMAT_F32, x.shape())];
        let states = [window];
        let [y] = self.many(
            &contract::CAUSAL_CONV,
            name,
            params,
            &[x, weight],
            &states,
            &outputs,
        )?;
        Ok(y)
    }

    /// The gated delta rule; `memory` is `[value_heads, key_dim, value_dim]`.
    pub fn gated_delta(
        &mut self,
        name: &str,
        delta: Delta,
        memory: State,
    ) -> Result<Value, Failure> {
        let params = Params::Delta(guild_delta_params {
            size: size_of::<guild_delta_params>() as u32,
            head_order: delta.head_order,
            reserved: 0,
        });
        let Delta {
            q,
            k,
            v,
            alpha,
            beta,
            a,
            dt,
            ..
        } = delta;
        let inputs = [q, k, v, alpha, beta, a, dt];
        let outputs = [(GUILD_FORMAT_F32, v.shape())];
        let [y] = self.many(
            &contract::GATED_DELTA,
            name,
            params,
            &inputs,
            &[memory],
            &outputs,
        )?;
        Ok(y)
    }

    /// The `top_k` experts of each row of `x` `[n, hidden]` by `weight` `[experts, hidden]`: ids and
    /// weights, both `[n, top_k]`. `flags` are `GUILD_ROUTE_*` bits.
    pub fn moe_route(
        &mut self,
        name: &str,
        x: Value,
        weight: Value,
        top_k: u32,
        flags: u32,
    ) -> Result<[Value; 2], Failure> {
        let params = Params::Route(guild_route_params {
            size: size_of::<guild_route_params>() as u32,
            top_k,
            flags,
            reserved: 0,
        });
        let chosen = shape(&[x.shape().leading(), u64::from(top_k)])?;
        let outputs = [(GUILD_FORMAT_I32, chosen), (GUILD_FORMAT_F32, chosen)];
        self.many(
            &contract::MOE_ROUTE,
            name,
            params,
            &[x, weight],
            &[],
            &outputs,
        )
    }

    /// The expert pool on `x` `[n, hidden]` with `moe_route`'s ids and weights.
    pub fn moe_experts(
        &mut self,
        name: &str,
        x: Value,
        [ids, weights]: [Value; 2],
        experts: Experts,
    ) -> Result<Value, Failure> {
        let mut flags = 0;
        let mut inputs = vec![x, ids, weights];
        match experts.gate_up {
            GateUp::Apart(gate, up) => inputs.extend([gate, up]),
            GateUp::Fused(gate_up) => {
                flags |= GUILD_MOE_FUSED_GATE_UP;
                inputs.push(gate_up);
            }
        }
        inputs.push(experts.down);
        if let Some(shared) = experts.shared {
            flags |= GUILD_MOE_SHARED;
            inputs.extend([shared.gate, shared.up, shared.down]);
            if let Some(input_gate) = shared.input_gate {
                flags |= GUILD_MOE_SHARED_GATE;
                inputs.push(input_gate);
            }
        }
        let params = Params::Experts(guild_experts_params {
            size: size_of::<guild_experts_params>() as u32,
            flags,
            reserved: 0,
        });
        self.one(&contract::MOE_EXPERTS, name, params, &inputs, x.shape())
    }

    /// An operation without state and with one f32 output.
    fn one(
        &mut self,
        op: &CoreOp,
        name: &str,
        params: Params<'_>,
        inputs: &[Value],
        y: Shape,
    ) -> Result<Value, Failure> {
        let [y] = self.many(op, name, params, inputs, &[], &[(GUILD_FORMAT_F32, y)])?;
        Ok(y)
    }

    fn many<const N: usize>(
        &mut self,
        op: &CoreOp,
        name: &str,
        params: Params<'_>,
        inputs: &[Value],
        states: &[State],
        outputs: &[(u32, Shape)],
    ) -> Result<[Value; N], Failure> {
        let values = self.op(&Node {
            operation: &format!("{}@{}", op.name, op.version),
            name,
            params,
            inputs,
            states,
            outputs,
        })?;
        <[Value; N]>::try_from(values)
            .map_err(|values| misuse(format!("{} of {N} outputs of {name}", values.len())))
    }
}

fn norm(epsilon: f32, scale: f32) -> Params<'static> {
    Params::Norm(guild_norm_params {
        size: size_of::<guild_norm_params>() as u32,
        epsilon,
        scale,
        reserved: 0,
    })
}
