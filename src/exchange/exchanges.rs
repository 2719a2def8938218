//! Questions and answers alone: `{"call","sample","request","response","label"}`, one a line.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::error::ImportError;
use crate::event::{
    Event, NewEvent, OutcomeHasher, RequestSent, ResponseDetails, ResponseReceived, RunFinished,
    RunOutcome, RunStarted,
};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq, Time};
use crate::jsonl::JsonlReader;
use crate::log::{Append, Backend, Head, LogError, Reader};
use crate::lookup::LookupMap;
use crate::model::scripted::{Exchange, LoadProblem};
use crate::model::{ExchangeLine, ExchangeResponse, Response, Usage};
use crate::prompt::{CanonicalError, Request};

/// The experiment name of runs that were imported as bare exchanges.
pub const EXCHANGES: &str = "exchanges";

/// Writes the exchanges of a run, line by line. Gives their number.
///
/// # Errors
/// [`LogError`] if the log cannot be read, or whatever `line` raises.
pub fn export_exchanges<E: From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    line: &mut dyn FnMut(&str) -> Result<(), E>,
) -> Result<u64, E> {
    let mut questions: LookupMap<Seq, (CallPath, Sample, PromptHash)> = LookupMap::default();
    let (mut after, mut written) = (Seq(0), 0);
    loop {
        let events = reader.events(run, after, 1024)?;
        let Some(last) = events.last() else { return Ok(written) };
        after = last.seq;
        for stored in &events {
            let corrupt = |what| LogError::Corrupt { run, seq: stored.seq, what };
            let (request, response) = match stored.event().map_err(|e| corrupt(e.what))? {
                Event::RequestSent(sent) => {
                    questions.insert(stored.seq, (sent.call, sent.sample, sent.prompt));
                    continue;
                }
                Event::ResponseReceived(r) => (r.request, response(r.content, r.details)),
                Event::AnswerReused(r) => {
                    (r.request, response(r.content, ResponseDetails::default()))
                }
                _ => continue,
            };
            let Some((call, sample, prompt)) = questions.remove(&request) else { continue };
            let request = reader.request(prompt)?;
            let request =
                request.ok_or_else(|| corrupt(format!("its request {prompt} is missing")))?;
            let exchange = ExchangeLine {
                call: Some(call),
                sample: Some(sample),
                request: request.body().clone(),
                response: ExchangeResponse::from(&response),
                label: None,
            };
            let text = serde_json::to_string(&exchange);
            line(&text.map_err(|e| corrupt(e.to_string()))?)?;
            written += 1;
        }
    }
}

fn response(content: crate::content::Content, details: ResponseDetails) -> Response {
    let ResponseDetails { finish_reason, model, prompt_tokens, completion_tokens, extra, .. } =
        details;
    let counted = prompt_tokens.is_some() || completion_tokens.is_some();
    let usage = counted.then_some(Usage { prompt_tokens, completion_tokens });
    Response { content, finish_reason, usage, model, extra }
}

/// An exchanges file, read and checked: a finished run without decisions.
#[derive(Debug)]
pub struct Exchanges {
    events: Vec<NewEvent>,
    /// How many there are.
    pub count: u64,
}

impl Exchanges {
    /// Adds them to a log as a new run: all or nothing.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn store(self, backend: &dyn Backend, run: RunId) -> Result<(), LogError> {
        let _lease = backend.lease(run)?;
        let append = Append::new(run, Head::START, self.events);
        backend.committer()?.commit(&[append])?;
        Ok(())
    }
}

/// Reads an exchanges file, to be stored as a run that began at `time`.
///
/// A line without `call` gets the call `exchange`, a line without `sample` the next one of its call.
///
/// # Errors
/// [`ImportError`] with the first line that is wrong.
pub fn read_exchanges(path: &Path, time: Time) -> Result<Exchanges, ImportError> {
    let name = path.display().to_string();
    let started = RunStarted {
        experiment: EXCHANGES.to_owned(),
        seed: 0,
        settings: json!({}),
        model: json!({"kind": "scripted", "simulated": false, "source": name}),
        program: crate::PROGRAM.to_owned(),
    };
    let unwritable = |e: CanonicalError| {
        ImportError::Log(LogError::Failed { path: name.clone(), reason: e.to_string() })
    };
    let mut events = Vec::new();
    let add = |events: &mut Vec<NewEvent>, event: Event, request: Option<Request>| {
        events.push(NewEvent::from_event(&event, time, request).map_err(unwritable)?);
        Ok::<Seq, ImportError>(Seq(events.len() as u64))
    };
    add(&mut events, Event::RunStarted(started), None)?;
    let mut addresses = Addresses::default();
    let mut count = 0;
    for line in JsonlReader::open(path)? {
        let (number, text) = line?;
        let wrong = |problem| ImportError::Exchange { path: name.clone(), line: number, problem };
        let Exchange { call, sample, request, response } = Exchange::read(&text).map_err(wrong)?;
        let (call, sample) = addresses.next(call, sample, &request, number).map_err(wrong)?;
        let prompt = request.hash();
        let sent = Event::RequestSent(RequestSent { call, sample, prompt });
        let sent = add(&mut events, sent, Some(request))?;
        let usage = response.usage.unwrap_or_default();
        let details = ResponseDetails {
            finish_reason: response.finish_reason,
            latency_ms: 0,
            model: response.model,
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            extra: response.extra,
        };
        let received = ResponseReceived { request: sent, content: response.content, details };
        add(&mut events, Event::ResponseReceived(received), None)?;
        count += 1;
    }
    if count == 0 {
        return Err(ImportError::Nothing { path: name });
    }
    let outcome_digest = OutcomeHasher::default().digest();
    let finished = RunFinished { outcome: RunOutcome::Finished, outcome_digest };
    add(&mut events, Event::RunFinished(finished), None)?;
    Ok(Exchanges { events, count })
}

/// The addresses given so far: each has one answer.
#[derive(Default)]
struct Addresses(BTreeMap<CallPath, BTreeMap<Sample, usize>>);

impl Addresses {
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
            // The name cannot be refused: it is a constant that keeps the rules.
            None => CallPath::new("exchange").map_err(|_| LoadProblem::SampleWithoutCall)?,
        };
        let samples = self.0.entry(call.clone()).or_default();
        let next = samples.last_key_value().map_or(0, |(last, _)| last + 1);
        let sample = sample.unwrap_or(next);
        if let Some(first) = samples.insert(sample, line) {
            let prompt = request.hash().short(12);
            return Err(LoadProblem::Duplicate { call, sample, prompt, first });
        }
        Ok((call, sample))
    }
}
