//! JSON files of original runs; errors have the key and the line.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::OriginalError;
use crate::config::{ConfigError, ConfigProblem, locate};
use retold::explain::explain;

/// A JSON file of an original run.
pub struct JsonFile {
    path: String,
    text: String,
    /// Its contents.
    pub value: Value,
}

impl JsonFile {
    /// A file from its text.
    ///
    /// # Errors
    /// [`OriginalError::Line`] if it is not JSON.
    pub fn parse(path: &Path, text: String) -> Result<JsonFile, OriginalError> {
        match serde_json::from_str(&text) {
            Ok(value) => Ok(JsonFile { path: path.display().to_string(), text, value }),
            Err(e) => {
                let whole = e.to_string();
                let reason = whole.split(" at line ").next().map(explain).unwrap_or(whole);
                Err(OriginalError::line(path, e.line().max(1) as u64, reason))
            }
        }
    }

    /// An invalid value, with the line of its key.
    pub fn wrong(&self, wrong: ConfigProblem) -> OriginalError {
        let ConfigProblem { key, message } = wrong;
        let path = self.path.clone();
        let found = locate(
            ConfigError::Value { path: path.clone(), key, message },
            Path::new(&self.path),
            &self.text,
            &[],
        );
        match found {
            ConfigError::Invalid { line, message, .. } => {
                OriginalError::Line { path, line, reason: message }
            }
            ConfigError::Value { key, message, .. } if !key.is_empty() => {
                OriginalError::Inconsistent { path, reason: format!("{key}: {message}") }
            }
            ConfigError::Value { message: reason, .. } => {
                OriginalError::Inconsistent { path, reason }
            }
            other => OriginalError::Inconsistent { path, reason: other.to_string() },
        }
    }
}

/// A value in its type. `inside` is the key of the value, if any.
///
/// # Errors
/// The invalid key, or the group that lacks one, and the problem.
pub fn from_value<T: DeserializeOwned>(value: &Value, inside: &str) -> Result<T, ConfigProblem> {
    serde_path_to_error::deserialize(value).map_err(|e| {
        let below = if e.path().iter().len() == 0 { String::new() } else { e.path().to_string() };
        let dot = if inside.is_empty() || below.is_empty() { "" } else { "." };
        ConfigProblem::new(&format!("{inside}{dot}{below}"), explain(&e.inner().to_string()))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Round {
        #[serde(rename = "coins")]
        _coins: u8,
    }

    type Rounds = BTreeMap<String, Vec<Round>>;

    #[test]
    fn an_error_names_the_key_at_any_depth() {
        for (value, inside, said) in [
            (
                json!({"a": [{"coins": 1}, {"coins": -1}]}),
                "",
                "a[1].coins: expected a whole number from 0 to 255, not the number -1",
            ),
            (
                json!({"a": [{"coins": "x"}]}),
                "games",
                "games.a[0].coins: expected a whole number from 0 to 255, not the text \"x\"",
            ),
            (
                json!({"a": [{}]}),
                "",
                "a[0]: the key \"coins\" is missing here, and it has no default",
            ),
            (
                json!({"a": [{"coin": 1}]}),
                "",
                "a[0].coin: unknown key \"coin\"; did you mean coins? known here: coins",
            ),
            (json!(1), "games", "games: expected a group of keys, not the number 1"),
        ] {
            assert_eq!(from_value::<Rounds>(&value, inside).unwrap_err().to_string(), said);
        }
    }
}
