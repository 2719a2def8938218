//! The headline figures of recorded runs.

use crate::error::CliError;
use crate::runs::settings::settings_of;
use crate::select;
use retold::id::RunId;
use retold::log::Reader;
use retold::run::RunRecord;
use retold_figures::Figure;
use retold_study::studies::Studies;
use serde_json::Value;

/// The figures of a recorded run; `None` if this program does not have its experiment.
pub(crate) fn figures_of(
    studies: &Studies,
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Option<Vec<Figure>>, CliError> {
    let started = select::started(reader, run)?;
    if studies.find(&started.experiment).is_none() {
        return Ok(None);
    }
    let record = RunRecord::read(reader, run)?;
    let settings = settings_of(studies, &started)?;
    figures_from(studies, &started.experiment, &settings.experiment, &record.facts).map(Some)
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
