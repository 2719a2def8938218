//! A request that is asked now, and the events of it.

use std::sync::{Arc, OnceLock};

use hyper::Response;
use retold::id::Seq;
use retold::log::Durable;
use retold::model::{Failure, FailureKind, HTTP, UNENDED, Unreadable};
use retold::run::clock::Stopwatch;
use retold::run::{OUTAGES, Recorder, RecorderError};
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use crate::answer_registry::GivenAnswer;
use crate::departure::{DEATH_IS_NOTICED_WITHIN, Departure};
use crate::digest::Digest;
use crate::incoming::Incoming;
use crate::key::AttemptPlace;
use crate::limits::LONGEST_READ;
use crate::lock::lock;
use crate::long_body::LongBody;
use crate::masks::Masks;
use crate::outlet::Outgoing;
use crate::refusal::rejection;
use crate::replay_queue::Ticket;
use crate::session::Session;
use crate::stored_answer::StoredAnswer;
use crate::tool_links::{call_id, ids_called};
use crate::transmission::Transmission;
use crate::wire_request::WireRequest;

/// A request that is asked now.
pub(crate) struct LiveExchange<'a> {
    pub(crate) session: &'a Arc<Session>,
    pub(crate) incoming: &'a Incoming,
    pub(crate) asked: &'a WireRequest,
    /// Whether its answer costs nothing.
    pub(crate) is_free: bool,
    pub(crate) watch: Stopwatch,
    /// How the client left, and when that was noticed.
    pub(crate) departure: OnceLock<(Instant, Departure)>,
}

impl LiveExchange<'_> {
    /// The event of the question.
    pub(crate) fn question(&self, ticket: &Ticket) -> Result<Seq, RecorderError> {
        if let Some(request) = ticket.request {
            return Ok(request);
        }
        let sent = self
            .session
            .recorder
            .write(|recorder| self.asked.record(&self.session.tool_links, recorder, ticket))?;
        Ok(sent.unwrap_or_default())
    }

    /// Notes that the client has left; `bytes` of the body had been let through, if the head had.
    pub(crate) fn note_departure(&self, bytes: Option<u64>) {
        let departure = Departure { after: self.watch.elapsed(), bytes };
        // It leaves once.
        let _ = self.departure.set((Instant::now(), departure));
    }

    /// How the client left, unless it left because its program died.
    pub(crate) async fn departure(&self) -> Option<Departure> {
        let (noticed, departure) = *self.departure.get()?;
        let settled = noticed + DEATH_IS_NOTICED_WITHIN;
        sleep_until(settled).await;
        (!self.session.work.had_died_by(settled)).then_some(departure)
    }

    /// The response to a request that cannot be recorded.
    pub(crate) fn refuse(&self, error: &RecorderError) -> Response<Outgoing> {
        self.session.queue.share(&self.asked.key, None);
        let said = format!("retold cannot record: {error}");
        rejection(self.asked.dialect, 500, "retold_log", &said)
    }

    /// The keys of the request, with those of the upstream's URL.
    pub(crate) fn masks(&self) -> Masks {
        let upstreams = self.session.upstreams.as_ref();
        let upstream = upstreams.and_then(|all| all.base(&self.incoming.upstream));
        self.asked.masks.with_upstream(upstream.as_ref())
    }

    /// Records an answer.
    pub(crate) async fn record_answer(
        &self,
        ticket: Ticket,
        mut response: retold::model::Response,
        kept: StoredAnswer,
    ) -> Result<(), RecorderError> {
        let StoredAnswer { kept, body, chunks, .. } = kept;
        let is_unended = response.extra.contains_key(UNENDED);
        let unreadable = Unreadable::new(&response.extra).map(|it| it.reason);
        // Tokens that were counted are those of the whole answer, whatever else could not be read.
        let readable =
            unreadable.is_none() || response.usage.is_some_and(|usage| usage.is_counted());
        let usage = response.usage.unwrap_or_default();
        self.session.budget.count(&self.asked.request, &response, readable);
        let kept = Transmission { again: ticket.is_again, ..kept };
        // The program has got a key that a log cannot give to another request.
        let is_whole = !kept.masked;
        let request = ticket.request.unwrap_or_default();
        let (session, key) = (self.session, &self.asked.key);
        let id = response.id.as_deref().map(Digest::new);
        let called = ids_called(&response.extra);
        let (departure, latency) = (self.departure().await, self.watch.elapsed());
        let recorded = session.recorder.write(|recorder| {
            let kept = if body.len() > LONGEST_READ {
                let long = Some(LongBody::record(recorder, request, &body)?);
                Transmission { long, ..kept }.in_chunks(&chunks)
            } else {
                kept.with_body(&body, &chunks, response.content.text())
            };
            response.extra.insert(HTTP.to_owned(), json!(kept));
            let received = recorder.record_answer(request, response, latency)?;
            record_departure(recorder, request, departure, received)
        });
        let result = match recorded {
            Ok(Some((seq, durable))) => match durable.wait().await {
                Ok(()) => {
                    let (call, sample) = (ticket.key.call, ticket.sample);
                    note_links(session, self.asked, seq, &called);
                    let is_tool = self.asked.request.tool().is_some();
                    let id = call_id(&self.asked.request).map(Digest::new).or(id);
                    let answer = seq;
                    lock(&session.given).note(GivenAnswer {
                        request,
                        answer,
                        call,
                        sample,
                        id,
                        is_tool,
                    });
                    session.counts.change(|summary| {
                        if self.asked.request.tool().is_some() {
                            summary.tools.recorded += 1;
                            return;
                        }
                        summary.answers += 1;
                        summary.unended += u64::from(is_unended);
                        if let Some(why) = unreadable {
                            summary.unreadable += 1;
                            summary.first_unreadable.get_or_insert((seq, why));
                        }
                        if departure.is_some() {
                            summary.departures.count_answer(usage);
                        }
                    });
                    let place = AttemptPlace { run: session.run, seq };
                    session.queue.share(key, is_whole.then_some(place));
                    Ok(())
                }
                Err(error) => Err(error.into()),
            },
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        result.inspect_err(|error| {
            session.recorder.fail(error);
            session.queue.share(key, None);
        })
    }

    /// Records a failed attempt; then the client may try again.
    pub(crate) async fn record_failure(
        &self,
        ticket: Ticket,
        failure: &Failure,
        reopens: bool,
        kept: &Transmission,
    ) -> Result<(), RecorderError> {
        let (session, request) = (self.session, ticket.request.unwrap_or_default());
        let kept = Transmission { again: ticket.is_again, ..kept.clone() };
        let departure = self.departure().await;
        let recorded = session.recorder.write(|recorder| {
            let (attempt, gave_up, http) = (ticket.attempt, !reopens, Some(json!(kept)));
            let failed = recorder.record_failure(request, attempt, failure, gave_up, http)?;
            record_departure(recorder, request, departure, failed)
        });
        session.queue.share(&self.asked.key, None);
        if !reopens && self.asked.request.tool().is_some() {
            // What it raised is no answer: its call stands for it.
            lock(&session.tool_links).note_result(&self.asked.request, request);
        }
        let stored = match recorded? {
            Some((_, durable)) => durable.wait().await,
            None => Ok(()),
        };
        if let Err(error) = stored {
            let error = RecorderError::from(error);
            session.recorder.fail(&error);
            return Err(error);
        }
        if failure.kind == FailureKind::Timeout {
            let call = &ticket.key.call;
            tracing::warn!(target: OUTAGES, "{call}: {}; the attempt is dropped", failure.message);
        }
        session.counts.change(|summary| {
            summary.count_failure(self.asked, failure);
            summary.departures.clients += u64::from(departure.is_some());
        });
        if reopens {
            session.queue.reopen(ticket);
        }
        Ok(())
    }
}

/// Notes which tools an answer calls, or what a tool gave.
pub(crate) fn note_links(session: &Session, asked: &WireRequest, answer: Seq, called: &[Digest]) {
    let links = &mut *lock(&session.tool_links);
    match asked.request.tool() {
        Some(_) => links.note_result(&asked.request, answer),
        None => links.note_calls(answer, called),
    }
}

/// Records how the client left, if it did, behind an attempt that was just recorded. Returns the attempt, which is durable with
/// the last of the two.
fn record_departure(
    recorder: &mut Recorder,
    request: Seq,
    departure: Option<Departure>,
    (attempt, durable): (Seq, Durable),
) -> Result<(Seq, Durable), RecorderError> {
    let Some(departure) = departure else { return Ok((attempt, durable)) };
    let (_, durable) = recorder.client_left(departure.event(request))?;
    Ok((attempt, durable))
}
