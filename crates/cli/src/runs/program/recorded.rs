//! The recorded settings of a program's run.

use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::select;
use retold::event::{ForkedFrom, RunStarted};
use retold::id::RunId;
use retold::log::Log;
use retold::model::ModelInfo;
use retold::run::RecorderError;
use retold_wire::{
    AuthorityError, KnownKeys, PROGRAM, ProgramSettings, RecordedRules, RuleError, Rules,
    UpstreamError, rules_added,
};

/// The recorded settings and rules of a program's run. For the run of a study, the error names the command to use instead.
pub(super) fn settings_of(
    log: &Log,
    run: RunId,
    known: &KnownKeys,
    instead: impl FnOnce(&RunStarted) -> String,
) -> Result<(ProgramSettings, Rules), CliError> {
    let started = select::run_start(log.reader()?.as_mut(), run)?;
    if started.experiment != PROGRAM {
        let short = run.short(8);
        let error = CliError::usage(format!("run {run} was not recorded from a program"));
        return Err(error.hint(match started.drawn_from() {
            Some(_) => format!("leave out -- and the command: `retold {}`", instead(&started)),
            None => format!(
                "it has answers and decisions, and nothing to execute: `retold show {short}`"
            ),
        }));
    }
    let mut settings: ProgramSettings = serde_json::from_value(started.settings).map_err(|e| {
        CliError::usage(format!("the recorded settings do not work with this release: {e}"))
    })?;
    let added = rules_added(log.reader()?.as_mut(), run)?;
    let rules = Rules::new(settings.rules, known)?.adding(added)?;
    settings.rules = rules.as_recorded().clone();
    Ok((settings, rules))
}

/// The settings to record where a run is continued, if anything is added to its rules.
pub(super) fn added_settings(added: &RecordedRules) -> Value {
    match *added == RecordedRules::default() {
        true => Value::Null,
        false => json!(added),
    }
}

/// The model of every program: whatever its upstreams have.
pub(super) fn model() -> ModelInfo {
    ModelInfo { kind: "upstream".to_owned(), source: None, simulated: false }
}

/// The first event of a run.
pub(super) fn first_event(
    settings: &ProgramSettings,
    forked_from: Option<ForkedFrom>,
) -> Result<RunStarted, CliError> {
    let settings =
        serde_json::to_value(settings).map_err(|e| CliError::usage(format!("settings: {e}")))?;
    Ok(RunStarted { forked_from, ..RunStarted::new(PROGRAM, 0, settings, json!(model())) })
}

pub(super) fn recorder_error(error: RecorderError) -> CliError {
    match error {
        RecorderError::Log(error) => error.into(),
        other => CliError::new(Status::Io, other.to_string()),
    }
}

impl From<RuleError> for CliError {
    fn from(error: RuleError) -> Self {
        CliError::usage(error.to_string())
    }
}

impl From<AuthorityError> for CliError {
    fn from(error: AuthorityError) -> Self {
        CliError::new(Status::Io, error.to_string())
    }
}

impl From<UpstreamError> for CliError {
    fn from(error: UpstreamError) -> Self {
        CliError::usage(error.to_string())
    }
}
