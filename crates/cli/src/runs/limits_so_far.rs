//! The limits of a run: those with which it began, and what each of its continuations changed in them.

use serde_json::{Map, Value, json};

use crate::error::CliError;
use retold::id::RunId;
use retold::log::Reader;
use retold::model::Limits;
use retold::run::resumptions;

/// The limits that a run has had, the last ones last.
#[derive(Debug)]
pub(crate) struct LimitsSoFar {
    began: Limits,
    changed: Vec<Limits>,
}

impl LimitsSoFar {
    /// Reads the limits of a run that began with these.
    pub(crate) fn read(
        reader: &mut dyn Reader,
        run: RunId,
        began: Limits,
    ) -> Result<Self, CliError> {
        let mut so_far = LimitsSoFar { began, changed: Vec::new() };
        for (_, resumed) in resumptions(reader, run)? {
            so_far.change(&resumed.settings);
        }
        Ok(so_far)
    }

    /// Those that it has now.
    pub(crate) fn last(&self) -> Limits {
        self.changed.last().copied().unwrap_or(self.began)
    }

    /// Takes in what a continuation added to the settings. What a later release has written there is for that release.
    fn change(&mut self, added: &Value) {
        let Some(change) = added["runtime"]["limits"].as_object() else { return };
        let Some(mut limits) = fields(self.last()) else { return };
        for (name, value) in change {
            match value {
                Value::Null => drop(limits.remove(name)),
                value => drop(limits.insert(name.clone(), value.clone())),
            }
        }
        self.changed.extend(serde_json::from_value::<Limits>(Value::Object(limits)).ok());
    }

    /// What a continuation with these limits adds to the settings; null if they are the same.
    pub(crate) fn added(&self, now: Limits) -> Value {
        let (before, now) = (fields(self.last()), fields(now));
        let (before, now) = (before.unwrap_or_default(), now.unwrap_or_default());
        let names = before.keys().chain(now.keys());
        let differ = names.filter(|name| before.get(*name) != now.get(*name));
        let change: Map<String, Value> =
            differ.map(|name| (name.clone(), now.get(name).cloned().unwrap_or_default())).collect();
        if change.is_empty() { Value::Null } else { json!({"runtime": {"limits": change}}) }
    }

    /// One of the limits, where the run is continued with a config: that of the config if the run has never had it, because
    /// then somebody has changed it there, and otherwise the last one, because flags may have set it.
    pub(crate) fn or_of_config<T: PartialEq>(
        &self,
        config: Option<T>,
        of: impl Fn(&Limits) -> Option<T>,
    ) -> Option<T> {
        let mut all = std::iter::once(&self.began).chain(&self.changed);
        match config {
            Some(config) if !all.any(|limits| of(limits).as_ref() == Some(&config)) => Some(config),
            _ => of(&self.last()),
        }
    }
}

/// The limits by their names, as they are recorded.
fn fields(limits: Limits) -> Option<Map<String, Value>> {
    match serde_json::to_value(limits) {
        Ok(Value::Object(fields)) => Some(fields),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(max_tokens: u64) -> Limits {
        Limits { max_tokens: Some(max_tokens), ..Limits::default() }
    }

    #[test]
    fn what_a_continuation_changes_holds_from_then_on() {
        let mut so_far = LimitsSoFar { began: tokens(900), changed: Vec::new() };
        assert_eq!(so_far.added(tokens(900)), Value::Null);
        let added = so_far.added(tokens(2000));
        assert_eq!(added, json!({"runtime": {"limits": {"max_tokens": 2000}}}));
        so_far.change(&added);
        let unlimited = so_far.added(Limits::default());
        assert_eq!(unlimited, json!({"runtime": {"limits": {"max_tokens": null}}}));
        assert_eq!(so_far.last(), tokens(2000));
        so_far.change(&unlimited);
        assert_eq!(so_far.last(), Limits::default());
        for other in [json!({"ignore": ["trace"]}), json!({"runtime": {"limits": {"later": 1}}})] {
            so_far.change(&other);
        }
        assert_eq!(so_far.last(), Limits::default());
    }

    #[test]
    fn a_config_says_only_what_is_new_in_it() {
        let mut so_far = LimitsSoFar { began: tokens(900), changed: Vec::new() };
        so_far.change(&so_far.added(tokens(2000)));
        let of_config = |config| so_far.or_of_config(config, |limits| limits.max_tokens);
        assert_eq!(of_config(Some(900)), Some(2000), "it has said this before");
        assert_eq!(of_config(Some(5000)), Some(5000));
        assert_eq!(of_config(None), Some(2000));
    }
}
