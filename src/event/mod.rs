//! Events: facts that happened, past tense, never changed or deleted.
//!
//! - [`Event`]: the form that the program works with; one variant per kind, and [`Event::Unknown`]
//!   for kinds of later releases, which survive a round trip.
//! - [`NewEvent`], [`StoredEvent`]: the forms that a log accepts and returns: columns and a JSON body.
//! - [`chain`]: the canonical bytes of an event and the hash chain over them.
//! - [`EventWords`]: an event as people read it.
//! - [`Because`]: the earlier events that a prompt was made from. [`Labels`]: the labels of a call.
//! - [`OutcomeHasher`]: the outcome digest. [`FoldedState`]: digests of the state. [`MerkleTree`]:
//!   the root of a run's events.
//!
//! Stored and runtime types are separate; the conversions are in `convert`.

mod batch;
mod because;
pub mod chain;
mod convert;
mod covered;
mod decided_by;
mod decision_body;
mod defect;
mod exchanged;
mod finished;
pub(crate) mod kind;
mod kinds;
mod labels;
mod line;
mod merkle;
mod outcome;
mod stored;
mod words;

pub use batch::{
    BatchCollected, BatchEnded, BatchPlanned, BatchSeen, BatchStep, BatchSubmitted, BatchUploaded,
};
pub use because::Because;
pub use convert::EventError;
pub(crate) use convert::causes_and_fact;
pub use decided_by::{DecidedBy, FILTER, FUNCTION, JUDGE, PERSON, REPORTED, is_reported_by};
pub use defect::EventDefect;
pub use exchanged::ExchangesHasher;
pub(crate) use exchanged::details_digest;
pub use finished::{FoldedState, RunFinished, RunOutcome, StateEntries, StateMark};
pub use kind::KINDS;
pub(crate) use kinds::lane_of;
pub use kinds::{
    AnswerReused, AttemptDetails, AttemptFailed, BodyPart, BodySide, ClientLeft, DECISIONS,
    DecisionDetails, DecisionMade, EXCHANGES, Event, EventsLost, FactOccurred, ForkedFrom,
    LookedAt, MarkRecorded, PLAN, PROGRAM, RUN_NAME, RequestSent, ResponseDetails,
    ResponseReceived, RunResumed, RunStarted, SharedFailure,
};
pub(crate) use labels::named_lane;
pub use labels::{
    CLUSTERS, Labels, PARTICIPANTS, asked_for, call_kind, call_lane, cluster_of, participant_of,
};
pub(crate) use line::EventLine;
pub use merkle::{MerkleTree, inclusion_paths, root_at_end};
pub use outcome::OutcomeHasher;
pub(crate) use outcome::{pairs, ranges};
pub use stored::{NewEvent, StoredEvent};
pub use words::{EventWords, fact_name, fact_text, kind_from_words, kind_in_words};
