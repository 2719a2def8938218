//! Runs that execute an original run of another program again.

use retold_study::config::ModelKind;
use retold_study::studies::Studies;
use retold_study::study::StudySettings;

/// Whether a run executes an original run again: nothing else is scripted without a file of answers.
pub(crate) fn is_one(settings: &StudySettings) -> bool {
    let model = &settings.runtime.model;
    model.kind == ModelKind::Scripted && model.answers.is_none()
}

/// What to do about a run that executes an original run and is not at its end.
pub(crate) fn how_to_go_on(
    studies: &Studies,
    experiment: &str,
    original: &str,
    name: &str,
) -> String {
    let import = studies.import_name(experiment);
    format!("`retold import {import} {original} --resume {name}` goes on with it; nothing is lost")
}
