//! The language that `mini-ornith` has learned: whether a text belongs to it, and how likely it is.
//!
//! `grammar.json` states the language, and `grammar.py` beside it says what the notation
//! means. This reads the same rules a second time, so that a test can judge what the program writes without Python.

use crate::json_file;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// What stands after each document of a longer text.
pub const END_OF_TEXT: &str = "<|endoftext|>";

const GRAMMAR: &str = "grammar.json";
/// The rule whose expansions are documents.
const DOCUMENT: &str = "document";
/// An alternative that states no weight has its rank, from 1, to this power.
const RANK_EXPONENT: f64 = -0.6;

/// A grammar whose rules remember what they drew.
pub struct Language {
    rules: BTreeMap<String, Vec<Alternative>>,
}

/// One right-hand side of a rule.
struct Alternative {
    text: String,
    weight: f64,
    attributes: BTreeMap<String, String>,
    parts: Vec<Part>,
}

/// A piece of a right-hand side.
enum Part {
    /// These characters.
    Text(String),
    /// An expansion of a rule.
    Draw(Draw),
    /// What a variable stands for, or one of its attributes: `{hero}`, `{hero.he}`.
    Remembered(String, Option<String>),
    /// The sum of the numbers that variables stand for: `{a+b}`.
    Sum(Vec<String>),
}

/// `{rule}`, `{variable=rule}` or `{variable=rule-except}`.
struct Draw {
    rule: String,
    /// What remembers the alternative.
    variable: Option<String>,
    /// The variable whose alternative may not come again.
    except: Option<String>,
}

impl Language {
    /// The language of `mini-ornith`.
    ///
    /// # Panics
    /// When the grammar isn't there or can't be read.
    #[must_use]
    pub fn of_mini_ornith() -> Language {
        let grammar = json_file(GRAMMAR);
        let rules = grammar.as_object().expect("a grammar is an object");
        let read = rules.iter().map(|(name, alternatives)| {
            let alternatives = alternatives.as_array().expect("a rule is a list");
            let read = alternatives.iter().zip(1..);
            let read = read.map(|(raw, rank)| Alternative::read(raw, rank, rules));
            (name.clone(), read.collect())
        });
        Language {
            rules: read.collect(),
        }
    }

    /// Whether `text` is a whole document.
    #[must_use]
    pub fn is_document(&self, text: &str) -> bool {
        self.any(text, false)
    }

    /// Whether a document begins with `text`, or is it.
    #[must_use]
    pub fn begins_a_document(&self, text: &str) -> bool {
        self.any(text, true)
    }

    /// Whether `text` is documents with [`END_OF_TEXT`] after each, the last one perhaps cut.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        let mut documents: Vec<&str> = text.split(END_OF_TEXT).collect();
        let last = documents.pop().unwrap_or_default();
        let mut whole = documents.into_iter();
        whole.all(|document| self.is_document(document)) && self.begins_a_document(last)
    }

    /// The logarithm of the probability that the language gives a document: the sum over all ways to derive it. `None`
    /// where there is none.
    #[must_use]
    pub fn log_probability(&self, document: &str) -> Option<f64> {
        let mut ways = Vec::new();
        let _ = self.derive(document, false, &mut |way| {
            ways.push(way);
            ControlFlow::Continue(())
        });
        let largest = ways.iter().copied().reduce(f64::max)?;
        let sum: f64 = ways.iter().map(|way| (way - largest).exp()).sum();
        Some(largest + sum.ln())
    }

    fn any(&self, text: &str, cut: bool) -> bool {
        let way = self.derive(text, cut, &mut |_| ControlFlow::Break(()));
        way.is_break()
    }

    /// Tells `found` the log-probability of each way to derive `text`, until it has heard enough. With `cut` the text
    /// may end before the document does.
    fn derive(&self, text: &str, cut: bool, found: &mut Found<'_>) -> ControlFlow<()> {
        let whole = Part::draw(DOCUMENT);
        let mut search = Search {
            language: self,
            text,
            cut,
            bound: Vec::new(),
            found,
        };
        search.follow(vec![&whole], 0, 0.0)
    }

    fn alternatives(&self, rule: &str) -> &[Alternative] {
        let alternatives = self.rules.get(rule);
        alternatives.unwrap_or_else(|| panic!("the grammar has no rule {rule}"))
    }
}

impl Alternative {
    /// A text, or an object with a text, perhaps a weight, and attributes.
    fn read(raw: &Value, rank: u32, rules: &Map<String, Value>) -> Alternative {
        let fields = raw.as_object();
        let text = raw.as_str().or_else(|| raw["text"].as_str());
        let text = text.expect("an alternative has a text");
        let weight = raw["weight"].as_f64();
        let attributes = fields.into_iter().flatten();
        let attributes = attributes.filter(|(name, _)| *name != "text" && *name != "weight");
        let attributes = attributes.map(|(name, value)| {
            let value = value.as_str().expect("an attribute is a text");
            (name.clone(), value.to_owned())
        });
        Alternative {
            text: text.to_owned(),
            weight: weight.unwrap_or_else(|| f64::from(rank).powf(RANK_EXPONENT)),
            attributes: attributes.collect(),
            parts: parts(text, rules),
        }
    }
}

/// The pieces of a right-hand side, in order.
fn parts(text: &str, rules: &Map<String, Value>) -> Vec<Part> {
    let mut parts = Vec::new();
    for piece in text.split_inclusive('}') {
        let (before, slot) = match piece.strip_suffix('}') {
            Some(piece) => {
                let (before, slot) = piece
                    .split_once('{')
                    .expect("a brace opens before it closes");
                (before, Some(slot))
            }
            None => (piece, None),
        };
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        parts.extend(slot.map(|slot| Part::slot(slot, rules)));
    }
    parts
}

impl Part {
    /// What stands between braces.
    fn slot(slot: &str, rules: &Map<String, Value>) -> Part {
        let name = str::to_owned;
        if let Some((variable, rule)) = slot.split_once('=') {
            assert!(!rules.contains_key(variable), "{variable} is a rule");
            let (rule, except) = match rule.split_once('-') {
                Some((rule, except)) => (rule, Some(except)),
                None => (rule, None),
            };
            return Part::Draw(Draw {
                rule: name(rule),
                variable: Some(name(variable)),
                except: except.map(name),
            });
        }
        if slot.contains('+') {
            return Part::Sum(slot.split('+').map(name).collect());
        }
        if rules.contains_key(slot) {
            return Part::draw(slot);
        }
        match slot.split_once('.') {
            Some((variable, attribute)) => Part::Remembered(name(variable), Some(name(attribute))),
            None => Part::Remembered(name(slot), None),
        }
    }

    /// An expansion that nothing remembers.
    fn draw(rule: &str) -> Part {
        Part::Draw(Draw {
            rule: rule.to_owned(),
            variable: None,
            except: None,
        })
    }
}

/// Hears the log-probability of a derivation.
type Found<'a> = dyn FnMut(f64) -> ControlFlow<()> + 'a;

/// A walk over the derivations of a text, depth first.
struct Search<'a, 'f> {
    language: &'a Language,
    text: &'a str,
    cut: bool,
    /// What variables stand for on the way here; of equal names the last counts.
    bound: Vec<(&'a str, &'a Alternative)>,
    found: &'f mut Found<'f>,
}

impl<'a> Search<'a, '_> {
    /// Goes on at byte `at` of the text, where `ahead` is still to match, its next part last.
    fn follow(&mut self, mut ahead: Vec<&'a Part>, mut at: usize, way: f64) -> ControlFlow<()> {
        let text = self.text;
        loop {
            let rest = &text[at..];
            if self.cut && rest.is_empty() {
                return (self.found)(way);
            }
            let literal = match ahead.pop() {
                None if rest.is_empty() => return (self.found)(way),
                None => return ControlFlow::Continue(()),
                Some(Part::Draw(draw)) => return self.draw(draw, &ahead, at, way),
                Some(Part::Text(text)) => Cow::Borrowed(text.as_str()),
                Some(Part::Remembered(variable, attribute)) => {
                    Cow::Borrowed(self.remembered(variable, attribute.as_deref()))
                }
                Some(Part::Sum(variables)) => Cow::Owned(self.sum(variables)),
            };
            if !rest.starts_with(&*literal) {
                return match self.cut && literal.starts_with(rest) {
                    true => (self.found)(way),
                    false => ControlFlow::Continue(()),
                };
            }
            at += literal.len();
        }
    }

    /// Tries each alternative that may stand here.
    fn draw(&mut self, draw: &'a Draw, ahead: &[&'a Part], at: usize, way: f64) -> ControlFlow<()> {
        let except = draw.except.as_deref().map(|variable| self.bound(variable));
        let allowed = self.language.alternatives(&draw.rule).iter();
        let allowed =
            allowed.filter(|one| !except.is_some_and(|except| std::ptr::eq(except, *one)));
        let total: f64 = allowed.clone().map(|one| one.weight).sum();
        for alternative in allowed {
            let before = self.bound.len();
            let variable = draw.variable.as_deref();
            self.bound.extend(variable.map(|name| (name, alternative)));
            let parts = alternative.parts.iter().rev();
            let ahead = ahead.iter().copied().chain(parts).collect();
            self.follow(ahead, at, way + (alternative.weight / total).ln())?;
            self.bound.truncate(before);
        }
        ControlFlow::Continue(())
    }

    fn bound(&self, variable: &str) -> &'a Alternative {
        let mut bound = self.bound.iter().rev();
        let found = bound.find(|(name, _)| *name == variable);
        found
            .unwrap_or_else(|| panic!("nothing was drawn for {variable}"))
            .1
    }

    fn remembered(&self, variable: &str, attribute: Option<&str>) -> &'a str {
        let alternative = self.bound(variable);
        match attribute {
            None => &alternative.text,
            Some(attribute) => &alternative.attributes[attribute],
        }
    }

    fn sum(&self, variables: &[String]) -> String {
        let number = |variable: &String| self.bound(variable).text.parse::<u64>();
        let numbers = variables.iter().map(number);
        let sum: Result<u64, _> = numbers.sum();
        sum.expect("a sum is of numbers").to_string()
    }
}
