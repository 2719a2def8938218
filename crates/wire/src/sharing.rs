//! Answers that equal requests share.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

use crate::key::{AttemptPlace, Key};

/// The answers that equal requests share, by what counts of a request.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    answers: BTreeMap<Key, EqualAnswer>,
}

/// The state of the answer to a request.
#[derive(Debug)]
enum EqualAnswer {
    Asked(Arc<Notify>),
    Answered(AttemptPlace),
}

/// The state of an equal request, if there was one.
pub(crate) enum EqualRequest {
    /// There was none: this request is the first.
    None,
    /// It is under way; this ends when it has ended.
    Asked(OwnedNotified),
    /// It has its answer.
    Answered(AttemptPlace),
}

impl Sharing {
    /// What an equal request has got. If there was none, this one is noted as asked.
    pub(crate) fn ask(&mut self, key: &Key) -> EqualRequest {
        match self.answers.get(key) {
            Some(EqualAnswer::Answered(place)) => EqualRequest::Answered(*place),
            Some(EqualAnswer::Asked(notify)) => {
                EqualRequest::Asked(notify.clone().notified_owned())
            }
            None => {
                self.answers.insert(key.clone(), EqualAnswer::Asked(Arc::default()));
                EqualRequest::None
            }
        }
    }

    /// The answer that an equal request has got already.
    pub(crate) fn answer(&self, key: &Key) -> Option<AttemptPlace> {
        match self.answers.get(key) {
            Some(EqualAnswer::Answered(place)) => Some(*place),
            Some(EqualAnswer::Asked(_)) | None => None,
        }
    }

    /// Notes what became of a request; `None` if it failed.
    pub(crate) fn note(&mut self, key: &Key, place: Option<AttemptPlace>) {
        let before = match place {
            Some(place) => self.answers.insert(key.clone(), EqualAnswer::Answered(place)),
            None => self.answers.remove(key),
        };
        if let Some(EqualAnswer::Asked(notify)) = before {
            notify.notify_waiters();
        }
    }
}
