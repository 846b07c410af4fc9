//! Golden vectors: calls of one operation with the bytes that must come out, in a small binary file that a
//! package brings and a host runs before the package becomes active (`docs/package-format.md`, section 18).
//!
//! The reader takes hostile bytes: every length is compared with what is left before anything is allocated,
//! and what it gives is laid out without a further check.

use crate::case::{Case, Operand, SequenceRows};
use core::fmt;
use guild_abi::contract::{CoreOp, core_op};
use guild_abi::formats::GUILD_LAYOUT_FILE;
use guild_sdk::format;

/// Largest file, in bytes.
pub const FILE_MAX_BYTES: usize = 1 << 20;
/// The first bytes of a file; the last one is the version.
const MAGIC: &[u8; 8] = b"GUILDGV1";
const NAME_MAX_BYTES: usize = 120;
const VECTORS_MAX: u16 = 256;
const PARAMS_MAX_BYTES: usize = 4096;
const TENSORS_MAX: u8 = 16;
const RANK_MAX: u8 = 6;
/// The flag of a tensor whose first axis is the rows of the call.
const DYNAMIC: u8 = 1;

/// The vectors of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors {
    /// The operation without its version.
    pub op: String,
    /// Its version.
    pub version: u32,
    /// The calls, at least one.
    pub vectors: Vec<Vector>,
}

/// One call, and what must come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Its name, for messages.
    pub name: String,
    /// Rows of the call.
    pub rows: u32,
    /// Bytes of the parameter struct.
    pub params: Vec<u8>,
    /// Inputs in the contract's order.
    pub inputs: Vec<Tensor>,
    /// Outputs in the contract's order.
    pub outputs: Vec<Tensor>,
}

/// One dense tensor, outermost axis first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// `GUILD_FORMAT_*`.
    pub format: u32,
    /// Whether axis 0 is the rows of the call.
    pub dynamic: bool,
    /// Elements along each axis.
    pub shape: Vec<u32>,
    /// The elements.
    pub bytes: Vec<u8>,
}

/// Why bytes are no file of golden vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Byte at which reading stopped.
    pub at: usize,
    /// The rule that was broken.
    pub rule: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.rule)
    }
}

impl core::error::Error for Malformed {}

impl Vectors {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Malformed`] for any deviation from the format.
    pub fn decode(bytes: &[u8]) -> Result<Vectors, Malformed> {
        let mut reader = Reader { bytes, at: 0 };
        if bytes.len() > FILE_MAX_BYTES {
            return Err(reader.malformed("it is larger than 1 MiB"));
        }
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(reader.malformed("it does not begin with GUILDGV1"));
        }
        let name = reader.text()?;
        let (op, version) = operation(&name)
            .ok_or_else(|| reader.malformed("the operation is not written org.name.op@N"))?;
        let count = reader.u16()?;
        if !(1..=VECTORS_MAX).contains(&count) {
            return Err(reader.malformed("there are not 1 to 256 vectors"));
        }
        let vectors = (0..count)
            .map(|_| reader.vector())
            .collect::<Result<_, _>>()?;
        match reader.at == bytes.len() {
            true => Ok(Vectors {
                op,
                version,
                vectors,
            }),
            false => Err(reader.malformed("there is more after the last vector")),
        }
    }

    /// Writes a file.
    ///
    /// # Errors
    /// [`Malformed`] for vectors that [`Vectors::decode`] would refuse.
    pub fn encode(&self) -> Result<Vec<u8>, Malformed> {
        let mut out = MAGIC.to_vec();
        put_text(&mut out, &format!("{}@{}", self.op, self.version));
        out.extend((self.vectors.len() as u16).to_le_bytes());
        for vector in &self.vectors {
            put_text(&mut out, &vector.name);
            out.extend(vector.rows.to_le_bytes());
            out.extend((vector.params.len() as u32).to_le_bytes());
            out.extend(&vector.params);
            for tensors in [&vector.inputs, &vector.outputs] {
                out.push(tensors.len() as u8);
                tensors
                    .iter()
                    .for_each(|tensor| put_tensor(&mut out, tensor));
            }
        }
        // Lengths that don't fit their fields don't come back.
        match Vectors::decode(&out)? == *self {
            true => Ok(out),
            false => Err(Malformed {
                at: out.len(),
                rule: "a list or text is too long",
            }),
        }
    }

    /// The vectors of cases of one operation, which have no states and dense operands.
    #[must_use]
    pub fn of(cases: &[Case]) -> Option<Vectors> {
        let first = cases.first()?;
        let vectors = cases.iter().map(|case| {
            let plain = case.states.is_empty() && !case.in_place && !case.invalid;
            let same = case.op.name == first.op.name && case.op.version == first.op.version;
            (same && plain).then(|| Vector {
                name: case.name.clone(),
                rows: case.rows as u32,
                params: case.params.clone(),
                inputs: case.inputs.iter().map(Tensor::of).collect(),
                outputs: case.outputs.iter().map(Tensor::of).collect(),
            })
        });
        Some(Vectors {
            op: first.op.name.to_owned(),
            version: first.op.version,
            vectors: vectors.collect::<Option<_>>()?,
        })
    }

    /// The calls as cases. An operation that isn't the host's is kept in memory for the life of the process.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        let op = core_op(&self.op, self.version).unwrap_or_else(|| {
            Box::leak(Box::new(CoreOp {
                number: 0,
                name: self.op.clone().leak(),
                version: self.version,
                contract: "",
                hash: [0; 32],
            }))
        });
        let case = |vector: &Vector| Case {
            name: vector.name.clone(),
            op,
            params: vector.params.clone(),
            inputs: vector.inputs.iter().map(Tensor::operand).collect(),
            outputs: vector.outputs.iter().map(Tensor::operand).collect(),
            states: Vec::new(),
            rows: vector.rows as usize,
            sequences: vec![SequenceRows::plain(vector.rows as usize)],
            in_place: false,
            invalid: false,
            tolerance: None,
        };
        self.vectors.iter().map(case).collect()
    }
}

impl Tensor {
    fn of(operand: &Operand) -> Tensor {
        Tensor {
            format: operand.format,
            dynamic: operand.dynamic,
            shape: operand.shape.iter().map(|&n| n as u32).collect(),
            bytes: operand.bytes.clone(),
        }
    }

    fn operand(&self) -> Operand {
        Operand {
            format: self.format,
            shape: self.shape.iter().map(|&n| n as usize).collect(),
            bytes: self.bytes.clone(),
            dynamic: self.dynamic,
            row_gap: 0,
            head_gap: 0,
            layout: GUILD_LAYOUT_FILE,
        }
    }

    /// Bytes that a tensor of this format and shape has.
    fn byte_len(&self) -> Option<usize> {
        let (last, outer) = self.shape.split_last()?;
        let row = format::storage(self.format)?.row_bytes(*last as usize)?;
        outer
            .iter()
            .try_fold(row, |bytes, &n| bytes.checked_mul(n as usize))
    }
}

/// `org.name.op@N` in its two parts.
fn operation(text: &str) -> Option<(String, u32)> {
    let (op, version) = text.split_once('@')?;
    let number: u32 = version.parse().ok()?;
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
    let sound = !op.is_empty() && op.bytes().all(plain) && number.to_string() == version;
    sound.then(|| (op.to_owned(), number))
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text.as_bytes());
}

fn put_tensor(out: &mut Vec<u8>, tensor: &Tensor) {
    out.extend(tensor.format.to_le_bytes());
    out.push(if tensor.dynamic { DYNAMIC } else { 0 });
    out.push(tensor.shape.len() as u8);
    tensor
        .shape
        .iter()
        .for_each(|n| out.extend(n.to_le_bytes()));
    out.extend((tensor.bytes.len() as u32).to_le_bytes());
    out.extend(&tensor.bytes);
}

/// Reads from the front; no length is believed before as many bytes are there.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn malformed(&self, rule: &'static str) -> Malformed {
        Malformed { at: self.at, rule }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(len);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| self.malformed("it ends too early"))?;
        self.at += len;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let taken = self.take(N)?;
        taken
            .try_into()
            .map_err(|_| self.malformed("it ends too early"))
    }

    fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// A short text without control characters.
    fn text(&mut self) -> Result<String, Malformed> {
        let len = usize::from(self.u16()?);
        if len > NAME_MAX_BYTES {
            return Err(self.malformed("a name is longer than 120 bytes"));
        }
        let text = core::str::from_utf8(self.take(len)?);
        match text {
            Ok(text) if text.chars().all(|c| c == ' ' || c.is_ascii_graphic()) => {
                Ok(text.to_owned())
            }
            _ => Err(self.malformed("a name is not printable ASCII")),
        }
    }

    fn vector(&mut self) -> Result<Vector, Malformed> {
        let name = self.text()?;
        let rows = self.u32()?;
        if rows == 0 || rows as usize > FILE_MAX_BYTES {
            return Err(self.malformed("a call has no rows, or more than a file can hold"));
        }
        let params = self.u32()? as usize;
        if params > PARAMS_MAX_BYTES {
            return Err(self.malformed("parameters are longer than 4096 bytes"));
        }
        let params = self.take(params)?.to_vec();
        let inputs = self.tensors(rows)?;
        let outputs = self.tensors(rows)?;
        if outputs.is_empty() {
            return Err(self.malformed("a call has no output"));
        }
        Ok(Vector {
            name,
            rows,
            params,
            inputs,
            outputs,
        })
    }

    fn tensors(&mut self, rows: u32) -> Result<Vec<Tensor>, Malformed> {
        let count = self.u8()?;
        if count > TENSORS_MAX {
            return Err(self.malformed("a call has more than 16 inputs or outputs"));
        }
        (0..count).map(|_| self.tensor(rows)).collect()
    }

    fn tensor(&mut self, rows: u32) -> Result<Tensor, Malformed> {
        let format = self.u32()?;
        let dynamic = match self.u8()? {
            0 => false,
            DYNAMIC => true,
            _ => return Err(self.malformed("a tensor has an unknown flag")),
        };
        let rank = self.u8()?;
        if !(1..=RANK_MAX).contains(&rank) {
            return Err(self.malformed("a tensor has not 1 to 6 axes"));
        }
        let shape = (0..rank)
            .map(|_| self.u32())
            .collect::<Result<Vec<_>, _>>()?;
        if shape.contains(&0) {
            return Err(self.malformed("an axis is empty"));
        }
        if dynamic && shape.first() != Some(&rows) {
            return Err(self.malformed("a tensor has not as many rows as its call"));
        }
        let len = self.u32()? as usize;
        let tensor = Tensor {
            format,
            dynamic,
            shape,
            bytes: self.take(len)?.to_vec(),
        };
        match tensor.byte_len() == Some(len) {
            true => Ok(tensor),
            false => Err(self.malformed(
                "a tensor's bytes are not those of its format and shape, or nobody knows the format",
            )),
        }
    }
}
