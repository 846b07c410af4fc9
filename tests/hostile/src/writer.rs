//! Writes small GGUF files, valid or broken on purpose. It checks nothing.

/// A file under construction.
#[derive(Clone, Debug)]
pub struct Writer {
    /// The container's version.
    pub version: u32,
    /// Bytes that tensor data is padded to. The file says so only where an entry `general.alignment` is added.
    pub alignment: usize,
    entries: Vec<Entry>,
    tensors: Vec<Tensor>,
    /// Overrides the tensor count and the metadata count in the header.
    pub counts: Option<(u64, u64)>,
    /// Bytes to cut from the end.
    pub cut: usize,
}

/// An encoded metadata entry.
#[derive(Clone, Debug)]
struct Entry {
    /// `None` where the entry was given as bytes.
    key: Option<String>,
    bytes: Vec<u8>,
}

/// A tensor under construction.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The name, as bytes: it need not be UTF-8.
    pub name: Vec<u8>,
    /// Elements along each axis, contiguous axis first.
    pub shape: Vec<u64>,
    /// The type's number.
    pub ggml_type: u32,
    /// The stored bytes.
    pub data: Vec<u8>,
    /// Overrides the offset that follows from the order.
    pub offset: Option<u64>,
}

/// A metadata value: its type's number and its encoding.
pub type Encoded = (u32, Vec<u8>);

impl Writer {
    /// A version 3 file without entries and tensors.
    #[must_use]
    pub fn new() -> Self {
        Self {
            version: 3,
            alignment: 32,
            entries: vec![],
            tensors: vec![],
            counts: None,
            cut: 0,
        }
    }

    /// A file with one entry of each kind and three tensors.
    #[must_use]
    pub fn sample() -> Self {
        let mut writer = Self::new();
        writer
            .entry("general.architecture", 8, &string("sample"))
            .entry("a.u32", 4, &7u32.to_le_bytes())
            .entry("a.i64", 11, &(-5i64).to_le_bytes())
            .entry("a.f32", 6, &0.5f32.to_le_bytes())
            .entry("a.bool", 7, &[1])
            .entry("a.strings", 9, &array(8, &[string("one"), string("zwei")]))
            .entry(
                "a.numbers",
                9,
                &array(
                    5,
                    &[3i32.to_le_bytes().to_vec(), (-3i32).to_le_bytes().to_vec()],
                ),
            )
            .tensor("weight", &[32, 2], 2, vec![0x11; 36])
            .tensor("bias", &[3], 0, vec![0x22; 12])
            .tensor("scalar", &[], 0, vec![0x33; 4]);
        writer
    }

    /// Adds a metadata entry.
    pub fn entry(&mut self, key: &str, value_type: u32, value: &[u8]) -> &mut Self {
        self.entries.push(entry(key, value_type, value));
        self
    }

    /// Adds bytes where a metadata entry should stand.
    pub fn raw_entry(&mut self, bytes: &[u8]) -> &mut Self {
        self.entries.push(Entry {
            key: None,
            bytes: bytes.to_vec(),
        });
        self
    }

    /// Gives `key` another value, in its place or at the end.
    pub fn set(&mut self, key: &str, (value_type, value): Encoded) -> &mut Self {
        let new = entry(key, value_type, &value);
        let old = self.entries.iter_mut();
        match old.into_iter().find(|old| old.key == new.key) {
            Some(old) => *old = new,
            None => self.entries.push(new),
        }
        self
    }

    /// Removes the entry `key`.
    pub fn remove(&mut self, key: &str) -> &mut Self {
        self.entries
            .retain(|entry| entry.key.as_deref() != Some(key));
        self
    }

    /// Adds a tensor.
    pub fn tensor(
        &mut self,
        name: &str,
        shape: &[u64],
        ggml_type: u32,
        data: Vec<u8>,
    ) -> &mut Self {
        self.tensors.push(Tensor {
            name: name.into(),
            shape: shape.to_vec(),
            ggml_type,
            data,
            offset: None,
        });
        self
    }

    /// The tensor added last.
    ///
    /// # Panics
    /// When there is none.
    pub fn last(&mut self) -> &mut Tensor {
        self.tensors.last_mut().expect("a tensor was added")
    }

    /// The tensor of this name.
    ///
    /// # Panics
    /// When there is none.
    pub fn find(&mut self, name: &str) -> &mut Tensor {
        let mut tensors = self.tensors.iter_mut();
        let found = tensors.find(|tensor| tensor.name == name.as_bytes());
        found.expect("the tensor was added")
    }

    /// All tensors, in the order of the file.
    pub fn tensors_mut(&mut self) -> impl Iterator<Item = &mut Tensor> {
        self.tensors.iter_mut()
    }

    /// Removes the tensor `name`.
    pub fn remove_tensor(&mut self, name: &str) -> &mut Self {
        self.tensors.retain(|tensor| tensor.name != name.as_bytes());
        self
    }

    /// Number of tensors and of metadata entries.
    #[must_use]
    pub fn counted(&self) -> (u64, u64) {
        (self.tensors.len() as u64, self.entries.len() as u64)
    }

    /// Spreads the tensors over `count` files as llama.cpp's `llama-gguf-split` does: the first file keeps the metadata.
    #[must_use]
    pub fn split(&self, count: u16) -> Vec<Writer> {
        let tensors = self.tensors.len();
        let each = tensors.div_ceil(usize::from(count)).max(1);
        let mut chunks = self.tensors.chunks(each);
        let shard = |number: u16| {
            let mut shard = Writer {
                entries: match number {
                    0 => self.entries.clone(),
                    _ => vec![],
                },
                tensors: chunks.next().unwrap_or_default().to_vec(),
                ..self.clone()
            };
            shard
                .set("split.no", u16(number))
                .set("split.count", u16(count))
                .set("split.tensors.count", i32(tensors as i32));
            shard
        };
        (0..count).map(shard).collect()
    }

    /// The file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let (tensor_count, metadata_count) = self.counts.unwrap_or_else(|| self.counted());
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend(tensor_count.to_le_bytes());
        out.extend(metadata_count.to_le_bytes());
        for entry in &self.entries {
            out.extend(&entry.bytes);
        }
        let mut data = Vec::new();
        for tensor in &self.tensors {
            out.extend((tensor.name.len() as u64).to_le_bytes());
            out.extend(&tensor.name);
            out.extend((tensor.shape.len() as u32).to_le_bytes());
            out.extend(tensor.shape.iter().flat_map(|axis| axis.to_le_bytes()));
            out.extend(tensor.ggml_type.to_le_bytes());
            out.extend(tensor.offset.unwrap_or(data.len() as u64).to_le_bytes());
            data.extend(&tensor.data);
            data.resize(data.len().next_multiple_of(self.alignment), 0);
        }
        out.resize(out.len().next_multiple_of(self.alignment), 0);
        out.extend(data);
        out.truncate(out.len().saturating_sub(self.cut));
        out
    }
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

fn entry(key: &str, value_type: u32, value: &[u8]) -> Entry {
    Entry {
        key: Some(key.to_owned()),
        bytes: [&string(key)[..], &value_type.to_le_bytes(), value].concat(),
    }
}

/// A string's encoding.
#[must_use]
pub fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

/// An array's encoding.
#[must_use]
pub fn array(element_type: u32, elements: &[Vec<u8>]) -> Vec<u8> {
    let head = [
        &element_type.to_le_bytes()[..],
        &(elements.len() as u64).to_le_bytes(),
    ];
    [head.concat(), elements.concat()].concat()
}

/// A `u16`.
#[must_use]
pub fn u16(number: u16) -> Encoded {
    (2, number.to_le_bytes().to_vec())
}

/// A `u32`.
#[must_use]
pub fn u32(number: u32) -> Encoded {
    (4, number.to_le_bytes().to_vec())
}

/// An `i32`.
#[must_use]
pub fn i32(number: i32) -> Encoded {
    (5, number.to_le_bytes().to_vec())
}

/// An `f32`.
#[must_use]
pub fn f32(number: f32) -> Encoded {
    (6, number.to_le_bytes().to_vec())
}

/// A boolean.
#[must_use]
pub fn boolean(flag: bool) -> Encoded {
    (7, vec![flag.into()])
}

/// A string.
#[must_use]
pub fn text(text: &str) -> Encoded {
    (8, string(text))
}

/// An array of strings.
#[must_use]
pub fn texts<T: AsRef<str>>(texts: &[T]) -> Encoded {
    let texts: Vec<_> = texts.iter().map(|text| string(text.as_ref())).collect();
    (9, array(8, &texts))
}

/// An array of `i32`.
#[must_use]
pub fn i32s(numbers: &[i32]) -> Encoded {
    let numbers: Vec<_> = numbers.iter().map(|n| n.to_le_bytes().to_vec()).collect();
    (9, array(5, &numbers))
}

/// An array of `f32`.
#[must_use]
pub fn f32s(numbers: &[f32]) -> Encoded {
    let numbers: Vec<_> = numbers.iter().map(|n| n.to_le_bytes().to_vec()).collect();
    (9, array(6, &numbers))
}
