//! The first event of a study's run.

use crate::error::{CliError, Status};
use retold::event::RunStarted;
use retold::model::Model;
use retold_study::study::Study;

/// The first event for a run of a study.
pub(crate) fn first_event(study: &Study, model: &dyn Model) -> Result<RunStarted, CliError> {
    let as_json = |value: serde_json::Result<serde_json::Value>| {
        value.map_err(|e| CliError::new(Status::Usage, format!("settings: {e}")))
    };
    Ok(RunStarted::new(
        study.experiment.clone(),
        study.seed,
        as_json(serde_json::to_value(&study.settings))?,
        as_json(serde_json::to_value(model.info()))?,
    ))
}
