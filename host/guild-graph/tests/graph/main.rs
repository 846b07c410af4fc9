//! The whole path from a description to a run, with a model and a plugin made for the purpose.

mod describe;
mod model;
mod plan;
mod plugin;
mod run;
mod script;
#[allow(
    dead_code,
    reason = "shared with the tests of guild-model, which use all of it"
)]
#[path = "../../../guild-model/tests/model/writer.rs"]
mod writer;
