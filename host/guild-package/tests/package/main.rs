//! The package crate from outside: every hostile shape is built by code, must be refused with its own
//! code, and must leave the store byte for byte as it was. Test names carry the rows of the threat table.

mod archive;
mod elf;
mod envelope;
mod fault;
mod fixture;
mod lease;
mod manifest;
mod receipt;
mod records;
mod recovery;
mod removal;
mod revocation;
mod schema;
mod selection;
mod store;
mod trust;
mod unprobed;
mod versions;
mod zip_crate;
