//! The loader from outside: C plugins are built, signed, installed and loaded as a user's would be. Each
//! hostile one breaks one rule, and must be refused with its own code and a message that names it.

mod accepted;
mod fixture;
#[path = "../../../guild-crash/src/package_toml.rs"]
mod package_toml;
mod refused;
mod selection;
mod surroundings;
#[path = "../../../guild-crash/src/unprobed.rs"]
mod unprobed;
