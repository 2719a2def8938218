//! The settings of an experiment of any study.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};
use serde_json::Value;

use crate::shard::{SHARD, Shard};

/// The settings of an experiment: in its study's types after a config was read, and as JSON when
/// they come from a log. [`read`](Self::read) reads both, so JSON is only made where settings are
/// recorded, changed by key or shown.
#[derive(Clone)]
pub enum ExperimentSettings {
    /// Made by the study itself. Sharing them does not copy.
    Typed(Arc<dyn AnySettings>),
    /// Recorded, perhaps by anyone: nothing guarantees that they are valid for the study.
    Recorded(Value),
}

/// Settings of some study, in its own types. Implemented for every type that can be written as
/// JSON.
pub trait AnySettings: Any + Send + Sync {
    /// The recorded form.
    ///
    /// # Errors
    /// If a value cannot be written as JSON.
    fn to_json(&self) -> Result<Value, serde_json::Error>;
}

impl<T: Serialize + Any + Send + Sync> AnySettings for T {
    fn to_json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}

impl ExperimentSettings {
    /// Settings in the types of a study.
    pub fn new(settings: impl AnySettings) -> Self {
        ExperimentSettings::Typed(Arc::new(settings))
    }

    /// The settings in the types of their study.
    ///
    /// # Errors
    /// If they were recorded and are not valid settings of this study in this release.
    pub fn read<T: DeserializeOwned + Clone + 'static>(
        &self,
    ) -> Result<Cow<'_, T>, serde_json::Error> {
        match self {
            ExperimentSettings::Recorded(recorded) => T::deserialize(recorded).map(Cow::Owned),
            ExperimentSettings::Typed(typed) => {
                let any: &dyn Any = typed.as_ref();
                match any.downcast_ref::<T>() {
                    Some(settings) => Ok(Cow::Borrowed(settings)),
                    // Settings of another study: reading their JSON reports the problem.
                    None => T::deserialize(typed.to_json()?).map(Cow::Owned),
                }
            }
        }
    }

    /// The recorded form.
    ///
    /// # Errors
    /// If a value cannot be written as JSON.
    pub fn to_json(&self) -> Result<Value, serde_json::Error> {
        match self {
            ExperimentSettings::Typed(typed) => typed.to_json(),
            ExperimentSettings::Recorded(recorded) => Ok(recorded.clone()),
        }
    }
}

impl ExperimentSettings {
    /// A text in the settings, such as the name of a run's folder: taken from the study's own
    /// types, or from a JSON pointer in recorded settings. This also works for settings of another
    /// release that this one cannot run.
    pub fn text<T: DeserializeOwned + Clone + 'static>(
        &self,
        of: impl Fn(&T) -> &str,
        pointer: &str,
    ) -> Option<String> {
        match self {
            ExperimentSettings::Recorded(recorded) => {
                recorded.pointer(pointer)?.as_str().map(str::to_owned)
            }
            ExperimentSettings::Typed(_) => Some(of(self.read::<T>().ok()?.as_ref()).to_owned()),
        }
    }
}

impl ExperimentSettings {
    /// The shard that a run with these settings is; `None` if it is the whole study.
    pub fn shard(&self) -> Option<Shard> {
        let shard = match self {
            ExperimentSettings::Recorded(recorded) => recorded.get(SHARD)?.clone(),
            ExperimentSettings::Typed(typed) => typed.to_json().ok()?.get(SHARD)?.clone(),
        };
        Shard::deserialize(shard).ok()
    }

    /// The same settings for a shard, or for the whole study.
    ///
    /// # Errors
    /// If a value cannot be written as JSON.
    pub fn with_shard(&self, shard: Option<Shard>) -> Result<Self, serde_json::Error> {
        let mut settings = self.to_json()?;
        if let Some(settings) = settings.as_object_mut() {
            match shard {
                Some(shard) => settings.insert(SHARD.to_owned(), shard.to_string().into()),
                None => settings.remove(SHARD),
            };
        }
        Ok(ExperimentSettings::Recorded(settings))
    }

    /// The name of a run with these settings: `NAME`, or `NAME-3of16` for a shard.
    pub fn run_name(&self, name: String) -> String {
        match self.shard() {
            Some(shard) => format!("{name}-{}of{}", shard.number(), shard.of()),
            None => name,
        }
    }
}

impl From<Value> for ExperimentSettings {
    fn from(recorded: Value) -> Self {
        ExperimentSettings::Recorded(recorded)
    }
}

impl fmt::Debug for ExperimentSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_json() {
            Ok(json) => json.fmt(f),
            Err(error) => error.fmt(f),
        }
    }
}

impl Serialize for ExperimentSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().map_err(ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ExperimentSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(ExperimentSettings::Recorded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Rounds {
        rounds: u32,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Bidders {
        bidders: u32,
    }

    #[test]
    fn settings_are_the_same_typed_and_recorded() {
        let typed = ExperimentSettings::new(Rounds { rounds: 3 });
        assert!(matches!(typed.read::<Rounds>().unwrap(), Cow::Borrowed(Rounds { rounds: 3 })));
        let json = serde_json::to_value(&typed).unwrap();
        assert_eq!(json, json!({"rounds": 3}));
        let recorded: ExperimentSettings = serde_json::from_value(json).unwrap();
        assert_eq!(recorded.read::<Rounds>().unwrap(), typed.read::<Rounds>().unwrap());
        for settings in [typed, recorded] {
            let error = settings.read::<Bidders>().unwrap_err().to_string();
            assert_eq!(error, "missing field `bidders`");
        }
    }
}
