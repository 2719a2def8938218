//! The recorded attempts of a program's run, each read when it is sent again.

use std::sync::Arc;

use bytes::Bytes;
use retold::event::{
    AnswerReused, AttemptDetails, Event, EventError, RequestSent, ResponseDetails,
};
use retold::id::{PromptHash, Seq};
use retold::log::{LogError, Reader, each_event_at};
use retold::model::{Content, HTTP, Unreadable};
use retold::prompt::Request;

use crate::book::Place;
use crate::kept::Kept;
use crate::readers::Readers;
use crate::samples::Questions;

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

/// Reads attempts from a log.
pub(crate) struct Library(Arc<Readers>);

impl Library {
    /// Reads with these readers.
    pub(crate) fn with(readers: Arc<Readers>) -> Self {
        Library(readers)
    }

    /// A recorded attempt. `read` is its event, if that was read before.
    ///
    /// # Errors
    /// [`PlayedError`].
    pub(crate) fn play(
        &self,
        place: Place,
        read: Option<(Place, Event)>,
    ) -> Result<Played, PlayedError> {
        let Place { run, seq } = place;
        let none = || PlayedError::NotRecorded(seq);
        let event = match read {
            Some((read, event)) if read == place => event,
            _ => self.event(place)?.ok_or_else(none)?,
        };
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
                    return if from.seq < seq { self.play(from, None) } else { Err(none()) };
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

    /// The event at a place.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn event(&self, place: Place) -> Result<Option<Event>, LogError> {
        self.0.event(place)?.map(|stored| stored.event().map_err(damaged)).transpose()
    }

    /// Passes on each question.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn questions(
        &self,
        questions: &Questions,
        mut each: impl FnMut(Seq, RequestSent),
    ) -> Result<(), LogError> {
        self.0.with(|reader| {
            each_event_at(reader, questions.run, &questions.all(), |stored| {
                let seq = stored.seq;
                if let Event::RequestSent(sent) = stored.event().map_err(damaged)? {
                    each(seq, sent);
                }
                Ok(())
            })
        })
    }

    /// A stored request.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn request(&self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.0.with(|reader| reader.request(prompt))
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

pub(crate) fn damaged(error: EventError) -> LogError {
    LogError::Corrupt { run: error.run, seq: error.seq, what: error.what }
}
