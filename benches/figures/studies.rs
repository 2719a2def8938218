//! The studies of the program `retold`.

use std::path::Path;
use std::sync::LazyLock;

use retold::model::simulated::Player;
use retold::run::AnyExperiment;
use retold_cli::Catalogue;
use retold_study::config::ConfigError;
use retold_study::error::ExperimentError;
use retold_study::settings::ExperimentSettings;
use retold_study::study::Study;

#[expect(clippy::expect_used, reason = "a bench")]
static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| retold_cli::program::catalogue().expect("each study has a name of its own"));

pub(crate) fn study(
    path: &Path,
    experiment: Option<&str>,
    overrides: &[String],
) -> Result<Study, ConfigError> {
    CATALOGUE.studies().study(path, experiment, overrides, 0, false)
}

pub(crate) fn build(
    name: &str,
    settings: &ExperimentSettings,
) -> Result<Box<dyn AnyExperiment>, ExperimentError> {
    CATALOGUE.studies().build(name, settings)
}

pub(crate) fn player(name: &str) -> Result<Box<dyn Player>, ExperimentError> {
    CATALOGUE.studies().player(name)
}
