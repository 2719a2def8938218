//! What can be wrong with an event, or with the chain of a run.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Fault;
use crate::event::EventError;
use crate::id::{EventHash, EventsRoot, OutcomeDigest, PromptHash, Seq};

/// A fault in an event, or in the chain of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventFault {
    /// So many events are missing, this one first.
    #[error("{}", missing(*events))]
    Missing {
        /// How many; at least 1.
        events: u64,
    },
    /// The run has no events.
    #[error("it has no events")]
    NoEvents,
    /// The hash of the event does not follow from the event and the hash before it.
    #[error("its hash does not match: the event, its content or its position was changed")]
    Hash,
    /// Another event is where this one should be.
    #[error("another event is in its place")]
    Displaced,
    /// A scan finds the event, but a look-up by its seq does not.
    #[error("it is there but cannot be looked up: a key of the tree of events is damaged")]
    NotLookedUp,
    /// A scan ends before the event although the run goes on.
    #[error("it cannot be found, and there are later events")]
    NotScanned,
    /// A column of the event.
    #[error("its {field} {is}")]
    Field {
        /// The name of the column.
        field: Cow<'static, str>,
        /// The fault in its value.
        is: FieldFault,
    },
    /// The number of the run in the store.
    #[error("the number of the run, {no}, is out of range")]
    RunNumber {
        /// The number.
        no: i64,
    },
    /// The body of the event.
    #[error("its body is not a canonical JSON object")]
    Body,
    /// The event that it names as its cause.
    #[error("its cause is not an earlier event")]
    Cause,
    /// A decision about an answer that is not there.
    #[error("it decides about an answer that does not exist")]
    NoAnswer,
    /// An answer to a question that is not there.
    #[error("it answers a question that does not exist")]
    NoQuestion,
    /// An event about a request that was not asked.
    #[error("it is about a request that does not exist")]
    NoCall,
    /// A decision that names neither parser nor method.
    #[error("it does not say what decided")]
    NoParser,
    /// The first event of a run is of another kind.
    #[error("it is not the start of a run")]
    NotAStart,
    /// An event that lacks what its kind needs, in the words of whoever reads the kind.
    #[error("{why}")]
    Malformed {
        /// The message.
        why: String,
    },
    /// The outcome digest that the end of a run states.
    #[error("it states the outcome digest {stated}, but its events give {found}")]
    OutcomeDigest {
        /// As stated.
        stated: OutcomeDigest,
        /// As computed.
        found: OutcomeDigest,
    },
    /// The Merkle root that the end of a run states.
    #[error("it states the root {} over its events, but they give {}", .stated.short(12), .found.short(12))]
    EventsRoot {
        /// As stated.
        stated: EventsRoot,
        /// As computed.
        found: EventsRoot,
    },
    /// The request of the event is not stored.
    #[error("its request {prompt} is missing")]
    NoRequest {
        /// The hash of the request.
        prompt: PromptHash,
    },
    /// The stored request of the event is another one.
    #[error("the stored request {prompt} is damaged: {why}")]
    Request {
        /// The hash of the request.
        prompt: PromptHash,
        /// The reason.
        why: String,
    },
    /// The request of the event cannot be read.
    #[error("its request {prompt} cannot be read: {why}")]
    RequestUnreadable {
        /// The hash of the request.
        prompt: PromptHash,
        /// The fault in the file.
        why: Box<Fault>,
    },
    /// The file cannot be read where the event is.
    #[error("it cannot be read: {why}")]
    Unreadable {
        /// The fault in the file.
        why: Box<Fault>,
    },
    /// A head that is known from elsewhere is inside the run.
    #[error("the expected head {} is at seq {at}, and events follow it", .expected.short(12))]
    Continued {
        /// The head that was expected.
        expected: EventHash,
        /// Where it is.
        at: Seq,
    },
    /// A head that is known from elsewhere is not in the run.
    #[error("its head is {}, not {}: events after it are missing", .found.short(12), .expected.short(12))]
    OtherHead {
        /// The head that was expected.
        expected: EventHash,
        /// The head of the run.
        found: EventHash,
    },
    /// The stored index of a part of the run.
    #[error("the index of its events {first} to {last} does not match them")]
    Index {
        /// The first event of the part.
        first: Seq,
        /// The last event of the part.
        last: Seq,
    },
    /// The index of a part of the run cannot be made from its events.
    #[error("the index of it and the events up to {last} cannot be made")]
    Unindexable {
        /// The last event of the part.
        last: Seq,
    },
    /// The index names an event that is not there.
    #[error("the index names it, but there is no such event")]
    OnlyIndexed,
    /// The run ends before its high-water mark.
    #[error("the run ends at seq {last}, before its high-water mark of seq {mark}: {} lost", event_count(*last, *mark))]
    BehindMark {
        /// The last event of the run.
        last: u64,
        /// The last event that was certainly stored.
        mark: Seq,
    },
    /// A run that has a high-water mark is not there.
    #[error("the run is missing; its high-water mark is seq {mark}")]
    OnlyMark {
        /// The last event that was certainly stored.
        mark: Seq,
    },
    /// A run that has a high-water mark cannot be read.
    #[error("it cannot be read; its high-water mark is seq {mark}")]
    UnreadableMark {
        /// The last event that was certainly stored.
        mark: Seq,
    },
    /// Another event is where the high-water mark of the run is.
    #[error("another event is at its high-water mark")]
    OtherAtMark,
}

/// A fault in a value in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FieldFault {
    /// Another type.
    #[error("is not an integer")]
    NotAnInteger,
    /// Another type.
    #[error("is not text")]
    NotText,
    /// Bytes that are no text.
    #[error("is not UTF-8")]
    NotUtf8,
    /// Another type.
    #[error("is neither text nor vector")]
    NeitherTextNorVector,
    /// Another length or type.
    #[error("is not {0} bytes")]
    NotBytes(u8),
    /// A vector that ends within a number.
    #[error("is not a whole number of floats")]
    PartOfAFloat,
    /// A number that cannot occur.
    #[error("is out of range")]
    OutOfRange,
    /// A text that is no call path.
    #[error("is not a call path")]
    NotACallPath,
    /// A row that it refers to.
    #[error("is missing")]
    Missing,
    /// A kind that the store does not name.
    #[error("is not in the table kinds")]
    Unnamed,
    /// The value cannot be read.
    #[error("is unreadable")]
    Unreadable,
}

fn missing(events: u64) -> String {
    match events {
        1 => "the event is missing".to_owned(),
        n => format!("{n} events are missing from here on"),
    }
}

fn event_count(last: u64, mark: Seq) -> String {
    match mark.0.saturating_sub(last) {
        1 => "1 event is".to_owned(),
        n => format!("{n} events are"),
    }
}

impl EventFault {
    /// A column.
    pub fn field(field: &'static str, is: FieldFault) -> Self {
        EventFault::Field { field: Cow::Borrowed(field), is }
    }

    /// An event that lacks what its kind needs.
    pub fn defect(why: impl std::fmt::Display) -> Self {
        EventFault::Malformed { why: why.to_string() }
    }

    /// The missing events, if the event `found` comes where an earlier one is due.
    pub(crate) fn gap(due: Seq, found: Seq) -> Option<Self> {
        let events = found.0.checked_sub(due.0).filter(|events| *events > 0)?;
        Some(EventFault::Missing { events })
    }
}

impl From<EventError> for EventFault {
    fn from(error: EventError) -> Self {
        EventFault::defect(error.defect)
    }
}
