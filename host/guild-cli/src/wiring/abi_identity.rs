//! The digests that tie a package to this build of the ABI.

use guild_abi::contract::CORE_OPS;
use guild_package::Digest;
use guild_package::name::ProvidedName;
use std::collections::BTreeMap;

/// SHA-256 of the generated layout header: sizes and offsets of every struct of the ABI.
pub fn abi_table_hash() -> Digest {
    Digest::of(include_bytes!("../../../../include/guild/layout.h"))
}

/// Contract digests of the core operations, by name with version.
pub fn contract_hashes() -> BTreeMap<ProvidedName, Digest> {
    let hash = |op: &guild_abi::contract::CoreOp| {
        let name = format!("{}@{}", op.name, op.version).parse().ok()?;
        Some((name, Digest::of(op.contract.as_bytes())))
    };
    CORE_OPS.iter().filter_map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_operation_has_its_contract_hash() {
        let hashes = contract_hashes();
        assert_eq!(hashes.len(), CORE_OPS.len());
        for op in CORE_OPS {
            let name = format!("{}@{}", op.name, op.version).parse().unwrap();
            assert_eq!(hashes[&name], Digest::from_bytes(op.hash));
        }
    }
}
