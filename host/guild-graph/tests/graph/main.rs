//! The whole path from a description to a run, with a model and a plugin made for the purpose.

mod describe;
mod model;
mod plan;
mod plugin;
mod run;
mod script;

use guild_hostile::writer;
