//! The ABI's types, now and in the v1 snapshot, for `abi_stable`'s layout checker.
//!
//! The build script gathers both from their sources. The snapshot is provisional until v1 is
//! frozen: an intended change is taken over by copying the six files of `sdk/guild-abi/src` that
//! `snapshot/v1` holds.
//!
//! Covered: name, size, alignment, order, name and type of every field that can be reached from the
//! root tables, through pointers and through the arguments and results of function pointers. Not
//! covered: values of constants, meaning, and thread rules.
#![forbid(unsafe_code)]
#![allow(non_camel_case_types)]

/// The types as `sdk/guild-abi` has them now.
pub mod current {
    include!(concat!(env!("OUT_DIR"), "/current.rs"));
}

/// The types as they were when v1 was last agreed.
pub mod snapshot_v1 {
    include!(concat!(env!("OUT_DIR"), "/snapshot_v1.rs"));
}

/// The snapshot with another type for one field of a struct that is deep inside.
pub mod changed_field {
    include!(concat!(env!("OUT_DIR"), "/changed_field.rs"));
}

/// The snapshot with another name for one field.
pub mod changed_name {
    include!(concat!(env!("OUT_DIR"), "/changed_name.rs"));
}

/// The snapshot with another type for one argument of a function pointer.
pub mod changed_argument {
    include!(concat!(env!("OUT_DIR"), "/changed_argument.rs"));
}

/// The snapshot with one field more in a struct that is deep inside.
pub mod changed_size {
    include!(concat!(env!("OUT_DIR"), "/changed_size.rs"));
}
