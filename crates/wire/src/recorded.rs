//! The recorded attempts of a program's run, each read when it is sent again.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use retold::event::{
    AnswerReused, AttemptDetails, AttemptFailed, Event, RequestSent, ResponseDetails,
    ResponseReceived, SharedFailure, StoredEvent,
};
use retold::id::{PromptHash, RunId, Seq};
use retold::log::{LogError, Reader, each_event_at};
use retold::model::{Content, HTTP, UNENDED, Unreadable};
use retold::prompt::Request;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::digest::Digest;
use crate::key::AttemptPlace;
use crate::readers::{Readers, SharedEvent};
use crate::transmission::Transmission;

/// A recorded attempt, as it is sent again.
#[derive(Debug, Clone)]
pub(crate) struct ReplayedAttempt {
    /// Where it is.
    pub(crate) place: AttemptPlace,
    /// How it travelled.
    pub(crate) kept: Transmission,
    /// Its whole body.
    pub(crate) body: Bytes,
    /// The name of the answer, if it is one.
    pub(crate) answer: Option<AnswerName>,
}

/// The id by which a program can name an answer, and whether the answer lacks its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerName {
    /// The provider's id for it.
    pub(crate) id: Option<Digest>,
    /// Whether its stream was closed without its end.
    pub(crate) is_unended: bool,
}

/// An attempt of the parent as a fork records it.
#[derive(Debug, Clone)]
pub(crate) enum CopiedAttempt {
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
        place: AttemptPlace,
        read: Option<(AttemptPlace, SharedEvent)>,
    ) -> Result<ReplayedAttempt, PlayedError> {
        let none = || PlayedError::NotRecorded(place.seq);
        let stored = match read {
            Some((read, stored)) if read == place => stored,
            _ => self.0.event(place)?.ok_or_else(none)?,
        };
        let (id, is_unended, mut kept) = match answer_head(&stored) {
            Some(sent) => sent,
            None => match stored.event().map_err(LogError::from)? {
                Event::AnswerReused(reused) if is_elsewhere(&reused, place.run) => {
                    let from = AttemptPlace { seq: reused.from_seq, ..place };
                    return if from.seq < place.seq { self.play(from, None) } else { Err(none()) };
                }
                Event::AnswerReused(AnswerReused { details, .. })
                | Event::ResponseReceived(ResponseReceived { details, .. }) => {
                    let kept =
                        details.extra.get(HTTP).and_then(Transmission::read).ok_or_else(none)?;
                    let is_unended = details.extra.contains_key(UNENDED);
                    (details.id.as_deref().map(Digest::new), is_unended, kept)
                }
                Event::AttemptFailed(AttemptFailed { details, .. }) => (
                    None,
                    false,
                    details.http.as_ref().and_then(Transmission::read).ok_or_else(none)?,
                ),
                _ => return Err(none()),
            },
        };
        let body = match &kept.long {
            Some(long) => self.0.with(|reader| long.read(reader, place.run))?.ok_or_else(none)?,
            None => kept.take_bytes(stored.content.as_ref()).ok_or_else(none)?,
        };
        let answer = stored.is_answer().then_some(AnswerName { id, is_unended });
        Ok(ReplayedAttempt { place, kept, body, answer })
    }

    /// A recorded attempt as a fork records it.
    ///
    /// # Errors
    /// [`PlayedError`].
    pub(crate) fn copy(&self, place: AttemptPlace) -> Result<CopiedAttempt, PlayedError> {
        let AttemptPlace { run, seq } = place;
        match self.event(place)? {
            Some(Event::ResponseReceived(ResponseReceived { request, content, details })) => {
                Ok(CopiedAttempt::Answer(Box::new(reuse(place, request, content, details))))
            }
            Some(Event::AnswerReused(reused)) => {
                let reused = AnswerReused { from_run: run, from_seq: seq, ..reused };
                Ok(CopiedAttempt::Answer(Box::new(reused)))
            }
            Some(Event::AttemptFailed(failed)) => {
                let from = Some(SharedFailure { run, seq });
                Ok(CopiedAttempt::Failure(AttemptDetails { from, ..failed.details }))
            }
            _ => Err(PlayedError::NotRecorded(seq)),
        }
    }

    /// The event at a place.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn event(&self, place: AttemptPlace) -> Result<Option<Event>, LogError> {
        self.0.event(place)?.map(|stored| stored.event().map_err(LogError::from)).transpose()
    }

    /// Passes on each of a run's questions, which must be sorted.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn questions(
        &self,
        run: RunId,
        questions: &[Seq],
        mut each: impl FnMut(Seq, RequestSent),
    ) -> Result<(), LogError> {
        self.0.with(|reader| {
            each_event_at(reader, run, questions, |stored| {
                let seq = stored.seq;
                if let Event::RequestSent(sent) = stored.event().map_err(LogError::from)? {
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

/// Whether another answer of the same run has the body.
fn is_elsewhere(reused: &AnswerReused, run: RunId) -> bool {
    reused.from_run == run && !reused.details.extra.contains_key(HTTP)
}

/// The id of an answer that was received, whether it lacks its end, and how it travelled, without the rest of its event: a
/// replay mostly reads this. `None` if the event is not as usual, and has to be read as a whole.
fn answer_head(stored: &StoredEvent) -> Option<(Option<Digest>, bool, Transmission)> {
    #[derive(Deserialize)]
    struct AttemptBody<'a> {
        extra: Extra,
        #[serde(borrow)]
        id: Option<Cow<'a, str>>,
    }
    #[derive(Deserialize)]
    struct Extra {
        http: Transmission,
        unended: Option<IgnoredAny>,
    }
    if !stored.is_received() || stored.content.is_none() {
        return None;
    }
    let AttemptBody { extra, id } = serde_json::from_str(&stored.body).ok()?;
    Some((id.as_deref().map(Digest::new), extra.unended.is_some(), extra.http))
}

/// How a recorded attempt travelled, if it is one.
pub(crate) fn how_it_travelled(stored: &StoredEvent) -> Result<Option<Transmission>, LogError> {
    if let Some((.., kept)) = answer_head(stored) {
        return Ok(Some(kept));
    }
    Ok(match stored.event().map_err(LogError::from)? {
        Event::ResponseReceived(ResponseReceived { details, .. })
        | Event::AnswerReused(AnswerReused { details, .. }) => {
            details.extra.get(HTTP).and_then(Transmission::read)
        }
        Event::AttemptFailed(failed) => failed.details.http.as_ref().and_then(Transmission::read),
        _ => None,
    })
}

/// An answer as a run that shares it records it.
fn reuse(
    from: AttemptPlace,
    request: Seq,
    content: Content,
    mut details: ResponseDetails,
) -> AnswerReused {
    let unreadable = Unreadable::why(&content, &details.extra);
    (details.latency_ms, details.label) = (0, None);
    AnswerReused { request, content, from_run: from.run, from_seq: from.seq, unreadable, details }
}
