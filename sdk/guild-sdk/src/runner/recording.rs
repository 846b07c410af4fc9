//! A host for tests: runs a runner on a made-up model and keeps what it describes.
//!
//! It checks that tensors exist and that numbers name something; the contracts of operations are the
//! host's to check.

use super::builder::{Builder, BuilderTarget, NodeCall, Params, ViewCall};
use super::model::{Model, ModelSource, TensorInfo};
use super::shape::Shape;
use super::{DescribeParams, Runner};
use crate::kernel::Failure;
use guild_abi::abi::{GUILD_STATUS_ERR_INVALID, GUILD_STATUS_ERR_NOT_FOUND, guild_status};
use std::collections::BTreeMap;

/// A model without weights.
#[derive(Clone, Debug, Default)]
pub struct SampleModel {
    architecture: String,
    metadata: BTreeMap<String, Metadata>,
    tensors: BTreeMap<String, TensorInfo>,
}

#[derive(Clone, Debug)]
enum Metadata {
    Unsigned(Vec<u64>),
    Number(f64),
    Text(String),
}

impl SampleModel {
    /// An empty model of this architecture.
    #[must_use]
    pub fn new(architecture: &str) -> SampleModel {
        SampleModel {
            architecture: architecture.to_owned(),
            ..SampleModel::default()
        }
    }

    /// Sets an integer or boolean.
    pub fn set_unsigned(&mut self, key: &str, value: u64) {
        self.set_array(key, &[value]);
    }

    /// Sets an array of integers or booleans.
    pub fn set_array(&mut self, key: &str, values: &[u64]) {
        let values = Metadata::Unsigned(values.to_vec());
        self.metadata.insert(key.to_owned(), values);
    }

    /// Sets a number.
    pub fn set_number(&mut self, key: &str, value: f64) {
        self.metadata
            .insert(key.to_owned(), Metadata::Number(value));
    }

    /// Sets a string.
    pub fn set_text(&mut self, key: &str, value: &str) {
        let value = Metadata::Text(value.to_owned());
        self.metadata.insert(key.to_owned(), value);
    }

    /// Removes a metadata key.
    pub fn remove_key(&mut self, key: &str) {
        self.metadata.remove(key);
    }

    /// Adds or replaces a tensor; `axes` are outermost first.
    ///
    /// # Panics
    /// For no axes or more than six.
    pub fn set_tensor(&mut self, name: &str, format: u32, axes: &[u64]) {
        let info = TensorInfo {
            format,
            shape: Shape::new(axes).expect("a tensor has 1 to 6 axes"),
            byte_len: 0,
        };
        self.tensors.insert(name.to_owned(), info);
    }

    /// Removes a tensor.
    pub fn remove_tensor(&mut self, name: &str) {
        self.tensors.remove(name);
    }

    /// Names of all tensors.
    pub fn tensor_names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The runner's score for this model.
    #[must_use]
    pub fn score(&self, runner: &dyn Runner) -> Option<i32> {
        runner.matches(&Model::new(self))
    }

    /// What the runner describes for this model.
    ///
    /// # Errors
    /// The runner's refusal.
    pub fn describe(&self, runner: &dyn Runner) -> Result<Recording, Failure> {
        let mut recording = Recording::default();
        let model = Model::new(self);
        let params = DescribeParams { context: 4096 };
        let mut target = Recorder {
            model: self,
            recording: &mut recording,
        };
        runner.describe(&model, &params, &mut Builder::new(&mut target, &model))?;
        Ok(recording)
    }

    fn value<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Metadata) -> Option<T>,
    ) -> Result<T, guild_status> {
        let value = self.metadata.get(key).ok_or(GUILD_STATUS_ERR_NOT_FOUND)?;
        read(value).ok_or(GUILD_STATUS_ERR_INVALID)
    }
}

impl ModelSource for SampleModel {
    fn architecture(&self) -> &str {
        &self.architecture
    }

    fn length(&self, key: &str) -> Result<u64, guild_status> {
        self.value(key, |value| match value {
            Metadata::Unsigned(values) => Some(values.len() as u64),
            Metadata::Number(_) | Metadata::Text(_) => Some(1),
        })
    }

    fn unsigned(&self, key: &str, index: u64) -> Result<u64, guild_status> {
        self.value(key, |value| match value {
            Metadata::Unsigned(values) => values.get(usize::try_from(index).ok()?).copied(),
            Metadata::Number(_) | Metadata::Text(_) => None,
        })
    }

    fn number(&self, key: &str, index: u64) -> Result<f64, guild_status> {
        self.value(key, |value| match value {
            Metadata::Number(number) => (index == 0).then_some(*number),
            Metadata::Unsigned(_) | Metadata::Text(_) => None,
        })
    }

    fn text(&self, key: &str, index: u64) -> Result<&str, guild_status> {
        match self.metadata.get(key) {
            Some(Metadata::Text(text)) if index == 0 => Ok(text),
            Some(_) => Err(GUILD_STATUS_ERR_INVALID),
            None => Err(GUILD_STATUS_ERR_NOT_FOUND),
        }
    }

    fn tensor(&self, name: &str) -> Result<TensorInfo, guild_status> {
        self.tensors
            .get(name)
            .copied()
            .ok_or(GUILD_STATUS_ERR_NOT_FOUND)
    }
}

/// Everything that one `describe` said.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The sections in order.
    pub sections: Vec<RecordedSection>,
}

/// One section.
#[derive(Clone, Debug, Default)]
pub struct RecordedSection {
    /// One of `GUILD_SECTION_*`.
    pub kind: u32,
    /// Its name.
    pub name: String,
    /// What each value is, by its number: a weight's name, `input KIND`, `view of N`, or the name of
    /// the node that makes it.
    pub values: Vec<String>,
    /// Weights by name, in order of first use.
    pub weights: Vec<String>,
    /// States in order.
    pub states: Vec<RecordedState>,
    /// Views in order.
    pub views: Vec<RecordedView>,
    /// Operations in order.
    pub nodes: Vec<RecordedNode>,
    /// Kind (one of `GUILD_OUTPUT_*`) and value of each output.
    pub outputs: Vec<(u32, u32)>,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedState {
    /// One of `GUILD_STATE_*`.
    pub kind: u32,
    /// Element format; 0 leaves it to the host.
    pub format: u32,
    /// Elements along each axis.
    pub axes: Vec<u64>,
    /// Its name.
    pub name: String,
}

/// A view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedView {
    /// Its own number.
    pub value: u32,
    /// The value that it looks at.
    pub source: u32,
    /// Elements from the row's start.
    pub offset: u64,
    /// Elements along each axis.
    pub shape: Shape,
    /// Elements from entry to entry along each inner axis.
    pub strides: Vec<u64>,
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedNode {
    /// Operation with its version.
    pub operation: String,
    /// Its name.
    pub name: String,
    /// Its layer.
    pub layer: u32,
    /// Its parameters; words of another author's struct aren't kept.
    pub params: Params<'static>,
    /// Input values.
    pub inputs: Vec<u32>,
    /// States.
    pub states: Vec<u32>,
    /// Output values.
    pub outputs: Vec<u32>,
    /// Format and shape of each output.
    pub output_shapes: Vec<(u32, Shape)>,
}

impl RecordedSection {
    /// The node of this name in a layer.
    #[must_use]
    pub fn node(&self, layer: u32, name: &str) -> Option<&RecordedNode> {
        self.nodes
            .iter()
            .find(|node| node.layer == layer && node.name == name)
    }

    /// The view with this number.
    #[must_use]
    pub fn view(&self, value: u32) -> Option<&RecordedView> {
        self.views.iter().find(|view| view.value == value)
    }

    fn add_value(&mut self, what: String) -> u32 {
        self.values.push(what);
        self.values.len() as u32 - 1
    }
}

struct Recorder<'a> {
    model: &'a SampleModel,
    recording: &'a mut Recording,
}

impl Recorder<'_> {
    fn current(&mut self) -> Result<&mut RecordedSection, Failure> {
        let section = self.recording.sections.last_mut();
        section.ok_or_else(|| Failure::invalid("no section has been started"))
    }
}

impl BuilderTarget for Recorder<'_> {
    fn section(&mut self, kind: u32, name: &str) -> Result<(), Failure> {
        self.recording.sections.push(RecordedSection {
            kind,
            name: name.to_owned(),
            ..RecordedSection::default()
        });
        Ok(())
    }

    fn weight(&mut self, name: &str) -> Result<u32, Failure> {
        if !self.model.tensors.contains_key(name) {
            let text = format!("the model has no tensor {name:?}");
            return Err(Failure::new(GUILD_STATUS_ERR_NOT_FOUND, text));
        }
        let section = self.current()?;
        section.weights.push(name.to_owned());
        Ok(section.add_value(name.to_owned()))
    }

    fn input(&mut self, kind: u32, _hidden: u64) -> Result<u32, Failure> {
        Ok(self.current()?.add_value(format!("input {kind}")))
    }

    fn state(&mut self, kind: u32, format: u32, axes: &[u64], name: &str) -> Result<u32, Failure> {
        let states = &mut self.current()?.states;
        states.push(RecordedState {
            kind,
            format,
            axes: axes.to_vec(),
            name: name.to_owned(),
        });
        Ok(states.len() as u32 - 1)
    }

    fn view(&mut self, view: &ViewCall) -> Result<u32, Failure> {
        let section = self.current()?;
        let value = section.add_value(format!("view of {}", view.source));
        let inner = view.shape.axes().len() - 1;
        section.views.push(RecordedView {
            value,
            source: view.source,
            offset: view.offset,
            shape: view.shape,
            strides: view.stride.iter().skip(1).take(inner).copied().collect(),
        });
        Ok(value)
    }

    fn op(&mut self, node: &NodeCall<'_>) -> Result<Vec<u32>, Failure> {
        let section = self.current()?;
        let outputs: Vec<u32> = node
            .outputs
            .iter()
            .map(|_| section.add_value(node.name.to_owned()))
            .collect();
        section.nodes.push(RecordedNode {
            operation: node.operation.to_owned(),
            name: node.name.to_owned(),
            layer: node.layer,
            params: kept(node.params),
            inputs: node.inputs.to_vec(),
            states: node.states.to_vec(),
            outputs: outputs.clone(),
            output_shapes: node.outputs.to_vec(),
        });
        Ok(outputs)
    }

    fn output(&mut self, kind: u32, value: u32) -> Result<(), Failure> {
        let section = self.current()?;
        section.outputs.push((kind, value));
        Ok(())
    }
}

fn kept(params: Params<'_>) -> Params<'static> {
    match params {
        Params::None => Params::None,
        Params::Norm(params) => Params::Norm(params),
        Params::Rope(params) => Params::Rope(params),
        Params::Attention(params) => Params::Attention(params),
        Params::Conv(params) => Params::Conv(params),
        Params::Delta(params) => Params::Delta(params),
        Params::Route(params) => Params::Route(params),
        Params::Experts(params) => Params::Experts(params),
        Params::Words(_) => Params::Words(&[]),
    }
}
