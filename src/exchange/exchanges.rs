//! Requests and answers alone: `{"call","sample","request","response","label"}`, one per line; for
//! a call that ran out of retries, `error` instead of `response`. Made-up answers have
//! `"simulated":true`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::collected_run::{CollectedRun, Collector};
use super::error::ImportError;
use super::export::{follows, whole};
use super::line_label::{label_of, labels_of};
use super::requests::RequestCache;
use crate::event::chain::ChainLink;
use crate::event::{AttemptDetails, Event, Labels, PROGRAM, RequestSent, RunStarted};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq, Time};
use crate::jsonl::JsonlReader;
use crate::log::{Backend, EventFault, Head, LogError, Reader, RunEvents, SharedBackend};
use crate::lookup::LookupMap;
use crate::members::Members;
use crate::model::scripted::{LoadProblem, ScriptedExchange};
use crate::model::{ExchangeError, ExchangeLine, ExchangeResponse, FailureKind, Response};
use crate::prompt::Request;
use crate::run::response;

/// The experiment name of runs that were imported as bare exchanges.
pub use crate::event::EXCHANGES;

/// A question whose answer may follow.
struct OpenQuestion {
    call: CallPath,
    sample: Sample,
    prompt: PromptHash,
    labels: Labels,
}

/// The numbers of events of a run that were written, and of those that are not in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportedExchanges {
    /// The exchanges that were written.
    pub written: u64,
    /// Failed attempts at calls that have an answer or another error in the file, or that are asked again on
    /// resume.
    pub failed_attempts: u64,
    /// Decisions, which are not in the file.
    pub decisions: u64,
    /// Facts, which are not in the file.
    pub facts: u64,
}

/// Writes the exchanges of a run, line by line. Returns their number, and how much of the run is not among
/// them.
///
/// # Errors
/// [`LogError`] if the log cannot be read, and any error of `line`. [`LogError::Corrupt`] at an
/// event that does not follow from the preceding one: the answers would not be the recorded ones.
pub fn export_exchanges<E: From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    line: &mut dyn FnMut(&str) -> Result<(), E>,
) -> Result<ExportedExchanges, E> {
    whole(reader, run)?;
    let mut questions: LookupMap<Seq, OpenQuestion> = LookupMap::default();
    let mut lines = ExchangeLines { requests: RequestCache::default(), run, simulated: false };
    let mut exported = ExportedExchanges::default();
    let (mut after, mut is_program) = (Head::START, false);
    // The last failure that a program was sent instead of an answer.
    let mut failures: BTreeMap<Seq, ExchangeError> = BTreeMap::new();
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(reader)? {
        let stored = &stored;
        after = follows(stored, after, &ChainLink::of_stored(stored).canonical())?;
        let (request, label, outcome) = match stored.event().map_err(LogError::from)? {
            Event::RunStarted(started) => {
                lines.simulated = started.is_simulated();
                is_program = started.experiment == PROGRAM;
                continue;
            }
            Event::RequestSent(sent) => {
                let RequestSent { call, sample, prompt, labels, because: _ } = sent;
                questions.insert(stored.seq, OpenQuestion { call, sample, prompt, labels });
                continue;
            }
            Event::ResponseReceived(mut r) => {
                (r.request, r.details.label.take(), Ok(response(r.content, r.details)))
            }
            Event::AnswerReused(r) => (r.request, None, Ok(response(r.content, r.details))),
            Event::AttemptFailed(failed) if is_program => {
                let before = failures.insert(failed.request, error(failed.details));
                exported.failed_attempts += u64::from(before.is_some());
                continue;
            }
            // A failure that stops the run is not an outcome of the call: the call is asked
            // again on resume.
            Event::AttemptFailed(failed) => {
                let gave_up = failed.details.gave_up;
                let error = error(failed.details);
                if !gave_up || error.failure.stops_the_run() {
                    exported.failed_attempts += 1;
                    continue;
                }
                (failed.request, None, Err(error))
            }
            Event::DecisionMade(_) => {
                exported.decisions += 1;
                continue;
            }
            Event::Occurred(_) => {
                exported.facts += 1;
                continue;
            }
            _ => continue,
        };
        exported.failed_attempts += u64::from(failures.remove(&request).is_some());
        let Some(question) = questions.remove(&request) else { continue };
        line(&lines.line(reader, stored.seq, question, outcome, label)?)?;
        exported.written += 1;
    }
    for (seq, error) in failures {
        let Some(question) = questions.remove(&seq) else {
            exported.failed_attempts += 1;
            continue;
        };
        line(&lines.line(reader, seq, question, Err(error), None)?)?;
        exported.written += 1;
    }
    Ok(exported)
}

/// The lines of one run's exchanges.
struct ExchangeLines {
    requests: RequestCache,
    run: RunId,
    /// Whether the run's answers are made up.
    simulated: bool,
}

impl ExchangeLines {
    /// The line of a question, with the outcome of its call, which the event at `seq` records.
    fn line(
        &mut self,
        reader: &mut dyn Reader,
        seq: Seq,
        question: OpenQuestion,
        outcome: Result<Response, ExchangeError>,
        label: Option<Value>,
    ) -> Result<String, LogError> {
        let OpenQuestion { call, sample, prompt, labels } = question;
        let request = self.requests.request(reader, prompt)?;
        let no_request = || LogError::corrupt(self.run, seq, EventFault::NoRequest { prompt });
        let exchange = ExchangeLine {
            call: Some(call),
            sample: Some(sample),
            request: request.ok_or_else(no_request)?.body().clone(),
            response: outcome.as_ref().ok().map(ExchangeResponse::from),
            error: outcome.err(),
            label: label_of(label, labels),
            simulated: self.simulated,
        };
        serde_json::to_string(&exchange)
            .map_err(|error| LogError::corrupt(self.run, seq, EventFault::defect(error)))
    }
}

/// How a call failed.
fn error(details: AttemptDetails) -> ExchangeError {
    let kind = serde_json::from_value(details.failure.into());
    // A kind from a later release: any kind will do for a call that has run out of retries.
    let failure: FailureKind = kind.unwrap_or(FailureKind::Rejected);
    let AttemptDetails { status, error: message, .. } = details;
    ExchangeError { failure, status, message }
}

fn attempt(error: ExchangeError) -> AttemptDetails {
    let ExchangeError { failure, status, message } = error;
    let kind = failure.as_str().to_owned();
    AttemptDetails {
        attempt: 0,
        batch: None,
        error: message,
        gave_up: true,
        failure: kind,
        from: None,
        http: None,
        retry_after_ms: None,
        status,
    }
}

/// An exchanges file, read and checked: a finished run without decisions.
pub struct Exchanges {
    run: CollectedRun,
    /// The number of exchanges.
    pub count: u64,
    /// Whether any of them is made up, in which case the run is marked.
    pub simulated: bool,
}

impl Exchanges {
    /// The log with the run, and the run's id in it. The log is deleted when it is dropped.
    pub fn into_log(self) -> (SharedBackend, RunId) {
        self.run.into_log()
    }

    /// Adds them to a log as a new run: all or nothing.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn store(self, backend: &dyn Backend, run: RunId) -> Result<(), LogError> {
        self.run.store(backend, run)
    }
}

/// Reads an exchanges file, to be stored as a run that began at `time`.
///
/// A line without `call` gets the call `exchange`; a line without `sample` gets the next sample of
/// its call. The fields of its label are labels of the call.
///
/// # Errors
/// [`ImportError`] for the first invalid line.
pub fn read_exchanges(lines: JsonlReader, time: Time) -> Result<Exchanges, ImportError> {
    let name = lines.path().display().to_string();
    let mut started = RunStarted::new(
        EXCHANGES,
        0,
        json!({}),
        json!({"kind": "scripted", "simulated": false, "source": name}),
    );
    let mut run = Collector::begin(name.clone(), started.clone(), time)?;
    let mut addresses = UsedAddresses::default();
    let (mut count, mut any_simulated) = (0, false);
    for line in lines {
        let (number, text) = line?;
        let wrong = |problem| ImportError::Exchange { path: name.clone(), line: number, problem };
        let ScriptedExchange { call, sample, request, outcome, label, simulated } =
            ScriptedExchange::read(&text).map_err(wrong)?;
        any_simulated |= simulated;
        let (call, sample) = addresses.next(call, sample, &request, number).map_err(wrong)?;
        let sent = run.add_question(call, sample, request, labels_of(label.as_ref()))?;
        count += 1;
        match outcome {
            Ok(response) => drop(run.add_answer(sent, response, Duration::ZERO, label)?),
            Err(error) => drop(run.add_failure(sent, attempt(error))?),
        }
    }
    if count == 0 {
        return Err(ImportError::Nothing { path: name });
    }
    started.model.set("simulated", any_simulated.into());
    let run = run.finish(started, true)?;
    Ok(Exchanges { run, count, simulated: any_simulated })
}

/// The addresses used so far: each has one answer.
#[derive(Default)]
struct UsedAddresses {
    /// The next sample of each call.
    next: LookupMap<CallPath, Sample>,
    /// The line that used each, by a hash of call and sample.
    lines: LookupMap<[u8; 16], u32>,
}

impl UsedAddresses {
    fn next(
        &mut self,
        call: Option<CallPath>,
        sample: Option<Sample>,
        request: &Request,
        line: usize,
    ) -> Result<(CallPath, Sample), LoadProblem> {
        let call = match call {
            Some(call) => call,
            None if sample.is_some() => return Err(LoadProblem::SampleWithoutCall),
            // The name is a valid constant, so it is never refused.
            None => CallPath::new("exchange").map_err(|_| LoadProblem::SampleWithoutCall)?,
        };
        let next = self.next.get(&call).copied().unwrap_or(0);
        let sample = sample.unwrap_or(next);
        let mut hasher = blake3::Hasher::new();
        hasher.update(call.as_str().as_bytes()).update(&sample.to_le_bytes());
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        if let Some(first) = self.lines.insert(key, u32::try_from(line).unwrap_or(u32::MAX)) {
            let (prompt, first) = (request.hash().short(12), first as usize);
            return Err(LoadProblem::Duplicate { call, sample, prompt, first });
        }
        self.next.insert(call.clone(), next.max(sample.saturating_add(1)));
        Ok((call, sample))
    }
}
