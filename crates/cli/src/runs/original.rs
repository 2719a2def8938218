//! Recognises and continues imports of original runs of other programs.

use retold_study::config::ModelKind;
use retold_study::studies::Studies;
use retold_study::study::StudySettings;

/// Whether a run is an import of an original run: no other run is scripted without a file of
/// answers.
pub(crate) fn is_one(settings: &StudySettings) -> bool {
    let model = &settings.runtime.model;
    model.kind == ModelKind::Scripted && model.answers.is_none()
}

/// The command that continues the import of an original run.
pub(crate) fn command(studies: &Studies, experiment: &str, original: &str, name: &str) -> String {
    let import = studies.import_name(experiment);
    format!("import {import} {original} --resume {name}")
}
