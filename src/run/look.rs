//! A look at what has come out of a run that has not ended, while nobody continues it.

use super::abandon::how_it_ended;
use super::clock;
use crate::event::{Event, LookedAt, NewEvent, RunOutcome};
use crate::id::RunId;
use crate::log::{Log, LogError};
use crate::prompt::CanonicalError;

/// Why no look at a run is recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookError {
    /// It has ended, so that what came out of it is its result.
    #[error("run {run} is already {}: a look at its result is not recorded", outcome.as_str())]
    Ended {
        /// The run.
        run: RunId,
        /// How it ended.
        outcome: RunOutcome,
    },
    /// The log cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Cannot happen: the event can be written as JSON.
    #[error(transparent)]
    Event(#[from] CanonicalError),
}

/// Records that somebody looks at what has come out of a run so far: `read` reads it while nobody can add to the run.
///
/// # Errors
/// [`LookError`], including when another process is writing the run, and the errors of `read`.
pub async fn record_look<E: From<LookError>>(
    log: &Log,
    run: RunId,
    read: impl FnOnce() -> Result<LookedAt, E>,
) -> Result<LookedAt, E> {
    let mut writer = log.go_on(run).map_err(LookError::from)?;
    let outcome = log.reader().and_then(|mut reader| how_it_ended(reader.as_mut(), run));
    if let Some(outcome) = outcome.map_err(LookError::from)? {
        return Err(LookError::Ended { run, outcome }.into());
    }
    let looked = read()?;
    let event = NewEvent::from_event(&Event::LookedAt(looked.clone()), clock::now(), None);
    let event = event.map_err(LookError::from)?;
    let (_, durable) = writer.submit_durable(event).map_err(LookError::from)?;
    durable.wait().await.map_err(LookError::from)?;
    Ok(looked)
}
