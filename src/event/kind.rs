//! The names of the kinds this release writes, as SQL and other readers see them.

pub(crate) const RUN_STARTED: &str = "RunStarted";
pub(crate) const RUN_RESUMED: &str = "RunResumed";
pub(crate) const REQUEST_SENT: &str = "RequestSent";
pub(crate) const RESPONSE_RECEIVED: &str = "ResponseReceived";
pub(crate) const ATTEMPT_FAILED: &str = "AttemptFailed";
pub(crate) const BODY_PART: &str = "BodyPart";
pub(crate) const CLIENT_LEFT: &str = "ClientLeft";
pub(crate) const ANSWER_REUSED: &str = "AnswerReused";
pub(crate) const DECISION_MADE: &str = "DecisionMade";
pub(crate) const OCCURRED: &str = "Occurred";
pub(crate) const MARK_RECORDED: &str = "MarkRecorded";
pub(crate) const BATCH_PLANNED: &str = "BatchPlanned";
pub(crate) const BATCH_UPLOADED: &str = "BatchUploaded";
pub(crate) const BATCH_SUBMITTED: &str = "BatchSubmitted";
pub(crate) const BATCH_SEEN: &str = "BatchSeen";
pub(crate) const BATCH_ENDED: &str = "BatchEnded";
pub(crate) const BATCH_COLLECTED: &str = "BatchCollected";
pub(crate) const LOOKED_AT: &str = "LookedAt";
pub(crate) const EVENTS_LOST: &str = "EventsLost";
pub(crate) const RUN_FINISHED: &str = "RunFinished";

/// The version of every kind's body. A kind in another version counts as unknown.
pub(crate) const VERSION: u32 = 1;

/// The names of all kinds of event.
pub const KINDS: &[&str] = &[
    RUN_STARTED, RUN_RESUMED, REQUEST_SENT, RESPONSE_RECEIVED, ATTEMPT_FAILED, BODY_PART,
    CLIENT_LEFT, ANSWER_REUSED, DECISION_MADE, OCCURRED, MARK_RECORDED, BATCH_PLANNED,
    BATCH_UPLOADED, BATCH_SUBMITTED, BATCH_SEEN, BATCH_ENDED, BATCH_COLLECTED, LOOKED_AT,
    EVENTS_LOST, RUN_FINISHED,
];
