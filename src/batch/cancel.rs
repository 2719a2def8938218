//! Asks servers to begin nothing more.

use super::error::BatchError;
use super::news::WaitingBatch;
use super::run_batches::{RunBatch, RunBatches};
use super::submit::failed;
use crate::id::RunId;
use crate::log::Log;
use crate::model::Model;

/// Asks the servers of a run's batches to begin nothing more of them. What was answered is paid for, and collected when the run continues.
/// Returns the batches that were cancelled.
///
/// # Errors
/// [`BatchError`].
pub async fn cancel(
    log: &Log,
    run: RunId,
    model: &dyn Model,
) -> Result<Vec<WaitingBatch>, BatchError> {
    let batches = RunBatches::read(log.reader()?.as_mut(), run)?;
    let mut cancelled = Vec::new();
    for batch in batches.open().filter(|batch| batch.ended.is_none()) {
        let Some(submitted) = &batch.submitted else { continue };
        let planned = &batch.planned;
        let found = model.batching(&planned.model).map(|batching| batching.server());
        let Some(server) = found.filter(|server| server.source() == planned.server) else {
            return Err(BatchError::Elsewhere {
                number: planned.number,
                server: planned.server.clone(),
                model: planned.model.clone(),
                now: found.map_or("no server", |server| server.source()).to_owned(),
            });
        };
        server.cancel(&submitted.id).await.map_err(|e| failed(server, e))?;
        cancelled.push(RunBatch::as_waiting(batch));
    }
    Ok(cancelled)
}
