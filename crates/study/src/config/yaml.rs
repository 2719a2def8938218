//! Reads YAML; every error has file and line.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{ConfigError, snippet};
use super::node::{Place, YamlNode};
use super::typed::{Mistake, deserialize};
use retold::encoding;
use retold::encoding::TextError;
use retold::explain::{explain, not_finite};

/// The part of a config that says which experiment it is for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ConfigHead {
    /// The experiment's name.
    pub experiment: Option<String>,
}

/// The part of a config that names its seed, as one study or another calls it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ConfigSeed {
    pub(super) seed: Option<Value>,
    pub(super) random_seed: Option<Value>,
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

/// A path in a config: relative to the config, unless there is such a file only in the working directory.
pub fn relative_to(config: &Path, path: &Path) -> PathBuf {
    let near = config.parent().unwrap_or(Path::new("")).join(path);
    match !near.exists() && path.exists() {
        true => path.to_owned(),
        false => near,
    }
}

/// Reads a typed config; `path` is for messages.
///
/// # Errors
/// [`ConfigError::Invalid`] with the line.
pub fn load<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, ConfigError> {
    let node = node(path, text)?;
    deserialize(&node).map_err(|mistake| of_mistake(path, text, &mistake))
}

/// The value of a config.
fn node(path: &Path, text: &str) -> Result<YamlNode, ConfigError> {
    YamlNode::read(text).map_err(|error| {
        let error = error.without_snippet();
        let place = error.location().map_or((1, 1), |place| (place.line(), place.column()));
        invalid(path, text, place, explain(reason(&error.to_string())))
    })
}

/// The message of a YAML reader, without the place.
fn reason(said: &str) -> &str {
    said.rsplit_once(" at line ").map_or(said, |(reason, _)| reason)
}

fn of_mistake(path: &Path, text: &str, mistake: &Mistake) -> ConfigError {
    let message = match mistake.missing() {
        None => explain(&mistake.said),
        Some((key, group)) => {
            let group = match group {
                "" => "the config".to_owned(),
                group => format!("the group {group}"),
            };
            format!("{group} lacks the key {key:?}, which has no default")
        }
    };
    invalid(path, text, mistake.place.unwrap_or((1, 1)), message)
}

fn invalid(path: &Path, text: &str, (line, column): Place, message: String) -> ConfigError {
    let snippet = snippet(text, line);
    ConfigError::Invalid { path: path.display().to_string(), line, column, message, snippet }
}

/// Reads a typed config to which settings are applied.
///
/// # Errors
/// [`ConfigError::Invalid`], [`ConfigError::Override`].
pub(super) fn load_with<T: Serialize + DeserializeOwned>(
    path: &Path,
    text: &str,
    settings: &[String],
) -> Result<T, ConfigError> {
    let mut config: T = load(path, text)?;
    for setting in settings {
        let wrong = |message: &str| ConfigError::of_override(setting, explain(message));
        let whole = serde_json::to_value(&config).map_err(|e| wrong(&e.to_string()))?;
        let whole = YamlNode::of_value(with_setting(whole, setting)?);
        config = deserialize(&whole).map_err(|mistake| wrong(&mistake.said))?;
    }
    Ok(config)
}

/// Applies `KEY=VALUE` settings (dots between nested keys, values as YAML) to a config.
///
/// # Errors
/// [`ConfigError::Override`].
pub fn with_overrides(config: Value, settings: &[String]) -> Result<Value, ConfigError> {
    settings.iter().try_fold(config, |config, setting| with_setting(config, setting))
}

fn with_setting(mut whole: Value, setting: &str) -> Result<Value, ConfigError> {
    let wrong = |message: String| ConfigError::of_override(setting, message);
    let (key, value) = setting
        .split_once('=')
        .ok_or_else(|| wrong("write KEY=VALUE, with dots between nested keys".to_owned()))?;
    let value: Value = serde_saphyr::from_str(value).map_err(|e| {
        let said = e.without_snippet().to_string();
        let said = reason(&said);
        let is_number = not_finite(said).is_some();
        let said = explain(said);
        wrong(if is_number { said } else { format!("the value is not YAML: {said}") })
    })?;
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
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody who writes a config knows the grammar of YAML by its names.
    #[test]
    fn what_is_no_yaml_is_explained_in_plain_words() {
        const JARGON: [&str; 9] = [
            "scalar", "mapping", "block", "flow", "sequence", "indicator", "EOF", "simple key",
            "anchor count",
        ];
        for (text, plain) in [
            ("a: 1\n  b: 2\n", "there cannot be a key here"),
            ("a: b: c\n", "there cannot be a key here"),
            ("a: 1\n- b\n", "indentation"),
            ("a: 1\nb\nc: 2\n", "this line has no colon"),
            ("a: [1, 2\n", "bracket"),
            ("a: {b: 1\n", "bracket"),
            ("a:\n\t- b\n", "a tab cannot indent"),
            ("a: \"b\n", "a quote was opened above"),
            ("a: \"\\q\"\n", "this escape is not known"),
            ("a: 'b' c\n", "there is text after the closing quote"),
            ("a: *b\n", "put the text in quotes"),
            ("a: &\n", "put the text in quotes"),
            ("a:\n  - b\n c: 1\n", "indentation"),
            ("a: |\n    b\n  c\nd", "check the indentation"),
        ] {
            let Err(ConfigError::Invalid { message, .. }) =
                load::<ConfigHead>(Path::new("c.yaml"), text)
            else {
                panic!("{text}")
            };
            assert!(message.contains(plain), "{text:?}: {message}");
            assert!(!JARGON.iter().any(|word| message.contains(word)), "{text:?}: {message}");
        }
    }
}
