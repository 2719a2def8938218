//! The label of a line of an exchanges file, and the labels of its call: the same, told twice. A run groups by the labels of calls; a
//! file has one field for all of them.

use serde_json::{Map, Value};

use crate::event::Labels;

/// The label that stands for a whole label that is one value: the right answer.
pub const GOLD: &str = "gold";

/// The labels of a call whose line has this label: each of its fields, as text.
pub(super) fn labels_of(label: Option<&Value>) -> Labels {
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    match label {
        None => Labels::new(),
        Some(Value::Object(fields)) => {
            fields.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
        }
        Some(value) => text(value).map(|value| (GOLD.to_owned(), value)).into_iter().collect(),
    }
}

/// The label of a line, from the one that its answer was imported with, which may have numbers, and from the labels of its call.
pub(super) fn label_of(imported: Option<Value>, labels: Labels) -> Option<Value> {
    let told = labels_of(imported.as_ref());
    if labels.iter().all(|label| told.get(label.0) == Some(label.1)) {
        return imported;
    }
    let mut fields = match imported {
        Some(Value::Object(fields)) => fields,
        Some(value) => Map::from_iter([(GOLD.to_owned(), value)]),
        None => Map::new(),
    };
    let untold = labels.into_iter().filter(|(name, value)| told.get(name) != Some(value));
    fields.extend(untold.map(|(name, value)| (name, value.into())));
    Some(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn labels(of: &[(&str, &str)]) -> Labels {
        of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn each_field_is_a_label_and_one_value_is_the_right_answer() {
        let all =
            json!({"item": "q1", "n": 3, "graded": false, "aliases": ["a", "b"], "none": null});
        let due = [("aliases", "[\"a\",\"b\"]"), ("graded", "false"), ("item", "q1"), ("n", "3")];
        assert_eq!(labels_of(Some(&all)), labels(&due));
        assert_eq!(labels_of(Some(&json!("yes"))), labels(&[("gold", "yes")]));
        assert_eq!(labels_of(Some(&json!(42))), labels(&[("gold", "42")]));
        assert_eq!(
            [labels_of(None), labels_of(Some(&Value::Null))],
            [Labels::new(), Labels::new()]
        );
    }

    #[test]
    fn what_was_imported_comes_out_as_it_was() {
        for imported in
            [json!({"n": 3, "none": null}), json!("yes"), json!({"gold": "yes"}), json!(7)]
        {
            let labels = labels_of(Some(&imported));
            assert_eq!(label_of(Some(imported.clone()), labels), Some(imported));
        }
        assert_eq!(label_of(None, Labels::new()), None);
        let call = labels(&[("participant", "p1"), ("n", "3")]);
        assert_eq!(label_of(None, call.clone()), Some(json!({"participant": "p1", "n": "3"})));
        let both = label_of(Some(json!({"n": 3, "trace": "t"})), call.clone());
        assert_eq!(both, Some(json!({"n": 3, "trace": "t", "participant": "p1"})));
        let one = label_of(Some(json!("yes")), call);
        assert_eq!(one, Some(json!({"gold": "yes", "participant": "p1", "n": "3"})));
    }
}
