//! The package crate from outside: every hostile shape is built by code, must be refused with its own
//! code, and must leave the store byte for byte as it was. Test names carry the rows of the threat table.

mod advisory;
mod advisory_authority;
mod advisory_form;
mod archive;
mod audit;
mod audit_cut_off;
mod audit_flood;
mod audit_killed;
mod checkpoint;
mod desk;
mod elf;
mod envelope;
mod external;
mod fault;
mod fixture;
mod installed;
mod lease;
mod library;
mod making;
mod manifest;
mod other_readers;
#[path = "../../../guild-crash/src/package_toml.rs"]
mod package_toml;
mod preflight;
mod preflight_readers;
mod providers;
mod receipt;
mod recorded;
mod records;
mod recovery;
mod removal;
mod repair;
mod revocation;
mod rotation;
mod schema;
mod selection;
#[path = "../../../guild-crash/src/library.rs"]
mod small_library;
mod store;
mod threats;
mod trust;
mod uncounted;
#[path = "../../../guild-crash/src/unprobed.rs"]
mod unprobed;
mod users;
mod versions;
