//! Which recorded values a name stands for.

use std::collections::BTreeSet;

use retold::event::Labels;
use serde_json::Value;

use super::census::{RunCensus, ValueCensus};
use super::fact::RecordedFact;
use super::observations::Observation;

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
        /// Their name; any if `None`.
        name: Option<String>,
        /// The field.
        field: String,
    },
}

impl RunCensus {
    /// Finds the values that a name stands for, the first of these that exists: a decision, a fact, a field of facts;
    /// for a name with a point, a decision of calls that have a label with the value before the point, a field of a
    /// decision, a field of a fact.
    pub fn source(&self, name: &str) -> Option<ValueSource> {
        if self.decisions.contains_key(name) {
            let (name, labelled, field) = (name.to_owned(), None, None);
            return Some(ValueSource::Decision { name, labelled, field });
        }
        let value = "value".to_owned();
        if self.facts.get(name).is_some_and(|fields| fields.contains(&value)) {
            return Some(ValueSource::Fact { name: Some(name.to_owned()), field: value });
        }
        if self.facts.values().any(|fields: &BTreeSet<String>| fields.contains(name)) {
            return Some(ValueSource::Fact { name: None, field: name.to_owned() });
        }
        name.match_indices('.').find_map(|(at, _)| self.dotted_source(&name[..at], &name[at + 1..]))
    }

    fn dotted_source(&self, one: &str, other: &str) -> Option<ValueSource> {
        let is_labelled = self.labels.values().any(|values| values.contains(one));
        if is_labelled && self.decisions.contains_key(other) {
            let (name, labelled) = (other.to_owned(), Some(one.to_owned()));
            return Some(ValueSource::Decision { name, labelled, field: None });
        }
        if self.decisions.get(one).is_some_and(|found| found.fields.contains(other)) {
            let (name, field) = (one.to_owned(), Some(other.to_owned()));
            return Some(ValueSource::Decision { name, labelled: None, field });
        }
        let has = self.facts.get(one).is_some_and(|fields| fields.contains(other));
        has.then(|| ValueSource::Fact { name: Some(one.to_owned()), field: other.to_owned() })
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
            ValueSource::Fact { name: Some(name), .. } => {
                census.facts.get(name).is_some_and(|fields| fields.contains(label))
            }
            ValueSource::Fact { name: None, field } => {
                let mut with_field = census.facts.values().filter(|it| it.contains(field));
                with_field.all(|fields| fields.contains(label))
            }
        }
    }

    /// Whether participants are independent of each other if no cluster is declared, as far as the run says so.
    pub(crate) fn are_alone(&self, census: &RunCensus) -> bool {
        match self {
            ValueSource::Decision { name, .. } => {
                census.decisions.get(name).is_some_and(ValueCensus::are_alone)
            }
            // A fact does not say which prompts it goes back to.
            ValueSource::Fact { .. } => census.decisions.values().all(ValueCensus::are_alone),
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
            (ValueSource::Fact { name, field }, Observation::Fact { fact }) => {
                let fact = RecordedFact::new(fact);
                let is_it = name.as_ref().is_none_or(|name| *name == fact.name());
                match fact.field(field) {
                    _ if !is_it => None,
                    Some(Value::Null) => Some(FoundValue::Missing),
                    Some(value) => Some(FoundValue::Value(value)),
                    // Facts of other names need not have the field.
                    None => name.is_some().then_some(FoundValue::Missing),
                }
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
    use super::*;

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
        let fact = |name: Option<&str>, field: &str| {
            let (name, field) = (name.map(str::to_owned), field.to_owned());
            Some(ValueSource::Fact { name, field })
        };
        for (name, source) in [
            ("vote", decision("vote", None, None)),
            ("before.vote", decision("vote", Some("before"), None)),
            ("vote.strength", decision("vote", None, Some("strength"))),
            ("score", fact(Some("score"), "value")),
            ("coins", fact(None, "coins")),
            ("paid.coins", fact(Some("paid"), "coins")),
            ("after.vote", None),
            ("paid", None),
            ("", None),
        ] {
            assert_eq!(census().source(name), source, "{name}");
        }
    }
}
