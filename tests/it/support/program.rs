//! What the program `retold` knows: its studies.

use std::path::Path;
use std::sync::LazyLock;

use retold::model::simulated::Player;
use retold::run::AnyExperiment;
use retold_cli::Catalogue;
use retold_study::Studies;
use retold_study::config::ConfigError;
use retold_study::error::ExperimentError;
use retold_study::original::{Original, OriginalError};
use retold_study::settings::ExperimentSettings;
use retold_study::study::Study;

static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| retold_cli::program::catalogue().expect("each study has a name of its own"));

/// The studies of the program.
pub(crate) fn studies() -> &'static Studies {
    CATALOGUE.studies()
}

pub(crate) fn study(
    path: &Path,
    experiment: Option<&str>,
    overrides: &[String],
) -> Result<Study, ConfigError> {
    studies().study(path, experiment, overrides, 0, false)
}

pub(crate) fn supply(
    path: &Path,
    study: &mut Study,
    overrides: &[String],
) -> Result<(), ConfigError> {
    studies().supply(path, study, overrides, false)
}

pub(crate) fn build(
    name: &str,
    settings: &ExperimentSettings,
) -> Result<Box<dyn AnyExperiment>, ExperimentError> {
    studies().build(name, settings)
}

pub(crate) fn check_fork(
    name: &str,
    settings: &ExperimentSettings,
    parent: &ExperimentSettings,
) -> Result<(), ExperimentError> {
    studies().check_fork(name, settings, parent)
}

pub(crate) fn player(name: &str) -> Result<Box<dyn Player>, ExperimentError> {
    studies().player(name)
}

pub(crate) fn import_original(
    name: &str,
    path: &Path,
) -> Result<Option<Result<Original, OriginalError>>, ExperimentError> {
    studies().original(name, path)
}
