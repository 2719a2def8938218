//! A recorded attempt, sent again: the same status, bytes and chunks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use hyper::http::{HeaderValue, Method};
use retold::event::{AnswerReused, AttemptDetails};
use retold::id::Seq;
use retold::log::Durable;
use retold::members::Members;
use retold::model::HTTP;
use retold::run::RecorderError;
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::answer_registry::GivenAnswer;
use crate::departure::Departure;
use crate::digest::Digest;
use crate::heads::{name_header, response_of, response_with};
use crate::key::AttemptPlace;
use crate::limits::SILENCE;
use crate::live_exchange::note_links;
use crate::lock::lock;
use crate::long_body::{LONG, LongBody};
use crate::outlet::{BrokenOff, ChunkSender, Chunks, Outgoing};
use crate::readers::SharedEvent;
use crate::recorded::{AnswerName, CopiedAttempt, ReplayedAttempt};
use crate::refusal::rejection;
use crate::replay_queue::{Attempt, ReplayTurn, Ticket};
use crate::restored_request::restore;
use crate::session::{Pace, Session};
use crate::tool_links::{call_id, ids_called};
use crate::transmission::BodyEnd;
use crate::wire_request::WireRequest;

/// Says that an answer is a recorded one, and which.
const REPLAYED: &str = "x-retold-replayed";

/// Sends a recorded attempt, whose event may have been read already; a fork also records where it has it from.
pub(crate) async fn send_recorded(
    session: &Arc<Session>,
    asked: &WireRequest,
    mut ticket: Ticket,
    attempt: Attempt,
    read: Option<(AttemptPlace, SharedEvent)>,
) -> Response<Outgoing> {
    // In the run that has it, its next attempt is there already.
    let reopens = attempt.reopens && ticket.request.is_none();
    let played = match session.library.play(attempt.place, read) {
        Ok(played) => played,
        Err(error) => return rejection(asked.dialect, 500, "retold_log", &error.to_string()),
    };
    let mut seq = Some(attempt.place.seq);
    if played.place.run != session.run {
        let copy = match session.library.copy(played.place) {
            Ok(copy) => copy,
            Err(error) => return rejection(asked.dialect, 500, "retold_log", &error.to_string()),
        };
        match record(session, asked, &mut ticket, &copy, &played.body).await {
            Ok(copied) => seq = copied,
            Err(error) => return cannot_record(asked, &error),
        }
        note_copied(session, asked, seq, ticket.request, &copy);
    } else if session.upstreams.is_some() {
        // The run goes on, and its next prompt may have a result.
        if let Ok(copy) = session.library.copy(played.place) {
            note_copied(session, asked, seq, ticket.request, &copy);
        }
    }
    let name = give(session, asked, &ticket, seq, &played);
    let departure = attempt.departure.filter(|_| session.waits_for_departures());
    let is_shared = played.place != attempt.place;
    session.counts.change(|summary| summary.sent_again(asked, &played, is_shared));
    session.queue.share(&asked.key, played.answer.map(|_| attempt.place));
    if reopens {
        session.queue.reopen(ticket);
    }
    match departure {
        // A client that leaves ends this, too.
        Some(departure) if departure.bytes.is_none() => sleep(departure.patience()).await,
        _ => {}
    }
    let is_heard = is_heard(session, asked, &played);
    send(played, session, name, departure, is_heard)
}

/// Whether a client listens to an answer until it or the run ends: it left before its end, or it asked for events by GET and has
/// asked no more since. Were these to end sooner than they did, it would ask again.
fn is_heard(session: &Session, asked: &WireRequest, played: &ReplayedAttempt) -> bool {
    let ReplayedAttempt { kept, answer, .. } = played;
    let is_last = || {
        let asked_by = restore(&asked.request, &asked.key.call).map(|it| it.method);
        kept.content_type().starts_with("text/event-stream")
            && asked_by == Some(Method::GET)
            && session.queue.is_used_up(&asked.key)
    };
    answer.is_some() && (kept.end == Some(BodyEnd::ClientLeft) || is_last())
}

/// Notes which tools a recorded answer calls, or what a tool gave.
fn note_copied(
    session: &Session,
    asked: &WireRequest,
    answer: Option<Seq>,
    question: Option<Seq>,
    copied: &CopiedAttempt,
) {
    match copied {
        CopiedAttempt::Answer(reused) => {
            if let Some(answer) = answer {
                note_links(session, asked, answer, &ids_called(&reused.details.extra));
            }
        }
        CopiedAttempt::Failure(_) if asked.request.tool().is_some() => {
            if let Some(question) = question {
                lock(&session.tool_links).note_result(&asked.request, question);
            }
        }
        CopiedAttempt::Failure(_) => {}
    }
}

/// Notes that the program gets an answer, and returns the seq by which it names it.
fn give(
    session: &Arc<Session>,
    asked: &WireRequest,
    ticket: &Ticket,
    answer: Option<Seq>,
    played: &ReplayedAttempt,
) -> Option<Seq> {
    if let (Some(request), Some(answer), Some(AnswerName { id, .. })) =
        (ticket.request, answer, played.answer)
    {
        let (call, sample) = (ticket.key.call.clone(), ticket.sample);
        let is_tool = asked.request.tool().is_some();
        let id = call_id(&asked.request).map(Digest::new).or(id);
        lock(&session.given).note(GivenAnswer { request, answer, call, sample, id, is_tool });
    }
    ticket.request
}

/// Sends an answer that equal requests share, and records that it was shared.
pub(crate) async fn send_shared(
    session: &Arc<Session>,
    asked: &WireRequest,
    place: AttemptPlace,
) -> Response<Outgoing> {
    let played = match session.library.play(place, None) {
        Ok(played) => played,
        Err(error) => return rejection(asked.dialect, 500, "retold_log", &error.to_string()),
    };
    // A sample that is recorded as shared already.
    let turn = session.queue.take(&asked.key, Some(0));
    let is_shared = match &turn {
        ReplayTurn::Recorded(_, attempt) => attempt.place != played.place,
        ReplayTurn::Live(_) | ReplayTurn::Nothing => true,
    };
    let mut name = (place.run == session.run).then_some(place.seq);
    if let ReplayTurn::Recorded(ticket, attempt) = &turn
        && attempt.place.run == session.run
    {
        name = give(session, asked, ticket, Some(attempt.place.seq), &played);
    }
    if let ReplayTurn::Live(mut ticket) = turn {
        let mut copy = match session.library.copy(played.place) {
            Ok(copy) => copy,
            Err(error) => return rejection(asked.dialect, 500, "retold_log", &error.to_string()),
        };
        if let CopiedAttempt::Answer(reused) = &mut copy {
            if ticket.is_again
                && let Some(http) = reused.details.extra.get_mut(HTTP)
            {
                http.set("again", true.into());
            } else if place.run == session.run {
                // The run has the body once.
                reused.details.extra.remove(HTTP);
            }
            match record(session, asked, &mut ticket, &copy, &played.body).await {
                Ok(copied) => name = give(session, asked, &ticket, copied, &played),
                Err(error) => return cannot_record(asked, &error),
            }
        }
    }
    session.counts.change(|summary| summary.sent_again(asked, &played, is_shared));
    send(played, session, name, None, false)
}

/// Records an attempt of another run, or a shared answer, with its body as this run's. Returns its seq.
async fn record(
    session: &Arc<Session>,
    asked: &WireRequest,
    ticket: &mut Ticket,
    copied: &CopiedAttempt,
    body: &[u8],
) -> Result<Option<Seq>, RecorderError> {
    let written = session.recorder.write(|recorder| {
        let request = match ticket.request {
            Some(request) => request,
            None => asked.record(&session.tool_links, recorder, ticket)?,
        };
        let written: (Seq, Durable) = match copied {
            CopiedAttempt::Answer(reused) => {
                let mut reused = AnswerReused { request, ..AnswerReused::clone(reused) };
                if let Some(http) = reused.details.extra.get_mut(HTTP)
                    && http.get(LONG).is_some()
                {
                    http.set(LONG, json!(LongBody::record(recorder, request, body)?));
                }
                recorder.record_reuse(reused)?
            }
            CopiedAttempt::Failure(details) => {
                let details = AttemptDetails { attempt: ticket.attempt, ..details.clone() };
                recorder.failed_as(request, details)?
            }
        };
        Ok((request, written))
    })?;
    let Some((request, (seq, durable))) = written else { return Ok(None) };
    ticket.request = Some(request);
    if let Err(error) = durable.wait().await {
        let error = RecorderError::from(error);
        session.recorder.fail(&error);
        return Err(error);
    }
    Ok(Some(seq))
}

fn cannot_record(asked: &WireRequest, error: &RecorderError) -> Response<Outgoing> {
    rejection(asked.dialect, 500, "retold_log", &format!("retold cannot record: {error}"))
}

fn send(
    played: ReplayedAttempt,
    session: &Session,
    name: Option<Seq>,
    departure: Option<Departure>,
    is_heard: bool,
) -> Response<Outgoing> {
    let ReplayedAttempt { place, kept, body, answer: _ } = played;
    let pieces = kept.pieces(&body);
    let stop = departure.and_then(|it| Some((it.bytes?, it.patience())));
    let is_whole = kept.end.is_none() && pieces.len() <= 1 && stop.is_none() && !is_heard;
    let mut response = if is_whole {
        response_of(&kept, body)
    } else {
        let (sender, chunks) = Chunks::new();
        tokio::spawn(feed(sender, pieces, kept.end, is_heard, session.pace, stop));
        response_with(&kept, Outgoing::Chunks(chunks))
    };
    let from = format!("{}/{}", place.run, place.seq);
    if let Ok(from) = HeaderValue::from_str(&from) {
        response.headers_mut().insert(REPLAYED, from);
    }
    if let Some(name) = name {
        response.headers_mut().extend(name_header(session.run, name));
    }
    response
}

/// Lets the pieces through. If they are heard, the client listens until it or the run ends. `stop` says after how many bytes the client had left, and for how long it is waited for.
async fn feed(
    chunks: ChunkSender,
    pieces: Vec<(Bytes, u64)>,
    end: Option<BodyEnd>,
    is_heard: bool,
    pace: Pace,
    mut stop: Option<(u64, Duration)>,
) {
    let start = Instant::now();
    let mut sent = 0;
    for (mut piece, at) in pieces {
        if pace == Pace::Recorded {
            sleep_until(start + Duration::from_millis(at)).await;
        }
        if let Some((most, patience)) = stop
            && sent + piece.len() as u64 > most
        {
            let before = piece.split_to(usize::try_from(most - sent).unwrap_or(piece.len()));
            sent += before.len() as u64;
            if !before.is_empty() && chunks.send(Ok(before)).await.is_err() {
                return;
            }
            tokio::select! {
                () = chunks.closed() => return,
                () = sleep_until(start + patience) => {}
            }
            stop = None;
        }
        sent += piece.len() as u64;
        if chunks.send(Ok(piece)).await.is_err() {
            return;
        }
    }
    if is_heard {
        let _ = timeout(SILENCE, chunks.closed()).await;
    }
    if end.is_some() {
        // A client that has left needs no end.
        drop(chunks.send(Err(BrokenOff)).await);
    }
}
