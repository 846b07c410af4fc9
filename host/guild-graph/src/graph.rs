//! The checked graph: what a runner described, as data.
//!
//! Only the builder of this crate makes a [`Graph`], so every number in it refers to something that
//! exists, every core operation fits its contract, and every state has one user.

use crate::shape::{Dim, Shape};

/// A described model.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// The sections; the first is the model itself, the others are draft heads.
    pub sections: Vec<Section>,
}

/// What a section is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    /// The model itself.
    Main,
    /// A draft head (multi-token prediction).
    Draft,
}

/// A part of a described model. Values, states and nodes are numbered within it.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What the section is.
    pub kind: SectionKind,
    /// Name for reports.
    pub name: String,
    /// Values in the order in which they were made.
    pub values: Vec<Value>,
    /// States in the order in which they were made.
    pub states: Vec<State>,
    /// Operations in the order of execution.
    pub nodes: Vec<Node>,
    /// The call's inputs, each at most once.
    pub inputs: Vec<(InputKind, usize)>,
    /// The section's results, each at most once; never a weight or an input.
    pub outputs: Vec<(OutputKind, usize)>,
}

impl Section {
    /// The value whose memory `value` lies in: itself, or what it is a view of.
    #[must_use]
    pub fn root(&self, value: usize) -> usize {
        match self.values[value].origin {
            Origin::View { root, .. } => root,
            Origin::Weight { .. } | Origin::Input(_) | Origin::Node { .. } => value,
        }
    }

    /// The value of an output kind, where the section has it.
    #[must_use]
    pub fn output(&self, kind: OutputKind) -> Option<usize> {
        let found = self.outputs.iter().find(|(have, _)| *have == kind);
        found.map(|(_, value)| *value)
    }
}

/// A tensor of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// One of `GUILD_FORMAT_*`.
    pub format: u32,
    /// Shape, outermost axis first.
    pub shape: Shape,
    /// Elements from one entry to the next along each axis.
    pub strides: Vec<u64>,
    /// Where the elements come from.
    pub origin: Origin,
}

impl Value {
    /// Whether the elements lie side by side.
    #[must_use]
    pub fn contiguous(&self) -> bool {
        self.strides == self.shape.contiguous_strides()
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A tensor of the model file; never written.
    Weight {
        /// The tensor's name.
        name: String,
        /// Names the stored bytes.
        content_id: u64,
    },
    /// An input of the call.
    Input(InputKind),
    /// An output of a node.
    Node {
        /// The node.
        node: usize,
        /// Which of its outputs.
        output: usize,
    },
    /// A window on another value's memory.
    View {
        /// The value that owns the memory; itself no view.
        root: usize,
        /// Elements from the start of each row of `root` to the window.
        offset: u64,
    },
}

/// What a call hands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Token ids, i32 `[rows]`.
    Tokens,
    /// Numbers of the rows whose logits are wanted, i32 `[outputs]`.
    OutputRows,
    /// The main model's last hidden states, f32 `[rows, hidden]`; draft sections only.
    Hidden,
}

/// What a section gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// Logits, f32 `[outputs, vocabulary]`.
    Logits,
    /// Hidden states before the head, f32 `[rows, hidden]`.
    Hidden,
}

/// How a state is rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateKind {
    /// Grows by one entry a position, in pages; truncating rolls back.
    Append,
    /// Overwritten at every position; a snapshot rolls back.
    Recurrent,
}

/// A state: memory that outlives a call. Exactly one node uses it, as exactly one operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// How it is rolled back.
    pub kind: StateKind,
    /// One of `GUILD_FORMAT_*`; 0 lets the plan choose (the KV format).
    pub format: u32,
    /// `[kv_heads, head_dim]` of an append-only state; the shape of one slot otherwise.
    pub shape: Vec<u64>,
    /// Name for reports.
    pub name: String,
}

impl State {
    /// The format in use when the plan keeps append-only states as `kv_format`.
    #[must_use]
    pub const fn format_or(&self, kv_format: u32) -> u32 {
        if self.format == 0 {
            kv_format
        } else {
            self.format
        }
    }
}

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Operation without its version.
    pub operation: String,
    /// Version of the operation.
    pub version: u32,
    /// Name for reports.
    pub name: String,
    /// Layer number, for reports and crash records.
    pub layer: u32,
    /// The parameter struct's bytes.
    pub params: Params,
    /// Input values.
    pub inputs: Vec<usize>,
    /// State operands.
    pub states: Vec<usize>,
    /// Output values; at least one.
    pub outputs: Vec<usize>,
    /// Which count the node's rows are: axis 0 of its first output.
    pub rows: Dim,
    /// Output that may take the memory of an input, as `(output, input)` operand numbers.
    pub alias: Option<(usize, usize)>,
}

/// A copy of an operation's parameter struct, aligned for any field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    words: Vec<u64>,
    size: usize,
}

impl Params {
    /// Copies the bytes.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Params {
        let words = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        });
        Params {
            words: words.collect(),
            size: bytes.len(),
        }
    }

    /// Bytes of the struct.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The bytes as aligned words, the last one padded with zeros.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The 32-bit field at `offset`; a missing tail reads as zero.
    #[must_use]
    pub fn u32_at(&self, offset: usize) -> u32 {
        let word = self.words.get(offset / 8).copied().unwrap_or(0);
        let bytes = word.to_ne_bytes();
        let at = offset % 8;
        match bytes
            .get(at..at + 4)
            .and_then(|field| field.try_into().ok())
        {
            Some(field) => u32::from_ne_bytes(field),
            None => 0,
        }
    }

    /// The 32-bit float at `offset`.
    #[must_use]
    pub fn f32_at(&self, offset: usize) -> f32 {
        f32::from_bits(self.u32_at(offset))
    }

    /// The 64-bit float at `offset`, a multiple of 8.
    #[must_use]
    pub fn f64_at(&self, offset: usize) -> f64 {
        f64::from_bits(self.words.get(offset / 8).copied().unwrap_or(0))
    }
}
