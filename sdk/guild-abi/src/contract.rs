//! Names, numbers and contract hashes of the core operations.
//!
//! A contract's canonical text stands here and, word for word, in `docs/ops.md`. Its SHA-256 is what
//! `guild_op_desc.contract` carries: a provider built against another text is refused. The header
//! `guild/core_ops.h` gets the hashes as initialisers.

use super::core_ops::*;

/// What host, plugins and documents agree on for one core operation.
#[derive(Clone, Copy, Debug)]
pub struct CoreOp {
    /// One of `GUILD_OP_*`.
    pub number: u32,
    /// Name without the version.
    pub name: &'static str,
    /// Version.
    pub version: u32,
    /// Canonical text of the contract.
    pub contract: &'static str,
    /// SHA-256 of `contract`.
    pub hash: [u8; 32],
}

/// `guild.core.embedding@1`.
pub const EMBEDDING: CoreOp = CoreOp {
    number: GUILD_OP_EMBEDDING,
    name: "guild.core.embedding",
    version: 1,
    contract: "guild.core.embedding@1; in table:*[vocabulary,hidden] ids:i32[rows]; out y:f32[rows,hidden]; params none; state none; alias none; class exact",
    hash: [
        189, 77, 81, 125, 141, 34, 219, 251, 228, 216, 187, 75, 199, 231, 111, 104, 87, 56, 130,
        177, 63, 234, 139, 107, 63, 39, 205, 51, 47, 202, 247, 181,
    ],
};

/// `guild.core.select_rows@1`.
pub const SELECT_ROWS: CoreOp = CoreOp {
    number: GUILD_OP_SELECT_ROWS,
    name: "guild.core.select_rows",
    version: 1,
    contract: "guild.core.select_rows@1; in x:f32[rows,hidden] ids:i32[outputs]; out y:f32[outputs,hidden]; params none; state none; alias none; class exact",
    hash: [
        40, 60, 9, 118, 55, 232, 161, 131, 50, 128, 141, 120, 67, 64, 17, 99, 58, 18, 95, 68, 2,
        60, 240, 57, 92, 101, 38, 30, 28, 136, 77, 238,
    ],
};

/// `guild.core.add@1`.
pub const ADD: CoreOp = CoreOp {
    number: GUILD_OP_ADD,
    name: "guild.core.add",
    version: 1,
    contract: "guild.core.add@1; in a:f32[n,...] b:f32[n,...]; out y:f32[n,...]; params none; state none; alias y=a; class exact",
    hash: [
        41, 86, 244, 33, 53, 46, 80, 33, 238, 251, 49, 32, 55, 180, 27, 88, 10, 252, 167, 80, 229,
        86, 202, 90, 50, 113, 34, 251, 64, 230, 104, 34,
    ],
};

/// `guild.core.rms_norm@1`.
pub const RMS_NORM: CoreOp = CoreOp {
    number: GUILD_OP_RMS_NORM,
    name: "guild.core.rms_norm",
    version: 1,
    contract: "guild.core.rms_norm@1; in x:f32[n,...,dim] weight:f32[dim]; out y:f32[n,...,dim]; params norm{epsilon:f32,scale:f32}; state none; alias y=x; class exact",
    hash: [
        6, 77, 125, 79, 153, 109, 122, 132, 136, 156, 17, 116, 237, 147, 54, 178, 163, 3, 96, 177,
        244, 156, 151, 56, 114, 96, 199, 156, 5, 222, 105, 158,
    ],
};

/// `guild.core.gated_rms_norm@1`.
pub const GATED_RMS_NORM: CoreOp = CoreOp {
    number: GUILD_OP_GATED_RMS_NORM,
    name: "guild.core.gated_rms_norm",
    version: 1,
    contract: "guild.core.gated_rms_norm@1; in x:f32[n,heads,dim] weight:f32[dim] z:f32[n,heads,dim]; out y:f32[n,heads,dim]; params norm{epsilon:f32,scale:f32}; state none; alias y=x; class exact",
    hash: [
        60, 183, 95, 116, 94, 97, 245, 178, 98, 250, 245, 238, 176, 78, 148, 83, 40, 0, 52, 52, 60,
        194, 56, 242, 103, 198, 166, 101, 7, 226, 84, 23,
    ],
};

/// `guild.core.l2_norm@1`.
pub const L2_NORM: CoreOp = CoreOp {
    number: GUILD_OP_L2_NORM,
    name: "guild.core.l2_norm",
    version: 1,
    contract: "guild.core.l2_norm@1; in x:f32[n,heads,dim]; out y:f32[n,heads,dim]; params norm{epsilon:f32,scale:f32}; state none; alias y=x; class exact",
    hash: [
        117, 152, 216, 42, 131, 247, 156, 106, 92, 247, 231, 0, 245, 95, 113, 141, 23, 41, 232,
        158, 188, 149, 149, 93, 212, 236, 77, 143, 83, 217, 18, 150,
    ],
};

/// `guild.core.linear@1`.
pub const LINEAR: CoreOp = CoreOp {
    number: GUILD_OP_LINEAR,
    name: "guild.core.linear",
    version: 1,
    contract: "guild.core.linear@1; in x:f32[n,k] weight:*[m_i,k]+; out y:f32[n,m_i]+; params none; state none; alias none; class exact",
    hash: [
        113, 217, 215, 163, 174, 66, 65, 138, 120, 122, 80, 125, 237, 207, 60, 32, 56, 211, 128,
        79, 96, 72, 111, 235, 4, 83, 95, 23, 113, 139, 147, 184,
    ],
};

/// `guild.core.swiglu@1`.
pub const SWIGLU: CoreOp = CoreOp {
    number: GUILD_OP_SWIGLU,
    name: "guild.core.swiglu",
    version: 1,
    contract: "guild.core.swiglu@1; in gate:f32[n,dim] up:f32[n,dim]; out y:f32[n,dim]; params none; state none; alias y=gate; class exact",
    hash: [
        79, 14, 138, 161, 82, 127, 219, 126, 48, 145, 54, 249, 2, 134, 153, 63, 11, 138, 226, 133,
        252, 191, 147, 225, 158, 64, 149, 235, 126, 175, 248, 158,
    ],
};

/// `guild.core.sigmoid_mul@1`.
pub const SIGMOID_MUL: CoreOp = CoreOp {
    number: GUILD_OP_SIGMOID_MUL,
    name: "guild.core.sigmoid_mul",
    version: 1,
    contract: "guild.core.sigmoid_mul@1; in x:f32[n,...] gate:f32[n,...]; out y:f32[n,...]; params none; state none; alias y=x; class exact",
    hash: [
        41, 37, 39, 216, 153, 222, 25, 73, 221, 28, 245, 218, 30, 169, 205, 241, 0, 241, 172, 85,
        23, 27, 109, 55, 143, 151, 5, 116, 66, 150, 168, 171,
    ],
};

/// `guild.core.rope@1`.
pub const ROPE: CoreOp = CoreOp {
    number: GUILD_OP_ROPE,
    name: "guild.core.rope",
    version: 1,
    contract: "guild.core.rope@1; in x:f32[rows,heads,dim] (factors:f32[rotary_dims/2])?; out y:f32[rows,heads,dim]; params rope{pairing:u32,rotary_dims:u32,interleaved:u32,theta:f64,sections:u32[4]}; state none; alias y=x; class exact",
    hash: [
        40, 86, 18, 91, 186, 195, 46, 136, 182, 15, 45, 199, 49, 56, 71, 50, 190, 79, 118, 103, 68,
        28, 228, 69, 114, 242, 134, 199, 21, 158, 255, 112,
    ],
};

/// `guild.core.attention@1`.
pub const ATTENTION: CoreOp = CoreOp {
    number: GUILD_OP_ATTENTION,
    name: "guild.core.attention",
    version: 1,
    contract: "guild.core.attention@1; in q:f32[rows,heads,dim] k:f32[rows,kv_heads,dim] v:f32[rows,kv_heads,dim]; out y:f32[rows,heads,dim]; params attention{scale:f32}; state keys:append[kv_heads,dim] values:append[kv_heads,dim]; alias none; class exact",
    hash: [
        40, 185, 11, 107, 113, 66, 133, 180, 247, 9, 217, 132, 186, 221, 151, 65, 231, 75, 250,
        111, 56, 198, 50, 96, 191, 196, 120, 223, 140, 1, 83, 119,
    ],
};

/// `guild.core.causal_conv@1`.
pub const CAUSAL_CONV: CoreOp = CoreOp {
    number: GUILD_OP_CAUSAL_CONV,
    name: "guild.core.causal_conv",
    version: 1,
    contract: "guild.core.causal_conv@1; in x:f32[rows,channels] weight:f32[channels,width]; out y:f32[rows,channels]; params conv{activation:u32}; state window:recurrent f32[width-1,channels]; alias none; class exact",
    hash: [
        198, 118, 167, 173, 116, 221, 202, 77, 13, 62, 253, 48, 77, 235, 122, 55, 92, 180, 71, 145,
        76, 83, 168, 91, 136, 167, 6, 115, 211, 108, 189, 29,
    ],
};

/// `guild.core.gated_delta@1`.
pub const GATED_DELTA: CoreOp = CoreOp {
    number: GUILD_OP_GATED_DELTA,
    name: "guild.core.gated_delta",
    version: 1,
    contract: "guild.core.gated_delta@1; in q:f32[rows,key_heads,key_dim] k:f32[rows,key_heads,key_dim] v:f32[rows,value_heads,value_dim] alpha:f32[rows,value_heads] beta:f32[rows,value_heads] a:f32[value_heads] dt:f32[value_heads]; out y:f32[rows,value_heads,value_dim]; params delta{head_order:u32}; state memory:recurrent f32[value_heads,key_dim,value_dim]; alias none; class exact",
    hash: [
        84, 65, 8, 98, 97, 100, 82, 33, 250, 39, 147, 75, 27, 91, 11, 208, 58, 209, 10, 37, 40, 89,
        102, 145, 122, 32, 70, 10, 190, 130, 84, 203,
    ],
};

/// `guild.core.moe_route@1`.
pub const MOE_ROUTE: CoreOp = CoreOp {
    number: GUILD_OP_MOE_ROUTE,
    name: "guild.core.moe_route",
    version: 1,
    contract: "guild.core.moe_route@1; in x:f32[n,hidden] weight:f32|bf16|f16[experts,hidden]; out ids:i32[n,top_k] weights:f32[n,top_k]; params route{top_k:u32,flags:u32}; state none; alias none; class exact",
    hash: [
        100, 85, 126, 182, 248, 165, 180, 12, 146, 126, 147, 58, 123, 68, 2, 58, 163, 80, 118, 23,
        118, 15, 46, 175, 3, 242, 81, 225, 140, 236, 72, 165,
    ],
};

/// `guild.core.moe_experts@1`.
pub const MOE_EXPERTS: CoreOp = CoreOp {
    number: GUILD_OP_MOE_EXPERTS,
    name: "guild.core.moe_experts",
    version: 1,
    contract: "guild.core.moe_experts@1; in x:f32[n,hidden] ids:i32[n,top_k] weights:f32[n,top_k] (gate:*[experts,ff,hidden] up:*[experts,ff,hidden] | gate_up:*[experts,2ff,hidden]) down:*[experts,hidden,ff] (shared_gate:*[sff,hidden] shared_up:*[sff,hidden] shared_down:*[hidden,sff])? (shared_gate_input:f32[hidden])?; out y:f32[n,hidden]; params experts{flags:u32}; state none; alias none; class exact",
    hash: [
        100, 6, 241, 195, 238, 45, 155, 49, 187, 63, 95, 196, 189, 72, 254, 189, 186, 54, 1, 209,
        70, 108, 163, 0, 48, 182, 133, 142, 118, 217, 77, 72,
    ],
};

/// `guild.core.concat@1`.
pub const CONCAT: CoreOp = CoreOp {
    number: GUILD_OP_CONCAT,
    name: "guild.core.concat",
    version: 1,
    contract: "guild.core.concat@1; in a:f32[n,p] b:f32[n,q]; out y:f32[n,p+q]; params none; state none; alias none; class exact",
    hash: [
        89, 186, 118, 152, 238, 117, 25, 178, 218, 83, 194, 161, 34, 121, 107, 62, 35, 62, 128,
        179, 26, 54, 113, 112, 1, 159, 196, 44, 181, 244, 201, 134,
    ],
};

/// Every core operation, by number.
pub const CORE_OPS: &[CoreOp] = &[
    EMBEDDING,
    SELECT_ROWS,
    ADD,
    RMS_NORM,
    GATED_RMS_NORM,
    L2_NORM,
    LINEAR,
    SWIGLU,
    SIGMOID_MUL,
    ROPE,
    ATTENTION,
    CAUSAL_CONV,
    GATED_DELTA,
    MOE_ROUTE,
    MOE_EXPERTS,
    CONCAT,
];

/// The core operation with this name and version.
pub fn core_op(name: &str, version: u32) -> Option<&'static CoreOp> {
    CORE_OPS
        .iter()
        .find(|op| op.name == name && op.version == version)
}
