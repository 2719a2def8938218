//! JSON files of original runs; errors have the key and the line.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::OriginalError;
use crate::config::{ConfigError, Wrong, located};
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
    pub fn wrong(&self, wrong: Wrong) -> OriginalError {
        let Wrong { key, message } = wrong;
        let path = self.path.clone();
        let found = located(
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
/// The invalid key, and why it is invalid.
pub fn typed<T: DeserializeOwned>(value: &Value, inside: &str) -> Result<T, Wrong> {
    T::deserialize(value).map_err(|e| {
        let message = e.to_string();
        let below = culprit::<T>(value, &message);
        let keys: Vec<&str> = [inside, &below].into_iter().filter(|key| !key.is_empty()).collect();
        Wrong::new(&keys.join("."), explain(&message))
    })
}

/// The key of an invalid value: the one without which the error disappears, or another. Empty if a
/// key is missing, which the message names.
fn culprit<T: DeserializeOwned>(value: &Value, message: &str) -> String {
    let mut path: Vec<String> = Vec::new();
    if message.starts_with("missing field") {
        return String::new();
    }
    let at = |path: &[String]| path.iter().map(|key| format!("/{key}")).collect::<String>();
    while let Some(Value::Object(map)) = value.pointer(&at(&path)) {
        let guilty = map.keys().find(|key| {
            let mut without = value.clone();
            if let Some(map) = without.pointer_mut(&at(&path)).and_then(Value::as_object_mut) {
                map.remove(*key);
            }
            T::deserialize(&without).err().is_none_or(|e| e.to_string() != message)
        });
        match guilty {
            Some(key) => path.push(key.clone()),
            None => break,
        }
    }
    path.join(".")
}
