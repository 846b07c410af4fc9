//! Models that are split over several files ("shards"): what each file says about its set, and how checked shards become
//! one model.
//!
//! The keys are those of llama.cpp's `llama-gguf-split`: `split.no` from 0, `split.count`, and `split.tensors.count`, the
//! number of tensors in all shards together. The first shard holds the model's metadata.

use super::Gguf;
use super::cursor::check_limit;
use super::limits::{METADATA_BYTES_MAX, METADATA_COUNT_MAX, SHARD_COUNT_MAX, TENSOR_COUNT_MAX};
use crate::error::{Damage, ModelError, SplitDamage};
use crate::name_index::NameIndex;
use crate::source::TensorInfo;

const NUMBER: &str = "split.no";
const COUNT: &str = "split.count";
const TENSORS: &str = "split.tensors.count";

/// What a file says about the set of files that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The file's place in the set, from 0.
    pub number: u64,
    /// Files in the set, at least 2.
    pub count: u64,
    /// Tensors in all files together.
    pub tensors: u64,
}

impl Split {
    /// What `gguf` says; `None` for a whole model. A count of 0 or 1 says "whole" (a merged file says 0); then the other
    /// two keys must not say otherwise.
    ///
    /// # Errors
    /// [`Damage::MissingKey`], [`Damage::WrongType`], [`SplitDamage`] or [`Damage::OverLimit`].
    pub fn of(gguf: &Gguf) -> Result<Option<Split>, ModelError> {
        let metadata = &gguf.metadata;
        let count = metadata.get::<u64>(COUNT)?.unwrap_or(0);
        if count <= 1 {
            let number = metadata.get::<u64>(NUMBER)?.unwrap_or(0);
            if number > 0 {
                return Err(SplitDamage::NumberBeyondCount { number, count }.into());
            }
            if let Some(stated) = metadata.get::<u64>(TENSORS)? {
                check_tensor_count(stated, gguf.tensors.len() as u64)?;
            }
            return Ok(None);
        }
        check_limit(COUNT, count, SHARD_COUNT_MAX)?;
        let number = metadata.require::<u64>(NUMBER)?;
        if number >= count {
            return Err(SplitDamage::NumberBeyondCount { number, count }.into());
        }
        Ok(Some(Split {
            number,
            count,
            tensors: metadata.require(TENSORS)?,
        }))
    }
}

/// Counts what the shards of one model hold together; each addition is checked against the limits of one file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    tensors: u64,
    entries: u64,
    metadata_bytes: u64,
}

impl Totals {
    /// Adds one shard.
    pub(super) fn add(&mut self, shard: &Gguf) -> Result<(), Damage> {
        self.tensors += shard.tensors.len() as u64;
        self.entries += shard.metadata.len() as u64;
        self.metadata_bytes += shard.metadata.encoded_bytes();
        check_limit(
            "the tensor count of all shards",
            self.tensors,
            TENSOR_COUNT_MAX,
        )?;
        check_limit(
            "the metadata count of all shards",
            self.entries,
            METADATA_COUNT_MAX,
        )?;
        check_limit(
            "the size in bytes of all shards' metadata",
            self.metadata_bytes,
            METADATA_BYTES_MAX,
        )
    }
}

/// Joins checked files to one model: shard 0's version, alignment and metadata, everybody's tensors, each with the number
/// of its shard. `shards` are in the order of their numbers; one whole file is a set of one.
///
/// # Errors
/// [`SplitDamage`] where the shards contradict each other, [`Damage::OverLimit`] where they hold more than one file may,
/// and what [`Split::of`] gives.
pub fn join(mut shards: Vec<Gguf>) -> Result<Gguf, ModelError> {
    let mut totals = Totals::default();
    for shard in &shards {
        totals.add(shard)?;
    }
    check_numbers(&shards)?;
    if let Some((first, others)) = shards.split_first() {
        for (shard, number) in others.iter().zip(2..) {
            check_agreement(first, shard, number)?;
        }
    }
    let mut tensors = Vec::new();
    for (shard, number) in shards.iter_mut().zip(0..) {
        let of_shard = std::mem::take(&mut shard.tensors).into_iter();
        tensors.extend(of_shard.map(|tensor| TensorInfo {
            shard: number,
            ..tensor
        }));
    }
    let first = shards.into_iter().next().ok_or(SplitDamage::NoShard)?;
    let by_name =
        NameIndex::new(&tensors, TensorInfo::name).map_err(|name| duplicate(&tensors, name))?;
    Ok(Gguf {
        tensors,
        by_name,
        ..first
    })
}

/// Each shard says the place that it has, and all of them the same counts.
fn check_numbers(shards: &[Gguf]) -> Result<(), ModelError> {
    let [_, _, ..] = shards else {
        return Ok(());
    };
    let count = shards.len() as u64;
    let found: u64 = shards.iter().map(|shard| shard.tensors.len() as u64).sum();
    for (shard, place) in shards.iter().zip(0..) {
        let stated = Split::of(shard)?;
        let stated = stated.ok_or(SplitDamage::WholeModel { shard: place + 1 })?;
        if (stated.number, stated.count) != (place, count) {
            return Err(SplitDamage::OtherPlace {
                shard: place + 1,
                shards: count,
                number: stated.number + 1,
                count: stated.count,
            }
            .into());
        }
        check_tensor_count(stated.tensors, found)?;
    }
    Ok(())
}

fn check_tensor_count(stated: u64, found: u64) -> Result<(), ModelError> {
    if stated == found {
        return Ok(());
    }
    Err(SplitDamage::TensorCount { stated, found }.into())
}

/// Shard `number` (from 1) has the first one's version, and says nothing about the model that the first doesn't say.
fn check_agreement(first: &Gguf, shard: &Gguf, number: u64) -> Result<(), SplitDamage> {
    if shard.version != first.version {
        return Err(SplitDamage::Version {
            shard: number,
            found: shard.version,
            first: first.version,
        });
    }
    let own = [NUMBER, COUNT, TENSORS, "general.alignment"];
    let of_model = shard.metadata.iter().filter(|(key, _)| !own.contains(key));
    for (key, value) in of_model {
        let key = || key.to_owned();
        match first.metadata.value(&key()) {
            None => {
                return Err(SplitDamage::MetadataOutsideFirst {
                    key: key(),
                    shard: number,
                });
            }
            Some(in_first) if in_first != value => {
                return Err(SplitDamage::MetadataDiffers {
                    key: key(),
                    shard: number,
                });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn duplicate(tensors: &[TensorInfo], name: String) -> SplitDamage {
    let mut shards = tensors.iter().filter(|tensor| tensor.name == name);
    let mut next = || {
        shards
            .next()
            .map_or(0, |tensor| u64::from(tensor.shard) + 1)
    };
    SplitDamage::DuplicateTensor {
        first: next(),
        second: next(),
        name,
    }
}
