//! Generated from sdk/guild-abi by tests/c-abi; don't edit.

/// SHA-256 of `guild/layout.h`, which fixes the size and offset of every field of the ABI.
pub const GUILD_ABI_TABLE_HASH: &str =
    "97dcdbf5de615eed216b0d2cf97eefb4dc60d590f7c616d76fe3aca69f41bdd3";
