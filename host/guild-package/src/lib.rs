//! Bundles, manifests, trust, verification and the package store.
#![forbid(unsafe_code)]

pub mod advisory;
pub mod audit;
pub mod author;
pub mod bundle;
pub mod checkpoint;
pub mod countersign;
mod crc32;
pub mod digest;
mod elf;
pub mod envelope;
pub mod error;
pub mod external;
mod json;
pub mod key;
pub mod limits;
pub mod manifest;
pub mod name;
mod outside;
pub mod preflight;
pub mod probe;
mod ptx;
pub mod receipt;
pub mod rotation;
pub mod seed;
pub mod sign;
pub mod statement;
pub mod store;
pub mod text;
pub mod trust;
pub mod verify;

pub use author::{SignOptions, SignedPackage, sign_package};
pub use digest::Digest;
pub use error::{Code, Error, Result};
pub use key::{KeyId, KeyRecord, KeygenOptions, keygen};
pub use manifest::Manifest;
pub use name::{PackageId, PackageVersion};
pub use receipt::Receipt;
pub use store::{
    ArtifactInfo, InstallOptions, Installed, InstalledPackage, Lease, ListedPackage, ObjectSource,
    Store, StoreOptions,
};
pub use trust::TrustStore;
pub use verify::{VerifiedPackage, VerifyOptions, verify_bundle};
