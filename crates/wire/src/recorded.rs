//! What a log has of a program's run: which samples there are, and each attempt on request.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use retold::event::{AnswerReused, AttemptDetails, Event, EventError, ResponseDetails};
use retold::id::{CallPath, PromptHash, RunId, Sample, Seq};
use retold::log::{CheckedReader, Log, LogError, Reader};
use retold::model::{Content, HTTP, Unreadable};
use retold::prompt::Request;

use crate::asked::Key;
use crate::book::{Attempt, Place, RecordedSample};
use crate::kept::{End, Kept};
use crate::rules::Rules;

/// Events in one read.
const BATCH: usize = 512;

/// All samples of a run, by their addresses.
pub type Samples = BTreeMap<(CallPath, Sample), (Key, RecordedSample)>;

/// Reads which samples a run has. `skip_errors` leaves out what failed.
///
/// # Errors
/// [`LogError`] if it cannot be read, or is damaged.
pub fn samples(
    log: &Log,
    run: RunId,
    rules: &Rules,
    skip_errors: bool,
) -> Result<Samples, LogError> {
    let mut reader = CheckedReader::new(log.reader()?);
    let mut samples = Samples::new();
    // Where the question at a seq is.
    let mut asked: BTreeMap<Seq, (CallPath, Sample)> = BTreeMap::new();
    let mut keys: BTreeMap<PromptHash, PromptHash> = BTreeMap::new();
    let mut after = Seq(0);
    loop {
        let events = reader.events(run, after, BATCH)?;
        let Some(last) = events.last() else { break };
        after = last.seq;
        for stored in events {
            let (seq, place) = (stored.seq, Place { run, seq: stored.seq });
            let attempt = match stored.event().map_err(damaged)? {
                Event::RequestSent(sent) => {
                    let prompt = key_of(&mut reader, sent.prompt, rules, &mut keys)?;
                    let key = Key { call: sent.call.clone(), prompt };
                    let address = (sent.call, sent.sample);
                    asked.insert(seq, address.clone());
                    // One that was asked again after a crash takes the place of the lost one.
                    let (request, prompt) = (Some(seq), Some(sent.prompt));
                    let sample = RecordedSample { request, prompt, ..RecordedSample::default() };
                    samples.insert(address, (key, sample));
                    continue;
                }
                Event::ResponseReceived(received) => (received.request, false, false),
                Event::AnswerReused(reused) => (reused.request, false, false),
                Event::AttemptFailed(_) if skip_errors => continue,
                Event::AttemptFailed(failed) => {
                    let kept = failed.details.http.as_ref().and_then(Kept::read);
                    let left = kept.is_some_and(|kept| kept.end == Some(End::ClientLeft));
                    (failed.request, !failed.details.gave_up && !left, left)
                }
                _ => continue,
            };
            let (request, reopens, partial) = attempt;
            let address = asked.get(&request);
            if let Some((_, sample)) = address.and_then(|address| samples.get_mut(address)) {
                sample.attempts.push(Attempt { place, reopens });
                sample.partial = partial;
            }
        }
    }
    if skip_errors {
        samples.retain(|_, (_, sample)| !sample.attempts.is_empty());
    }
    Ok(samples)
}

/// The key of a stored prompt.
fn key_of(
    reader: &mut CheckedReader,
    prompt: PromptHash,
    rules: &Rules,
    known: &mut BTreeMap<PromptHash, PromptHash>,
) -> Result<PromptHash, LogError> {
    if rules.is_empty() {
        return Ok(prompt);
    }
    if let Some(key) = known.get(&prompt) {
        return Ok(*key);
    }
    let key = reader.request(prompt)?.map_or(prompt, |request| rules.key(&request));
    known.insert(prompt, key);
    Ok(key)
}

/// A recorded attempt, as it is sent again.
#[derive(Debug, Clone)]
pub(crate) struct Played {
    /// Where it is.
    pub(crate) place: Place,
    /// How it travelled.
    pub(crate) kept: Kept,
    /// Its whole body.
    pub(crate) body: Bytes,
    /// What a fork records of it.
    pub(crate) copy: Copied,
}

/// What a fork records of an attempt of its parent.
#[derive(Debug, Clone)]
pub(crate) enum Copied {
    /// An answer; the request is that of the parent.
    Answer(Box<AnswerReused>),
    /// A failure.
    Failure(AttemptDetails),
}

/// Why a recorded attempt cannot be sent again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlayedError {
    /// It cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// It was not recorded from a program, or the log is damaged.
    #[error("seq {0} has no recorded HTTP answer")]
    NotRecorded(Seq),
}

/// Reads attempts from a log, one at a time.
pub(crate) struct Library(Mutex<CheckedReader>);

impl Library {
    /// Reads from a log.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be opened.
    pub(crate) fn of(log: &Log) -> Result<Self, LogError> {
        Ok(Library(Mutex::new(CheckedReader::new(log.reader()?))))
    }

    /// A recorded attempt.
    ///
    /// # Errors
    /// [`PlayedError`].
    pub(crate) fn play(&self, place: Place) -> Result<Played, PlayedError> {
        let Place { run, seq } = place;
        let stored = {
            let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?.pop()
        };
        let none = || PlayedError::NotRecorded(seq);
        let event = stored.ok_or_else(none)?.event().map_err(damaged)?;
        let (kept, content, copy) = match event {
            Event::ResponseReceived(received) => {
                let kept = received.details.extra.get(HTTP).and_then(Kept::read);
                let content = received.content.clone();
                let copy = reused(place, received.request, received.content, received.details);
                (kept, Some(content), Copied::Answer(Box::new(copy)))
            }
            Event::AnswerReused(reused) => {
                // Another answer of the same run has the body.
                if reused.from_run == run && !reused.details.extra.contains_key(HTTP) {
                    let from = Place { run, seq: reused.from_seq };
                    return if from.seq < seq { self.play(from) } else { Err(none()) };
                }
                let kept = reused.details.extra.get(HTTP).and_then(Kept::read);
                let content = reused.content.clone();
                let copy = AnswerReused { from_run: run, from_seq: seq, ..reused };
                (kept, Some(content), Copied::Answer(Box::new(copy)))
            }
            Event::AttemptFailed(failed) => {
                let kept = failed.details.http.as_ref().and_then(Kept::read);
                (kept, None, Copied::Failure(failed.details))
            }
            _ => return Err(none()),
        };
        let kept = kept.ok_or_else(none)?;
        let body = kept.bytes(content.as_ref()).ok_or_else(none)?;
        Ok(Played { place, kept, body, copy })
    }

    /// A stored request.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn request(&self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).request(prompt)
    }
}

/// What a run that shares this answer records.
fn reused(
    from: Place,
    request: Seq,
    content: Content,
    mut details: ResponseDetails,
) -> AnswerReused {
    let unreadable = Unreadable::why(&content, &details.extra);
    (details.latency_ms, details.label) = (0, None);
    AnswerReused { request, content, from_run: from.run, from_seq: from.seq, unreadable, details }
}

fn damaged(error: EventError) -> LogError {
    LogError::Corrupt { run: error.run, seq: error.seq, what: error.what }
}
