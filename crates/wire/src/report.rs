//! `POST /_retold/facts`, `/_retold/decisions` and `/_retold/marks`: the facts that a program reports, its decisions about
//! answers, and its state. `POST /_retold/part` says which part of the program begins, whose name its calls begin with.

use std::sync::Arc;

use bytes::Bytes;
use hyper::Response;
use hyper::http::{Method, StatusCode};
use retold::decide::REPORTED;
use retold::escaping::printable;
use retold::event::{DecidedBy, DecisionDetails, Event, MarkRecorded};
use retold::id::{CallPath, IdError, RunId, Sample, Seq, StateDigest};
use retold::log::LogError;
use retold::model::providers::OTHER;
use retold::prompt::{canonical, hash_of};
use retold::run::{CompareError, OutcomeComparison, RecorderError, ReportedOutcome};
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

use crate::answer_registry::{GivenAnswer, NotOne};
use crate::key::AttemptPlace;
use crate::limits::LONGEST_REQUEST;
use crate::lock::lock;
use crate::outlet::Outgoing;
use crate::refusal::{end_of_run, with_json};
use crate::session::Session;
use crate::tool_calls::TOOLS;

/// Where facts are reported.
const FACTS: &str = "facts";
/// Where decisions are reported.
const DECISIONS: &str = "decisions";
/// Where marks are reported.
const MARKS: &str = "marks";
/// Where it is said which part of the program begins.
const PART: &str = "part";

/// The longest name, lane or method.
const LONGEST_NAME: usize = 200;

/// The most events that a fact may rest on.
const MOST_CAUSES: usize = 1000;

/// The longest decision or fact.
const LONGEST_REPORT: usize = 1 << 20;

/// The longest report: of a mark, the state is digested and not stored, and a tool may give much.
pub(crate) fn longest(place: &str) -> usize {
    if place == MARKS || place.starts_with(TOOLS) { LONGEST_REQUEST } else { LONGEST_REPORT }
}

/// A fact, as a program sends it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportedFact {
    name: String,
    value: Value,
    method: Option<String>,
    lane: Option<String>,
    response: Option<OneOrMany>,
    /// Whether it rests on the program's draws.
    #[serde(default)]
    chance: bool,
}

/// A decision, as a program sends it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportedDecision {
    name: String,
    value: Value,
    response: String,
    choice: Option<u32>,
    method: Option<String>,
    reasoning: Option<String>,
    #[serde(default)]
    warnings: Vec<String>,
}

/// A mark, as a program sends it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportedMark {
    name: String,
    state: Value,
}

/// The part of a program that begins; without a name, it is in none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportedPart {
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "the name of an answer, or a list of such names")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// The problem with a report.
#[derive(Debug, thiserror::Error)]
enum ReportError {
    #[error(
        "there is no /_retold/{0}: facts are sent with POST /_retold/facts, decisions with POST /_retold/decisions, \
         marks with POST /_retold/marks, and the part of the program that begins with POST /_retold/part"
    )]
    Place(String),
    #[error("{0} /_retold/{1}: use POST, with JSON")]
    Method(Method, String),
    #[error("a report to /_retold/{0} has at most {kB} kB", kB = longest(.0) >> 10)]
    TooLong(String),
    #[error("cannot read the body of POST /_retold/{place}: {reason}. {example}")]
    Body { place: String, reason: String, example: &'static str },
    #[error("{field}: {reason}")]
    Field { field: &'static str, reason: String },
    #[error(
        "response: {given:?} is not an answer of this run. It is the X-Retold-Response header of the answer, the \
         provider's id for it, or the name of its call, and the answer has to be read to its end first"
    )]
    Unknown { given: String },
    #[error(
        "response: {count} answers have the id {given:?}: use the X-Retold-Response header of the answer"
    )]
    Several { given: String, count: usize },
    #[error("response: {given:?} is of run {theirs}, and this is run {ours}")]
    OtherRun { given: String, theirs: RunId, ours: RunId },
    #[error("{0}")]
    Differs(String),
    #[error("retold cannot record: {0}")]
    Recorder(#[from] RecorderError),
    #[error("retold cannot read its log: {0}")]
    Log(#[from] LogError),
}

impl ReportError {
    fn status(&self) -> StatusCode {
        match self {
            ReportError::Place(_) | ReportError::Unknown { .. } => StatusCode::NOT_FOUND,
            ReportError::Method(..) => StatusCode::METHOD_NOT_ALLOWED,
            ReportError::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ReportError::Body { .. }
            | ReportError::Field { .. }
            | ReportError::Several { .. }
            | ReportError::OtherRun { .. } => StatusCode::BAD_REQUEST,
            ReportError::Differs(_) => StatusCode::CONFLICT,
            ReportError::Recorder(_) | ReportError::Log(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            ReportError::Place(_) | ReportError::Method(..) => "retold_unknown_path",
            ReportError::TooLong(_) => "retold_too_long",
            ReportError::Body { .. } | ReportError::Field { .. } => "retold_report",
            ReportError::Unknown { .. }
            | ReportError::Several { .. }
            | ReportError::OtherRun { .. } => "retold_unknown_response",
            ReportError::Differs(_) => "retold_differs",
            ReportError::Recorder(_) | ReportError::Log(_) => "retold_log",
        }
    }
}

impl From<CompareError> for ReportError {
    fn from(error: CompareError) -> Self {
        match error {
            CompareError::Log(error) => ReportError::Log(error),
            CompareError::Canonical(error) => {
                ReportError::Field { field: "value", reason: error.to_string() }
            }
        }
    }
}

/// Answers a report. `body` is `None` if it is too long.
pub(crate) async fn report(
    session: &Arc<Session>,
    place: &str,
    method: &Method,
    body: Option<Bytes>,
) -> Response<Outgoing> {
    let Some(_working) = session.work.begin() else { return end_of_run(&OTHER) };
    match record_report(session, place, method, body).await {
        Ok(reply) => with_json(StatusCode::OK, &reply),
        Err(error) => {
            tracing::warn!(%error, "a report was refused");
            let reply = json!({"error": {"code": error.code(), "message": error.to_string(),
                "type": error.code()}});
            with_json(error.status(), &reply)
        }
    }
}

async fn record_report(
    session: &Arc<Session>,
    place: &str,
    method: &Method,
    body: Option<Bytes>,
) -> Result<Value, ReportError> {
    if ![FACTS, DECISIONS, MARKS, PART].contains(&place) {
        return Err(ReportError::Place(printable(place, LONGEST_NAME)));
    }
    if *method != Method::POST {
        return Err(ReportError::Method(method.clone(), place.to_owned()));
    }
    let body = body.ok_or_else(|| ReportError::TooLong(place.to_owned()))?;
    if place == PART {
        return begin_part(session, read(place, &body, A_PART)?);
    }
    let mut outcome = match place {
        FACTS => fact(session, read(place, &body, FACT)?)?,
        MARKS => mark(session, read(place, &body, MARK)?)?,
        _ => decision(session, read(place, &body, DECISION)?)?,
    };
    redact(session, &mut outcome);
    // The first error of the recorder ended the recording.
    if let Some(error) = session.recorder.failure() {
        return Err(error.into());
    }
    session.counts.change(|summary| summary.outcomes += 1);
    let (seq, durable) = {
        // In this order: an outcome that is compared as new is recorded as the next one.
        let mut lanes = lock(&session.lanes);
        let mut reader = session.log.reader()?;
        match lanes.compare(reader.as_mut(), &outcome)? {
            OutcomeComparison::Same(seq) => (Some(seq), None),
            OutcomeComparison::New => {
                match session.recorder.write(|recorder| recorder.record_outcome(&outcome))? {
                    Some((seq, durable)) => (Some(seq), Some(durable)),
                    None => (None, None),
                }
            }
            OutcomeComparison::Different(divergence) => {
                let said = divergence.to_string();
                session.counts.change(|summary| {
                    summary.differences += 1;
                    summary.difference.get_or_insert_with(|| said.clone());
                });
                return Err(ReportError::Differs(format!("retold: {said}")));
            }
            // It is not compared, so it is no difference of its own.
            OutcomeComparison::After(seq) => {
                let at = seq.map_or_else(String::new, |seq| format!(" at seq {seq}"));
                let what = "retold: this lane has differed from the record before";
                return Err(ReportError::Differs(format!("{what}{at}")));
            }
        }
    };
    let is_recorded = durable.is_some();
    if let Some(durable) = durable {
        durable.wait().await.map_err(|error| {
            let error = RecorderError::from(error);
            session.recorder.fail(&error);
            error
        })?;
    }
    let id = seq.map(|seq| format!("{}/{seq}", session.run));
    Ok(json!({"id": id, "recorded": is_recorded}))
}

/// Lets the calls of all requests from now on begin with the name of a part. Nothing is recorded of it but these names.
fn begin_part(session: &Session, part: ReportedPart) -> Result<Value, ReportError> {
    let wrong = |error: IdError| ReportError::Field { field: "name", reason: error.to_string() };
    *lock(&session.part) = part.name.map(CallPath::new).transpose().map_err(wrong)?;
    Ok(json!({"id": null, "recorded": false}))
}

/// Takes out the parts that are not stored.
fn redact(session: &Session, outcome: &mut ReportedOutcome) {
    let redaction = &session.rules.redaction;
    match outcome {
        ReportedOutcome::Fact { fact, .. } => {
            redaction.value(fact);
        }
        ReportedOutcome::Decision { by, details, .. } => {
            let DecisionDetails { choice: _, reasoning, value, warnings } = details;
            let texts = reasoning.iter_mut().chain(warnings).chain([&mut by.method]);
            for text in texts {
                *text = redaction.text(text).into_owned();
            }
            redaction.value(value);
            if let Some(params) = by.parser.get_mut("params") {
                redaction.value(params);
            }
        }
        ReportedOutcome::Mark(mark) => mark.name = redaction.text(&mark.name).into_owned(),
    }
}

const FACT: &str = r#"For example: {"name": "score", "value": 3, "lane": "player 1"}"#;
const DECISION: &str =
    r#"For example: {"name": "vote", "value": "yes", "response": X-RETOLD-RESPONSE-OF-THE-ANSWER}"#;

const A_PART: &str = r#"For example: {"name": "test_capitals/France"}"#;

const MARK: &str = r#"For example: {"name": "round 3", "state": {"scores": [3, 1]}}"#;

fn read<'a, T: Deserialize<'a>>(
    place: &str,
    body: &'a [u8],
    example: &'static str,
) -> Result<T, ReportError> {
    serde_json::from_slice(body).map_err(|error| {
        let (place, reason) = (place.to_owned(), printable(&error.to_string(), 300));
        ReportError::Body { place, reason, example }
    })
}

fn fact(session: &Session, fact: ReportedFact) -> Result<ReportedOutcome, ReportError> {
    let ReportedFact { name, value, method, lane, response, chance } = fact;
    let mut fields = Map::new();
    fields.insert("name".to_owned(), check_name("name", name)?.into());
    fields.insert("value".to_owned(), exact(value)?);
    for (field, text) in [("method", method), ("lane", lane)] {
        if let Some(text) = text {
            fields.insert(field.to_owned(), check_name(field, text)?.into());
        }
    }
    let names = match response {
        None => Vec::new(),
        Some(OneOrMany::One(name)) => vec![name],
        Some(OneOrMany::Many(names)) => names,
    };
    if names.len() > MOST_CAUSES {
        let reason = format!("a fact rests on at most {MOST_CAUSES} answers");
        return Err(ReportError::Field { field: "response", reason });
    }
    let mut causes: Vec<Seq> =
        names.iter().map(|name| cause(session, name)).collect::<Result<_, _>>()?;
    if chance && !session.is_chance_recorded {
        let reason = "the draws of this run are not recorded: record it with --chance (in a block of Python: chance=True)";
        return Err(ReportError::Field { field: "chance", reason: reason.to_owned() });
    }
    // The seed of all draws is in the start of the run.
    causes.extend(chance.then_some(Seq(1)));
    causes.sort_unstable();
    causes.dedup();
    Ok(ReportedOutcome::Fact { causes, fact: Value::Object(fields) })
}

/// The state is digested without the parts that are redacted, so that nobody can test guesses with the digest.
fn mark(session: &Session, mark: ReportedMark) -> Result<ReportedOutcome, ReportError> {
    let ReportedMark { name, mut state } = mark;
    session.rules.redaction.value(&mut state);
    let wrong = |reason: String| ReportError::Field { field: "state", reason };
    if let Some(number) = inexact(&state) {
        return Err(wrong(format!(
            "{number} is beyond 2^53, where JSON numbers are no longer exact: send it as a text"
        )));
    }
    let text = canonical(&state).map_err(|error| wrong(error.to_string()))?;
    let digest = StateDigest(hash_of(text.as_bytes()));
    Ok(ReportedOutcome::Mark(MarkRecorded { digest, name: check_name("name", name)? }))
}

fn decision(session: &Session, decision: ReportedDecision) -> Result<ReportedOutcome, ReportError> {
    let ReportedDecision { name, value, response, choice, method, reasoning, warnings } = decision;
    let name = check_name("name", name)?;
    let method = method.map_or(Ok("reported".to_owned()), |method| check_name("method", method))?;
    let ReportedAnswer { seq, call, sample } = answer(session, &response)?;
    let parser = json!({"name": REPORTED, "params": {"name": name}, "version": 1});
    let by = DecidedBy { name: None, method, parser };
    let details = DecisionDetails { choice, reasoning, value: exact(value)?, warnings };
    Ok(ReportedOutcome::Decision { call, sample, response: seq, by, details })
}

fn check_name(field: &'static str, text: String) -> Result<String, ReportError> {
    let reason = match text.chars().count() {
        0 => "it is empty".to_owned(),
        n if n > LONGEST_NAME => format!("it has {n} characters, and at most {LONGEST_NAME}"),
        _ => return Ok(text),
    };
    Err(ReportError::Field { field, reason })
}

/// A value as it will be read again: a number that canonical JSON cannot represent is refused.
fn exact(value: Value) -> Result<Value, ReportError> {
    let wrong = |reason: String| ReportError::Field { field: "value", reason };
    if let Some(number) = inexact(&value) {
        let what = format!("{number} is beyond 2^53, where JSON numbers are no longer exact");
        return Err(wrong(format!("{what}: send it as a text")));
    }
    let text = canonical(&value).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
}

/// An integer that canonical JSON would round.
fn inexact(value: &Value) -> Option<&Number> {
    const EXACT: u64 = 1 << 53;
    match value {
        Value::Number(number) => {
            let size = number.as_u64().or(number.as_i64().map(i64::unsigned_abs));
            size.is_some_and(|size| size > EXACT).then_some(number)
        }
        Value::Array(items) => items.iter().find_map(inexact),
        Value::Object(fields) => fields.values().find_map(inexact),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// An answer that a decision rests on.
struct ReportedAnswer {
    seq: Seq,
    call: CallPath,
    sample: Sample,
}

/// The answer that a client names.
fn answer(session: &Session, name: &str) -> Result<ReportedAnswer, ReportError> {
    // Ids and names of calls are stored redacted.
    let name = &*session.rules.redaction.text(name);
    let unknown = || ReportError::Unknown { given: printable(name, LONGEST_NAME) };
    let found = |given: GivenAnswer| ReportedAnswer {
        seq: given.answer,
        call: given.call,
        sample: given.sample,
    };
    let Some(seq) = address(session, name)? else {
        // The name of a call as the program knows it: without that of the part.
        let within = lock(&session.part).as_ref().map(|part| format!("{part}/{name}"));
        let mut all = lock(&session.given);
        let within = within.and_then(|name| all.by_name(&name).ok().cloned());
        let given = within.map_or_else(|| all.by_name(name).cloned(), Ok);
        drop(all);
        return match given {
            Ok(given) => Ok(found(given)),
            Err(NotOne::Unknown) => Err(unknown()),
            Err(NotOne::Several(count)) => {
                Err(ReportError::Several { given: printable(name, LONGEST_NAME), count })
            }
        };
    };
    let given = lock(&session.given).at(seq).cloned();
    if let Some(given) = given {
        return Ok(found(given));
    }
    // The seq of an answer itself.
    let request = match session.library.event(at(session, seq))? {
        Some(Event::ResponseReceived(received)) => received.request,
        Some(Event::AnswerReused(reused)) => reused.request,
        _ => return Err(unknown()),
    };
    match session.library.event(at(session, request))? {
        Some(Event::RequestSent(sent)) => {
            Ok(ReportedAnswer { seq, call: sent.call, sample: sent.sample })
        }
        _ => Err(unknown()),
    }
}

/// The cause of a fact: an answer, or an earlier decision or fact by its id.
fn cause(session: &Session, name: &str) -> Result<Seq, ReportError> {
    if let Some(seq) = address(session, name)?
        && let Some(Event::DecisionMade(_) | Event::Occurred(_)) =
            session.library.event(at(session, seq))?
    {
        return Ok(seq);
    }
    answer(session, name).map(|found| found.seq)
}

fn at(session: &Session, seq: Seq) -> AttemptPlace {
    AttemptPlace { run: session.run, seq }
}

/// The seq in `RUN/SEQ`; `None` if it is not such an address.
fn address(session: &Session, name: &str) -> Result<Option<Seq>, ReportError> {
    let Some((run, seq)) = name.trim().split_once('/') else { return Ok(None) };
    let (Ok(theirs), Ok(seq)) = (run.parse::<RunId>(), seq.parse()) else { return Ok(None) };
    if theirs != session.run {
        let (given, ours) = (printable(name, LONGEST_NAME), session.run);
        return Err(ReportError::OtherRun { given, theirs, ours });
    }
    Ok(Some(Seq(seq)))
}
