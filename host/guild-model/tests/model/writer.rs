//! Writes small GGUF files, valid or broken on purpose. It checks nothing.

/// A file under construction.
pub struct Writer {
    pub version: u32,
    pub alignment: usize,
    entries: Vec<Vec<u8>>,
    tensors: Vec<Tensor>,
    /// Overrides the counts in the header.
    pub counts: Option<(u64, u64)>,
    /// Bytes to cut from the end.
    pub cut: usize,
}

pub struct Tensor {
    pub name: String,
    pub shape: Vec<u64>,
    pub ggml_type: u32,
    pub data: Vec<u8>,
    /// Overrides the offset that follows from the order.
    pub offset: Option<u64>,
}

impl Writer {
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

    pub fn entry(&mut self, key: &str, value_type: u32, value: &[u8]) -> &mut Self {
        self.raw_entry(&[&string(key)[..], &value_type.to_le_bytes(), value].concat())
    }

    pub fn raw_entry(&mut self, bytes: &[u8]) -> &mut Self {
        self.entries.push(bytes.to_vec());
        self
    }

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
    pub fn last(&mut self) -> &mut Tensor {
        self.tensors.last_mut().expect("a tensor was added")
    }

    pub fn bytes(&self) -> Vec<u8> {
        let counts = (self.tensors.len() as u64, self.entries.len() as u64);
        let (tensor_count, metadata_count) = self.counts.unwrap_or(counts);
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend(tensor_count.to_le_bytes());
        out.extend(metadata_count.to_le_bytes());
        out.extend(self.entries.concat());
        let mut data = Vec::new();
        for tensor in &self.tensors {
            out.extend(string(&tensor.name));
            out.extend((tensor.shape.len() as u32).to_le_bytes());
            out.extend(tensor.shape.iter().flat_map(|axis| axis.to_le_bytes()));
            out.extend(tensor.ggml_type.to_le_bytes());
            out.extend(tensor.offset.unwrap_or(data.len() as u64).to_le_bytes());
            data.extend(&tensor.data);
            data.resize(data.len().next_multiple_of(self.alignment), 0);
        }
        out.resize(out.len().next_multiple_of(self.alignment), 0);
        out.extend(data);
        out.truncate(out.len() - self.cut);
        out
    }
}

/// A string's encoding.
pub fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

/// An array's encoding.
pub fn array(element_type: u32, elements: &[Vec<u8>]) -> Vec<u8> {
    let head = [
        &element_type.to_le_bytes()[..],
        &(elements.len() as u64).to_le_bytes(),
    ];
    [head.concat(), elements.concat()].concat()
}
