//! The safe half of the host's builder: takes what a runner says, piece by piece, and checks it.
//!
//! The first fault poisons the builder: a runner that ignores an error can't get a graph. A missing
//! weight is the exception, since a runner may ask for an optional tensor.

use guild_abi::abi::{GUILD_STATE_APPEND, GUILD_STATE_RECURRENT};
use guild_abi::formats::{GUILD_FORMAT_F32, GUILD_FORMAT_I32, GUILD_FORMAT_NVFP4};
use guild_abi::runner::{
    GUILD_INPUT_HIDDEN, GUILD_INPUT_OUTPUT_ROWS, GUILD_INPUT_TOKENS, GUILD_OUTPUT_HIDDEN,
    GUILD_OUTPUT_LOGITS, GUILD_SECTION_DRAFT, GUILD_SECTION_MAIN,
};
use guild_model::ModelSource;

use super::states::StateUses;
use super::views;
use crate::contract::{self, Operands};
use crate::error::DescriptionFault;
use crate::format::{ElementFormat, format_name};
use crate::graph::{
    Graph, InputKind, Node, Origin, OutputKind, Params, Section, SectionKind, State, StateKind,
    Value,
};
use crate::limits::{NODES_MAX, SECTIONS_MAX, STATES_MAX, VALUES_MAX};
use crate::shape::{Dim, Shape};

const NO_SECTION: &str = "is missing: a section must be started first";

type Checked<T> = Result<T, DescriptionFault>;

/// A value that a runner wants an operation to make.
pub(super) struct OutputDescription {
    pub(super) format: u32,
    pub(super) dims: Vec<Dim>,
}

/// An operation as a runner describes it; numbers are not checked yet.
pub(super) struct NodeDescription<'a> {
    pub(super) operation: &'a str,
    pub(super) name: &'a str,
    pub(super) layer: u32,
    pub(super) params: Params,
    pub(super) inputs: Vec<u32>,
    pub(super) states: Vec<u32>,
    pub(super) outputs: Vec<OutputDescription>,
}

/// The graph under construction.
pub(super) struct Builder<'m> {
    model: &'m dyn ModelSource,
    sections: Vec<Section>,
    uses: StateUses,
    fault: Option<DescriptionFault>,
    missing: Option<DescriptionFault>,
}

impl<'m> Builder<'m> {
    /// A builder without sections.
    pub(super) fn new(model: &'m dyn ModelSource) -> Builder<'m> {
        Builder {
            model,
            sections: Vec::new(),
            uses: StateUses::default(),
            fault: None,
            missing: None,
        }
    }

    /// Runs one step of the description unless an earlier one failed, and keeps its fault.
    pub(super) fn step<T>(
        &mut self,
        step: impl FnOnce(&mut Builder<'m>) -> Checked<T>,
    ) -> Checked<T> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let outcome = step(self);
        if let Err(fault) = &outcome {
            let place = match fault {
                DescriptionFault::MissingWeight { .. } => &mut self.missing,
                _ => &mut self.fault,
            };
            *place = Some(fault.clone());
        }
        outcome
    }

    /// What went wrong first; a missing weight where `missing` says that the runner gave up for it.
    pub(super) fn into_fault(self, missing: bool) -> Option<DescriptionFault> {
        self.fault.or(self.missing.filter(|_| missing))
    }

    /// The graph, if it is whole.
    pub(super) fn finish(mut self) -> Checked<Graph> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        self.close_section()?;
        if self.sections.is_empty() {
            return Err(section_fault("", "is missing: nothing was described"));
        }
        Ok(Graph {
            sections: self.sections,
        })
    }

    pub(super) fn section(&mut self, kind: u32, name: &str) -> Checked<()> {
        self.close_section()?;
        let kind = match (kind, self.sections.is_empty()) {
            (GUILD_SECTION_MAIN, true) => SectionKind::Main,
            (GUILD_SECTION_DRAFT, false) => SectionKind::Draft,
            (GUILD_SECTION_MAIN, false) => {
                return Err(section_fault(name, "is a second main section"));
            }
            (GUILD_SECTION_DRAFT, true) => {
                return Err(section_fault(name, "is a draft before the main section"));
            }
            _ => return Err(section_fault(name, &format!("has the unknown kind {kind}"))),
        };
        limit("number of sections", self.sections.len(), SECTIONS_MAX)?;
        self.sections.push(Section {
            kind,
            name: name.to_owned(),
            values: Vec::new(),
            states: Vec::new(),
            nodes: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        });
        self.uses = StateUses::default();
        Ok(())
    }

    pub(super) fn weight(&mut self, name: &str) -> Checked<u32> {
        let Some(tensor) = self.model.tensor(name) else {
            let name = name.to_owned();
            return Err(DescriptionFault::MissingWeight { name });
        };
        let format = tensor.format().ok().and_then(ElementFormat::of_weight);
        let Some(format) = format else {
            return Err(DescriptionFault::WeightFormat {
                name: name.to_owned(),
                type_name: tensor.type_name.to_owned(),
                ggml_type: tensor.ggml_type,
            });
        };
        // Files keep the second scale of an NVFP4 weight beside it.
        if format.number() == GUILD_FORMAT_NVFP4 {
            let scale = format!("{}.scale", name.strip_suffix(".weight").unwrap_or(name));
            if self.model.tensor(&scale).is_some() {
                let name = name.to_owned();
                return Err(DescriptionFault::WeightScale { name, scale });
            }
        }
        // A file's shape has the contiguous axis first.
        let dims: Vec<Dim> = tensor
            .shape
            .iter()
            .rev()
            .map(|dim| Dim::Fixed(*dim))
            .collect();
        let shape = shape(&format!("tensor {name:?}"), &dims)?;
        let content_id = self.model.content_id(tensor).0;
        self.push_value(Value {
            format: format.number(),
            strides: shape.contiguous_strides(),
            shape,
            origin: Origin::Weight {
                name: name.to_owned(),
                content_id,
            },
        })
    }

    pub(super) fn input(&mut self, kind: u32, hidden: u64) -> Checked<u32> {
        let (kind, format, dims) = match kind {
            GUILD_INPUT_TOKENS => (InputKind::Tokens, GUILD_FORMAT_I32, vec![Dim::Rows]),
            GUILD_INPUT_OUTPUT_ROWS => {
                (InputKind::OutputRows, GUILD_FORMAT_I32, vec![Dim::Outputs])
            }
            GUILD_INPUT_HIDDEN => {
                let dims = vec![Dim::Rows, Dim::Fixed(hidden)];
                (InputKind::Hidden, GUILD_FORMAT_F32, dims)
            }
            _ => {
                let name = &current(&self.sections)?.name;
                return Err(section_fault(
                    name,
                    &format!("asks for the unknown input {kind}"),
                ));
            }
        };
        let section = current(&self.sections)?;
        if kind == InputKind::Hidden && section.kind == SectionKind::Main {
            return Err(section_fault(
                &section.name,
                "asks for hidden states that it makes itself",
            ));
        }
        if section.inputs.iter().any(|(have, _)| *have == kind) {
            return Err(section_fault(
                &section.name,
                &format!("asks for the input {kind:?} twice"),
            ));
        }
        let shape = shape("input", &dims)?;
        let value = self.push_value(Value {
            format,
            strides: shape.contiguous_strides(),
            shape,
            origin: Origin::Input(kind),
        })?;
        current_mut(&mut self.sections)?
            .inputs
            .push((kind, value as usize));
        Ok(value)
    }

    pub(super) fn state(
        &mut self,
        kind: u32,
        format: u32,
        dims: &[u64],
        name: &str,
    ) -> Checked<u32> {
        let malformed = |detail: String| DescriptionFault::Malformed {
            what: format!("state {name:?}"),
            detail,
        };
        let kind = match kind {
            GUILD_STATE_APPEND if dims.len() == 2 => StateKind::Append,
            GUILD_STATE_APPEND => {
                let detail = format!("has {} axes; [kv_heads, head_dim] is two", dims.len());
                return Err(malformed(detail));
            }
            GUILD_STATE_RECURRENT => StateKind::Recurrent,
            _ => return Err(malformed(format!("has the unknown kind {kind}"))),
        };
        if dims.len() > 4 {
            return Err(malformed(format!("has {} axes; 4 are allowed", dims.len())));
        }
        let fixed: Vec<Dim> = dims.iter().map(|dim| Dim::Fixed(*dim)).collect();
        shape(&format!("state {name:?}"), &fixed)?;
        let plan_chooses = format == 0 && kind == StateKind::Append;
        let plain = ElementFormat::by_number(format).is_some_and(|f| f.element_bytes().is_some());
        if !plan_chooses && !plain {
            return Err(malformed(format!("has {}", format_name(format))));
        }
        let section = current_mut(&mut self.sections)?;
        limit("number of states", section.states.len(), STATES_MAX)?;
        section.states.push(State {
            kind,
            format,
            shape: dims.to_vec(),
            name: name.to_owned(),
        });
        Ok(section.states.len() as u32 - 1)
    }

    pub(super) fn view(
        &mut self,
        source: u32,
        offset: u64,
        dims: &[Dim],
        strides: &[u64],
    ) -> Checked<u32> {
        let section = current(&self.sections)?;
        let index = check_value(section, source)?;
        let shape = shape("a view", dims)?;
        let value = views::window(section, index, offset, shape, strides)?;
        self.push_value(value)
    }

    pub(super) fn op(&mut self, description: NodeDescription<'_>) -> Checked<Vec<u32>> {
        let section = current(&self.sections)?;
        limit("number of operations", section.nodes.len(), NODES_MAX)?;
        let (operation, version) = operation_name(&description)?;
        let inputs = description.inputs.iter();
        let inputs: Vec<usize> = inputs
            .map(|value| check_value(section, *value))
            .collect::<Checked<_>>()?;
        let states = description.states.iter();
        let states: Vec<usize> = states
            .map(|state| check_state(section, *state))
            .collect::<Checked<_>>()?;
        let node = section.nodes.len();
        let values = output_values(&description, node)?;
        let alias = check_contract(section, &description, version, &inputs, &states, &values)?;
        self.uses.claim(section, &states, description.name)?;
        let rows = values[0].shape.leading().unwrap_or(Dim::Rows);
        let mut outputs = Vec::with_capacity(values.len());
        for value in values {
            outputs.push(self.push_value(value)?);
        }
        let node = Node {
            operation: operation.to_owned(),
            version,
            name: description.name.to_owned(),
            layer: description.layer,
            params: description.params,
            inputs,
            states,
            outputs: outputs.iter().map(|value| *value as usize).collect(),
            rows,
            alias,
        };
        current_mut(&mut self.sections)?.nodes.push(node);
        Ok(outputs)
    }

    pub(super) fn output(&mut self, kind: u32, value: u32) -> Checked<()> {
        let section = current(&self.sections)?;
        let index = check_value(section, value)?;
        let (kind, leading) = match kind {
            GUILD_OUTPUT_LOGITS => (OutputKind::Logits, Dim::Outputs),
            GUILD_OUTPUT_HIDDEN => (OutputKind::Hidden, Dim::Rows),
            _ => {
                let detail = format!("names the unknown output {kind}");
                return Err(section_fault(&section.name, &detail));
            }
        };
        let refuse = |detail: &str| {
            let detail = format!("has an output {kind:?} that {detail}");
            Err(section_fault(&section.name, &detail))
        };
        if section.output(kind).is_some() {
            return refuse("it had before");
        }
        let found = &section.values[index];
        let shape = &found.shape;
        let fits = shape.rank() == 2 && shape.leading() == Some(leading);
        if !fits || found.format != GUILD_FORMAT_F32 {
            let (format, wanted) = (format_name(found.format), leading);
            return refuse(&format!(
                "is {format} {shape}; f32 [{wanted}, length] is needed"
            ));
        }
        if !matches!(found.origin, Origin::Node { .. }) {
            return refuse("no operation makes");
        }
        if section.outputs.iter().any(|(_, other)| *other == index) {
            return refuse("is another output too");
        }
        current_mut(&mut self.sections)?.outputs.push((kind, index));
        Ok(())
    }

    /// Checks what only a whole section can have.
    fn close_section(&mut self) -> Checked<()> {
        let Some(section) = self.sections.last() else {
            return Ok(());
        };
        if section.output(OutputKind::Logits).is_none() {
            return Err(section_fault(&section.name, "has no output Logits"));
        }
        self.uses.check_all_used(section)
    }

    fn push_value(&mut self, value: Value) -> Checked<u32> {
        let section = current_mut(&mut self.sections)?;
        limit("number of values", section.values.len(), VALUES_MAX)?;
        section.values.push(value);
        Ok(section.values.len() as u32 - 1)
    }
}

fn current(sections: &[Section]) -> Checked<&Section> {
    sections.last().ok_or_else(|| section_fault("", NO_SECTION))
}

fn current_mut(sections: &mut [Section]) -> Checked<&mut Section> {
    sections
        .last_mut()
        .ok_or_else(|| section_fault("", NO_SECTION))
}

/// Splits `guild.core.rms_norm@1`, and refuses a core operation that doesn't exist.
fn operation_name<'a>(description: &NodeDescription<'a>) -> Checked<(&'a str, u32)> {
    let whole = description.operation;
    let malformed = |detail: &str| DescriptionFault::Malformed {
        what: format!("operation {whole:?} of node {:?}", description.name),
        detail: detail.to_owned(),
    };
    let Some((name, version)) = whole.rsplit_once('@') else {
        return Err(malformed("has no version; `name@1` is the form"));
    };
    let version: u32 = version
        .parse()
        .map_err(|_| malformed("has a version that is no number"))?;
    let label = |label: &str| {
        let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"_-".contains(&c);
        !label.is_empty() && label.bytes().all(allowed)
    };
    let labels = name.split('.').count();
    if !(3..=5).contains(&labels) || !name.split('.').all(label) || whole.len() > 96 {
        return Err(malformed("isn't `org.name.op@version` in lower case"));
    }
    if contract::is_core(name) && contract::contract(name, version).is_none() {
        return Err(DescriptionFault::UnknownOperation {
            operation: whole.to_owned(),
            node: description.name.to_owned(),
            layer: description.layer,
        });
    }
    Ok((name, version))
}

/// The values that a node makes; each has a symbolic axis 0 and plain elements.
fn output_values(description: &NodeDescription<'_>, node: usize) -> Checked<Vec<Value>> {
    let malformed = |output: usize, detail: String| DescriptionFault::Malformed {
        what: format!("output {output} of node {:?}", description.name),
        detail,
    };
    if description.outputs.is_empty() {
        return Err(malformed(
            0,
            "is missing: an operation makes one value or more".to_owned(),
        ));
    }
    let mut values = Vec::with_capacity(description.outputs.len());
    for (output, wanted) in description.outputs.iter().enumerate() {
        let shape = shape(
            &format!("output {output} of node {:?}", description.name),
            &wanted.dims,
        )?;
        if shape.leading().is_none() {
            let detail = format!("has the shape {shape}; axis 0 must be rows or outputs");
            return Err(malformed(output, detail));
        }
        let format = ElementFormat::by_number(wanted.format);
        if format.is_none_or(|format| format.element_bytes().is_none()) {
            let detail = format!("has {}; only weights have such", format_name(wanted.format));
            return Err(malformed(output, detail));
        }
        values.push(Value {
            format: wanted.format,
            strides: shape.contiguous_strides(),
            shape,
            origin: Origin::Node { node, output },
        });
    }
    Ok(values)
}

/// Checks a core operation's contract and gives its alias; other namespaces have neither.
fn check_contract(
    section: &Section,
    description: &NodeDescription<'_>,
    version: u32,
    inputs: &[usize],
    states: &[usize],
    outputs: &[Value],
) -> Checked<Option<(usize, usize)>> {
    let name = description
        .operation
        .rsplit_once('@')
        .map_or("", |(name, _)| name);
    let Some(contract) = contract::contract(name, version) else {
        return Ok(None);
    };
    let mut operands = Operands::new(
        inputs.iter().map(|value| &section.values[*value]).collect(),
        outputs.iter().collect(),
        states.iter().map(|state| &section.states[*state]).collect(),
        &description.params,
    );
    contract
        .check(&mut operands)
        .map_err(|mismatch| DescriptionFault::Contract {
            operation: description.operation.to_owned(),
            node: description.name.to_owned(),
            layer: description.layer,
            mismatch: Box::new(mismatch),
        })?;
    Ok(contract.alias())
}

fn check_value(section: &Section, number: u32) -> Checked<usize> {
    dangling(section, "value", number, section.values.len())
}

fn check_state(section: &Section, number: u32) -> Checked<usize> {
    dangling(section, "state", number, section.states.len())
}

fn dangling(section: &Section, what: &'static str, number: u32, count: usize) -> Checked<usize> {
    if (number as usize) < count {
        return Ok(number as usize);
    }
    Err(DescriptionFault::Dangling {
        what,
        number,
        section: section.name.clone(),
        count,
    })
}

fn shape(what: &str, dims: &[Dim]) -> Checked<Shape> {
    Shape::new(dims).map_err(|detail| DescriptionFault::Malformed {
        what: what.to_owned(),
        detail,
    })
}

fn section_fault(section: &str, detail: &str) -> DescriptionFault {
    DescriptionFault::Section {
        section: section.to_owned(),
        detail: detail.to_owned(),
    }
}

/// Refuses one more of something that has reached its limit.
fn limit(what: &'static str, have: usize, most: usize) -> Checked<()> {
    if have < most {
        return Ok(());
    }
    Err(DescriptionFault::Limit {
        what,
        found: have as u64 + 1,
        limit: most as u64,
    })
}
