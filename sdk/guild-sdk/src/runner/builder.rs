//! Describing a graph: sections, weights, inputs, states, views, operations, outputs.

use super::shape::{AXES_MAX, Shape};
use crate::kernel::Failure;
use guild_abi::abi::{GUILD_STATE_APPEND, GUILD_STATE_RECURRENT, GUILD_STATUS_ERR_INTERNAL};
use guild_abi::core_ops::{
    guild_attention_params, guild_conv_params, guild_delta_params, guild_experts_params,
    guild_norm_params, guild_rope_params, guild_route_params,
};
use guild_abi::formats::{GUILD_FORMAT_F32, GUILD_FORMAT_I32};
use guild_abi::runner::{
    GUILD_INPUT_HIDDEN, GUILD_INPUT_OUTPUT_ROWS, GUILD_INPUT_TOKENS, GUILD_OUTPUT_HIDDEN,
    GUILD_OUTPUT_LOGITS, GUILD_SECTION_DRAFT, GUILD_SECTION_MAIN,
};

/// What takes a [`Builder`]'s calls: the host's table, or a test's recording. Values and states are
/// numbers within the current section.
pub(super) trait BuilderTarget {
    fn section(&mut self, kind: u32, name: &str) -> Result<(), Failure>;
    fn weight(&mut self, name: &str) -> Result<u32, Failure>;
    fn input(&mut self, kind: u32, hidden: u64) -> Result<u32, Failure>;
    fn state(&mut self, kind: u32, format: u32, shape: &[u64], name: &str) -> Result<u32, Failure>;
    fn view(&mut self, view: &ViewCall) -> Result<u32, Failure>;
    fn op(&mut self, node: &NodeCall<'_>) -> Result<Vec<u32>, Failure>;
    fn output(&mut self, kind: u32, value: u32) -> Result<(), Failure>;
}

/// A view in the numbers of a section; axis 0 is the source's.
pub(super) struct ViewCall {
    pub source: u32,
    pub offset: u64,
    pub shape: Shape,
    pub stride: [u64; AXES_MAX],
}

/// An operation in the numbers of a section.
pub(super) struct NodeCall<'a> {
    pub operation: &'a str,
    pub name: &'a str,
    pub layer: u32,
    pub params: Params<'a>,
    pub inputs: &'a [u32],
    pub states: &'a [u32],
    pub outputs: &'a [(u32, Shape)],
}

/// Takes the description of one model. Methods named after core operations are in `core_ops`.
pub struct Builder<'a> {
    pub(super) target: &'a mut dyn BuilderTarget,
    pub(super) model: &'a super::Model<'a>,
    section: u32,
    layer: u32,
}

/// A value of the section that it was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    number: u32,
    section: u32,
    format: u32,
    shape: Shape,
    contiguous: bool,
}

impl Value {
    /// Its number within the section.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Element format.
    #[must_use]
    pub fn format(&self) -> u32 {
        self.format
    }

    /// Elements along each axis, outermost first.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }
}

/// A state of the section that it was made in; one operation uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    number: u32,
    section: u32,
}

/// A part of the described model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The model itself; exactly one, and first.
    Main,
    /// A draft head (multi-token prediction).
    Draft,
}

/// What a call hands to a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Token ids, i32 `[rows]`.
    Tokens,
    /// Numbers of the rows whose logits are wanted, i32 `[outputs]`.
    OutputRows,
    /// For a draft section: the hidden states that another section gave, f32 `[rows, hidden]`.
    Hidden(u64),
}

/// What a section hands back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Logits, f32 `[outputs, vocabulary]`.
    Logits,
    /// Hidden states for draft sections, f32 `[rows, hidden]`.
    Hidden,
}

/// One inner axis of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Entries along the axis.
    pub length: u64,
    /// Elements from one entry to the next.
    pub stride: u64,
}

/// An operation's parameter struct.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Params<'a> {
    /// The contract says `params none`.
    None,
    /// `norm`.
    Norm(guild_norm_params),
    /// `rope`.
    Rope(guild_rope_params),
    /// `attention`.
    Attention(guild_attention_params),
    /// `conv`.
    Conv(guild_conv_params),
    /// `delta`.
    Delta(guild_delta_params),
    /// `route`.
    Route(guild_route_params),
    /// `experts`.
    Experts(guild_experts_params),
    /// The struct of another author's operation, as 8-byte words.
    Words(&'a [u64]),
}

/// One operation of the graph.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// Operation with its version: `org.name.op@1`.
    pub operation: &'a str,
    /// Name for reports: `attn_norm`.
    pub name: &'a str,
    /// The parameter struct.
    pub params: Params<'a>,
    /// Input values in the contract's order, weights included.
    pub inputs: &'a [Value],
    /// States in the contract's order.
    pub states: &'a [State],
    /// Format and shape of each output in the contract's order.
    pub outputs: &'a [(u32, Shape)],
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        target: &'a mut dyn BuilderTarget,
        model: &'a super::Model<'a>,
    ) -> Builder<'a> {
        Builder {
            target,
            model,
            section: 0,
            layer: 0,
        }
    }

    /// Starts a section; values and states made before it can't be used in it.
    ///
    /// # Errors
    /// The host's.
    pub fn section(&mut self, section: Section, name: &str) -> Result<(), Failure> {
        let kind = match section {
            Section::Main => GUILD_SECTION_MAIN,
            Section::Draft => GUILD_SECTION_DRAFT,
        };
        self.target.section(kind, name)?;
        self.section += 1;
        self.layer = 0;
        Ok(())
    }

    /// Sets the layer number that the operations from here on carry, for reports.
    pub fn at_layer(&mut self, layer: u32) {
        self.layer = layer;
    }

    /// A tensor of the model.
    ///
    /// # Errors
    /// Names a tensor that the model lacks.
    pub fn weight(&mut self, name: &str) -> Result<Value, Failure> {
        let info = self.model.tensor(name)?;
        let number = self.target.weight(name)?;
        Ok(self.value(number, info.format, info.shape, true))
    }

    /// An input of the call.
    ///
    /// # Errors
    /// The host's.
    pub fn input(&mut self, input: Input) -> Result<Value, Failure> {
        let (kind, hidden, format, axes) = match input {
            Input::Tokens => (GUILD_INPUT_TOKENS, 0, GUILD_FORMAT_I32, &[Shape::ROWS][..]),
            Input::OutputRows => (
                GUILD_INPUT_OUTPUT_ROWS,
                0,
                GUILD_FORMAT_I32,
                &[Shape::OUTPUTS][..],
            ),
            Input::Hidden(hidden) => (
                GUILD_INPUT_HIDDEN,
                hidden,
                GUILD_FORMAT_F32,
                &[Shape::ROWS, hidden][..],
            ),
        };
        let number = self.target.input(kind, hidden)?;
        Ok(self.value(number, format, shape(axes)?, true))
    }

    /// An append-only state in the session's KV format: one `[kv_heads, dim]` a position.
    ///
    /// # Errors
    /// The host's.
    pub fn append_state(&mut self, name: &str, kv_heads: u64, dim: u64) -> Result<State, Failure> {
        self.state(GUILD_STATE_APPEND, 0, &[kv_heads, dim], name)
    }

    /// A recurrent f32 state of 1 to 4 axes, overwritten at every position.
    ///
    /// # Errors
    /// The host's.
    pub fn recurrent_state(&mut self, name: &str, axes: &[u64]) -> Result<State, Failure> {
        self.state(GUILD_STATE_RECURRENT, GUILD_FORMAT_F32, axes, name)
    }

    /// A window on each row of `source`, an operation's output: `offset` elements from the row's start,
    /// then `axes`, outermost first.
    ///
    /// # Errors
    /// The host's, for a window that reaches past the row.
    pub fn view(&mut self, source: Value, offset: u64, axes: &[Axis]) -> Result<Value, Failure> {
        let source_number = self.number_of(source)?;
        let mut lengths = vec![source.shape.leading()];
        lengths.extend(axes.iter().map(|axis| axis.length));
        let mut stride = [0; AXES_MAX];
        for (slot, axis) in stride.iter_mut().skip(1).zip(axes) {
            *slot = axis.stride;
        }
        let view = ViewCall {
            source: source_number,
            offset,
            shape: shape(&lengths)?,
            stride,
        };
        let number = self.target.view(&view)?;
        Ok(self.value(number, source.format, view.shape, false))
    }

    /// Each row of `source`, an operation's output, as one axis: `[rows, heads, dim]` becomes
    /// `[rows, heads * dim]`.
    ///
    /// # Errors
    /// When `source` is a view: its elements may not lie side by side.
    pub fn flatten(&mut self, source: Value) -> Result<Value, Failure> {
        if !source.contiguous {
            return Err(misuse(format!("value {} is a view", source.number)));
        }
        let row = source.shape.axes().iter().skip(1);
        let length = row
            .copied()
            .try_fold(1u64, |product, axis| product.checked_mul(axis))
            .ok_or_else(|| misuse(format!("a row of {} is too long", source.shape)))?;
        self.view(source, 0, &[Axis { length, stride: 1 }])
    }

    /// An operation; gives its outputs in the contract's order.
    ///
    /// # Errors
    /// The host's, for operands that break the contract.
    pub fn op(&mut self, node: &Node<'_>) -> Result<Vec<Value>, Failure> {
        let inputs: Vec<u32> = node
            .inputs
            .iter()
            .map(|value| self.number_of(*value))
            .collect::<Result<_, _>>()?;
        let mut states = Vec::with_capacity(node.states.len());
        for state in node.states {
            self.check_section("state", state.number, state.section)?;
            states.push(state.number);
        }
        let numbers = self.target.op(&NodeCall {
            operation: node.operation,
            name: node.name,
            layer: self.layer,
            params: node.params,
            inputs: &inputs,
            states: &states,
            outputs: node.outputs,
        })?;
        let outputs = numbers.iter().zip(node.outputs);
        Ok(outputs
            .map(|(number, (format, shape))| self.value(*number, *format, *shape, true))
            .collect())
    }

    /// Names a value as a result of the section.
    ///
    /// # Errors
    /// The host's.
    pub fn output(&mut self, output: Output, value: Value) -> Result<(), Failure> {
        let kind = match output {
            Output::Logits => GUILD_OUTPUT_LOGITS,
            Output::Hidden => GUILD_OUTPUT_HIDDEN,
        };
        let number = self.number_of(value)?;
        self.target.output(kind, number)
    }

    fn state(
        &mut self,
        kind: u32,
        format: u32,
        axes: &[u64],
        name: &str,
    ) -> Result<State, Failure> {
        let number = self.target.state(kind, format, axes, name)?;
        Ok(State {
            number,
            section: self.section,
        })
    }

    fn value(&self, number: u32, format: u32, shape: Shape, contiguous: bool) -> Value {
        Value {
            number,
            section: self.section,
            format,
            shape,
            contiguous,
        }
    }

    fn number_of(&self, value: Value) -> Result<u32, Failure> {
        self.check_section("value", value.number, value.section)?;
        Ok(value.number)
    }

    /// Numbers start again in each section, so the host alone can't see this mistake.
    fn check_section(&self, what: &str, number: u32, section: u32) -> Result<(), Failure> {
        if section == self.section {
            return Ok(());
        }
        Err(misuse(format!(
            "{what} {number} of section {section} is used in section {}",
            self.section
        )))
    }
}

/// A shape of a runner's making.
pub(super) fn shape(axes: &[u64]) -> Result<Shape, Failure> {
    Shape::new(axes).ok_or_else(|| misuse(format!("a shape has {} axes", axes.len())))
}

/// The runner's own mistake, not the model's.
pub(super) fn misuse(text: String) -> Failure {
    Failure::new(
        GUILD_STATUS_ERR_INTERNAL,
        format!("the runner describes a graph that can't be: {text}"),
    )
}
