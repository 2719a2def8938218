//! Reads YAML; every error has file and line.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::mistake::{Mistake, mistake};
use retold::encoding;
use retold::encoding::{NotUtf8, TextError};
use retold::explain::{explain, not_finite};
use retold::inert::inert;

/// A config that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The file is in another encoding.
    #[error("{}", problem.of(path))]
    NotUtf8 {
        /// The file.
        path: String,
        /// Where, and how to convert it.
        problem: NotUtf8,
    },
    /// The YAML is broken, or a key is unknown, missing, or of the wrong type.
    #[error("{path}:{line}:{column}: {message}\n{snippet}")]
    Invalid {
        /// The file.
        path: String,
        /// From 1.
        line: u64,
        /// From 1.
        column: u64,
        /// What is wrong.
        message: String,
        /// The lines around it.
        snippet: String,
    },
    /// A value that is well-formed but invalid. The registry finds the line of the key; see
    /// [`located`](super::located).
    #[error("{path}: {key}: {message}")]
    Value {
        /// The file.
        path: String,
        /// The key, with dots.
        key: String,
        /// What is wrong.
        message: String,
    },
    /// A `--set` that cannot be applied.
    #[error("--set {setting}: {message}")]
    Override {
        /// The setting as given.
        setting: String,
        /// What is wrong.
        message: String,
    },
}

impl ConfigError {
    /// A `--set` that cannot be applied. Secrets in the setting are not shown.
    pub fn of_override(setting: &str, message: String) -> Self {
        ConfigError::Override { setting: shown(setting), message }
    }
}

/// The part of a config that says which experiment it is for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Head {
    /// The experiment's name.
    pub experiment: Option<String>,
}

/// The text of a file that a config names.
///
/// # Errors
/// [`ConfigError::Unreadable`], [`ConfigError::NotUtf8`].
pub fn read_text(path: &Path) -> Result<String, ConfigError> {
    let shown = path.display().to_string();
    encoding::read_by_hand(path).map_err(|e| match e {
        TextError::Io(e) => ConfigError::Unreadable { path: shown, reason: e.to_string() },
        TextError::NotUtf8(problem) => ConfigError::NotUtf8 { path: shown, problem },
    })
}

/// A path in a config: relative to the config if such a file exists, otherwise unchanged.
pub fn beside(config: &Path, path: &Path) -> PathBuf {
    let near = config.parent().map(|folder| folder.join(path)).filter(|near| near.exists());
    near.unwrap_or_else(|| path.to_owned())
}

/// Reads a typed config; `path` is for messages.
///
/// # Errors
/// [`ConfigError::Invalid`] with the line.
pub fn load<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, ConfigError> {
    // Invalid YAML is reported as such, whatever was expected where it breaks.
    let sound = serde_saphyr::from_str::<serde::de::IgnoredAny>(text).map(|_| ());
    sound.and_then(|()| serde_saphyr::from_str(text)).map_err(|error| {
        let plain = error.without_snippet().to_string();
        let (line, column) =
            error.location().map_or((1, 1), |place| (place.line(), place.column()));
        let message =
            plain.strip_suffix(&format!(" at line {line}, column {column}")).unwrap_or(&plain);
        let Mistake { line, column, message } = mistake::<T>(text, (line, column), message);
        let snippet = snippet(text, line);
        ConfigError::Invalid { path: path.display().to_string(), line, column, message, snippet }
    })
}

/// Applies `KEY=VALUE` settings (dots between nested keys, values as YAML) to a config.
///
/// # Errors
/// [`ConfigError::Override`].
pub fn with_overrides<T: Serialize + DeserializeOwned>(
    config: T,
    settings: &[String],
) -> Result<T, ConfigError> {
    settings.iter().try_fold(config, |config, setting| {
        let wrong = |message: String| ConfigError::of_override(setting, message);
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| wrong("write KEY=VALUE, with dots between nested keys".to_owned()))?;
        let value: Value = serde_saphyr::from_str(value).map_err(|e| {
            let reason = e.without_snippet().to_string();
            let reason = reason.split(" at line ").next().unwrap_or_default();
            let is_number = not_finite(reason).is_some();
            let reason = explain(reason);
            wrong(if is_number { reason } else { format!("the value is not YAML: {reason}") })
        })?;
        let mut whole = serde_json::to_value(&config).map_err(|e| wrong(e.to_string()))?;
        let mut place = &mut whole;
        for part in key.split('.') {
            if place.is_null() {
                *place = Value::Object(Default::default());
            }
            let Value::Object(map) = place else {
                return Err(wrong(format!("{part:?} is not inside a group of keys")));
            };
            place = map.entry(part).or_insert(Value::Null);
        }
        *place = value;
        serde_json::from_value(whole).map_err(|e| wrong(explain(&e.to_string())))
    })
}

/// A line of a config, from 1, as messages show it.
pub(super) fn snippet(text: &str, line: u64) -> String {
    let found = text.lines().nth(usize::try_from(line.saturating_sub(1)).unwrap_or(0));
    format!("{line:>4} | {}", shown(found.unwrap_or_default()))
}

/// A part of a config for a message. The parts of URLs that may be secret (user name, password,
/// query) are left out.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
        let (url, left) = after.split_at(after.find(ends).unwrap_or(after.len()));
        let (path, query) =
            url.split_once(['?', '#']).map_or((url, ""), |(path, _)| (path, "?[...]"));
        let (host, path) = path.split_at(path.find('/').unwrap_or(path.len()));
        let host = match host.rsplit_once('@') {
            Some((_, host)) => format!("[...]@{host}"),
            None => host.to_owned(),
        };
        shown.push_str(&format!("{before}://{host}{path}{query}"));
        rest = left;
    }
    inert(&format!("{shown}{rest}"), 120)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_may_be_a_key_is_not_shown() {
        let line = "url: \"https://me:pw@a.example/x/y?token=s3cret#z\" # see http://b.example/?q";
        let expected = "url: \"https://[...]@a.example/x/y?[...]\" # see http://b.example/?[...]";
        assert_eq!(shown(line), expected);
        assert_eq!(shown("a: b"), "a: b");
        assert_eq!(shown("u: http://p@ss@h"), "u: http://[...]@h");
    }
}
