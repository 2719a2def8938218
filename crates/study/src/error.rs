//! Why a study cannot be run or registered.

use std::error::Error;
use std::path::Path;

use retold::parse::registry::TwoParsers;
use retold::run::Stop;

use crate::config::{ConfigError, ConfigProblem};
use crate::template::TemplateError;

/// An error of a study, in its own words.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Why an experiment cannot be run with some settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// They were recorded by another study, or by another release of this one.
    #[error(transparent)]
    Unfit(#[from] serde_json::Error),
    /// An invalid value.
    #[error(transparent)]
    Wrong(#[from] ConfigProblem),
    /// Something cannot be made from a value.
    #[error("{source}")]
    Part {
        /// The value's key in a config. Settings may have it elsewhere, so the message does not
        /// name it.
        key: &'static str,
        /// The problem.
        source: BoxError,
    },
    /// A prompt that was tried stops the run.
    #[error("{}", reason(.0))]
    Prompt(#[source] Box<Stop>),
}

fn reason(stop: &Stop) -> String {
    match stop {
        Stop::Invalid { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

impl StudyError {
    /// Something cannot be made from the value at a key of a config.
    pub fn part(key: &'static str, source: impl Into<BoxError>) -> Self {
        StudyError::Part { key, source: source.into() }
    }

    /// The key of the invalid value in a config; `None` if the settings as a whole cannot be read.
    pub fn key(&self) -> Option<&str> {
        match self {
            StudyError::Unfit(_) => None,
            StudyError::Wrong(wrong) => Some(&wrong.key),
            StudyError::Part { key, .. } => Some(key),
            StudyError::Prompt(_) => Some("prompts"),
        }
    }

    /// This error in a config; [`locate`](crate::config::locate) adds its line.
    pub fn at(self, path: &Path) -> ConfigError {
        if let StudyError::Wrong(wrong) = self {
            return wrong.at(path);
        }
        ConfigProblem::new(self.key().unwrap_or("settings"), self.to_string()).at(path)
    }
}

impl From<TemplateError> for StudyError {
    fn from(error: TemplateError) -> Self {
        StudyError::part("prompts", error)
    }
}

impl From<Stop> for StudyError {
    fn from(stop: Stop) -> Self {
        StudyError::Prompt(Box::new(stop))
    }
}

/// Why a recorded run cannot be run again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// No experiment has that name.
    #[error("there is no experiment {name:?}; the experiments are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names that are known.
        known: String,
    },
    /// The recorded settings cannot be used.
    #[error("the recorded settings of experiment {name} cannot be used: {source}")]
    BadSettings {
        /// The experiment.
        name: String,
        /// The problem.
        source: StudyError,
    },
}

/// Why studies cannot be in the same program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Clash {
    /// Two of them have the same name.
    #[error("two studies are named {0:?}")]
    Name(&'static str),
    /// Two of their parsers have the same name.
    #[error(transparent)]
    Parser(#[from] TwoParsers),
}
