//! Records decisions about the answers of a run as a run of their own.

use crate::error::CliError;
use crate::run_id::new_run_id;
use crate::select::{self, RunSource};
use retold::exchange::{AcceptedRun, decides_about};
use retold::id::RunId;
use retold::log::{Backend, Log};
use retold::run::clock;
use serde_json::Value;

/// The run whose answers were given: of a run of accepted decisions, the one that they are about, as far as the log has it.
/// So the same command can be repeated with `latest`.
pub(crate) fn answers_of(source: RunSource) -> Result<RunSource, CliError> {
    let run = answered_in(&source.log, source.run)?;
    Ok(RunSource { run, ..source })
}

/// The same as its id.
pub(crate) fn answered_in(log: &Log, run: RunId) -> Result<RunId, CliError> {
    let mut reader = log.reader()?;
    let runs = reader.runs()?;
    let (mut run, mut known) = (run, vec![run]);
    while let Some(of) = decides_about(&select::run_start(reader.as_mut(), run)?) {
        if known.contains(&of) || !runs.iter().any(|head| head.run == of) {
            break;
        }
        run = of;
        known.push(of);
    }
    Ok(run)
}

/// Starts a run for the decisions about another, which must be sound, because a run cannot be
/// deleted later.
pub(crate) fn begin(source: &RunSource) -> Result<AcceptedRun, CliError> {
    begin_by(source, None)
}

/// The same for decisions that a model made, which may be simulated where the answers are not.
pub(crate) fn begin_by(source: &RunSource, model: Option<Value>) -> Result<AcceptedRun, CliError> {
    if source.file.is_some() {
        return Err(CliError::usage(format!(
            "{}: decisions are recorded about a run, and this is a file of exchanges",
            source.name()
        ))
        .hint("import it first, with `retold import FILE`"));
    }
    let mut reader = source.log.reader()?;
    let verified = select::sound(&source.log, source.run, "nothing was accepted")?;
    let mut started = select::run_start(reader.as_mut(), source.run)?;
    started.model = model.unwrap_or(started.model);
    Ok(AcceptedRun::begin(new_run_id()?, source.run, verified.head, &started, clock::now())?)
}

/// Records accepted decisions, unless the same ones were the last to be accepted: returns the run that has them now, and
/// the run that had them before.
pub(crate) fn store(
    accepted: AcceptedRun,
    backend: &dyn Backend,
) -> Result<(Option<RunId>, Option<RunId>), CliError> {
    let known = accepted.earlier_run(backend.reader()?.as_mut())?;
    match known {
        Some(_) => Ok((None, known)),
        None => Ok((Some(accepted.store(backend)?), None)),
    }
}
