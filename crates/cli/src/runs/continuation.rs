//! The command that continues a run.

use crate::runs::original;
use crate::runs::person::is_played;
use crate::runs::settings::settings_of;
use retold::event::RunStarted;
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;

/// The command that continues a run, without the names of the program and of the run.
pub(crate) fn command(studies: &Studies, started: &RunStarted) -> String {
    let settings = started.settings.get("experiment").cloned().map(ExperimentSettings::from);
    if settings.is_some_and(|settings| is_played(studies, &started.experiment, &settings)) {
        return "play --resume".to_owned();
    }
    if settings_of(studies, started).is_ok_and(|settings| original::is_one(&settings)) {
        format!("import {} ORIGINAL --resume", studies.import_name(&started.experiment))
    } else {
        "resume".to_owned()
    }
}
