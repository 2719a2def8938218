//! Ends a run for good before its experiment has finished.

use super::clock;
use crate::event::{Event, NewEvent, RunFinished, RunOutcome, StoredEvent};
use crate::id::{OutcomeDigest, RunId, Seq};
use crate::log::{Log, LogError, Reader, events_root, outcome_digest};
use crate::prompt::CanonicalError;

/// Why a run cannot be abandoned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AbandonError {
    /// It has already ended.
    #[error("run {run} is already {}: there is nothing to abandon", outcome.as_str())]
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

/// Ends a run for good: its record is kept, and it can never be resumed. Returns its outcome digest;
/// `None` if there is nothing that it covers.
///
/// # Errors
/// [`AbandonError`], including when another process is writing the run.
pub async fn abandon(log: &Log, run: RunId) -> Result<Option<OutcomeDigest>, AbandonError> {
    // Take the lease first, so that nothing is added between looking and writing.
    let mut writer = log.go_on(run)?;
    let mut reader = log.reader()?;
    if let Some(outcome) = how_it_ended(reader.as_mut(), run)? {
        return Err(AbandonError::Ended { run, outcome });
    }
    let outcome_digest = outcome_digest(reader.as_mut(), run)?;
    let root = events_root(reader.as_mut(), run)?;
    let finished = RunFinished::new(RunOutcome::Abandoned, outcome_digest, root);
    let digest = finished.digest();
    let event = NewEvent::from_event(&Event::RunFinished(finished), clock::now(), None)?;
    writer.submit_durable(event)?.1.wait().await?;
    Ok(digest)
}

/// How a run ended, if its last event is its end.
///
/// # Errors
/// [`LogError`] if the log cannot be read.
pub fn how_it_ended(reader: &mut dyn Reader, run: RunId) -> Result<Option<RunOutcome>, LogError> {
    Ok(its_end(reader, run)?.map(|finished| finished.outcome))
}

/// The last event of a run, if it is the run's end.
pub(super) fn its_end(
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Option<RunFinished>, LogError> {
    let last = reader.runs()?.iter().find(|r| r.run == run).map(|r| r.head.seq);
    let Some(last) = last else { return Ok(None) };
    let events = reader.events(run, Seq(last.0.saturating_sub(1)), 1)?;
    let event = events.first().map(StoredEvent::event).transpose()?;
    Ok(match event {
        Some(Event::RunFinished(finished)) => Some(finished),
        _ => None,
    })
}
