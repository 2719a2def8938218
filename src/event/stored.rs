//! Events as a log accepts and returns them: columns and a JSON body.

use std::borrow::Cow;

use super::kind::REQUEST_SENT;
use crate::content::Content;
use crate::id::{CallPath, EventHash, PromptHash, RunId, Sample, Seq, Time};
use crate::prompt::Request;

/// An event on its way into a log, which adds run, seq and hash.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// The kind, such as `ResponseReceived`.
    pub kind: Cow<'static, str>,
    /// The version of the kind's body.
    pub version: u32,
    /// When it happened.
    pub time: Time,
    /// Where in the experiment.
    pub call: Option<CallPath>,
    /// The n-th answer.
    pub sample: Option<Sample>,
    /// The request.
    pub prompt: Option<Request>,
    /// The event it follows from.
    pub cause: Option<Seq>,
    /// Its text or vector.
    pub content: Option<Content>,
    /// The rest: a canonical JSON object.
    pub body: Cow<'static, str>,
}

/// An event as a log returns it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    /// The run it belongs to.
    pub run: RunId,
    /// Its position in the run.
    pub seq: Seq,
    /// The kind, known or not.
    pub kind: Cow<'static, str>,
    /// The version of the kind's body.
    pub version: u32,
    /// When it happened.
    pub time: Time,
    /// Where in the experiment.
    pub call: Option<CallPath>,
    /// The n-th answer.
    pub sample: Option<Sample>,
    /// The hash of the request.
    pub prompt: Option<PromptHash>,
    /// The event it follows from.
    pub cause: Option<Seq>,
    /// Its text or vector.
    pub content: Option<Content>,
    /// The rest: a canonical JSON object.
    pub body: Cow<'static, str>,
    /// Its link in the chain.
    pub hash: EventHash,
}

impl NewEvent {
    /// An event of a kind at a time, with an empty body.
    pub fn new(kind: &'static str, time: Time) -> Self {
        NewEvent {
            kind: Cow::Borrowed(kind),
            version: 1,
            time,
            call: None,
            sample: None,
            prompt: None,
            cause: None,
            content: None,
            body: Cow::Borrowed("{}"),
        }
    }
}

impl StoredEvent {
    /// Whether a model was asked here: call, sample and prompt then say what, without the body.
    pub fn is_question(&self) -> bool {
        self.kind == REQUEST_SENT
    }
}
