//! What an experiment is loaded into: a run about to be recorded.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::Runtime;

/// A run about to be recorded, with all that its re-execution needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// The experiment's name.
    pub experiment: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// What is recorded in `RunStarted`.
    pub settings: StudySettings,
}

/// The settings of a run: what changes its outcome, and what does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudySettings {
    /// The experiment's own, whole: templates and data included.
    pub experiment: Value,
    /// Who answers, and how fast.
    pub runtime: Runtime,
}

/// What a run has left for later ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// How many.
    pub added: usize,
    /// Of what: a noun.
    pub what: &'static str,
    /// In which file.
    pub path: PathBuf,
}
