//! A GGUF model on disk as a [`ModelSource`]: one file, or the shards that it is split over.

use std::path::{Path, PathBuf};

use super::locate::{ShardName, entry_file};
use super::split::{Split, Totals, join};
use super::{Gguf, parse};
use crate::error::{ModelError, SplitDamage};
use crate::map::MappedFile;
use crate::metadata::Metadata;
use crate::source::{ContentId, ModelSource, TensorInfo, missing_tensor};

/// An opened, mapped and checked GGUF model. A split model is one `GgufFile` with several shards.
///
/// The metadata and the tensor directory are copies; only tensor data is read through the maps.
#[derive(Debug)]
pub struct GgufFile {
    shards: Vec<Shard>,
    gguf: Gguf,
    huge_pages: bool,
}

/// One of a model's files. A model that isn't split has one.
#[derive(Debug)]
pub struct Shard {
    map: MappedFile,
    version: u32,
    alignment: u64,
    tensors: usize,
}

impl Shard {
    /// Where the file lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.map.path()
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.map.bytes().len() as u64
    }

    /// The container's version, 2 or 3.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// The alignment of tensor data in bytes.
    #[must_use]
    pub const fn alignment(&self) -> u64 {
        self.alignment
    }

    /// Number of tensors in this file.
    #[must_use]
    pub const fn tensor_count(&self) -> usize {
        self.tensors
    }
}

impl GgufFile {
    /// Opens and checks a model: a file, any shard of a split model, or a folder that holds one model. No tensor data is
    /// read.
    ///
    /// # Errors
    /// - [`ModelError::Io`] when a file cannot be opened or mapped, or a folder cannot be read;
    /// - [`ModelError::NoModel`] when a folder has no model, [`ModelError::SeveralModels`] when it has more than one;
    /// - [`ModelError::MissingShard`] when a file of a split model isn't there;
    /// - [`ModelError::Damaged`] when a check fails;
    /// - [`ModelError::Unsupported`] for another version or byte order. A tensor of an unsupported type is no error here:
    ///   the model can be listed, and [`ModelSource::tensor_bytes`] refuses it.
    ///
    /// What is wrong with one of several files comes in a [`ModelError::InShard`] with its path.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let path = entry_file(path)?;
        let name = ShardName::of(&path);
        let opened = open_one(&path, name.as_ref());
        let opened = match &name {
            Some(name) if name.count > 1 => in_shard(&path, opened)?,
            _ => opened?,
        };
        match (opened, name) {
            ((map, gguf, Some(_)), Some(name)) => Self::open_set(map, gguf, &path, &name),
            ((map, gguf, _), _) => Self::new(vec![map], vec![gguf]),
        }
    }

    /// Opens the siblings of a shard that has been opened.
    fn open_set(
        map: MappedFile,
        gguf: Gguf,
        path: &Path,
        name: &ShardName,
    ) -> Result<Self, ModelError> {
        let sibling = |number| path.with_file_name(name.sibling(number));
        for number in 1..=name.count {
            let path = sibling(number);
            // A file that can't be looked at isn't missing.
            match path.try_exists() {
                Ok(true) => {}
                Ok(false) => {
                    return Err(ModelError::MissingShard {
                        number,
                        count: name.count,
                        path,
                    });
                }
                Err(source) => {
                    return Err(ModelError::Io {
                        action: "look for",
                        path,
                        source,
                    });
                }
            }
        }
        let mut totals = Totals::default();
        let (mut maps, mut shards) = (Vec::new(), Vec::new());
        let mut opened = Some((map, gguf));
        for number in 1..=name.count {
            let (map, gguf) = match opened.take_if(|_| number == name.number) {
                Some(opened) => opened,
                None => {
                    let path = sibling(number);
                    let shard = open_one(&path, ShardName::of(&path).as_ref());
                    let (map, gguf, _) = in_shard(&path, shard)?;
                    (map, gguf)
                }
            };
            totals.add(&gguf)?;
            maps.push(map);
            shards.push(gguf);
        }
        Self::new(maps, shards)
    }

    fn new(maps: Vec<MappedFile>, files: Vec<Gguf>) -> Result<Self, ModelError> {
        let shard = |(map, gguf): (MappedFile, &Gguf)| Shard {
            map,
            version: gguf.version,
            alignment: gguf.alignment,
            tensors: gguf.tensors.len(),
        };
        let shards = maps.into_iter().zip(&files).map(shard).collect();
        let model = Self {
            shards,
            gguf: join(files)?,
            huge_pages: false,
        };
        model.check_unchanged()?;
        Ok(model)
    }

    /// The checked container: version and alignment of the first file, metadata, all tensors.
    #[must_use]
    pub const fn gguf(&self) -> &Gguf {
        &self.gguf
    }

    /// The model's files, in the order of their numbers.
    #[must_use]
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// Length of all files together in bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.shards.iter().map(Shard::file_bytes).sum()
    }

    /// Asks for pages of 2 MiB for the files that are long enough, or for small ones only.
    pub fn ask_for_huge_pages(&mut self, on: bool) {
        let shards = self.shards.iter();
        self.huge_pages = shards.fold(false, |any, shard| shard.map.ask_for_huge_pages(on) | any);
    }

    /// Whether touching a page may map one of 2 MiB.
    #[must_use]
    pub const fn has_huge_pages(&self) -> bool {
        self.huge_pages
    }

    /// Reads a part of a tensor's bytes and maps their pages in one call. False for an unknown name, a part outside the
    /// tensor, and where the system can't: then nothing is known of these pages.
    pub fn populate(&self, name: &str, part: core::ops::Range<u64>) -> bool {
        let Some(tensor) = self.tensor(name) else {
            return false;
        };
        let inside = part.start <= part.end && part.end <= tensor.byte_len.unwrap_or(0);
        let shard = self.shard(tensor).filter(|_| inside);
        shard.is_some_and(|shard| {
            let start = tensor.offset + part.start;
            shard.map.populate(start, part.end - part.start)
        })
    }

    fn shard(&self, tensor: &TensorInfo) -> Option<&Shard> {
        self.shards.get(tensor.shard as usize)
    }

    /// The bytes of `tensor`, whose bounds the parser has checked against its shard's map.
    fn slice(&self, tensor: &TensorInfo) -> Option<&[u8]> {
        let start = usize::try_from(tensor.offset).ok()?;
        let len = usize::try_from(tensor.byte_len?).ok()?;
        self.shard(tensor)?.map.bytes().get(start..)?.get(..len)
    }

    /// Says which of several files an error is about.
    fn of_shard<T>(&self, shard: &Shard, result: Result<T, ModelError>) -> Result<T, ModelError> {
        match self.shards.len() {
            1 => result,
            _ => in_shard(shard.path(), result),
        }
    }
}

/// Maps and checks one file, and compares its name with what its metadata says about a split.
fn open_one(
    path: &Path,
    name: Option<&ShardName>,
) -> Result<(MappedFile, Gguf, Option<Split>), ModelError> {
    let mut map = MappedFile::open(path)?;
    let gguf = parse(map.bytes())?;
    // The directory is copied by now, and it may be many megabytes.
    map.release();
    let split = Split::of(&gguf)?;
    let stated = split.map(|split| (split.number + 1, split.count));
    let named = name.map(|name| (name.number, name.count));
    // A set of one is a whole model.
    if stated == named.filter(|&(_, count)| count > 1) {
        return Ok((map, gguf, split));
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    Err(SplitDamage::Name {
        file: file.into_owned(),
        named,
        stated,
    }
    .into())
}

fn in_shard<T>(path: &Path, result: Result<T, ModelError>) -> Result<T, ModelError> {
    result.map_err(|error| ModelError::InShard {
        path: PathBuf::from(path),
        error: Box::new(error),
    })
}

impl ModelSource for GgufFile {
    fn metadata(&self) -> &Metadata {
        &self.gguf.metadata
    }

    fn tensors(&self) -> &[TensorInfo] {
        &self.gguf.tensors
    }

    fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.gguf.tensor(name)
    }

    fn tensor_bytes(&self, name: &str) -> Result<&[u8], ModelError> {
        let tensor = self.tensor(name).ok_or_else(|| missing_tensor(name))?;
        tensor.format()?;
        let shard = self.shard(tensor).ok_or_else(|| missing_tensor(name))?;
        self.of_shard(shard, shard.map.check_unchanged())?;
        self.slice(tensor).ok_or_else(|| missing_tensor(name))
    }

    fn check_unchanged(&self) -> Result<(), ModelError> {
        let mut shards = self.shards.iter();
        shards.try_for_each(|shard| self.of_shard(shard, shard.map.check_unchanged()))
    }

    fn prefetch(&self, name: &str) {
        if let Some(tensor) = self.tensor(name)
            && let Some(byte_len) = tensor.byte_len
            && let Some(shard) = self.shard(tensor)
        {
            shard.map.prefetch(tensor.offset, byte_len);
        }
    }

    fn content_id(&self, tensor: &TensorInfo) -> ContentId {
        let identity = self.shard(tensor).map(|shard| shard.map.identity());
        ContentId::new(&identity.unwrap_or_default(), tensor)
    }
}
