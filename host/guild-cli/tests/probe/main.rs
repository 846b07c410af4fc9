//! Trial runs of packages by the real binary: what it shuts in, what it finds, and that nothing which fails
//! one changes the store. Test names carry the rows of the threat table.

mod accepted;
#[path = "../../../guild-loader/tests/load/fixture.rs"]
#[allow(
    dead_code,
    reason = "shared with the loader's tests, which load what is installed"
)]
mod fixture;
mod golden;
#[path = "../../../guild-crash/src/package_toml.rs"]
mod package_toml;
mod refused;
mod shut_in;
mod starting;
mod trial;
#[path = "../../../guild-crash/src/unprobed.rs"]
mod unprobed;
