//! The contracts of the core operations, checked while a runner describes.
//!
//! One file per operation states what its contract in `docs/ops.md` asks for, in the same order and
//! with the same names. Operations of other namespaces have no contract here: only the builder's
//! general checks apply to them, and the provider's `supports` decides.

mod add;
mod attention;
#[cfg(test)]
mod cases;
mod causal_conv;
mod concat;
mod embedding;
mod gated_delta;
mod gated_rms_norm;
mod l2_norm;
mod linear;
mod moe_experts;
mod moe_route;
mod norm_params;
mod operands;
mod rms_norm;
mod rope;
mod select_rows;
mod sigmoid_mul;
mod swiglu;

pub(crate) use operands::Operands;

use guild_abi::contract::CoreOp;

use crate::error::Mismatch;

/// One operation's contract.
pub(crate) trait Contract: Sync {
    /// Name, version and hash.
    fn op(&self) -> &'static CoreOp;

    /// Checks counts, formats, shapes, states and parameters of a described node.
    fn check(&self, node: &mut Operands<'_>) -> Result<(), Mismatch>;

    /// The output that may take an input's memory, as `(output, input)` operand numbers.
    fn alias(&self) -> Option<(usize, usize)> {
        None
    }
}

/// Every contract, by operation number.
const CONTRACTS: &[&dyn Contract] = &[
    &embedding::Embedding,
    &select_rows::SelectRows,
    &add::Add,
    &rms_norm::RmsNorm,
    &gated_rms_norm::GatedRmsNorm,
    &l2_norm::L2Norm,
    &linear::Linear,
    &swiglu::Swiglu,
    &sigmoid_mul::SigmoidMul,
    &rope::Rope,
    &attention::Attention,
    &causal_conv::CausalConv,
    &gated_delta::GatedDelta,
    &moe_route::MoeRoute,
    &moe_experts::MoeExperts,
    &concat::Concat,
];

/// The contract of a core operation.
pub(crate) fn contract(name: &str, version: u32) -> Option<&'static dyn Contract> {
    let mut all = CONTRACTS.iter().copied();
    all.find(|contract| contract.op().name == name && contract.op().version == version)
}

/// Whether the host itself defines the operations of this name's namespace.
pub(crate) fn is_core(name: &str) -> bool {
    name.starts_with("guild.core.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use guild_abi::contract::CORE_OPS;

    #[test]
    fn every_core_operation_has_its_contract_and_its_alias() {
        assert_eq!(CONTRACTS.len(), CORE_OPS.len());
        for op in CORE_OPS {
            let contract = contract(op.name, op.version).expect(op.name);
            let none = op.contract.contains("; alias none;");
            assert_eq!(contract.alias().is_none(), none, "{}", op.name);
        }
    }
}
