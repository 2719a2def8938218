//! Facts, whether a study recorded them or a program reported them.

use retold::compare::kind_of_fact;
use serde_json::{Map, Value};

/// A fact with its name and its fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordedFact<'a> {
    fact: &'a Value,
}

impl<'a> RecordedFact<'a> {
    pub(crate) fn new(fact: &'a Value) -> Self {
        RecordedFact { fact }
    }

    /// The name under which a program reported it, or else its kind.
    pub(crate) fn name(&self) -> String {
        if let Some((name, _)) = self.only() {
            return name.clone();
        }
        match (&self.fact["name"], self.fact.get("value")) {
            (Value::String(name), Some(_)) => name.clone(),
            _ => kind_of_fact(&self.fact.to_string()),
        }
    }

    /// The names of its fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'a String> {
        self.objects().flat_map(Map::keys)
    }

    /// A field.
    pub(crate) fn field(&self, name: &str) -> Option<&'a Value> {
        self.objects().find_map(|fields| fields.get(name))
    }

    /// Where its fields are: in the only one, if that is an object with fields of its own, or else in the fact and in a
    /// `value` that is an object.
    fn objects(&self) -> impl Iterator<Item = &'a Map<String, Value>> {
        let (fields, inner) = match self.only() {
            Some((_, inner)) => (None, Some(inner)),
            None => (self.fact.as_object(), self.fact["value"].as_object()),
        };
        fields.into_iter().chain(inner)
    }

    /// Its only field, if that is an object.
    fn only(&self) -> Option<(&'a String, &'a Map<String, Value>)> {
        let mut fields = self.fact.as_object()?.iter();
        let (name, value) = fields.next()?;
        Some((name, value.as_object()?)).filter(|_| fields.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fact_has_a_name_and_fields_however_it_is_written() {
        for (fact, name, field) in [
            (json!({"name": "score", "value": 3, "lane": "p1"}), "score", "value"),
            (json!({"name": "score", "value": {"sum": 3}, "lane": "p1"}), "score", "sum"),
            (json!({"name": "score", "value": {"sum": 3}, "lane": "p1"}), "score", "lane"),
            (json!({"fact": "voted", "choice": "tea"}), "voted", "choice"),
            (json!({"VoteCast": {"choice": "tea"}}), "VoteCast", "choice"),
            (json!({"name": "ada", "age": 3}), "fact", "age"),
        ] {
            let fact = RecordedFact::new(&fact);
            assert_eq!(fact.name(), name);
            assert!(fact.field(field).is_some(), "{name}");
        }
        assert_eq!(RecordedFact::new(&json!("text")).fields().count(), 0);
    }
}
