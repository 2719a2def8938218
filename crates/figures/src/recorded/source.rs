//! Which recorded values a name stands for.

use std::collections::BTreeSet;

use retold::event::Labels;
use retold::run::Shortcomings;
use serde_json::Value;

use super::census::{RunCensus, ValueCensus};
use super::fact::RecordedFact;
use super::observations::Observation;

/// What comes before the name of a decision where a study's own table has a field of this name.
const DECISION: &str = "decision";

/// The recorded values that a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueSource {
    /// Decisions.
    Decision {
        /// Their name.
        name: String,
        /// Only of calls that have a label with this value.
        labelled: Option<String>,
        /// A field of their values; the whole value if `None`.
        field: Option<String>,
    },
    /// A field of facts.
    Fact {
        /// Their name.
        name: String,
        /// The field.
        field: String,
    },
    /// A property of the answers, true or false.
    Answer(AnswerProperty),
}

static TRUE: Value = Value::Bool(true);
static FALSE: Value = Value::Bool(false);

/// How an answer may fall short, as a figure counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerProperty {
    /// It has neither a text nor a tool call nor a refusal.
    Blank,
    /// It ended at the limit of tokens.
    CutOff,
    /// The model, or a filter of its provider, refused.
    Refused,
}

impl AnswerProperty {
    fn by_name(name: &str) -> Option<Self> {
        match name {
            "blank" => Some(AnswerProperty::Blank),
            "cut_off" => Some(AnswerProperty::CutOff),
            "refused" => Some(AnswerProperty::Refused),
            _ => None,
        }
    }

    /// Whether an answer has it; missing if nothing of the answer is read.
    fn find(self, lacks: Shortcomings) -> FoundValue<'static> {
        let count = match self {
            AnswerProperty::Blank => lacks.blank,
            AnswerProperty::CutOff => lacks.cut_off,
            AnswerProperty::Refused => lacks.refused,
        };
        match (lacks.unreadable + lacks.not_read, count) {
            (0, 0) => FoundValue::Value(&FALSE),
            (0, _) => FoundValue::Value(&TRUE),
            _ => FoundValue::Missing,
        }
    }
}

impl RunCensus {
    /// Finds the values that a name stands for, the first of these that exists: a field of a study's own tables, a decision, a
    /// fact, a field of facts; for a name with a point, a field of a table, a decision after `decision.`, a decision of calls
    /// that have a label with the value before the point, a field of a decision, a field of a fact; a property of answers. A field that several tables or facts have stands
    /// for nothing without their name.
    pub fn source(&self, name: &str) -> Option<ValueSource> {
        if self.with_field(name).any(|table| self.tables.contains(table)) {
            return self.only_field(name);
        }
        if self.decisions.contains_key(name) {
            let (name, labelled, field) = (name.to_owned(), None, None);
            return Some(ValueSource::Decision { name, labelled, field });
        }
        let value = "value".to_owned();
        if self.facts.get(name).is_some_and(|fields| fields.contains(&value)) {
            return Some(ValueSource::Fact { name: name.to_owned(), field: value });
        }
        let dotted = || {
            let mut points = name.match_indices('.');
            points.find_map(|(at, _)| self.dotted_source(&name[..at], &name[at + 1..]))
        };
        let of_answers = || {
            let property = AnswerProperty::by_name(name).filter(|_| self.answers.decisions > 0);
            property.map(ValueSource::Answer)
        };
        self.only_field(name).or_else(dotted).or_else(of_answers)
    }

    /// The names of the facts and tables that have a field.
    pub(crate) fn with_field(&self, field: &str) -> impl Iterator<Item = &String> {
        let has_field = move |(_, fields): &(&String, &BTreeSet<String>)| fields.contains(field);
        self.facts.iter().filter(has_field).map(|(name, _)| name)
    }

    /// A field that one table has or, if no table has it, one fact.
    fn only_field(&self, field: &str) -> Option<ValueSource> {
        let names = |is_table: bool| {
            self.with_field(field).filter(move |name| self.tables.contains(*name) == is_table)
        };
        let is_of_tables = names(true).next().is_some();
        let mut names = names(is_of_tables);
        let (name, another) = (names.next()?, names.next());
        let fact = || ValueSource::Fact { name: name.clone(), field: field.to_owned() };
        another.is_none().then(fact)
    }

    fn dotted_source(&self, one: &str, other: &str) -> Option<ValueSource> {
        let has_field = self.facts.get(one).is_some_and(|fields| fields.contains(other));
        let fact = || ValueSource::Fact { name: one.to_owned(), field: other.to_owned() };
        if has_field && self.tables.contains(one) {
            return Some(fact());
        }
        if one == DECISION && self.decisions.contains_key(other) {
            let (name, labelled, field) = (other.to_owned(), None, None);
            return Some(ValueSource::Decision { name, labelled, field });
        }
        let is_labelled = self.labels.values().any(|values| values.contains(one));
        if is_labelled && self.decisions.contains_key(other) {
            let (name, labelled) = (other.to_owned(), Some(one.to_owned()));
            return Some(ValueSource::Decision { name, labelled, field: None });
        }
        if self.decisions.get(one).is_some_and(|found| found.fields.contains(other)) {
            let (name, field) = (one.to_owned(), Some(other.to_owned()));
            return Some(ValueSource::Decision { name, labelled: None, field });
        }
        has_field.then(fact)
    }
}

/// A recorded value, as far as a figure is concerned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FoundValue<'a> {
    /// A value.
    Value(&'a Value),
    /// There is none: not answered, null, or without the field.
    Missing,
    /// A parser's last resort.
    Fallback,
}

impl ValueSource {
    /// Whether all its values have a label, or for facts a field of this name.
    pub(crate) fn all_have(&self, label: &str, census: &RunCensus) -> bool {
        match self {
            ValueSource::Decision { name, .. } => {
                census.decisions.get(name).is_some_and(|found| found.all_have(label))
            }
            ValueSource::Fact { name, .. } => {
                census.facts.get(name).is_some_and(|fields| fields.contains(label))
            }
            ValueSource::Answer(_) => census.answers.all_have(label),
        }
    }

    /// Whether participants are independent of each other if no cluster is declared, as far as the run says so.
    pub(crate) fn are_alone(&self, census: &RunCensus) -> bool {
        match self {
            ValueSource::Decision { name, .. } => {
                census.decisions.get(name).is_some_and(ValueCensus::are_alone)
            }
            ValueSource::Answer(_) => census.answers.are_alone(),
            // A fact does not say which prompts it goes back to, and a study says itself which of its rows are independent.
            ValueSource::Fact { name, .. } => {
                !census.tables.contains(name)
                    && census.decisions.values().all(ValueCensus::are_alone)
            }
        }
    }

    /// What something recorded means for the figure; `None` if it is something else.
    pub(crate) fn find<'a>(
        &self,
        observation: Observation<'a>,
        census: &RunCensus,
    ) -> Option<FoundValue<'a>> {
        match (self, observation) {
            (
                ValueSource::Decision { name, labelled, field },
                Observation::Decision { name: decided, question, value, is_fallback, .. },
            ) => {
                let is_it = name == decided && is_labelled(labelled.as_ref(), &question.labels);
                let value = match field {
                    Some(field) => &value[field.as_str()],
                    None => value,
                };
                is_it.then_some(match (is_fallback, value) {
                    (true, _) => FoundValue::Fallback,
                    (false, Value::Null) => FoundValue::Missing,
                    (false, value) => FoundValue::Value(value),
                })
            }
            (
                ValueSource::Decision { name, labelled, .. },
                Observation::Unanswered { question },
            ) => {
                let is_it = census.expects(name, question)
                    && is_labelled(labelled.as_ref(), &question.labels);
                is_it.then_some(FoundValue::Missing)
            }
            (ValueSource::Answer(property), Observation::Answer { lacks, .. }) => {
                Some(property.find(lacks))
            }
            (ValueSource::Answer(_), Observation::Unanswered { .. }) => Some(FoundValue::Missing),
            (ValueSource::Fact { name, field }, Observation::Fact { fact }) => {
                let fact = RecordedFact::new(fact);
                (*name == fact.name()).then(|| match fact.field(field) {
                    Some(Value::Null) | None => FoundValue::Missing,
                    Some(value) => FoundValue::Value(value),
                })
            }
            _ => None,
        }
    }
}

fn is_labelled(value: Option<&String>, labels: &Labels) -> bool {
    value.is_none_or(|value| labels.values().any(|label| label == value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recorded::FigureRow;

    fn census() -> RunCensus {
        let mut census = RunCensus::default();
        let mut vote = ValueCensus::default();
        vote.fields.insert("strength".to_owned());
        census.decisions.insert("vote".to_owned(), vote);
        census.facts.insert("score".to_owned(), ["name", "value"].map(str::to_owned).into());
        census.facts.insert("paid".to_owned(), ["coins".to_owned()].into());
        census.labels.insert("phase".to_owned(), ["before".to_owned()].into());
        census
    }

    #[test]
    fn a_name_stands_for_the_first_thing_that_there_is() {
        let decision = |name: &str, labelled: Option<&str>, field: Option<&str>| {
            let text = |text: Option<&str>| text.map(str::to_owned);
            let (labelled, field) = (text(labelled), text(field));
            Some(ValueSource::Decision { name: name.to_owned(), labelled, field })
        };
        let fact = |name: &str, field: &str| {
            let (name, field) = (name.to_owned(), field.to_owned());
            Some(ValueSource::Fact { name, field })
        };
        for (name, source) in [
            ("vote", decision("vote", None, None)),
            ("before.vote", decision("vote", Some("before"), None)),
            ("vote.strength", decision("vote", None, Some("strength"))),
            ("score", fact("score", "value")),
            ("coins", fact("paid", "coins")),
            ("paid.coins", fact("paid", "coins")),
            ("after.vote", None),
            ("paid", None),
            ("", None),
        ] {
            assert_eq!(census().source(name), source, "{name}");
        }
    }

    #[test]
    fn a_field_of_a_study_s_table_comes_first_and_one_of_several_stands_for_nothing() {
        let mut census = census();
        let source = |census: &RunCensus, name: &str| match census.source(name) {
            Some(ValueSource::Fact { name, field }) => format!("{name}.{field}"),
            other => format!("{other:?}"),
        };
        census.add_row(&FigureRow::new("turn", [("vote", json!(1)), ("coins", json!(2))]));
        assert_eq!(source(&census, "vote"), "turn.vote");
        assert_eq!(source(&census, "coins"), "turn.coins", "not the fact's");
        assert_eq!(source(&census, "paid.coins"), "paid.coins");
        census.facts.insert("lent".to_owned(), ["sum".to_owned()].into());
        census.facts.insert("owed".to_owned(), ["sum".to_owned()].into());
        assert_eq!(census.source("sum"), None);
        assert_eq!(census.names("sum"), "fields of this name: lent.sum, owed.sum");
        census.add_row(&FigureRow::new("round", [("vote", json!(1))]));
        assert_eq!(census.source("vote"), None, "not the decision");
    }
}
