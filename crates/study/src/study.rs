//! What an experiment is loaded into: a run about to be recorded.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::Runtime;
use crate::settings::{AnySettings, ExperimentSettings};

/// A run about to be recorded, with all that its re-execution needs.
#[derive(Debug, Clone)]
pub struct Study {
    /// The experiment's name.
    pub experiment: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// What is recorded in `RunStarted`.
    pub settings: StudySettings,
}

impl Study {
    /// A run of an experiment with these settings.
    pub fn new(name: &str, seed: u64, settings: impl AnySettings, runtime: Runtime) -> Self {
        let settings = StudySettings { experiment: ExperimentSettings::of(settings), runtime };
        Study { experiment: name.to_owned(), seed, settings }
    }
}

/// The settings of a run: what changes its outcome, and what does not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StudySettings {
    /// The experiment's own, whole: templates and data included.
    pub experiment: ExperimentSettings,
    /// Who answers, and how fast.
    pub runtime: Runtime,
}
/// Whose settings an execution has, and so whether the files that they name may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsOf {
    /// The user's: a config given to this invocation.
    Config,
    /// A run's: anybody may have written them.
    Run,
}

/// What has become of what a run leaves for later ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// There is nothing new.
    Nothing,
    /// It was added to a file.
    Added {
        /// How many.
        added: usize,
        /// Of what: a noun.
        what: &'static str,
        /// To which file.
        path: PathBuf,
    },
    /// It was not added: only the recorded settings of the run name the file.
    NotNamed {
        /// Of what: a noun.
        what: &'static str,
        /// Which file.
        path: PathBuf,
    },
}
