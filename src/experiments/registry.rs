//! From a config to an experiment, and from a recorded run back to one.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reenact::{Reenact, ReenactError, Reenactment};
use super::{deliberation, game24};
use crate::config::{ConfigError, Head, Runtime, load, read_text};
use crate::inert::inert;
use crate::model::simulated::Player;
use crate::run::AnyExperiment;

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

/// One experiment, as the registry knows it.
struct Entry {
    name: &'static str,
    load: fn(&Path, &str, &[String]) -> Result<Study, ConfigError>,
    build: fn(&Value) -> Result<Box<dyn AnyExperiment>, String>,
    player: fn() -> Box<dyn Player>,
    /// Original runs of another program, told again by ours.
    reenact: Option<Reenact>,
}

const ENTRIES: &[Entry] = &[
    Entry {
        name: deliberation::NAME,
        load: deliberation::load,
        build: |settings| Ok(Box::new(deliberation::Deliberation::from_settings(settings)?)),
        player: || Box::new(deliberation::SimulatedDeliberation),
        reenact: Some(deliberation::reenact),
    },
    Entry {
        name: game24::NAME,
        load: game24::load,
        build: |settings| Ok(Box::new(game24::Game24::from_settings(settings)?)),
        player: || Box::new(game24::SimulatedSolver),
        reenact: None,
    },
];

/// Why a recorded run cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// No experiment of that name.
    #[error("there is no experiment {name:?}; the experiments are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The recorded settings do not fit.
    #[error("the recorded settings of experiment {name} do not fit: {reason}")]
    BadSettings {
        /// The experiment.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

fn entry(name: &str) -> Result<&'static Entry, RegistryError> {
    let known = || ENTRIES.iter().map(|e| e.name).collect::<Vec<_>>().join(", ");
    ENTRIES
        .iter()
        .find(|e| e.name == name)
        .ok_or_else(|| RegistryError::Unknown { name: name.to_owned(), known: known() })
}

/// Reads a config file. `experiment` overrides the name in it; `overrides` are `KEY=VALUE`.
///
/// # Errors
/// [`ConfigError`] with file and line.
pub fn study(
    path: &Path,
    experiment: Option<&str>,
    overrides: &[String],
) -> Result<Study, ConfigError> {
    let text = read_text(path)?;
    let value = |key: &str, message: String| ConfigError::Value {
        path: path.display().to_string(),
        key: key.to_owned(),
        message,
    };
    let named = match experiment {
        Some(name) => name.to_owned(),
        None => load::<Head>(path, &text)?.experiment.ok_or_else(|| {
            // A key that is nowhere is missing from the top.
            let first = text.lines().next().unwrap_or_default();
            ConfigError::Invalid {
                path: path.display().to_string(),
                line: 1,
                column: 1,
                message: "the key \"experiment\" is missing: name it, here or with --experiment"
                    .to_owned(),
                snippet: format!("   1 | {}", inert(first, 120)),
            }
        })?,
    };
    let entry = entry(&named).map_err(|e| value("experiment", e.to_string()))?;
    let study = (entry.load)(path, &text, overrides)?;
    study.settings.runtime.check(&path.display().to_string())?;
    if study.seed > 1 << 53 {
        return Err(value("seed", format!("at most 2^53, not {}", study.seed)));
    }
    Ok(study)
}

/// The experiment of recorded settings.
///
/// # Errors
/// [`RegistryError`]: not known to this program, or settings of another release.
pub fn build(name: &str, settings: &Value) -> Result<Box<dyn AnyExperiment>, RegistryError> {
    (entry(name)?.build)(settings)
        .map_err(|reason| RegistryError::BadSettings { name: name.to_owned(), reason })
}

/// Who plays an experiment for the simulated model.
///
/// # Errors
/// [`RegistryError::Unknown`].
pub fn player(name: &str) -> Result<Box<dyn Player>, RegistryError> {
    Ok((entry(name)?.player)())
}

/// Reads an original run of another program, to be executed again by an experiment; `None` if the
/// experiment knows no such runs.
///
/// # Errors
/// [`RegistryError::Unknown`], or what is wrong with the files.
pub fn reenact(
    name: &str,
    path: &Path,
) -> Result<Option<Result<Reenactment, ReenactError>>, RegistryError> {
    // `public-goods` is easier to type than `public_goods`.
    Ok(entry(&name.replace('-', "_"))?.reenact.map(|reenact| reenact(path)))
}
