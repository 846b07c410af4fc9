//! Broken models, each with the refusal that it must meet. All of them are made from one sound model.

mod container;
mod hyperparameters;
mod place;
mod shards;
mod tensors;
mod tokenizer;

use crate::tiny;
use crate::writer::Writer;

/// The file's bytes break a rule, or contradict each other.
pub const DAMAGED: i32 = 3;
/// Nothing serves what is in the file.
pub const UNSUPPORTED: i32 = 4;

/// What refuses a broken model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The reader: no command opens it.
    Container,
    /// The runner or the graph's checks: the model can be listed, not planned.
    Model,
    /// The pass: the model can be planned, and its weights give no number.
    Weights,
    /// The tokenizer: the model can be listed, and run on token ids.
    Tokenizer,
}

/// One broken model.
pub struct Case {
    /// What is wrong with it.
    pub name: String,
    /// What refuses it.
    pub stage: Stage,
    /// The exit code of a refused command.
    pub exit: i32,
    /// What the message must contain: key, tensor, number.
    pub says: Vec<String>,
    change: Change,
}

type Edit<T> = Box<dyn Fn(&mut T)>;

/// How the sound model is broken.
enum Change {
    /// Before it is written.
    Model(Edit<Writer>),
    /// After it was written.
    Bytes(Edit<Vec<u8>>),
    /// After it was split in three.
    Shards(Edit<Vec<Writer>>),
}

/// A file's name and its bytes.
pub type File = (String, Vec<u8>);

impl Case {
    /// The model's files; the first is the one to open.
    #[must_use]
    pub fn files(&self) -> Vec<File> {
        self.made_from(tiny::qwen35moe())
    }

    /// The files that the same change makes of another model with the same tensors.
    #[must_use]
    pub fn made_from(&self, mut model: Writer) -> Vec<File> {
        match &self.change {
            Change::Model(edit) => {
                edit(&mut model);
                vec![("model.gguf".into(), model.bytes())]
            }
            Change::Bytes(edit) => {
                let mut bytes = model.bytes();
                edit(&mut bytes);
                vec![("model.gguf".into(), bytes)]
            }
            Change::Shards(edit) => {
                let mut shards = model.split(3);
                edit(&mut shards);
                named(&shards)
            }
        }
    }
}

/// Shards under their names.
#[must_use]
pub fn named(shards: &[Writer]) -> Vec<File> {
    let shards = shards.iter().zip(1u32..);
    let named = shards.map(|(shard, number)| {
        let name = format!("model-{number:05}-of-00003.gguf");
        (name, shard.bytes())
    });
    named.collect()
}

/// Every case. Names are unique.
#[must_use]
pub fn all() -> Vec<Case> {
    [
        container::cases(),
        place::cases(),
        shards::cases(),
        hyperparameters::cases(),
        tensors::cases(),
        tokenizer::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A list of cases under construction, all refused at the same stage.
struct Table {
    stage: Stage,
    cases: Vec<Case>,
}

impl Table {
    fn new(stage: Stage) -> Table {
        Table {
            stage,
            cases: Vec::new(),
        }
    }

    /// A model that is changed before it is written, and is then damaged.
    fn damaged(&mut self, name: &str, says: &[&str], edit: impl Fn(&mut Writer) + 'static) {
        self.add(name, DAMAGED, says, Change::Model(Box::new(edit)));
    }

    /// As [`Table::damaged`], for what is well-formed and not served.
    fn unsupported(&mut self, name: &str, says: &[&str], edit: impl Fn(&mut Writer) + 'static) {
        self.add(name, UNSUPPORTED, says, Change::Model(Box::new(edit)));
    }

    fn add(&mut self, name: &str, exit: i32, says: &[&str], change: Change) {
        self.cases.push(Case {
            name: name.to_owned(),
            stage: self.stage,
            exit,
            says: says.iter().map(|part| (*part).to_owned()).collect(),
            change,
        });
    }
}
