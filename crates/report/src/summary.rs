//! What a report says about any run: calls, tokens, latency, and how decisions were found.

use std::collections::BTreeMap;

use retold::event::{Event, RunStarted};
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader};
use retold::parse::{ParserSpec, Parsers};

/// The numbers of some calls of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallNumbers {
    /// Questions.
    pub asked: u64,
    /// Answers; those that are shared with another run are among them.
    pub answered: u64,
    /// Calls that ran out of retries.
    pub failed: u64,
    /// Tokens of the requests, as far as they were counted.
    pub prompt_tokens: u64,
    /// Tokens of the answers, as far as they were counted.
    pub completion_tokens: u64,
    /// The time that each answer took, in milliseconds, sorted.
    pub latencies: Vec<u64>,
}

impl CallNumbers {
    /// The latency that this share of the answers did not exceed, in milliseconds.
    pub fn latency(&self, share: f64) -> Option<u64> {
        let last = self.latencies.len().checked_sub(1)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let at = (share * last as f64).round() as usize;
        self.latencies.get(at.min(last)).copied()
    }
}

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
    /// The models that were reported, or asked for, with the number of answers.
    pub models: BTreeMap<String, u64>,
    /// Decisions by kind of call and method.
    pub methods: BTreeMap<String, BTreeMap<String, MethodCount>>,
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
        };
        let mut kinds: BTreeMap<Seq, String> = BTreeMap::new();
        let mut last_resorts: BTreeMap<String, Option<&'static str>> = BTreeMap::new();
        let mut after = Seq(0);
        loop {
            let events = reader.events(run, after, 1024)?;
            let Some(last) = events.last() else { break };
            after = last.seq;
            for stored in &events {
                summary.events += 1;
                let seq = stored.seq;
                let event = stored.event();
                let event = event.map_err(|e| LogError::Corrupt { run, seq, what: e.what })?;
                summary.add(seq, event, &mut kinds, &mut last_resorts, parsers);
            }
        }
        summary.calls.values_mut().for_each(|calls| calls.latencies.sort_unstable());
        Ok(summary)
    }

    fn add(
        &mut self,
        seq: Seq,
        event: Event,
        kinds: &mut BTreeMap<Seq, String>,
        last_resorts: &mut BTreeMap<String, Option<&'static str>>,
        parsers: &Parsers,
    ) {
        match event {
            Event::RequestSent(sent) => {
                let kind = sent.call.kind();
                self.calls.entry(kind.clone()).or_default().asked += 1;
                kinds.insert(seq, kind);
            }
            Event::ResponseReceived(received) => {
                let Some(kind) = kinds.remove(&received.request) else { return };
                let details = received.details;
                let calls = self.calls.entry(kind.clone()).or_default();
                calls.answered += 1;
                calls.prompt_tokens += details.prompt_tokens.unwrap_or(0);
                calls.completion_tokens += details.completion_tokens.unwrap_or(0);
                calls.latencies.push(details.latency_ms);
                if let Some(model) = details.model {
                    *self.models.entry(model).or_default() += 1;
                }
                kinds.insert(seq, kind);
            }
            Event::AnswerReused(reused) => {
                let Some(kind) = kinds.remove(&reused.request) else { return };
                self.calls.entry(kind.clone()).or_default().answered += 1;
                kinds.insert(seq, kind);
            }
            Event::AttemptFailed(failed) if failed.details.gave_up => {
                let Some(kind) = kinds.get(&failed.request) else { return };
                self.calls.entry(kind.clone()).or_default().failed += 1;
            }
            Event::DecisionMade(made) => {
                let Some(kind) = kinds.get(&made.response) else { return };
                let last = last_resort(&made.by.parser, last_resorts, parsers);
                let method = made.by.method;
                let is_last_resort = last == Some(method.as_str());
                let methods = self.methods.entry(kind.clone()).or_default();
                let count = methods.entry(method).or_default();
                count.decisions += 1;
                count.is_last_resort |= is_last_resort;
            }
            Event::RunFinished(finished) => {
                self.outcome = Some(finished.outcome.as_str().to_owned());
            }
            _ => {}
        }
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
