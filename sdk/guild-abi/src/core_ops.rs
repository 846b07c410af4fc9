//! Parameters and numbers of the core operations: becomes `guild/core_ops.h`.
//!
//! `docs/ops.md` holds each operation's contract; this file holds the parts that a compiler needs.

/// Number of `guild.core.embedding@1`.
pub const GUILD_OP_EMBEDDING: u32 = 1;
/// Number of `guild.core.select_rows@1`.
pub const GUILD_OP_SELECT_ROWS: u32 = 2;
/// Number of `guild.core.add@1`.
pub const GUILD_OP_ADD: u32 = 3;
/// Number of `guild.core.rms_norm@1`.
pub const GUILD_OP_RMS_NORM: u32 = 4;
/// Number of `guild.core.gated_rms_norm@1`.
pub const GUILD_OP_GATED_RMS_NORM: u32 = 5;
/// Number of `guild.core.l2_norm@1`.
pub const GUILD_OP_L2_NORM: u32 = 6;
/// Number of `guild.core.linear@1`.
pub const GUILD_OP_LINEAR: u32 = 7;
/// Number of `guild.core.swiglu@1`.
pub const GUILD_OP_SWIGLU: u32 = 8;
/// Number of `guild.core.sigmoid_mul@1`.
pub const GUILD_OP_SIGMOID_MUL: u32 = 9;
/// Number of `guild.core.rope@1`.
pub const GUILD_OP_ROPE: u32 = 10;
/// Number of `guild.core.attention@1`.
pub const GUILD_OP_ATTENTION: u32 = 11;
/// Number of `guild.core.causal_conv@1`.
pub const GUILD_OP_CAUSAL_CONV: u32 = 12;
/// Number of `guild.core.gated_delta@1`.
pub const GUILD_OP_GATED_DELTA: u32 = 13;
/// Number of `guild.core.moe_route@1`.
pub const GUILD_OP_MOE_ROUTE: u32 = 14;
/// Number of `guild.core.moe_experts@1`.
pub const GUILD_OP_MOE_EXPERTS: u32 = 15;
/// Number of `guild.core.concat@1`.
pub const GUILD_OP_CONCAT: u32 = 16;

/// Parameters of `rms_norm`, `gated_rms_norm` and `l2_norm`. 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_norm_params {
    /// Bytes of this struct.
    pub size: u32,
    /// Added under the square root.
    pub epsilon: f32,
    /// Factor on the result of `l2_norm`; 1 in the others.
    pub scale: f32,
    /// Zero.
    pub reserved: u32,
}

/// RoPE pairs element `i` with `i + rotary_dims / 2`.
pub const GUILD_ROPE_HALVES: u32 = 0;
/// RoPE pairs element `2 i` with `2 i + 1`.
pub const GUILD_ROPE_ADJACENT: u32 = 1;

/// Parameters of `rope`. 48 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_rope_params {
    /// Bytes of this struct.
    pub size: u32,
    /// `GUILD_ROPE_HALVES` or `GUILD_ROPE_ADJACENT`.
    pub pairing: u32,
    /// Leading elements of a head that are rotated; even.
    pub rotary_dims: u32,
    /// 1 when the sections of m-RoPE are interleaved.
    pub interleaved: u32,
    /// Base of the frequencies.
    pub theta: f64,
    /// Pairs per position component of m-RoPE; all zero without sections. All components of a text
    /// token are its position, so sections don't change the result.
    pub sections: [u32; 4],
    /// Zero.
    pub reserved: u64,
}

/// Parameters of `attention`. 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_attention_params {
    /// Bytes of this struct.
    pub size: u32,
    /// Factor on the scores.
    pub scale: f32,
    /// Zero.
    pub reserved: u64,
}

/// Activation: none.
pub const GUILD_ACTIVATION_NONE: u32 = 0;
/// Activation: SiLU.
pub const GUILD_ACTIVATION_SILU: u32 = 1;

/// Parameters of `causal_conv`. 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_conv_params {
    /// Bytes of this struct.
    pub size: u32,
    /// One of `GUILD_ACTIVATION_*`.
    pub activation: u32,
    /// Zero.
    pub reserved: u64,
}

/// Value head `j` uses key head `j / (value heads / key heads)`.
pub const GUILD_HEADS_GROUPED: u32 = 0;
/// Value head `j` uses key head `j mod key heads`.
pub const GUILD_HEADS_TILED: u32 = 1;

/// Parameters of `gated_delta`. 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_delta_params {
    /// Bytes of this struct.
    pub size: u32,
    /// `GUILD_HEADS_GROUPED` or `GUILD_HEADS_TILED`.
    pub head_order: u32,
    /// Zero.
    pub reserved: u64,
}

/// Flag of `moe_route`: divide the chosen weights by their sum.
pub const GUILD_ROUTE_RENORMALISE: u32 = 1;

/// Parameters of `moe_route`. 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_route_params {
    /// Bytes of this struct.
    pub size: u32,
    /// Experts chosen for a row, at most 32.
    pub top_k: u32,
    /// `GUILD_ROUTE_*` bits.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

/// Flag of `moe_experts`: one tensor `[experts, 2 ff, hidden]` holds gate rows, then up rows.
pub const GUILD_MOE_FUSED_GATE_UP: u32 = 1;
/// Flag of `moe_experts`: a shared expert's gate, up and down follow.
pub const GUILD_MOE_SHARED: u32 = 2;
/// Flag of `moe_experts`: the shared expert's sigmoid gate `[hidden]` follows.
pub const GUILD_MOE_SHARED_GATE: u32 = 4;

/// Parameters of `moe_experts`. 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(guild_layout_check, derive(abi_stable::StableAbi))]
pub struct guild_experts_params {
    /// Bytes of this struct.
    pub size: u32,
    /// `GUILD_MOE_*` bits.
    pub flags: u32,
    /// Zero.
    pub reserved: u64,
}
