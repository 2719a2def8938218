//! Recorded runs as figures read them: with what their studies say of them.

use retold::id::RunId;
use retold::log::{LogError, Reader};
use retold::run::RunRecord;
use retold_figures::{FigureRun, FigureStudy};
use serde_json::Value;

use crate::error::BoxError;
use crate::registration::Registration;
use crate::studies::Studies;

/// A run of which a study cannot make its rows.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// The run could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A fact is from another release of the study.
    #[error("the figures of the run: {0}")]
    Study(#[source] BoxError),
}

/// What a study says of the figures of a run with these facts.
///
/// # Errors
/// [`RowsError::Study`] if a fact is from another release.
pub fn figure_study(study: &dyn Registration, facts: &[Value]) -> Result<FigureStudy, RowsError> {
    let rows = study.rows(facts).map_err(RowsError::Study)?;
    let (headline, independent_by) = (study.headline(), study.independent_by());
    Ok(FigureStudy { headline, rows, independent_by })
}

/// A run as figures read it. `name` is what tables call it.
///
/// # Errors
/// [`RowsError`] if the run cannot be read, or was recorded by a release whose facts differ.
pub fn figure_run<'r>(
    studies: &Studies,
    name: String,
    run: RunId,
    reader: &'r mut dyn Reader,
) -> Result<FigureRun<'r>, RowsError> {
    let started = retold::run::run_start(reader, run)?;
    let study = match studies.find(&started.experiment) {
        Some(study) => figure_study(study, &RunRecord::read(reader, run)?.facts)?,
        None => FigureStudy::default(),
    };
    Ok(FigureRun { name, run, reader, study })
}
