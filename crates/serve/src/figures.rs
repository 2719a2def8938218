//! The headline figures of recorded runs.

use retold::id::RunId;
use retold::log::Reader;
use retold::run::{RunRecord, started};
use retold_figures::{ComparedFigure, Figure, Pairing, compared_figures};
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;

/// The headline figures of two runs and their differences, or why there are none.
pub(crate) fn figures(
    studies: &Studies,
    one: &mut dyn Reader,
    first: RunId,
    other: &mut dyn Reader,
    second: RunId,
) -> Result<Vec<ComparedFigure>, String> {
    let said = |error: retold::log::LogError| error.to_string();
    let (one_started, other_started) =
        (started(one, first).map_err(said)?, started(other, second).map_err(said)?);
    if one_started.experiment != other_started.experiment {
        let none = "Runs of different experiments have no headline figures in common.";
        return Err(none.to_owned());
    }
    let pairing = Pairing::of_seeds(one_started.seed, other_started.seed);
    let (one, other) = (of(studies, one, first)?, of(studies, other, second)?);
    let found = compared_figures(&one, &other, pairing);
    if found.is_empty() { Err(NONE.to_owned()) } else { Ok(found) }
}

const NONE: &str = "This kind of run has no headline figures.";

/// The figures of a run, or why there are none.
fn of(studies: &Studies, reader: &mut dyn Reader, run: RunId) -> Result<Vec<Figure>, String> {
    let record = RunRecord::read(reader, run).map_err(|error| error.to_string())?;
    let study = studies.find(&record.started.experiment).ok_or_else(|| NONE.to_owned())?;
    let settings = ExperimentSettings::from(record.started.settings["experiment"].clone());
    study
        .figures(&settings, &record.facts)
        .map_err(|error| format!("There are no headline figures: {error}"))
}
