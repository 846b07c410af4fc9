//! A described node's operands, matched against a contract's patterns.
//!
//! A pattern is the list of names that the contract's text has: `["n", "heads", "dim"]`. A name means
//! the same number everywhere in one node; the first operand that has it fixes it.

use core::ops::RangeInclusive;

use guild_abi::formats::{GUILD_FORMAT_F16, GUILD_FORMAT_F32};

use crate::error::Mismatch;
use crate::format::format_name;
use crate::graph::{Params, State, StateKind, Value};
use crate::shape::Dim;

/// Formats that a contract allows for an operand.
#[derive(Clone, Copy)]
pub(crate) enum Formats {
    /// Exactly this one.
    One(u32),
    /// One of these.
    Listed(&'static [u32]),
    /// Any that a weight may have; `supports` decides.
    Any,
}

/// A node that is being checked.
pub(crate) struct Operands<'a> {
    inputs: Vec<&'a Value>,
    outputs: Vec<&'a Value>,
    states: Vec<&'a State>,
    params: &'a Params,
    bound: Vec<(String, Dim)>,
    tail: Option<Vec<Dim>>,
}

impl<'a> Operands<'a> {
    /// A node with nothing checked yet.
    pub(crate) fn new(
        inputs: Vec<&'a Value>,
        outputs: Vec<&'a Value>,
        states: Vec<&'a State>,
        params: &'a Params,
    ) -> Operands<'a> {
        Operands {
            inputs,
            outputs,
            states,
            params,
            bound: Vec::new(),
            tail: None,
        }
    }

    /// Checks how many operands there are.
    pub(crate) fn counts(
        &self,
        inputs: RangeInclusive<usize>,
        outputs: RangeInclusive<usize>,
        states: usize,
    ) -> Result<(), Mismatch> {
        count("number of inputs", &inputs, self.inputs.len())?;
        count("number of outputs", &outputs, self.outputs.len())?;
        count("number of states", &(states..=states), self.states.len())
    }

    /// Number of inputs.
    pub(crate) fn input_count(&self) -> usize {
        self.inputs.len()
    }

    /// Axes of input `index`; 0 for no such input.
    pub(crate) fn input_rank(&self, index: usize) -> usize {
        self.inputs.get(index).map_or(0, |value| value.shape.rank())
    }

    /// Checks input `index` against format and pattern.
    pub(crate) fn input(
        &mut self,
        index: usize,
        name: &str,
        formats: Formats,
        pattern: &[&str],
    ) -> Result<(), Mismatch> {
        let value = self.inputs.get(index).copied();
        self.tensor(value, name, formats, pattern)
    }

    /// Checks output `index` against format and pattern.
    pub(crate) fn output(
        &mut self,
        index: usize,
        name: &str,
        formats: Formats,
        pattern: &[&str],
    ) -> Result<(), Mismatch> {
        let value = self.outputs.get(index).copied();
        self.tensor(value, name, formats, pattern)
    }

    /// Checks state `index`: an append-only one in F16, F32 or the plan's own choice, a recurrent
    /// one in F32.
    pub(crate) fn state(
        &mut self,
        index: usize,
        name: &str,
        kind: StateKind,
        pattern: &[&str],
    ) -> Result<(), Mismatch> {
        let Some(state) = self.states.get(index).copied() else {
            return mismatch(name, "a state", "nothing");
        };
        if state.kind != kind {
            return mismatch(name, kind_name(kind), kind_name(state.kind));
        }
        let allowed = match kind {
            StateKind::Append => [0, GUILD_FORMAT_F16, GUILD_FORMAT_F32].contains(&state.format),
            StateKind::Recurrent => state.format == GUILD_FORMAT_F32,
        };
        if !allowed {
            let wanted = match kind {
                StateKind::Append => "format f16, f32 or the plan's choice",
                StateKind::Recurrent => "format f32",
            };
            return mismatch(name, wanted, &format_name(state.format));
        }
        let dims: Vec<Dim> = state.shape.iter().map(|dim| Dim::Fixed(*dim)).collect();
        self.shape(name, pattern, &dims)
    }

    /// Checks that there is no parameter struct.
    pub(crate) fn no_params(&self) -> Result<(), Mismatch> {
        match self.params.size() {
            0 => Ok(()),
            size => mismatch("params", "none", &format!("{size} bytes")),
        }
    }

    /// The parameter struct, of `bytes` bytes or more by its own `size` field.
    pub(crate) fn params(&self, bytes: usize) -> Result<&'a Params, Mismatch> {
        let (size, field) = (self.params.size(), self.params.u32_at(0));
        if size < bytes || field as usize != size {
            let offered = format!("{size} bytes, `size` {field}");
            return mismatch("params", &format!("{bytes} bytes, `size` equal"), &offered);
        }
        Ok(self.params)
    }

    /// Fixes a name that follows from a parameter or from other names.
    pub(crate) fn bind(&mut self, name: &str, number: u64) {
        self.bound.push((name.to_owned(), Dim::Fixed(number)));
    }

    /// The number that a name stands for; 0 before an operand fixed it.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.lookup(name).and_then(Dim::fixed).unwrap_or(0)
    }

    fn lookup(&self, name: &str) -> Option<Dim> {
        let found = self.bound.iter().find(|(have, _)| have == name);
        found.map(|(_, dim)| *dim)
    }

    fn tensor(
        &mut self,
        value: Option<&Value>,
        name: &str,
        formats: Formats,
        pattern: &[&str],
    ) -> Result<(), Mismatch> {
        let Some(value) = value else {
            return mismatch(name, "a tensor", "nothing");
        };
        let allowed = match formats {
            Formats::One(format) => value.format == format,
            Formats::Listed(listed) => listed.contains(&value.format),
            Formats::Any => true,
        };
        if !allowed {
            let wanted = match formats {
                Formats::One(format) => format_name(format),
                Formats::Listed(listed) => {
                    let names: Vec<String> = listed.iter().map(|one| format_name(*one)).collect();
                    names.join(" or ")
                }
                Formats::Any => "any format".to_owned(),
            };
            let wanted = format!("format {wanted}");
            return mismatch(name, &wanted, &format_name(value.format));
        }
        self.shape(name, pattern, value.shape.dims())
    }

    /// Matches axes one by one; `...` takes those that the other names leave over.
    fn shape(&mut self, name: &str, pattern: &[&str], dims: &[Dim]) -> Result<(), Mismatch> {
        let open = pattern.contains(&"...");
        let fixed_axes = pattern.len() - usize::from(open);
        let fits = dims.len() == fixed_axes || (open && dims.len() > fixed_axes);
        if !fits {
            return Err(self.shape_mismatch(name, pattern, dims));
        }
        let middle = dims.len() - fixed_axes;
        let mut axis = 0;
        for entry in pattern {
            let accepted = if *entry == "..." {
                let taken = dims[axis..axis + middle].to_vec();
                axis += middle;
                *self.tail.get_or_insert_with(|| taken.clone()) == taken
            } else {
                axis += 1;
                self.accept(entry, dims[axis - 1])
            };
            if !accepted {
                return Err(self.shape_mismatch(name, pattern, dims));
            }
        }
        Ok(())
    }

    fn accept(&mut self, entry: &str, dim: Dim) -> bool {
        match entry {
            "rows" => dim == Dim::Rows,
            "outputs" => dim == Dim::Outputs,
            _ => match self.lookup(entry) {
                Some(known) => known == dim,
                None if (entry == "n") != dim.fixed().is_none() => false,
                None => {
                    self.bound.push((entry.to_owned(), dim));
                    true
                }
            },
        }
    }

    /// The pattern with every number that is known, beside what was described.
    fn shape_mismatch(&self, name: &str, pattern: &[&str], dims: &[Dim]) -> Mismatch {
        let axes = pattern.iter().map(|entry| match self.lookup(entry) {
            Some(known) => format!("{entry} = {known}"),
            None => match (*entry, &self.tail) {
                ("...", Some(tail)) => list(tail),
                _ => (*entry).to_owned(),
            },
        });
        let wanted: Vec<String> = axes.filter(|axis| !axis.is_empty()).collect();
        Mismatch {
            operand: name.to_owned(),
            wanted: format!("[{}]", wanted.join(", ")),
            offered: format!("[{}]", list(dims)),
        }
    }
}

/// Checks a parameter's value.
pub(crate) fn require(
    holds: bool,
    name: &str,
    wanted: &str,
    offered: impl ToString,
) -> Result<(), Mismatch> {
    if holds {
        Ok(())
    } else {
        mismatch(name, wanted, &offered.to_string())
    }
}

fn count(name: &str, allowed: &RangeInclusive<usize>, found: usize) -> Result<(), Mismatch> {
    let wanted = if allowed.start() == allowed.end() {
        allowed.start().to_string()
    } else {
        format!("{} to {}", allowed.start(), allowed.end())
    };
    require(allowed.contains(&found), name, &wanted, found)
}

fn mismatch<T>(operand: &str, wanted: &str, offered: &str) -> Result<T, Mismatch> {
    Err(Mismatch {
        operand: operand.to_owned(),
        wanted: wanted.to_owned(),
        offered: offered.to_owned(),
    })
}

fn list(dims: &[Dim]) -> String {
    let dims: Vec<String> = dims.iter().map(Dim::to_string).collect();
    dims.join(", ")
}

const fn kind_name(kind: StateKind) -> &'static str {
    match kind {
        StateKind::Append => "an append-only state",
        StateKind::Recurrent => "a recurrent state",
    }
}
