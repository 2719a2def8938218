//! What a report says about any run: calls, tokens, latency, and how decisions were found.

use std::collections::{BTreeMap, BTreeSet};

use retold::event::{Event, ResponseDetails, RunStarted};
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader, RunEvents};
use retold::parse::{ParserSpec, Parsers};
use retold::rank::nearest_rank;

/// The numbers of some calls of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallNumbers {
    /// Questions.
    pub asked: u64,
    /// Answers; those that are shared with another run are among them.
    pub answered: u64,
    /// Calls that ran out of retries, and those of a program that was sent nothing but failures.
    pub failed: u64,
    /// Tokens of the requests, as far as they were counted.
    pub prompt_tokens: u64,
    /// Tokens of the answers, as far as they were counted.
    pub completion_tokens: u64,
    /// How many answers took how many milliseconds; answers without a recorded time are left out.
    pub latencies: BTreeMap<u64, u64>,
}

impl CallNumbers {
    /// A percentile of the latencies by nearest rank, in milliseconds; `None` if no time was
    /// recorded.
    pub fn latency(&self, percent: u32) -> Option<u64> {
        nearest_rank(&self.latencies, percent)
    }
}

/// Decisions by method.
pub type Methods = BTreeMap<String, MethodCount>;

/// How many decisions one method made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodCount {
    /// Decisions.
    pub decisions: u64,
    /// Whether it is the parser's last resort: nothing was found in the answer.
    pub is_last_resort: bool,
}

/// A run, summed up.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The run.
    pub run: RunId,
    /// How it began.
    pub started: RunStarted,
    /// The word for how it ended; `None` if it is unfinished.
    pub outcome: Option<String>,
    /// Its events.
    pub events: u64,
    /// Calls by kind.
    pub calls: BTreeMap<String, CallNumbers>,
    /// Answers by the model that was reported. Calls without an answer are not among them.
    pub models: BTreeMap<String, CallNumbers>,
    /// Decisions by kind of call.
    pub methods: BTreeMap<String, Methods>,
    /// Decisions by the model that was reported.
    pub methods_by_model: BTreeMap<String, Methods>,
}

/// An answer that is being counted.
struct Answered {
    kind: String,
    model: Option<String>,
}

/// What is known while a run is read.
struct Reading<'p> {
    parsers: &'p Parsers,
    /// The kind of each question that has no answer yet.
    questions: BTreeMap<Seq, String>,
    /// Those of them for which a program was sent a failure: it may have asked again.
    failures: BTreeSet<Seq>,
    /// Answers by seq.
    answers: BTreeMap<Seq, Answered>,
    last_resorts: BTreeMap<String, Option<&'static str>>,
}

impl Summary {
    /// Reads a run once.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read or is damaged.
    pub fn read(reader: &mut dyn Reader, run: RunId, parsers: &Parsers) -> Result<Self, LogError> {
        let mut summary = Summary {
            run,
            started: retold::run::started(reader, run)?,
            outcome: None,
            events: 0,
            calls: BTreeMap::new(),
            models: BTreeMap::new(),
            methods: BTreeMap::new(),
            methods_by_model: BTreeMap::new(),
        };
        let mut reading = Reading {
            parsers,
            questions: BTreeMap::new(),
            failures: BTreeSet::new(),
            answers: BTreeMap::new(),
            last_resorts: BTreeMap::new(),
        };
        let mut events = RunEvents::of(run);
        while let Some(stored) = events.next(reader)? {
            summary.events += 1;
            summary.add(stored.seq, stored.event()?, &mut reading);
        }
        for kind in reading.failures.iter().filter_map(|question| reading.questions.get(question)) {
            summary.calls.entry(kind.clone()).or_default().failed += 1;
        }
        Ok(summary)
    }

    fn add(&mut self, seq: Seq, event: Event, reading: &mut Reading<'_>) {
        match event {
            Event::RequestSent(sent) => {
                let kind = sent.call.kind();
                self.calls.entry(kind.clone()).or_default().asked += 1;
                reading.questions.insert(seq, kind);
            }
            Event::ResponseReceived(received) => {
                self.answered(seq, received.request, &received.details, reading);
            }
            Event::AnswerReused(reused) => {
                // Its tokens and its time are those of the run that asked.
                let details = ResponseDetails { model: reused.details.model, ..Default::default() };
                self.answered(seq, reused.request, &details, reading);
            }
            Event::AttemptFailed(failed) if failed.details.gave_up => {
                let Some(kind) = reading.questions.remove(&failed.request) else { return };
                self.calls.entry(kind).or_default().failed += 1;
            }
            Event::AttemptFailed(failed) if failed.details.http.is_some() => {
                reading.failures.insert(failed.request);
            }
            Event::DecisionMade(made) => {
                let last = last_resort(&made.by.parser, &mut reading.last_resorts, reading.parsers);
                let Some(Answered { kind, model }) = reading.answers.get(&made.response) else {
                    return;
                };
                let is_last_resort = last == Some(made.by.method.as_str());
                let count = |methods: &mut BTreeMap<String, Methods>, of: &str| {
                    let methods = methods.entry(of.to_owned()).or_default();
                    let count = methods.entry(made.by.method.clone()).or_default();
                    count.decisions += 1;
                    count.is_last_resort |= is_last_resort;
                };
                count(&mut self.methods, kind);
                if let Some(model) = model {
                    count(&mut self.methods_by_model, model);
                }
            }
            Event::RunFinished(finished) => {
                self.outcome = Some(finished.outcome.as_str().to_owned());
            }
            _ => {}
        }
    }

    fn answered(
        &mut self,
        seq: Seq,
        request: Seq,
        details: &ResponseDetails,
        reading: &mut Reading<'_>,
    ) {
        let Some(kind) = reading.questions.remove(&request) else { return };
        let model = details.model.clone();
        let of_model = model.as_ref().map(|model| self.models.entry(model.clone()).or_default());
        for numbers in std::iter::once(self.calls.entry(kind.clone()).or_default()).chain(of_model)
        {
            numbers.answered += 1;
            numbers.prompt_tokens += details.prompt_tokens.unwrap_or(0);
            numbers.completion_tokens += details.completion_tokens.unwrap_or(0);
            // Imported answers have no time.
            if details.latency_ms > 0 {
                *numbers.latencies.entry(details.latency_ms).or_default() += 1;
            }
        }
        reading.answers.insert(seq, Answered { kind, model });
    }

    /// Decisions, and how many of them a strategy found.
    pub fn found(&self) -> (u64, u64) {
        let counts = self.methods.values().flat_map(BTreeMap::values);
        let all = counts.clone().map(|count| count.decisions).sum();
        let found = counts.filter(|count| !count.is_last_resort).map(|count| count.decisions);
        (all, found.sum())
    }
}

/// The last resort of a recorded parser, if this program has it.
fn last_resort(
    parser: &serde_json::Value,
    known: &mut BTreeMap<String, Option<&'static str>>,
    parsers: &Parsers,
) -> Option<&'static str> {
    let (name, version) = (parser["name"].as_str()?, parser["version"].as_u64()?);
    let key = format!("{name}@{version}");
    if let Some(known) = known.get(&key) {
        return *known;
    }
    let spec: Option<ParserSpec> = serde_json::from_value(parser.clone()).ok();
    let made = spec.and_then(|spec| parsers.get(name)?.parser(&spec).ok());
    let last = made.and_then(|parser| parser.last_resort());
    known.insert(key, last);
    last
}
