//! The names that a run has: decisions, facts, fields and labels.

use std::collections::{BTreeMap, BTreeSet};

use retold::decided::DecidedQuestion;
use retold::event::{Labels, call_kind};
use serde_json::Value;

use super::ballots::BallotCensus;
use super::fact::RecordedFact;
use super::observations::Observation;
use super::row::FigureRow;

/// The most names, values of one label, and different values of one decision that are kept: a foreign log may have any
/// number.
const MOST: usize = 10_000;

/// The most different values that are counted one by one.
const MOST_VALUES: usize = 50;

/// The longest value that is counted as one of few.
const LONGEST: usize = 60;

/// What figures can be made of.
#[derive(Debug, Clone, Default)]
pub struct RunCensus {
    /// Decisions by name.
    pub decisions: BTreeMap<String, ValueCensus>,
    /// The answers themselves.
    pub(crate) answers: ValueCensus,
    /// The fields of facts, by the facts' names.
    pub facts: BTreeMap<String, BTreeSet<String>>,
    /// The names of the facts that are rows of a study's own tables.
    pub(crate) tables: BTreeSet<String>,
    /// The values of labels.
    pub labels: BTreeMap<String, BTreeSet<String>>,
}

/// A summary of the decisions of one name.
#[derive(Debug, Clone, Default)]
pub struct ValueCensus {
    /// How many there are.
    pub decisions: u64,
    /// Their fields, if they are objects.
    pub fields: BTreeSet<String>,
    /// The kinds of their calls.
    pub(crate) kinds: BTreeSet<String>,
    /// The labels of their calls.
    labelled: BTreeMap<String, LabelCensus>,
    /// Whether the prompt of any of their calls was made from something earlier.
    is_dependent: bool,
    numbers: u64,
    others: u64,
    ballots: BallotCensus,
    /// How often each value occurs; `None` if there are too many.
    values: Option<BTreeMap<String, u64>>,
}

/// A label of the calls of decisions.
#[derive(Debug, Clone, Default)]
struct LabelCensus {
    /// How many decisions have it.
    decisions: u64,
    /// Its values.
    values: BTreeSet<String>,
}

/// How decisions of a name can be summed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ValueShape {
    /// All are numbers.
    Numbers,
    /// They are few names; the commonest first.
    Names(Vec<String>),
    /// They are lists of few options.
    Lists,
    /// They are lists of few options, whose order differs.
    Rankings,
    /// They are objects with the points of few options.
    Points,
    /// None of these.
    Other,
}

impl RunCensus {
    /// Counts something that a run recorded.
    pub fn add(&mut self, observation: Observation<'_>) {
        match observation {
            Observation::Decision { name, question, value, is_fallback, .. } => {
                self.labels(&question.labels);
                if let Some(of_name) = entry(&mut self.decisions, name) {
                    of_name.add_question(question);
                    of_name.add(value, is_fallback);
                }
            }
            Observation::Answer { question, .. } => {
                self.labels(&question.labels);
                self.answers.add_question(question);
            }
            Observation::Unanswered { question } => self.labels(&question.labels),
            Observation::Fact { fact } => {
                let fact = RecordedFact::new(fact);
                if let Some(fields) = entry(&mut self.facts, &fact.name()) {
                    extend(fields, fact.fields());
                }
            }
        }
    }

    /// Counts a row of a study's own table.
    pub(crate) fn add_row(&mut self, row: &FigureRow) {
        self.add(Observation::Fact { fact: &row.fact });
        extend(&mut self.tables, [&RecordedFact::new(&row.fact).name()]);
    }

    fn labels(&mut self, labels: &Labels) {
        for (name, value) in labels {
            if let Some(values) = entry(&mut self.labels, name) {
                extend(values, [value]);
            }
        }
    }

    /// Whether a question without an answer would have had a decision of this name: because no others were made, or because
    /// calls of its kind have one.
    pub(crate) fn expects(&self, name: &str, question: &DecidedQuestion) -> bool {
        let is_only = self.decisions.len() == 1 && self.decisions.contains_key(name);
        let kind = || call_kind(&question.labels, &question.call);
        is_only || self.decisions.get(name).is_some_and(|found| found.kinds.contains(&kind()))
    }
}

impl ValueCensus {
    /// Whether all of them have a label.
    pub(crate) fn all_have(&self, label: &str) -> bool {
        self.labelled.get(label).is_some_and(|found| found.decisions == self.decisions)
    }

    /// True if the values of different participants are independent when no cluster is declared. They are not if a
    /// prompt was made from something earlier.
    pub(crate) fn are_alone(&self) -> bool {
        !self.is_dependent
    }

    /// The labels that all of them have, each with the number of its values.
    pub(crate) fn shared_labels(&self) -> impl Iterator<Item = (&str, usize)> {
        let labels = self.labelled.iter().filter(|(_, found)| found.decisions == self.decisions);
        labels.map(|(label, found)| (label.as_str(), found.values.len()))
    }

    /// Counts the question of one.
    fn add_question(&mut self, question: &DecidedQuestion) {
        self.decisions += 1;
        self.is_dependent |= question.is_dependent;
        if self.kinds.len() < MOST {
            self.kinds.insert(call_kind(&question.labels, &question.call));
        }
        for (label, value) in &question.labels {
            if let Some(labelled) = entry(&mut self.labelled, label) {
                labelled.decisions += 1;
                extend(&mut labelled.values, [value]);
            }
        }
    }

    fn add(&mut self, value: &Value, is_fallback: bool) {
        if let Value::Object(fields) = value {
            extend(&mut self.fields, fields.keys());
        }
        // A last resort does not show the type of the values.
        if is_fallback || value.is_null() {
            return;
        }
        if self.ballots.add(value) {
            return;
        }
        let name = match value {
            Value::Number(_) => {
                self.numbers += 1;
                return;
            }
            Value::String(text) => text.clone(),
            Value::Bool(value) => value.to_string(),
            _ => String::new(),
        };
        self.others += 1;
        let is_first = self.others == 1;
        if is_first {
            self.values = Some(BTreeMap::new());
        }
        let is_name = !name.is_empty() && name.chars().count() <= LONGEST;
        if let Some(values) = &mut self.values {
            let has_room = values.len() < MOST_VALUES;
            match values.get_mut(&name) {
                Some(count) => *count += 1,
                None if is_name && has_room => drop(values.insert(name, 1)),
                None => self.values = None,
            }
        }
    }

    /// How they can be summed up.
    pub(crate) fn shape(&self) -> ValueShape {
        match (self.numbers, self.others, &self.values) {
            (0, 0, _) => self.ballots.shape(),
            _ if self.ballots.is_any() => ValueShape::Other,
            (1.., 0, _) => ValueShape::Numbers,
            (0, 1.., Some(values)) => {
                let mut names: Vec<(&String, &u64)> = values.iter().collect();
                names.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
                ValueShape::Names(names.into_iter().map(|(name, _)| name.clone()).collect())
            }
            _ => ValueShape::Other,
        }
    }
}

/// The entry of a name, unless there are too many.
fn entry<'a, T: Default>(all: &'a mut BTreeMap<String, T>, name: &str) -> Option<&'a mut T> {
    if !all.contains_key(name) {
        if all.len() >= MOST {
            return None;
        }
        all.insert(name.to_owned(), T::default());
    }
    all.get_mut(name)
}

/// Adds names, as long as there are not too many.
fn extend<'a>(names: &mut BTreeSet<String>, more: impl IntoIterator<Item = &'a String>) {
    for name in more {
        if names.len() < MOST && !names.contains(name) {
            names.insert(name.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shape(values: &[Value]) -> ValueShape {
        let mut census = ValueCensus::default();
        values.iter().for_each(|value| census.add(value, false));
        census.shape()
    }

    #[test]
    fn values_are_numbers_or_few_names_or_neither() {
        assert_eq!(shape(&[json!(1), json!(2.5), json!(null)]), ValueShape::Numbers);
        let votes = shape(&[json!("yes"), json!("no"), json!("no"), json!(true)]);
        assert_eq!(votes, ValueShape::Names(["no", "true", "yes"].map(str::to_owned).into()));
        assert_eq!(shape(&[json!(1), json!("ten")]), ValueShape::Other);
        assert_eq!(shape(&[json!({"a": 1}), json!({"b": 2})]), ValueShape::Points);
        assert_eq!(shape(&[json!({"a": "x"})]), ValueShape::Other);
        assert_eq!(shape(&[json!(["a", "b"]), json!([]), json!(["b"])]), ValueShape::Lists);
        assert_eq!(shape(&[json!(["a", "b"]), json!(["b", "a"])]), ValueShape::Rankings);
        assert_eq!(shape(&[json!(["a", "b"]), json!({"a": 1})]), ValueShape::Other);
        assert_eq!(shape(&[json!(["a", "b"]), json!("a")]), ValueShape::Other);
        assert_eq!(shape(&[json!("x".repeat(LONGEST + 1))]), ValueShape::Other);
        let many: Vec<Value> = (0..=MOST_VALUES).map(|n| json!(format!("v{n}"))).collect();
        assert_eq!(shape(&many), ValueShape::Other);
        assert_eq!(shape(&[]), ValueShape::Other);
    }
}
