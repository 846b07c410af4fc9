//! What can be wrong between the files of a split model.

use super::{Damage, ModelError};

/// A contradiction between the files of a split model. Shards are counted from 1, as in their names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitDamage {
    /// There is no file at all.
    #[error("there is no shard")]
    NoShard,
    /// A file's name and its metadata say different places.
    #[error("the name {file:?} says {}, the metadata says {}", place(*named), place(*stated))]
    Name {
        /// The file name.
        file: String,
        /// Number and count in the name; `None` when it isn't a shard's name.
        named: Option<(u64, u64)>,
        /// Number and count in the metadata; `None` for a whole model.
        stated: Option<(u64, u64)>,
    },
    /// A file's number isn't below its count.
    #[error("split.no is {number}, from 0, and split.count is {count}")]
    NumberBeyondCount {
        /// `split.no`.
        number: u64,
        /// `split.count`.
        count: u64,
    },
    /// A file among several says that it is a whole model.
    #[error("shard {shard} says that it is a whole model")]
    WholeModel {
        /// The shard.
        shard: u64,
    },
    /// A file says another place than it has.
    #[error("shard {shard} of {shards} says that it is shard {number} of {count}")]
    OtherPlace {
        /// The shard.
        shard: u64,
        /// Shards that there are.
        shards: u64,
        /// The place that it says, from 1.
        number: u64,
        /// The count that it says.
        count: u64,
    },
    /// The shards hold another number of tensors than they say.
    #[error("split.tensors.count is {stated}, the files hold {found} tensors")]
    TensorCount {
        /// `split.tensors.count`.
        stated: u64,
        /// Tensors in all files.
        found: u64,
    },
    /// Two shards have a tensor of the same name.
    #[error("the tensor {name:?} is in shard {first} and in shard {second}")]
    DuplicateTensor {
        /// The name.
        name: String,
        /// The first shard that has it.
        first: u64,
        /// The second.
        second: u64,
    },
    /// Two shards have different container versions.
    #[error("shard {shard} is GGUF version {found}, shard 1 is version {first}")]
    Version {
        /// The shard.
        shard: u64,
        /// Its version.
        found: u32,
        /// The first shard's.
        first: u32,
    },
    /// A metadata entry of a later shard says something else than the first shard's.
    #[error("the metadata key {key:?} of shard {shard} contradicts shard 1")]
    MetadataDiffers {
        /// The key.
        key: String,
        /// The shard.
        shard: u64,
    },
    /// A metadata entry stands in a later shard alone.
    #[error(
        "the metadata key {key:?} stands in shard {shard} and not in shard 1, which holds the model's metadata"
    )]
    MetadataOutsideFirst {
        /// The key.
        key: String,
        /// The shard.
        shard: u64,
    },
}

/// A place in a set, for people.
fn place(place: Option<(u64, u64)>) -> String {
    place.map_or("a whole model".to_owned(), |(number, count)| {
        format!("shard {number} of {count}")
    })
}

impl From<SplitDamage> for ModelError {
    fn from(damage: SplitDamage) -> Self {
        Self::Damaged(Damage::Split(damage))
    }
}
