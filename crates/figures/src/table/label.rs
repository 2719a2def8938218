//! The values of labels, by which recorded values are grouped.

use retold::log::{AskedModels, LogError, Reader};
use serde_json::Value;

use super::group::GroupValue;
use crate::recorded::{Observation, RecordedFact};

/// The label that stands for the model that a question asks for, unless calls have one of this name.
pub(super) const MODEL: &str = "model";

/// The label that stands for the run.
pub(super) const RUN: &str = "run";

/// A run as a figure of several counts it.
pub(super) struct CountedRun {
    /// Its group.
    pub(super) group: GroupValue,
    /// Its settings.
    pub(super) settings: Value,
    /// True if decisions about its answers were accepted since.
    pub(super) has_accepted: bool,
}

impl CountedRun {
    /// A setting of the run by the last parts of its path: `setting.config.seed`, or shorter.
    fn setting(&self, name: &str) -> Option<&Value> {
        let experiment = &self.settings["experiment"];
        let places = [&experiment["config"], experiment, &self.settings];
        places
            .into_iter()
            .find_map(|place| name.split('.').try_fold(place, |value, key| value.get(key)))
    }

    /// True if it has the setting that a label stands for.
    pub(super) fn has(&self, label: &str) -> bool {
        setting_of(label).is_some_and(|setting| self.setting(setting).is_some())
    }
}

/// The setting of runs that a label stands for.
pub(super) fn setting_of(label: &str) -> Option<&str> {
    label.strip_prefix("setting.")
}

/// The value of a label: of the run, of the question, or else the field of a fact, or the model that the question asks for.
pub(super) fn label_of(
    observation: Observation<'_>,
    label: &str,
    run: &CountedRun,
    models: &mut AskedModels,
    reader: &mut dyn Reader,
) -> Result<GroupValue, LogError> {
    if let Some(setting) = setting_of(label) {
        return Ok(GroupValue::of_label(run.setting(setting).and_then(text_of)));
    }
    if label == RUN {
        return Ok(run.group.clone());
    }
    Ok(GroupValue::of_label(match observation {
        Observation::Decision { question, .. }
        | Observation::Answer { question, .. }
        | Observation::Unanswered { question } => match question.labels.get(label) {
            Some(value) => Some(value.clone()),
            None if label == MODEL => models.of_prompt(reader, question.prompt)?,
            None => None,
        },
        Observation::Fact { fact } => RecordedFact::new(fact).field(label).and_then(text_of),
    }))
}

/// A value as a label; `None` if it is neither a text nor a number nor true or false.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
