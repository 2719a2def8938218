//! The values of labels, by which recorded values are grouped.

use retold::log::{AskedModels, LogError, Reader};
use serde_json::Value;

use crate::recorded::{Observation, RecordedFact};

/// The label that stands for the model that a question asks for, unless calls have one of this name.
pub(super) const MODEL: &str = "model";

/// The value of a label: of the question, or else the field of a fact, or the model that the question asks for.
pub(super) fn label_of(
    observation: Observation<'_>,
    label: &str,
    models: &mut AskedModels,
    reader: &mut dyn Reader,
) -> Result<Option<String>, LogError> {
    match observation {
        Observation::Decision { question, .. } | Observation::Unanswered { question } => {
            match question.labels.get(label) {
                Some(value) => Ok(Some(value.clone())),
                None if label == MODEL => models.of_prompt(reader, question.prompt),
                None => Ok(None),
            }
        }
        Observation::Fact { fact } => Ok(match RecordedFact::new(fact).field(label) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Some(value.to_string()),
            _ => None,
        }),
    }
}
