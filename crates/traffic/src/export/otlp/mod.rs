//! A run as a trace of OpenTelemetry: JSON Lines as the file exporter of the collector writes them, a span per line.
//!
//! The run is the root span, and each exchange a client span below it, with the attempts that failed and the decisions about
//! its answer as events. Ids are made from hashes of the log, so that the same run is always the same file.

mod exchange_span;
mod request;
mod root;
mod span;

use std::collections::BTreeMap;

use retold::decided::DecidedAnswers;
use retold::event::{
    AnswerReused, AttemptFailed, Event, RequestSent, ResponseReceived, StoredEvent,
};
use retold::id::{PromptHash, RunId, Seq};
use retold::log::{LogError, Reader, RunEvents};

use super::{ExportError, FACT, request as stored_request};
use crate::notes::Notes;
use exchange_span::{AnsweredSpan, ExchangeSpan, decision_event};
use root::RootSpan;

/// Writes a run as a trace, and returns the number of its exchanges and notes on the parts that are left out.
///
/// # Errors
/// [`ExportError`], and any error of `line`.
pub fn export_otlp<E: From<ExportError> + From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    line: &mut dyn FnMut(&str) -> Result<(), E>,
) -> Result<(u64, Notes), E> {
    let decisions = DecidedAnswers::read(reader, run)?;
    let mut trace = Trace {
        run,
        root: None,
        decisions,
        open: BTreeMap::new(),
        notes: Notes::default(),
        written: 0,
    };
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(reader)? {
        if let Some(span) = trace.event(reader, stored)? {
            line(&span)?;
        }
    }
    for (seq, exchange) in std::mem::take(&mut trace.open) {
        if let Some(span) = trace.end_exchange(reader, seq, exchange, None)? {
            line(&span)?;
        }
    }
    if let Some(root) = &trace.root {
        line(&root.own_line())?;
    }
    Ok((trace.written, trace.notes))
}

/// A question that has no answer yet.
struct OpenSpan {
    span: ExchangeSpan,
    prompt: PromptHash,
}

/// A run on its way into a trace.
struct Trace {
    run: RunId,
    root: Option<RootSpan>,
    decisions: DecidedAnswers,
    open: BTreeMap<Seq, OpenSpan>,
    notes: Notes,
    written: u64,
}

impl Trace {
    /// The line of a span that an event completes.
    fn event(
        &mut self,
        reader: &mut dyn Reader,
        stored: StoredEvent,
    ) -> Result<Option<String>, LogError> {
        let (seq, time, hash) = (stored.seq, stored.time, stored.hash);
        if let Some(root) = &mut self.root {
            root.last(time, hash);
        }
        match stored.event().map_err(LogError::from)? {
            Event::RunStarted(started) => {
                self.root = Some(RootSpan::new(self.run, started, time, hash));
            }
            Event::RequestSent(RequestSent { call, sample, prompt, labels, because: _ }) => {
                let span = ExchangeSpan::new((seq, time, hash), call, sample, labels);
                self.open.insert(seq, OpenSpan { span, prompt });
            }
            Event::AttemptFailed(AttemptFailed { request, details }) => {
                let gave_up = details.gave_up;
                let Some(open) = self.open.get_mut(&request) else { return Ok(None) };
                open.span.add_failure(time, details);
                if gave_up && let Some(open) = self.open.remove(&request) {
                    return self.end_exchange(reader, request, open, None);
                }
            }
            Event::ResponseReceived(ResponseReceived { request, content, details }) => {
                let answer = AnsweredSpan { seq, time, hash, content, details, from: None };
                return self.record_answer(reader, request, answer);
            }
            Event::AnswerReused(AnswerReused {
                request,
                content,
                details,
                from_run,
                from_seq,
                ..
            }) => {
                let from = Some((from_run, from_seq));
                let answer = AnsweredSpan { seq, time, hash, content, details, from };
                return self.record_answer(reader, request, answer);
            }
            Event::Occurred(_) => self.notes.count(FACT, 1),
            Event::RunFinished(finished) => {
                if let Some(root) = &mut self.root {
                    root.set_outcome(&finished.outcome);
                }
            }
            _ => {}
        }
        Ok(None)
    }

    fn record_answer(
        &mut self,
        reader: &mut dyn Reader,
        question: Seq,
        answer: AnsweredSpan,
    ) -> Result<Option<String>, LogError> {
        let Some(open) = self.open.remove(&question) else { return Ok(None) };
        self.end_exchange(reader, question, open, Some(answer))
    }

    /// The line of an exchange that has come to its end.
    fn end_exchange(
        &mut self,
        reader: &mut dyn Reader,
        question: Seq,
        open: OpenSpan,
        answer: Option<AnsweredSpan>,
    ) -> Result<Option<String>, LogError> {
        let OpenSpan { span, prompt } = open;
        let request = stored_request(reader, self.run, question, prompt)?;
        let decisions = match &answer {
            Some(answer) => self.decisions.about(reader, answer.seq)?,
            None => Vec::new(),
        };
        let decisions =
            decisions.iter().map(|decision| decision_event(self.run, decision)).collect();
        // The first event of a run is its start.
        let Some(root) = &self.root else { return Ok(None) };
        let span = span.into_span(&request, answer, decisions, root, &mut self.notes);
        self.written += 1;
        Ok(Some(root.line(span)))
    }
}
