//! A batch on its way out.

use std::path::PathBuf;
use std::time::Duration;

use super::error::BatchError;
use super::lines::write_again;
use super::news::BatchNews;
use super::run_batches::RunBatch;
use super::settle::{BatchWork, Progressed};
use crate::event::{BatchStep, BatchSubmitted, BatchUploaded};
use crate::id::RunId;
use crate::model::openai::batches::{BatchReport, BatchServer, BatchTicket, FoundBatch};
use crate::model::{Batching, Failure, FailureKind};

/// What is not known about the submission of a batch, because a process ended or a reply was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Nothing was sent that was not answered.
    None,
    /// The server may have its file.
    File,
    /// The server may have it.
    Batch,
}

impl Doubt {
    /// What is not known of a batch that is read from the log.
    pub(super) fn of(batch: &RunBatch, server: &BatchServer) -> Self {
        match (&batch.file, server.takes_files()) {
            (None, true) => Doubt::File,
            (Some(_), _) | (None, false) => Doubt::Batch,
        }
    }

    /// What is not known after a request failed: nothing, if the server refused it.
    fn after(self, failure: &Failure) -> Self {
        match failure.kind {
            FailureKind::RateLimited
            | FailureKind::QuotaExhausted
            | FailureKind::Rejected
            | FailureKind::Unauthorized
            | FailureKind::Untrusted => Doubt::None,
            _ => self,
        }
    }
}

/// The ticket of a batch.
pub(super) fn ticket(run: RunId, batch: &RunBatch, others: Vec<String>) -> BatchTicket {
    BatchTicket {
        run,
        number: batch.planned.number,
        nonce: batch.planned.nonce.clone(),
        lines: batch.planned.lines(),
        model: batch.planned.model.clone(),
        endpoint: batch.planned.endpoint.clone(),
        planned: batch.planned_at,
        others,
    }
}

impl BatchWork<'_> {
    /// Submits a batch, unless the server has it.
    pub(super) async fn submit(
        &mut self,
        batch: &mut RunBatch,
        batching: &dyn Batching,
        others: Vec<String>,
    ) -> Result<Progressed, BatchError> {
        let (server, number) = (batching.server(), batch.planned.number);
        let ticket = ticket(self.of.run, batch, others);
        let doubt = self.doubts.get(&number).copied();
        let doubt = doubt.unwrap_or_else(|| Doubt::of(batch, server));
        let mut found = None;
        match doubt {
            Doubt::None => {}
            Doubt::File => {
                let file = server.find_file(&ticket).await.map_err(|e| failed(server, e))?;
                if let Some(file) = file {
                    self.take(batch, BatchStep::Uploaded(BatchUploaded { file, number })).await?;
                }
            }
            Doubt::Batch => match self.look_for(server, &ticket).await? {
                FoundBatch::Found(report) => found = Some(report),
                FoundBatch::Perhaps => {
                    self.tell(BatchNews::PerhapsSubmitted(&batch.as_waiting()));
                    return Ok(Progressed::Waits);
                }
                FoundBatch::NotFound => {}
            },
        }
        self.doubts.insert(number, Doubt::None);
        let report = match found {
            Some(report) => report,
            None => self.send(batch, batching, &ticket).await?,
        };
        let submitted = BatchSubmitted { expires: report.expires, id: report.id.clone(), number };
        self.take(batch, BatchStep::Submitted(submitted)).await?;
        self.tell(BatchNews::Submitted(&batch.as_waiting()));
        Ok(Progressed::Further)
    }

    /// Looks for a batch twice, a while apart: a request that was sent by a process which ended may arrive late.
    async fn look_for(
        &self,
        server: &BatchServer,
        ticket: &BatchTicket,
    ) -> Result<FoundBatch, BatchError> {
        let find = async || server.find(ticket).await.map_err(|e| failed(server, e));
        match find().await? {
            FoundBatch::NotFound => {
                tokio::time::sleep(self.of.poll.min(LATE)).await;
                find().await
            }
            found => Ok(found),
        }
    }

    /// Sends the lines of a batch, and creates it.
    async fn send(
        &mut self,
        batch: &mut RunBatch,
        batching: &dyn Batching,
        ticket: &BatchTicket,
    ) -> Result<BatchReport, BatchError> {
        let (server, number) = (batching.server(), batch.planned.number);
        let needs_lines = batch.file.is_none() || !server.takes_files();
        let lines = if needs_lines { Some(self.lines(batch, batching)?) } else { None };
        if server.takes_files()
            && let Some(lines) = lines.as_deref()
            && batch.file.is_none()
        {
            let sent = server.upload(ticket, lines).await;
            let file = sent.map_err(|e| self.doubt(number, Doubt::File, server, e))?;
            self.take(batch, BatchStep::Uploaded(BatchUploaded { file, number })).await?;
        }
        let file = batch.file.clone().unwrap_or_default();
        let sent = server.submit(ticket, &file, lines.as_deref()).await;
        sent.map_err(|e| self.doubt(number, Doubt::Batch, server, e))
    }

    fn doubt(
        &mut self,
        number: u64,
        doubt: Doubt,
        server: &BatchServer,
        failure: Failure,
    ) -> BatchError {
        self.doubts.insert(number, doubt.after(&failure));
        failed(server, failure)
    }

    /// The file of its lines: that of its plan, or the same written again.
    fn lines(&mut self, batch: &RunBatch, batching: &dyn Batching) -> Result<PathBuf, BatchError> {
        let number = batch.planned.number;
        if let Some(path) = self.lines.get(&number) {
            return Ok(path.clone());
        }
        let prompts = &self.batches.prompts;
        let questions = batch.planned.questions();
        let questions = questions.filter_map(|question| Some((question, *prompts.get(&question)?)));
        let path = write_again(
            batching,
            self.of.log.reader()?.as_mut(),
            self.of.run,
            number,
            &batch.planned.digest,
            questions,
            self.folder.path(),
        )?;
        self.lines.insert(number, path.clone());
        Ok(path)
    }
}

/// How late a request may arrive that was sent by a process which ended.
const LATE: Duration = Duration::from_secs(60);

/// A server could not be asked about batches.
pub(super) fn failed(server: &BatchServer, failure: Failure) -> BatchError {
    BatchError::Server { server: server.source().to_owned(), failure }
}
