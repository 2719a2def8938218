//! The kinds of event, as the program works with them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::because::Because;
use super::finished::RunFinished;
use super::labels::Labels;
use super::stored::StoredEvent;
use crate::content::Content;
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq, StateDigest};
use crate::prompt::{canonical, hash_of};

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
    /// Only what was answered before this seq of it; all of it if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Seq>,
    /// Whether calls that failed there are asked again. Otherwise they fail here as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retry_failed: bool,
    /// The other run, in the same log.
    pub run: RunId,
}

/// The experiment name of runs that were recorded from a program.
pub const PROGRAM: &str = "program";

/// The experiment name of runs that were imported from an exchanges file.
pub const EXCHANGES: &str = "exchanges";

/// The experiment name of runs of decisions that were accepted about the answers of another run.
pub const DECISIONS: &str = "decisions";

/// The setting that a run's name is recorded as.
pub const RUN_NAME: &str = "name";

impl RunStarted {
    /// The beginning of a run that shares nothing with others, written by this release.
    pub fn new(experiment: impl Into<String>, seed: u64, settings: Value, model: Value) -> Self {
        let (experiment, program) = (experiment.into(), crate::PROGRAM.to_owned());
        let (forked_from, merged_from) = (None, Vec::new());
        RunStarted { experiment, seed, settings, model, program, forked_from, merged_from }
    }

    /// Whether its outcome digest covers what was answered, see
    /// [`ExchangesHasher`](super::ExchangesHasher): no study executes what a program did or what was
    /// imported from exchanges. That of other runs covers decisions and facts in their order, see
    /// [`OutcomeHasher`](super::OutcomeHasher).
    pub fn covers_answers(&self) -> bool {
        [PROGRAM, EXCHANGES].contains(&&*self.experiment)
    }

    /// The seed of the random choices; `None` for runs in which nothing is drawn.
    pub fn drawn_from(&self) -> Option<u64> {
        self.is_of_experiment().then_some(self.seed)
    }

    /// Whether an experiment was executed, whose questions declare what their prompts were made from: in
    /// contrast to a program's run, an import of exchanges, or accepted decisions.
    pub fn is_of_experiment(&self) -> bool {
        ![PROGRAM, EXCHANGES, DECISIONS].contains(&&*self.experiment)
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
    /// What was added to the settings of the run, in their form; null if nothing was.
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
    /// What was asked.
    pub prompt: PromptHash,
    /// What the prompt was made from, as the experiment declared it.
    pub because: Because,
    /// What the call belongs to.
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

/// What is kept of a response besides its content. The fields are in the order of canonical JSON,
/// so that it can be written in one pass.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ResponseDetails {
    /// How many of the request's tokens were in the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// What the provider charged, in its own unit.
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
    /// For an imported answer: the right decision, if the file states it. No parser sees it.
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

/// What is kept of a failed attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptDetails {
    /// The n-th attempt, from 0.
    pub attempt: u32,
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
    /// For a program's own request: what it was sent instead of an answer, as `extra.http` of an
    /// answer has it.
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
    /// What was kept besides the answer in the run that recorded it, except the latency and
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

/// What made a decision. Kept as a content, since thousands of decisions share it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecidedBy {
    /// For an accepted decision that goes by the name of another: the name of the decision that it was compared with,
    /// in whose place it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<String>,
    /// The strategy that yielded the value.
    pub method: String,
    /// The parser: its name, version and settings.
    pub parser: Value,
}

/// The parser of decisions that a recorded program made itself and reported; its settings have their
/// name.
pub const REPORTED: &str = "program";

/// The parser of decisions that a program made about recorded answers, once it was run for them; its settings have its
/// command and the hashes of its files.
pub const FILTER: &str = "filter";

/// The parser of decisions that a function of the user's made about recorded answers; its settings have their name.
pub const FUNCTION: &str = "function";

/// The parser of decisions that a person made about recorded answers; its settings have their name.
pub const PERSON: &str = "person";

/// The parser of decisions that a model made about recorded answers; its settings have their name.
pub const JUDGE: &str = "judge";

impl DecidedBy {
    /// What was decided, where one answer may have several decisions: the name of the decision that it was accepted
    /// in place of, or the name that it was given, or else the parser's.
    pub fn decides(&self) -> &str {
        if let Some(name) = &self.in_place_of {
            return name;
        }
        let reported = &self.parser["params"]["name"];
        let name = if self.is_reported() { reported } else { &self.parser["name"] };
        name.as_str().unwrap_or("?")
    }

    /// Whether it replaces an earlier decision about the same choice of the same answer, once it is accepted: one with the
    /// same name, or if parsers made both.
    pub fn replaces(&self, earlier: &DecidedBy) -> bool {
        self.decides() == earlier.decides() || !self.is_reported() && !earlier.is_reported()
    }

    /// Who made it, for people: the parser with its version (of a filter also its program), or the program, the function, the person or the judge, with
    /// the name of what was decided.
    pub fn made_by(&self) -> String {
        let Self { parser, .. } = self;
        let own = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        let (name, settings) = (own(&parser["name"]), &parser["params"]);
        let (decides, version) = (own(&settings["name"]), parser["version"].as_u64());
        let versioned = |name: &str| match version {
            Some(version) => format!("{name}@{version}"),
            None => name.to_owned(),
        };
        match name.as_str() {
            FILTER if settings["command"].is_array() => filter_name(&versioned(&name), settings),
            _ if !self.is_reported() => versioned(&name),
            REPORTED if self.is_imported() => format!("imported: {decides}"),
            REPORTED => format!("reported by the program: {decides}"),
            FUNCTION => format!("a function: {}", versioned(&decides)),
            PERSON => format!("a person, {}: {decides}", own(&settings["person"])),
            _ if self.is_simulated() => format!("a simulated judge: {decides}"),
            _ => format!("a judge, {}: {decides}", own(&settings["model"])),
        }
    }

    /// Whether a simulated judge made it: it is made up, also where the answer is not.
    pub fn is_simulated(&self) -> bool {
        self.parser["name"] == JUDGE
            && self.is_reported()
            && self.parser["params"]["simulated"] == true
    }

    /// What decided in a file of another tool: its name there, and the format of the file.
    pub fn imported(name: &str, format: &str) -> Self {
        let params = serde_json::json!({"imported": format, "name": name});
        let parser = serde_json::json!({"name": REPORTED, "params": params, "version": 1});
        DecidedBy { in_place_of: None, method: "imported".to_owned(), parser }
    }

    /// Whether it was in a file of another tool: a program that is replayed does not report it.
    pub fn is_imported(&self) -> bool {
        self.is_reported() && self.parser["params"]["imported"].is_string()
    }

    /// Whether a program reported it, or a scorer gave it, under a name of its own: no parser made it, so nobody here
    /// can make it again.
    pub fn is_reported(&self) -> bool {
        let Self { parser, .. } = self;
        parser["name"].as_str().is_some_and(|name| is_reported_by(name, &parser["params"]))
    }
}

/// A filter with the program that decided: the first digits of a hash of its command and its files, and the command.
fn filter_name(filter: &str, settings: &Value) -> String {
    let program = serde_json::json!([settings["command"], settings["blake3"]]);
    let hash = canonical(&program).map(|program| hash_of(program.as_bytes())).unwrap_or_default();
    let hash: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let words = settings["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
    format!("{filter} {hash}: {}", words.collect::<Vec<_>>().join(" "))
}

/// Whether decisions that are recorded with this parser and these settings were reported by a program, or given by a
/// scorer. A parser file may have a parser called `judge`, whose settings have no name.
pub fn is_reported_by(parser: &str, settings: &Value) -> bool {
    let is_scorer = [FUNCTION, PERSON, JUDGE].contains(&parser) && settings["name"].is_string();
    is_scorer || parser == REPORTED
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
    /// What was repaired or looked odd.
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

/// A program stated a digest of its state, which is compared when it is run again. The marks of an experiment are in
/// [`FoldedState`](super::FoldedState) instead, because its state is folded from facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkRecorded {
    /// The digest of the state, however the program computes it.
    pub digest: StateDigest,
    /// What the program calls this place.
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

    #[test]
    fn who_made_a_decision_and_what_it_is_called() {
        let by = |parser: Value| DecidedBy { in_place_of: None, method: "m".to_owned(), parser };
        let scorer = |kind: &str, settings: Value| {
            by(serde_json::json!({"name": kind, "params": settings, "version": 4}))
        };
        let vote = serde_json::json!({"model": "gpt-4o", "name": "vote", "person": "ada"});
        for (kind, made_by) in [
            (REPORTED, "reported by the program: vote"),
            (FUNCTION, "a function: vote@4"),
            (PERSON, "a person, ada: vote"),
            (JUDGE, "a judge, gpt-4o: vote"),
        ] {
            let made = scorer(kind, vote.clone());
            assert_eq!((made.decides(), made.made_by().as_str()), ("vote", made_by));
            assert!(made.is_reported());
        }
        // A parser file may have a parser of this name.
        let written = scorer(JUDGE, serde_json::json!({"parser_file": {}}));
        assert_eq!((written.decides(), written.made_by().as_str()), ("judge", "judge@4"));
        let instead = DecidedBy { in_place_of: Some("vote".to_owned()), ..written.clone() };
        assert_eq!((instead.decides(), instead.made_by().as_str()), ("vote", "judge@4"));
        assert!(instead.replaces(&scorer(PERSON, vote)) && !written.is_reported());
    }
}
