//! Maps verified packages, negotiates with them and keeps leases.
//!
//! [`load_enabled`] is the way in. For each enabled package it copies the verified bytes into a sealed
//! memory file (`memfd`), maps that file and proves it (`library`), calls the entry (`call`), checks all
//! that the plugin says (`negotiate`) and adds it to the [`Registry`] whole or not at all. Plugins that
//! are linked into the host take the same way from the entry on.
#![deny(unsafe_code)]

pub mod ambient;
mod builtin;
mod call;
pub mod counters;
pub mod error;
mod formats;
mod fp_control;
mod host_table;
mod library;
pub mod load;
mod maps;
mod memfd;
mod negotiate;
pub mod probe;
mod record;
pub mod registry;
mod table;

pub use builtin::Builtin;
pub use call::EntryFn;
pub use counters::{Count, counters};
pub use error::{Code, Fault, LoadError};
pub use load::{
    LeftOut, LeftOutReason, LoadOptions, LoadedPackages, load_builtins, load_enabled,
    refused_by_surroundings, register_builtin,
};
pub use memfd::check_memory_files;
pub use registry::{
    Origin, PackageIdentity, RegisteredOperation, RegisteredPackage, RegisteredRunner,
    Registration, Registry,
};
pub use table::Table;
