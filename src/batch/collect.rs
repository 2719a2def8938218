//! A batch on its way back: each line of its results becomes an event.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::error::BatchError;
use super::lines::request_of;
use super::news::BatchNews;
use super::run_batches::RunBatch;
use super::settle::{BatchWork, Progressed};
use super::submit::failed;
use crate::content::Content;
use crate::event::{BatchCollected, BatchStep};
use crate::id::Seq;
use crate::log::event_at;
use crate::model::openai::batches::{BatchTicket, LineEnd};
use crate::model::{Batching, Failure, FailureKind, Refusal, Response};
use crate::prompt::Request;
use crate::run::clock;

/// How often a question is put into a batch.
const MOST_ATTEMPTS: u32 = 3;

/// How many lines are recorded before it is waited until they are on disk.
const TOGETHER: usize = 1000;

/// How long after its end the results of a batch may not be there yet. Later they are gone.
const NOT_YET: Duration = Duration::from_secs(60 * 60);

/// How the lines of a batch ended.
#[derive(Debug, Default)]
struct LineCounts {
    answered: u64,
    failed: u64,
    expired: u64,
    /// Not worked on because it was cancelled: asked again when the run continues.
    cancelled: BTreeSet<Seq>,
}

impl BatchWork<'_> {
    /// Records the results of a batch that has ended.
    pub(super) async fn collect(
        &mut self,
        batch: &mut RunBatch,
        batching: &dyn Batching,
    ) -> Result<Progressed, BatchError> {
        let server = batching.server();
        let Some((ended, ended_at)) = batch.ended.clone() else { return Ok(Progressed::Waits) };
        let mut counts = LineCounts::default();
        let mut digest = blake3::Hasher::new();
        let mut error = None;
        for file in &ended.files {
            let mut lines = 0_usize;
            let read = server
                .each_result(file, &mut |line| {
                    digest.update(line).update(b"\n");
                    lines += 1;
                    if lines.is_multiple_of(TOGETHER) {
                        self.recorder.flush();
                    }
                    let recorded = self.record_line(batch, batching, line, &mut counts);
                    recorded.map_err(|e| {
                        let failure = Failure::new(FailureKind::Rejected, e.to_string());
                        error = Some(e);
                        failure
                    })
                })
                .await;
            if let Some(error) = error.take() {
                return Err(error);
            }
            match read {
                Ok(()) => {}
                Err(failure) if server.is_gone(&failure) => {
                    let since = clock::now().0.saturating_sub(ended_at.0);
                    if since < i64::try_from(NOT_YET.as_millis()).unwrap_or(i64::MAX) {
                        self.tell(BatchNews::NotThereYet(&batch.as_waiting()));
                        return Ok(Progressed::Waits);
                    }
                    return self.lose(batch, batching).await;
                }
                Err(failure) => return Err(failed(server, failure)),
            }
        }
        let is_cancelled = ended.status.starts_with("cancel");
        let is_expired = ended.status.starts_with("expire");
        let questions = batch.planned.questions();
        let rest: Vec<Seq> =
            questions.filter(|question| !batch.read.contains_key(question)).collect();
        let mut missing = 0;
        for question in rest {
            match () {
                () if counts.cancelled.contains(&question) => {}
                () if is_cancelled || ended.error.is_some() => {
                    counts.cancelled.insert(question);
                }
                () if is_expired => {
                    self.fail_unanswered(batch, batching, question, expired())?;
                    counts.expired += 1;
                }
                () => {
                    let failure =
                        Failure::new(FailureKind::Unanswered, "the results do not have it");
                    self.fail_unanswered(batch, batching, question, failure)?;
                    missing += 1;
                }
            }
        }
        let collected = BatchCollected {
            answered: counts.answered,
            digest: digest.finalize().to_hex().to_string(),
            expired: counts.expired + counts.cancelled.len() as u64,
            failed: counts.failed,
            missing,
            number: batch.planned.number,
        };
        self.end(batch, collected).await
    }

    /// The results are gone: every line that was not recorded is lost, and its call fails.
    async fn lose(
        &mut self,
        batch: &mut RunBatch,
        batching: &dyn Batching,
    ) -> Result<Progressed, BatchError> {
        let questions = batch.planned.questions();
        let lost: Vec<Seq> =
            questions.filter(|question| !batch.read.contains_key(question)).collect();
        for question in &lost {
            let failure =
                Failure::new(FailureKind::Unanswered, "the results of its batch are gone");
            let http = batching.response_to(&self.request(*question)?, None, &failure);
            let (attempt, number) = (self.attempts(*question), batch.planned.number);
            self.recorder.record_line_failure(
                *question,
                attempt,
                &failure,
                true,
                (number, http),
            )?;
        }
        self.tell(BatchNews::Lost(&batch.as_waiting()));
        let answered = batch.read.values().flatten().count() as u64;
        let collected = BatchCollected {
            answered,
            digest: blake3::hash(b"").to_hex().to_string(),
            expired: 0,
            failed: batch.read.len() as u64 - answered,
            missing: lost.len() as u64,
            number: batch.planned.number,
        };
        self.end(batch, collected).await
    }

    async fn end(
        &mut self,
        batch: &mut RunBatch,
        collected: BatchCollected,
    ) -> Result<Progressed, BatchError> {
        self.take(batch, BatchStep::Collected(collected)).await?;
        self.tell_collected(batch);
        Ok(Progressed::Further)
    }

    /// Records one line of results.
    fn record_line(
        &mut self,
        batch: &mut RunBatch,
        batching: &dyn Batching,
        line: &[u8],
        counts: &mut LineCounts,
    ) -> Result<(), BatchError> {
        let server = batching.server();
        let line = server.read(line).map_err(|e| failed(server, e))?;
        let question = BatchTicket::question(self.of.run, &line.id).map(Seq);
        // A line of somebody else answers nothing.
        let Some(question) = question.filter(|question| batch.planned.has(*question)) else {
            return Ok(());
        };
        let request = self.request(question)?;
        let reply = match &line.end {
            LineEnd::Replied(reply) => Some(reply.clone()),
            _ => None,
        };
        let end = match line.end {
            LineEnd::Replied(reply) => batching.answer_in(&request, &reply),
            LineEnd::Failed(failure) => Err(failure),
            LineEnd::Expired => Err(expired()),
            LineEnd::Cancelled => {
                counts.cancelled.insert(question);
                return Ok(());
            }
        };
        match &end {
            Ok(_) => counts.answered += 1,
            Err(failure) if failure.kind == FailureKind::Unanswered => counts.expired += 1,
            Err(_) => counts.failed += 1,
        }
        match (batch.read.get(&question), end) {
            // It was recorded before this process began, or is there twice.
            (Some(recorded), end) => {
                let now = end.ok().map(|response: Response| response.content.hash());
                if *recorded != now {
                    let number = batch.planned.number;
                    self.tell(BatchNews::Differs { number, question: question.0 });
                }
                Ok(())
            }
            (None, Ok(response)) => {
                let hash = Content::hash(&response.content);
                self.recorder.record_line(question, response, batch.planned.number)?;
                batch.read.insert(question, Some(hash));
                Ok(())
            }
            (None, Err(failure)) => {
                let http = batching.response_to(&request, reply.as_ref(), &failure);
                self.fail(batch, question, failure, http)
            }
        }
    }

    /// Records that the results have nothing about a line.
    fn fail_unanswered(
        &mut self,
        batch: &mut RunBatch,
        batching: &dyn Batching,
        question: Seq,
        failure: Failure,
    ) -> Result<(), BatchError> {
        let http = batching.response_to(&self.request(question)?, None, &failure);
        self.fail(batch, question, failure, http)
    }

    /// The recorded request of a question.
    fn request(&mut self, question: Seq) -> Result<Request, BatchError> {
        let prompt = match self.batches.prompts.get(&question) {
            Some(prompt) => Some(*prompt),
            // It is answered: a process that was killed had recorded a part of the results.
            None => event_at(self.reader.as_mut(), self.of.run, question)?.and_then(|it| it.prompt),
        };
        Ok(request_of(self.reader.as_mut(), self.of.run, question, prompt)?)
    }

    fn attempts(&self, question: Seq) -> u32 {
        self.batches.failures.get(&question).map_or(0, |failures| failures.attempts)
    }

    /// Records that a line failed. What may pass is put into another batch, a smaller one if this one expired.
    fn fail(
        &mut self,
        batch: &mut RunBatch,
        question: Seq,
        failure: Failure,
        http: Option<Value>,
    ) -> Result<(), BatchError> {
        let attempt = self.attempts(question);
        let may_pass = matches!(
            failure.kind,
            FailureKind::Unanswered | FailureKind::RateLimited | FailureKind::Server
        );
        let is_renamed = self.wants_other_limit(question, &failure)?;
        let gave_up = !is_renamed && (!may_pass || attempt + 1 >= MOST_ATTEMPTS);
        let number = batch.planned.number;
        // A program is sent what ended its call, and nothing before.
        let http = http.filter(|_| gave_up);
        self.recorder.record_line_failure(question, attempt, &failure, gave_up, (number, http))?;
        let expired = failure.kind == FailureKind::Unanswered;
        self.batches.fail(question, expired.then(|| batch.planned.lines()));
        batch.read.insert(question, None);
        Ok(())
    }

    /// Whether the model has another name for the limit of an answer, which is then used from now on.
    fn wants_other_limit(&mut self, question: Seq, failure: &Failure) -> Result<bool, BatchError> {
        if failure.kind != FailureKind::Rejected {
            return Ok(false);
        }
        let request = self.request(question)?;
        let is_refused = Refusal::of(failure, &request) == Some(Refusal::LimitName);
        let Some(model) = request.model().filter(|_| is_refused) else { return Ok(false) };
        self.limit_names.insert(model.to_owned());
        Ok(true)
    }
}

fn expired() -> Failure {
    Failure::new(FailureKind::Unanswered, "the batch expired before the server came to it")
}
