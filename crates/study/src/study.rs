//! The result of loading a config: a run about to be recorded.

use std::path::PathBuf;

use retold::model::RequestForm;
use serde::{Deserialize, Serialize};

use crate::config::Runtime;
use crate::settings::{AnySettings, ExperimentSettings};

/// A run about to be recorded, with everything that is needed to run it again.
#[derive(Debug, Clone)]
pub struct Study {
    /// The experiment's name.
    pub experiment: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// Whether nobody chose the seed: the config names none, so that it was drawn.
    pub seed_is_drawn: bool,
    /// The settings that are recorded in `RunStarted`.
    pub settings: StudySettings,
}

impl Study {
    /// A run of an experiment with these settings.
    pub fn new(name: &str, seed: u64, settings: impl AnySettings, runtime: Runtime) -> Self {
        let (experiment, requests) = (ExperimentSettings::new(settings), RequestForm::default());
        let settings = StudySettings { experiment, runtime, requests };
        Study { experiment: name.to_owned(), seed, seed_is_drawn: false, settings }
    }
}

/// The settings of a run: those that affect its outcome, and those that do not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StudySettings {
    /// The experiment's own settings, complete with templates and data.
    pub experiment: ExperimentSettings,
    /// Which model answers, and how fast.
    pub runtime: Runtime,
    /// How requests are written for the servers that are asked.
    #[serde(default, skip_serializing_if = "RequestForm::is_plain")]
    pub requests: RequestForm,
}

/// Whose settings an execution uses, which determines whether the files that they name may be
/// written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsOf {
    /// The user's: from a config given in this invocation.
    Config,
    /// A run's: anyone may have written them.
    Run,
}

/// What happened to the things that a run leaves for later runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreResult {
    /// There is nothing new.
    Nothing,
    /// It was added to a file.
    Added {
        /// How many.
        added: usize,
        /// The things that were added: a noun.
        what: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// It was not added: only the recorded settings of the run name the file.
    NotNamed {
        /// The things that were not added: a noun.
        what: &'static str,
        /// The file.
        path: PathBuf,
    },
}
