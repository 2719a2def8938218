//! The headline figures of recorded runs, as commands, pages and reports lead with them.

use retold::id::RunId;
use retold::log::{LogError, Reader};
use retold::run::RunRecord;
use retold_figures::Figure;

use crate::error::BoxError;
use crate::settings::ExperimentSettings;
use crate::studies::Studies;

/// Headline figures that could not be computed.
#[derive(Debug, thiserror::Error)]
pub enum HeadlineError {
    /// The run could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Its settings or a fact are from another release of the study.
    #[error("the headline figures of the run: {0}")]
    Study(#[source] BoxError),
}

/// The headline figures of a run. Only studies have some; of a run of a study that this program does not have, there are
/// none.
///
/// # Errors
/// [`HeadlineError`] if the run cannot be read, or was recorded by a release whose facts differ.
pub fn headline_figures(
    studies: &Studies,
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Vec<Figure>, HeadlineError> {
    let started = retold::run::run_start(reader, run)?;
    let Some(study) = studies.find(&started.experiment) else { return Ok(Vec::new()) };
    let record = RunRecord::read(reader, run)?;
    let settings = ExperimentSettings::from(started.settings["experiment"].clone());
    study.figures(&settings, &record.facts).map_err(HeadlineError::Study)
}
