//! The headline figures of recorded runs.

use crate::error::CliError;
use retold::id::RunId;
use retold::log::Reader;
use retold_figures::Figure;
use retold_study::headline::{HeadlineError, headline_figures};
use retold_study::studies::Studies;
use serde_json::Value;

/// The figures of a recorded run; none if this program does not have its experiment.
pub(crate) fn figures_of(
    studies: &Studies,
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Vec<Figure>, CliError> {
    headline_figures(studies, reader, run).map_err(|error| match error {
        HeadlineError::Log(error) => error.into(),
        error => CliError::usage(error.to_string()),
    })
}

/// The figures of an experiment with these settings and facts.
pub(crate) fn figures_from(
    studies: &Studies,
    experiment: &str,
    settings: &retold_study::settings::ExperimentSettings,
    facts: &[Value],
) -> Result<Vec<Figure>, CliError> {
    let study = studies.get(experiment).map_err(|e| CliError::usage(e.to_string()))?;
    let figures = study.figures(settings, facts);
    figures.map_err(|e| CliError::usage(format!("the headline figures of the run: {e}")))
}
