//! Settings that say how to ask and not what: which server, how fast, how long to wait, and when to try again. No prompt
//! depends on them, so they may change whenever a run is continued or forked.

use serde_json::{Map, Value, json};

use crate::config::{ConfigError, with_overrides};
use crate::studies::Studies;
use crate::study::StudySettings;

/// The group in which the settings of some studies have their whole config.
const CONFIG: &str = "config";

/// A change without the group in which recorded settings have the config's keys.
fn in_config(change: &str) -> &str {
    change.strip_prefix(CONFIG).and_then(|rest| rest.strip_prefix('.')).unwrap_or(change)
}

/// The first part of the key of a change.
fn first_key(change: &str) -> &str {
    let key = in_config(change);
    key.split(['.', '=']).next().unwrap_or(key)
}

impl Studies {
    /// Whether a change, `KEY=VALUE`, is of a setting that says how to ask.
    pub fn is_of_asking(&self, experiment: &str, change: &str) -> bool {
        self.asking_keys(experiment).contains(&first_key(change))
    }

    /// The keys of an experiment's config that say how to ask.
    pub fn asking_keys(&self, experiment: &str) -> &'static [&'static str] {
        self.find(experiment).map_or(&[], |study| study.config_keys().asking)
    }

    /// Changes a setting that says how to ask, and what follows from it.
    ///
    /// # Errors
    /// [`ConfigError::Override`].
    pub fn change_asking(
        &self,
        experiment: &str,
        settings: &mut StudySettings,
        change: &str,
    ) -> Result<(), ConfigError> {
        let wrong = |message: String| ConfigError::of_override(change, message);
        let study = self.get(experiment).map_err(|e| wrong(e.to_string()))?;
        let StudySettings { experiment: of_study, runtime, .. } = settings;
        let (before, change) = (runtime.model.kind, in_config(change));
        match first_key(change) {
            key if key == study.config_keys().model => runtime.change_model(key, change)?,
            "limits" => runtime.change_limits(change)?,
            "retry" => runtime.change_retry(change)?,
            _ => {
                let json = of_study.to_json().map_err(|e| wrong(e.to_string()))?;
                let changed = with_overrides(json, &[format!("{CONFIG}.{change}")])?.into();
                self.check_fork(experiment, &changed, of_study)
                    .map_err(|e| wrong(e.to_string()))?;
                *of_study = changed;
            }
        }
        self.pace(experiment, settings, before);
        Ok(())
    }

    /// Removes from an experiment's settings the keys for how to ask, and leaves those for the questions themselves.
    pub fn without_asking(&self, experiment: &str, settings: &mut Value) {
        let Some(config) = settings.get_mut(CONFIG).and_then(Value::as_object_mut) else { return };
        for key in self.asking_keys(experiment) {
            config.remove(*key);
        }
    }

    /// The part of a run's settings about how to ask, in their form.
    pub fn asking_part(&self, experiment: &str, settings: &Value) -> Value {
        let config = &settings["experiment"][CONFIG];
        let keys = self.asking_keys(experiment).iter();
        let of_config = keys.filter_map(|key| Some(((*key).to_owned(), config.get(*key)?.clone())));
        let of_config: Map<String, Value> = of_config.collect();
        match of_config.is_empty() {
            true => json!({"runtime": settings["runtime"]}),
            false => json!({"runtime": settings["runtime"], "experiment": { CONFIG: of_config }}),
        }
    }
}
