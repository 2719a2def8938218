//! Asks servers to begin nothing more.

use super::error::BatchError;
use super::news::WaitingBatch;
use super::run_batches::{RunBatch, RunBatches};
use super::settle::{BatchesOf, batching_of};
use super::submit::failed;

/// Asks the servers of a run's batches to begin nothing more of them. What was answered is paid for, and collected when the run continues.
/// Returns the batches that were cancelled.
///
/// # Errors
/// [`BatchError`].
pub async fn cancel(of: &BatchesOf<'_>) -> Result<Vec<WaitingBatch>, BatchError> {
    let mut reader = of.log.reader()?;
    let batches = RunBatches::read(reader.as_mut(), of.run)?;
    let mut cancelled = Vec::new();
    for batch in batches.open().filter(|batch| batch.ended.is_none()) {
        let Some(submitted) = &batch.submitted else { continue };
        let server = batching_of(reader.as_mut(), of, batch)?.server();
        server.cancel(&submitted.id).await.map_err(|e| failed(server, e))?;
        cancelled.push(RunBatch::as_waiting(batch));
    }
    Ok(cancelled)
}
