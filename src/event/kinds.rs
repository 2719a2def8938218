//! The kinds of event, as the program works with them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::batch::BatchStep;
use super::because::Because;
use super::chain::Head;
use super::decided_by::DecidedBy;
use super::finished::RunFinished;
use super::labels::Labels;
use super::stored::StoredEvent;
use crate::content::Content;
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq, StateDigest};

/// A fact that happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A run began.
    RunStarted(RunStarted),
    /// A run was continued after a crash or an interruption.
    RunResumed(RunResumed),
    /// A model was asked a question.
    RequestSent(RequestSent),
    /// The model answered.
    ResponseReceived(ResponseReceived),
    /// One attempt failed.
    AttemptFailed(AttemptFailed),
    /// A part of a body that is too long for one event.
    BodyPart(BodyPart),
    /// The client of a call hung up before it had the whole answer.
    ClientLeft(ClientLeft),
    /// A recorded answer of another run, or of another call that shares it, was used.
    AnswerReused(AnswerReused),
    /// A parser made a decision about an answer.
    DecisionMade(DecisionMade),
    /// The experiment's own fact.
    Occurred(FactOccurred),
    /// A program stated a digest of its state.
    MarkRecorded(MarkRecorded),
    /// A batch came a step further.
    Batch(BatchStep),
    /// Somebody looked at what came out before the run had ended.
    LookedAt(LookedAt),
    /// A damaged run was copied without the events that are lost.
    EventsLost(EventsLost),
    /// The run ended.
    RunFinished(RunFinished),
    /// A kind that this release does not know; kept as it is.
    Unknown(Box<StoredEvent>),
}

/// Everything a re-execution needs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStarted {
    /// The experiment's name.
    pub experiment: String,
    /// The seed of every random choice; at most 2^53, so that JSON can hold it.
    pub seed: u64,
    /// The experiment's complete settings, including templates, data and parser versions.
    pub settings: Value,
    /// Which model answers, as its own description. Never holds a key.
    pub model: Value,
    /// The program and version that wrote it.
    pub program: String,
    /// For a fork: the run that it shares its beginning with.
    pub forked_from: Option<ForkedFrom>,
    /// For a run that was merged: its shards, in the same log, whose answers it has.
    pub merged_from: Vec<RunId>,
}

/// Which run a fork shares its beginning with, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForkedFrom {
    /// Only the answers before this seq of the other run are reused; all of them if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Seq>,
    /// Whether calls that failed there are asked again. Otherwise they fail here as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retry_failed: bool,
    /// The other run, in the same log.
    pub run: RunId,
    /// A question of the other run whose answer was taken back: it is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<Seq>,
}

/// The experiment name of runs that were recorded from a program.
pub const PROGRAM: &str = "program";

/// The experiment name of runs that were imported from an exchanges file.
pub const EXCHANGES: &str = "exchanges";

/// The experiment name of runs of decisions that were accepted about the answers of another run.
pub const DECISIONS: &str = "decisions";

/// The experiment name of runs in which nothing happens but that a plan is registered.
pub const PLAN: &str = "plan";

/// The setting that a run's name is recorded as.
pub const RUN_NAME: &str = "name";

impl RunStarted {
    /// The beginning of a run that shares nothing with others, written by this release.
    pub fn new(experiment: impl Into<String>, seed: u64, settings: Value, model: Value) -> Self {
        let (experiment, program) = (experiment.into(), crate::PROGRAM.to_owned());
        let (forked_from, merged_from) = (None, Vec::new());
        RunStarted { experiment, seed, settings, model, program, forked_from, merged_from }
    }

    /// True if the outcome digest covers the answers, see [`ExchangesHasher`](super::ExchangesHasher): no study executes a
    /// program's run, or one that was imported from exchanges. The digest of other runs covers decisions and facts in their
    /// order, see [`OutcomeHasher`](super::OutcomeHasher).
    pub fn covers_answers(&self) -> bool {
        [PROGRAM, EXCHANGES].contains(&&*self.experiment)
    }

    /// The seed of the random choices; `None` for runs in which nothing is drawn.
    pub fn drawn_from(&self) -> Option<u64> {
        self.is_of_experiment().then_some(self.seed)
    }

    /// Whether an experiment was executed, whose questions declare what their prompts were made from: in
    /// contrast to a program's run, an import of exchanges, accepted decisions, or a plan.
    pub fn is_of_experiment(&self) -> bool {
        ![PROGRAM, EXCHANGES, DECISIONS, PLAN].contains(&&*self.experiment)
    }

    /// The name that is recorded with the run: the one that its program was given, or that of a study's output folder.
    pub fn name(&self) -> Option<&str> {
        self.settings[RUN_NAME].as_str()
    }

    /// The name that the run of a program was given.
    pub fn program_name(&self) -> Option<&str> {
        self.name().filter(|_| self.experiment == PROGRAM)
    }

    /// Whether the answers are made up by a program, which must be stated wherever results are
    /// shown.
    pub fn is_simulated(&self) -> bool {
        self.model["simulated"].as_bool().unwrap_or(false)
    }
}

/// A run was continued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResumed {
    /// Which model answers from here on.
    pub model: Value,
    /// The program and version that wrote it.
    pub program: String,
    /// Whether all that failed before is asked again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retry_failed: bool,
    /// The additions to the settings of the run, in their form; null if there are none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub settings: Value,
}

/// A model was asked a question.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestSent {
    /// Where in the experiment.
    pub call: CallPath,
    /// The n-th answer asked for.
    pub sample: Sample,
    /// The hash of the request.
    pub prompt: PromptHash,
    /// The earlier events that the prompt was made from, as the experiment declared them.
    pub because: Because,
    /// The labels of the call.
    pub labels: Labels,
}

/// The model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseReceived {
    /// The `RequestSent` it answers.
    pub request: Seq,
    /// The answer, verbatim.
    pub content: Content,
    /// Finish reason, usage, model as reported, other parts of the message, latency.
    pub details: ResponseDetails,
}

/// The details that are kept of a response besides its content. The fields are in the order of
/// canonical JSON, so that it can be written in one pass.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ResponseDetails {
    /// The number of the batch that brought it, in the run that it was recorded in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// How many of the request's tokens were in the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// The amount that the provider charged, in its own unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Refusals, tool calls and everything else in the answer.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// Why the answer ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// The provider's id for the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// For an imported answer: its label as the file has it, where the labels of the call are texts. No parser sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Value>,
    /// Milliseconds from sending to the last byte.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub latency_ms: u64,
    /// The model as reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// How many of the answer's tokens are reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// The tier of service that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// The provider's name for the configuration that it ran with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_fingerprint: Option<String>,
}

impl ResponseDetails {
    /// Whether nothing is kept.
    pub(crate) fn is_none(&self) -> bool {
        *self == ResponseDetails::default()
    }
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// One attempt failed.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptFailed {
    /// The `RequestSent` it belongs to.
    pub request: Seq,
    /// What happened.
    pub details: AttemptDetails,
}

/// The details that are kept of a failed attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptDetails {
    /// The n-th attempt, from 0.
    pub attempt: u32,
    /// The number of the batch that it was in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// What happened, without any secret.
    pub error: String,
    /// Whether it was the last attempt, so that the call failed.
    #[serde(default, rename = "final", skip_serializing_if = "std::ops::Not::not")]
    pub gave_up: bool,
    /// The kind of failure.
    pub failure: String,
    /// Where the failure was recorded, if a fork took it over from its parent instead of asking again. It
    /// does not count as an attempt of the fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<SharedFailure>,
    /// For a program's own request: the response it was sent instead of an answer, in the form of
    /// an answer's `extra.http`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Value>,
    /// How long the provider asked us to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

/// Where a failure that a fork shares was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedFailure {
    /// The run.
    pub run: RunId,
    /// The event there.
    pub seq: Seq,
}

/// A part of a body that is too long for one event. The parts of a request come after its `RequestSent`, those of an answer before
/// its `ResponseReceived`, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyPart {
    /// The `RequestSent` of the call.
    pub request: Seq,
    /// Whose body it is.
    pub of: BodySide,
    /// The text, or the bytes in base64.
    pub content: Content,
    /// Whether the body is not UTF-8, so that its parts are in base64.
    pub base64: bool,
}

/// Who sent a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodySide {
    /// The program.
    Request,
    /// The server.
    Answer,
}

/// The client of a call hung up before it had the whole answer. The answer is received nevertheless, because it is
/// paid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientLeft {
    /// The `RequestSent` of the call.
    pub request: Seq,
    /// Milliseconds from the client's request to its leaving.
    pub after_ms: u64,
    /// How many bytes of the answer's body it had been sent; `None` if not even the status.
    pub bytes: Option<u64>,
}

/// A recorded answer was used.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerReused {
    /// The `RequestSent` it answers.
    pub request: Seq,
    /// The answer, verbatim.
    pub content: Content,
    /// The run it was recorded in.
    pub from_run: RunId,
    /// The event there.
    pub from_seq: Seq,
    /// Why it has no text, if the answer could not be read.
    pub unreadable: Option<String>,
    /// The details that the recording run kept besides the answer, except the latency and
    /// `unreadable`, so that a run is complete without the run that it shares with.
    pub details: ResponseDetails,
}

/// A parser made a decision about an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionMade {
    /// The answer that it is about.
    pub response: Seq,
    /// What made it.
    pub by: DecidedBy,
    /// Value, reasoning and warnings.
    pub details: DecisionDetails,
}

/// The content of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionDetails {
    /// Which choice of the answer it is about, from 0, where the answer has several or the program said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<u32>,
    /// The model's reasoning, where the format keeps it separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The value.
    pub value: Value,
    /// Repairs, and anything that looked odd.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The experiment's own fact.
#[derive(Debug, Clone, PartialEq)]
pub struct FactOccurred {
    /// The seqs that caused it, ascending.
    pub causes: Vec<Seq>,
    /// The fact, as the experiment serialises it.
    pub fact: Value,
}

/// Somebody looked at what had come out of a run before it had ended. It is part of no outcome digest, and a re-execution does not
/// compare it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookedAt {
    /// The calls that had an answer.
    pub answered: u64,
    /// The calls that had failed.
    pub failed: u64,
    /// The definitions of the figures that were shown.
    pub figures: Vec<String>,
}

/// A damaged run was copied, and some of its events could not be read or were not as they were written. The others are in this
/// run, in their order, but for the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventsLost {
    /// The last event that the damaged run is known to have had.
    pub head: Head,
    /// The events that are not in this run, by their seqs in the damaged one: the first and the last of each stretch, ascending.
    pub lost: Vec<(u64, u64)>,
    /// The damaged run.
    pub run: RunId,
}

/// A program stated a digest of its state, which is compared when it is run again. The marks of an experiment are in
/// [`FoldedState`](super::FoldedState) instead, because its state is folded from facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkRecorded {
    /// The digest of the state, however the program computes it.
    pub digest: StateDigest,
    /// The program's name for this place.
    pub name: String,
}

/// The lane of a fact that a program reported: such facts have an order within their lane only.
pub(crate) fn lane_of(fact: &Value) -> &str {
    fact["lane"].as_str().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::canonical;

    /// Another order would require a copy of every answer's details.
    #[test]
    fn the_details_of_a_response_are_in_canonical_order() {
        let details = ResponseDetails {
            batch: Some(1),
            cached_tokens: Some(4),
            completion_tokens: Some(1),
            cost: Some(0.25),
            extra: [("refusal".to_owned(), Value::from("no"))].into_iter().collect(),
            finish_reason: Some("stop".to_owned()),
            id: Some("chatcmpl-1".to_owned()),
            label: Some(Value::from("24")),
            latency_ms: 3,
            model: Some("gpt-4".to_owned()),
            prompt_tokens: Some(2),
            reasoning_tokens: Some(5),
            service_tier: Some("default".to_owned()),
            system_fingerprint: Some("fp".to_owned()),
        };
        assert_eq!(serde_json::to_string(&details).unwrap(), canonical(&details).unwrap());
    }
}
