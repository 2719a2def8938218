//! A request that is asked now: forwarded, recorded, and let through once it is on disk.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use hyper::http::{HeaderValue, header};
use retold::model::providers::Problem;
use retold::model::{Failure, FailureKind};
use retold::run::clock::Stopwatch;
use serde_json::json;
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, sleep, sleep_until};

use crate::answered_by::Source;
use crate::arriving::{Arriving, is_json};
use crate::body_leads::leads_in;
use crate::decode::{DecodeError, Decoder, encodings};
use crate::failures::{decode_failure, reopens};
use crate::framing::Framing;
use crate::heads::{head, json_header, kept_headers, name_header, response_of};
use crate::incoming::Incoming;
use crate::limits::{
    AFTER_CLIENT, AFTER_LAST_EVENT, LONGEST_READ, MOST_OF_NONSENSE, READ_TOGETHER, STALLED,
};
use crate::live_exchange::LiveExchange;
use crate::outlet::{Outlet, Waiting};
use crate::read::UpstreamReading;
use crate::replay_queue::Ticket;
use crate::session::Session;
use crate::session_work::Working;
use crate::stored_answer::StoredAnswer;
use crate::transmission::{BodyEnd, Transmission};
use crate::upstream_answer::UpstreamAnswer;
use crate::wire_request::WireRequest;

/// Asks the upstream, records what comes, and lets it through.
pub(crate) async fn relay(
    session: Arc<Session>,
    _working: Working,
    incoming: Incoming,
    source: Source,
    asked: WireRequest,
    mut ticket: Ticket,
    mut waiting: Waiting,
) {
    let exchange = LiveExchange {
        session: &session,
        incoming: &incoming,
        asked: &asked,
        is_free: incoming.is_free() || matches!(source, Source::Program(_)),
        watch: Stopwatch::start(),
        departure: OnceLock::new(),
    };
    let request = match exchange.question(&ticket) {
        Ok(request) => request,
        Err(error) => return waiting.send(exchange.refuse(&error)),
    };
    ticket.request = Some(request);
    let Some(upstreams) = &session.upstreams else { return };
    if let Some(held) = &session.held
        && held.server_for(&incoming, &asked, upstreams).is_some()
    {
        held.hold(request);
        // Its answer comes when the program is run again.
        return session.work.closed().await;
    }
    let sending = async {
        match source {
            Source::Socket(socket) => socket.send(upstreams, &incoming, asked.dialect).await,
            Source::Upstream => upstreams.send(&incoming).await.map(UpstreamAnswer::Http),
            Source::Program(given) => given.await.map(UpstreamAnswer::Program).map_err(|_| {
                Failure::new(FailureKind::Timeout, "the program did not say what the tool gave")
            }),
        }
    };
    tokio::pin!(sending);
    let mut deadline = None;
    let sent = tokio::select! {
        sent = &mut sending => sent,
        () = waiting.wait_for_departure() => {
            exchange.note_departure(None);
            let end = Instant::now() + if exchange.is_free { Duration::ZERO } else { AFTER_CLIENT };
            deadline = Some(end);
            match tokio::time::timeout_at(end, sending).await {
                Ok(sent) => sent,
                Err(_) => return exchange.abandon(ticket).await,
            }
        }
        () = session.work.closed(), if exchange.is_free => {
            let why = match exchange.asked.request.tool() {
                Some(_) => "the run ended before the tool did",
                None => "the run ended, and the upstream did not answer",
            };
            let failure = Failure::new(FailureKind::Timeout, why);
            return exchange.end_without_answer(ticket, failure, waiting).await;
        }
    };
    match sent {
        Err(failure) => exchange.end_without_answer(ticket, failure, waiting).await,
        Ok(response) => {
            let since_head = Stopwatch::start();
            exchange.relay_answer(ticket, response, waiting, since_head, deadline).await;
        }
    }
}

/// Records that a request was refused here.
pub(crate) async fn refused_here(
    session: &Arc<Session>,
    asked: &WireRequest,
    ticket: Ticket,
    problem: &Problem<'_>,
) {
    let sent =
        || session.recorder.write(|recorder| asked.record(&session.tool_links, recorder, &ticket));
    let Ok(Some(request)) = ticket.request.map_or_else(sent, |request| Ok(Some(request))) else {
        return;
    };
    let message = session.rules.redact_text(problem.message);
    let problem = &Problem { message: &message, ..*problem };
    let failure = Failure::new(FailureKind::Rejected, problem.message);
    let (status, again) = (problem.status, ticket.is_again);
    let kept = Transmission { status, again, headers: json_header(), ..Transmission::default() };
    let body = asked.dialect.error(problem).to_string();
    let kept = kept.with_body(body.as_bytes(), &[], "");
    session.counts.change(|summary| summary.count_failure(asked, &failure));
    // A failure to record is reported at the end.
    let recorded = session.recorder.write(|recorder| {
        recorder.record_failure(request, ticket.attempt, &failure, true, Some(json!(kept)))
    });
    if let Ok(Some((_, durable))) = recorded
        && let Err(error) = durable.wait().await
    {
        session.recorder.fail(&error.into());
    }
}

/// How reading an answer ended.
enum AnswerEnd {
    Whole,
    Broken(Failure),
    ClientLeft,
}

impl LiveExchange<'_> {
    /// The upstream did not answer at all.
    async fn end_without_answer(&self, ticket: Ticket, failure: Failure, waiting: Waiting) {
        let status = match failure.kind {
            FailureKind::Timeout => 504,
            FailureKind::Rejected => 400,
            _ => 502,
        };
        let problem = Problem { status, code: "retold_upstream", message: &failure.message };
        let body = self.asked.dialect.error(&problem).to_string();
        let reopens = reopens(failure.kind, None);
        let mut headers = json_header();
        headers.retain(|(name, _)| !reopens || name != "x-should-retry");
        let kept = Transmission { status, headers, ..Transmission::default() }.with_body(
            body.as_bytes(),
            &[],
            "",
        );
        match self.record_failure(ticket, &failure, reopens, &kept).await {
            Ok(()) => waiting.send(response_of(&kept, body.into())),
            Err(error) => waiting.send(self.refuse(&error)),
        }
    }

    /// The client left, and the upstream has not even begun to answer.
    async fn abandon(&self, ticket: Ticket) {
        let why = "the client left, and the upstream did not answer";
        let failure = Failure::new(FailureKind::Timeout, why);
        let problem = Problem { status: 504, code: "retold_upstream", message: why };
        let body = self.asked.dialect.error(&problem).to_string();
        let kept = Transmission { status: 504, headers: json_header(), ..Transmission::default() };
        let kept = Transmission { end: Some(BodyEnd::ClientLeft), ..kept }.with_body(
            body.as_bytes(),
            &[],
            "",
        );
        // What cannot be recorded is noted, and nobody waits for it.
        let _ = self.record_failure(ticket, &failure, false, &kept).await;
    }

    /// The upstream answers.
    async fn relay_answer(
        &self,
        ticket: Ticket,
        mut response: UpstreamAnswer,
        waiting: Waiting,
        since_head: Stopwatch,
        deadline: Option<Instant>,
    ) {
        let status = response.status();
        let longest = self.session.longest_body;
        let decoder = Decoder::tolerant(&encodings(response.headers()), longest);
        let mut head = head(status, response.headers());
        let left = decoder.as_ref().map_or("", Decoder::encodings_left);
        if let Ok(left) = HeaderValue::from_str(left)
            && !left.is_empty()
        {
            head.headers.insert(header::CONTENT_ENCODING, left);
        }
        if let Some(upstreams) = &self.session.upstreams {
            upstreams.inward(&mut head.headers, self.incoming);
        }
        let masks = self.masks();
        let kept = Transmission {
            status: status.as_u16(),
            headers: kept_headers(&head.headers, &masks),
            uncounted: self.asked.uncounted.clone(),
            ..Transmission::default()
        };
        let framing = Framing::new(kept.content_type());
        if let Some(request) = ticket.request {
            head.headers.extend(name_header(self.session.run, request));
        }
        let mut outlet = waiting.with(head);
        let mut arriving = Arriving::new(framing, status.is_success());
        arriving.is_json = is_json(kept.content_type());
        let too_long = response.content_length().is_some_and(|length| length > longest as u64);
        let ended = match decoder {
            Ok(_) if too_long => AnswerEnd::Broken(decode_failure(DecodeError::TooLong(longest))),
            Err(error) => AnswerEnd::Broken(decode_failure(error)),
            Ok(decoder) => {
                if arriving.lets_through && framing != Framing::Whole {
                    outlet.begin();
                }
                self.read(&mut response, decoder, &mut arriving, &mut outlet, &since_head, deadline)
                    .await
            }
        };
        // Events that a client listens to have no end of their own.
        let is_heard = self.is_free
            && framing == Framing::Events
            && status.is_success()
            && matches!(ended, AnswerEnd::ClientLeft);
        if outlet.is_gone() && !is_heard {
            self.note_departure(outlet.has_begun().then_some(arriving.sent as u64));
        }
        let Arriving { body, chunks, sent, is_json: is_body_json, .. } = arriving;
        let nonsense =
            matches!(&ended, AnswerEnd::Broken(failure) if failure.kind == FailureKind::Malformed);
        // Nothing of an answer has arrived that could be passed on.
        if let AnswerEnd::Broken(failure) = &ended
            && (nonsense || body.is_empty())
            && let Some(waiting) = outlet.take_back()
        {
            return self.end_without_answer(ticket, failure.clone(), waiting).await;
        }
        // What cannot be an answer is not let through to its end, and its beginning is enough.
        let end = if nonsense { sent } else { body.len() };
        let most = if nonsense { end.min(MOST_OF_NONSENSE) } else { end };
        let end_kept = match &ended {
            AnswerEnd::Whole => None,
            AnswerEnd::Broken(_) => Some(BodyEnd::BrokenOff),
            AnswerEnd::ClientLeft => Some(BodyEnd::ClientLeft),
        };
        let kept = Transmission { end: end_kept, ..kept };
        let redaction = &self.session.rules.redaction;
        let path = &self.incoming.path;
        let leads = match &self.session.upstreams {
            Some(all) if status.is_success() && is_body_json && body.len() <= LONGEST_READ => {
                leads_in(all, self.incoming, &body, &masks)
            }
            _ => Vec::new(),
        };
        let kept = Transmission { leads, ..kept };
        let kept = StoredAnswer::new(kept, path, &body[..most], chunks, &masks, redaction);
        let rest = Bytes::from(body).slice(sent..end);
        let dialect = self.asked.dialect;
        let recorded = match &ended {
            AnswerEnd::Whole | AnswerEnd::ClientLeft
                if is_heard || matches!(ended, AnswerEnd::Whole) =>
            {
                let headers = response.headers();
                match kept.whole(self.asked, status, headers, &masks) {
                    (kept, UpstreamReading::Answer(response)) => {
                        self.record_answer(ticket, *response, kept).await
                    }
                    (kept, UpstreamReading::Failed { failure, text }) => {
                        let reopens = reopens(failure.kind, headers.get("x-should-retry"));
                        self.record_failure(ticket, &failure, reopens, &kept.of_failure(text)).await
                    }
                }
            }
            AnswerEnd::Broken(failure) => {
                let (kept, text) = kept.with_partial_text(dialect, &masks);
                self.record_failure(ticket, failure, true, &kept.of_failure(text)).await
            }
            AnswerEnd::Whole | AnswerEnd::ClientLeft => {
                let why = "the client left, and the answer did not end in time";
                let failure = Failure::new(FailureKind::Timeout, why);
                let (kept, text) = kept.with_partial_text(dialect, &masks);
                self.record_failure(ticket, &failure, false, &kept.of_failure(text)).await
            }
        };
        match (recorded, ended) {
            (Ok(()), AnswerEnd::Whole) => outlet.end(rest).await,
            (Ok(()), AnswerEnd::ClientLeft) if is_heard => outlet.end(rest).await,
            (Ok(()), AnswerEnd::Broken(_) | AnswerEnd::ClientLeft) => outlet.break_off(rest).await,
            // Bytes that are not on disk are not let through.
            (Err(_), _) => outlet.break_off(Bytes::new()).await,
        }
    }

    /// Reads an answer to its end, and lets through what may be.
    async fn read(
        &self,
        response: &mut UpstreamAnswer,
        mut decoder: Decoder,
        arriving: &mut Arriving,
        outlet: &mut Outlet,
        since_head: &Stopwatch,
        mut deadline: Option<Instant>,
    ) -> AnswerEnd {
        let mut long: Option<SemaphorePermit<'_>> = None;
        let mut longest: Option<SemaphorePermit<'_>> = None;
        let mut left = deadline.is_some();
        loop {
            let end = deadline;
            let late = async move {
                match end {
                    Some(end) => sleep_until(end).await,
                    None => std::future::pending().await,
                }
            };
            let chunk = tokio::select! {
                chunk = response.chunk(&self.incoming.upstream, arriving.body.len()) => chunk,
                // What stalls keeps no other from being read.
                () = sleep(STALLED), if long.is_some() => {
                    (long, longest) = (None, None);
                    continue;
                }
                () = self.session.work.closed(), if self.is_free && arriving.framing == Framing::Events => {
                    return AnswerEnd::ClientLeft;
                }
                () = outlet.wait_for_departure(), if !left => {
                    if self.is_free {
                        return AnswerEnd::ClientLeft;
                    }
                    left = true;
                    self.note_departure(outlet.has_begun().then_some(arriving.sent as u64));
                    deadline = deadline.or(Some(Instant::now() + AFTER_CLIENT));
                    continue;
                }
                () = late => {
                    return if arriving.last.is_some() { AnswerEnd::Whole } else { AnswerEnd::ClientLeft };
                }
            };
            let (chunk, is_end) = match chunk {
                Ok(Some(chunk)) => (decoder.chunk(chunk), false),
                Ok(None) => (decoder.end(), true),
                Err(failure) => return AnswerEnd::Broken(failure),
            };
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(error) => return AnswerEnd::Broken(decode_failure(error)),
            };
            let length = arriving.body.len() + chunk.len();
            if length > self.session.longest_body {
                let too_long = DecodeError::TooLong(self.session.longest_body);
                return AnswerEnd::Broken(decode_failure(too_long));
            }
            // The semaphores are never closed.
            if length > READ_TOGETHER && long.is_none() {
                long = self.session.long_answers.acquire().await.ok();
            }
            if length > LONGEST_READ && longest.is_none() {
                longest = self.session.longest_answers.acquire().await.ok();
            }
            let at = u64::try_from(since_head.elapsed().as_millis()).unwrap_or(u64::MAX);
            arriving.add(&chunk, at, self.asked);
            if is_end {
                return AnswerEnd::Whole;
            }
            let free = arriving.free();
            if free > arriving.sent {
                let piece = Bytes::copy_from_slice(&arriving.body[arriving.sent..free]);
                arriving.sent = free;
                outlet.chunk(piece).await;
            }
            if arriving.last.is_some() && deadline.is_none() {
                deadline = Some(Instant::now() + AFTER_LAST_EVENT);
            }
        }
    }
}
