//! Invalid values.

use std::path::Path;

use retold::run::{RunNameError, new_run_name};

use super::error::ConfigError;

/// A number for a message: at most six decimals, and no more digits than are readable.
pub fn figure(value: f64) -> String {
    if !(1e-6..1e15).contains(&value.abs()) && value != 0.0 {
        return format!("{value:e}");
    }
    // An empty sum is -0.
    let text = format!("{:.6}", value + 0.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The first invalid value in a config.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct ConfigProblem {
    /// The key, with dots; list items in brackets, from 0: `topic.options[2]`.
    pub key: String,
    /// The problem.
    pub message: String,
}

impl ConfigProblem {
    /// An error at a key.
    pub fn new(key: &str, message: impl Into<String>) -> ConfigProblem {
        ConfigProblem { key: key.to_owned(), message: message.into() }
    }

    /// This error in a given file; [`locate`](super::locate) adds its line.
    pub fn at(self, path: &Path) -> ConfigError {
        let ConfigProblem { key, message } = self;
        ConfigError::Value { path: path.display().to_string(), key, message }
    }
}

/// Checks that numbers are in range: key, value if given, minimum and maximum.
///
/// # Errors
/// The first number that is out of range.
pub fn within(ranges: &[(&str, Option<f64>, f64, f64)]) -> Result<(), ConfigProblem> {
    for (key, value, least, most) in ranges {
        if let Some(value) = value.filter(|value| !(*least..=*most).contains(value)) {
            return Err(ConfigProblem::new(
                key,
                format!("must be from {least} to {most}, not {}", figure(value)),
            ));
        }
    }
    Ok(())
}

/// Checks that a value can be the name of a run and of the folder that it writes.
///
/// # Errors
/// If it could lead elsewhere, is not a plain name, or would not find the run.
pub fn names_folder(key: &str, name: &str) -> Result<(), ConfigProblem> {
    if let Err(error @ (RunNameError::Latest | RunNameError::LikeAnOption)) = new_run_name(name) {
        return Err(ConfigProblem::new(key, format!("{name:?} cannot name a run: {error}")));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        Err(ConfigProblem::new(
            key,
            format!(
                "{name:?} cannot name a folder: use letters, digits, '_', '-' and '.', but no '.' at the beginning"
            ),
        ))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_would_not_find_the_run_is_refused() {
        let said = |name| names_folder("pilot_id", name).unwrap_err().to_string();
        assert!(
            said("latest").starts_with("pilot_id: \"latest\" cannot name a run: "),
            "{}",
            said("latest")
        );
        assert!(said("-x").ends_with("would be read as an option"), "{}", said("-x"));
        assert!(said("").contains("cannot name a folder"), "{}", said(""));
        assert_eq!(names_folder("pilot_id", "pilot-1"), Ok(()));
    }

    #[test]
    fn numbers_are_shown_as_they_can_be_read() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.5, "1.5"),
            (-2.0, "-2"),
            (5.001, "5.001"),
            (0.1 + 0.2, "0.3"),
            (0.7 + 0.6, "1.3"),
            (1e300, "1e300"),
            (-1e-9, "-1e-9"),
            (86_400_000.0, "86400000"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(figure(value), text);
        }
    }
}
