//! How a run has asked: as it began, and as each of its continuations went on.

use serde_json::{Map, Value};

use crate::error::CliError;
use retold::id::RunId;
use retold::log::Reader;
use retold::run::{apply_patch, patch_between, resumptions, run_start};
use retold_study::studies::Studies;

/// The settings of a run for how to ask: each state so far, the last one last.
#[derive(Debug)]
pub(crate) struct AskingSoFar {
    states: Vec<Value>,
}

impl AskingSoFar {
    pub(crate) fn read(
        studies: &Studies,
        reader: &mut dyn Reader,
        run: RunId,
    ) -> Result<Self, CliError> {
        let began = run_start(reader, run)?;
        let part = |settings: &Value| studies.asking_part(&began.experiment, settings);
        let mut settings = began.settings.clone();
        let mut states = vec![part(&settings)];
        for (_, resumed) in resumptions(reader, run)? {
            if !resumed.settings.is_null() {
                apply_patch(&mut settings, &resumed.settings);
                states.push(part(&settings));
            }
        }
        Ok(AskingSoFar { states })
    }

    /// The changes to the settings if a continuation asks in this way; null if there are none.
    pub(crate) fn changes_to(&self, now: &Value) -> Value {
        let last = self.states.last();
        last.and_then(|last| patch_between(last, now)).unwrap_or_default()
    }

    /// How a run asks that is continued with a config: as the config says where the run has never had the value, because
    /// then somebody has changed it there, and otherwise as it did last, because flags may have said so.
    pub(crate) fn or_of_config(&self, config: &Value) -> Value {
        let states: Vec<Option<&Value>> = self.states.iter().map(Some).collect();
        or_last(&states, Some(config)).unwrap_or_default()
    }
}

/// The same for a place in the settings: its values so far, and that of the config.
fn or_last(states: &[Option<&Value>], config: Option<&Value>) -> Option<Value> {
    let last = states.last().copied().flatten();
    let fields = |value: Option<&Value>| value.and_then(Value::as_object).cloned();
    if let (Some(of_config), Some(of_last)) = (fields(config), fields(last)) {
        let names: Vec<&String> = of_last.keys().chain(of_config.keys()).collect();
        let field = |name: &String| {
            let states: Vec<Option<&Value>> =
                states.iter().map(|state| state.and_then(|state| state.get(name))).collect();
            Some((name.clone(), or_last(&states, of_config.get(name))?))
        };
        return Some(Value::Object(names.into_iter().filter_map(field).collect::<Map<_, _>>()));
    }
    match config {
        Some(config) if !states.contains(&Some(config)) => Some(config.clone()),
        _ => last.cloned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn limited(limits: Value) -> Value {
        json!({"runtime": {"limits": limits}})
    }

    #[test]
    fn what_a_continuation_changes_is_recorded_as_a_patch() {
        let so_far = AskingSoFar { states: vec![limited(json!({"max_tokens": 900}))] };
        assert_eq!(so_far.changes_to(&limited(json!({"max_tokens": 900}))), Value::Null);
        let more = limited(json!({"max_tokens": 2000}));
        assert_eq!(so_far.changes_to(&more), more);
        let unlimited = so_far.changes_to(&limited(json!({})));
        assert_eq!(unlimited, limited(json!({"max_tokens": null})));
    }

    #[test]
    fn a_config_says_only_what_is_new_in_it() {
        let of = |tokens: u64| limited(json!({"max_tokens": tokens, "timeout_seconds": 600}));
        let so_far = AskingSoFar { states: vec![of(900), of(2000)] };
        assert_eq!(so_far.or_of_config(&of(900)), of(2000), "it has said this before");
        assert_eq!(so_far.or_of_config(&of(5000)), of(5000));
        assert_eq!(so_far.or_of_config(&limited(json!({}))), of(2000), "it says nothing");
        let slow = limited(json!({"max_tokens": 900, "timeout_seconds": 900}));
        let due = limited(json!({"max_tokens": 2000, "timeout_seconds": 900}));
        assert_eq!(so_far.or_of_config(&slow), due);
    }
}
