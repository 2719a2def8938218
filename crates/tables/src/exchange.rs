//! Rows of exchanges and of failed attempts.

use std::collections::BTreeMap;
use std::sync::Arc;

use retold::content::Content;
use retold::decided::DecidedQuestion;
use retold::event::{AttemptDetails, ResponseDetails, SharedFailure};
use retold::id::{EventHash, RunId, Seq, Time};
use retold::model::HTTP;
use retold::prompt::Request;
use retold::run::Shortcomings;
use serde_json::{Map, Value};

use crate::asked::AskedOf;
use crate::column::Cell;
use crate::decision::place_cells;
use crate::labels::LabelColumns;

/// How many rows wait at most for one before them that has no answer yet. Then they go first.
const WAITING: usize = 4096;

/// Parts of an answer with the model's reasoning, in the order in which they are looked for.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// A question with what has come of it so far.
pub(crate) struct Exchange {
    pub(crate) time: Time,
    pub(crate) question: Arc<DecidedQuestion>,
    pub(crate) asked: Option<AskedOf>,
    /// The request, if its column is wanted.
    pub(crate) request: Option<Request>,
    attempts: u64,
    failed: Option<AttemptDetails>,
    answer: Option<Answered>,
    is_closed: bool,
}

/// The answer of a question.
pub(crate) struct Answered {
    pub(crate) seq: Seq,
    pub(crate) hash: EventHash,
    pub(crate) content: Content,
    pub(crate) details: ResponseDetails,
    pub(crate) reused_from: Option<(RunId, Seq)>,
    pub(crate) lacks: Shortcomings,
}

impl Exchange {
    pub(crate) fn new(time: Time, question: Arc<DecidedQuestion>) -> Self {
        Exchange {
            time,
            question,
            asked: None,
            request: None,
            attempts: 0,
            failed: None,
            answer: None,
            is_closed: false,
        }
    }

    /// Its row.
    pub(crate) fn cells<'a>(
        &'a self,
        run: &'a str,
        study_model: Option<&'a str>,
        labels: &'a LabelColumns,
        prompts: bool,
    ) -> Vec<Cell<'a>> {
        let Exchange { time, question, asked, request, attempts, failed, answer, is_closed: _ } =
            self;
        let asked = asked.as_ref();
        let details = answer.as_ref().map(|answer| &answer.details);
        let part = |name: &str| details.and_then(|details| details.extra.get(name));
        let failure = failed.as_ref();
        let provider = asked.and_then(|asked| {
            let named = asked.provider.as_deref().or(study_model);
            named.or_else(|| asked.plain_upstream())
        });
        let reused = answer.as_ref().and_then(|answer| answer.reused_from);
        let status = match (answer, failure) {
            (Some(_), _) => "answered",
            (None, Some(_)) => "failed",
            (None, None) => "unanswered",
        };
        let lacks = |count: fn(&Shortcomings) -> u64| {
            answer.as_ref().map_or(Cell::Missing, |answer| Cell::Truth(count(&answer.lacks) > 0))
        };
        let mut cells = vec![question.call.as_str().into()];
        cells.extend(labels.cells(question));
        cells.extend([
            Cell::maybe(answer.as_ref().map(|answer| answer.content.text())),
            status.into(),
            Cell::count(u64::from(question.sample)),
            question.prompt.to_string().into(),
            Cell::maybe(provider),
            Cell::maybe(asked.map(|asked| &*asked.operation)),
            Cell::maybe(asked.and_then(|asked| asked.model.as_deref())),
            Cell::maybe(details.and_then(|details| details.model.as_deref())),
            Cell::maybe(asked.map(|asked| &*asked.parameters)),
            // One that nothing came of was asked as well.
            Cell::count(attempts + u64::from(answer.is_none() && failure.is_none())),
            http_status(part(HTTP), failure.filter(|_| answer.is_none())),
            Cell::maybe(failure.map(|failure| &*failure.error)),
            Cell::count(details.map(|details| details.latency_ms).filter(|ms| *ms > 0)),
            Cell::count(part(HTTP).and_then(|http| http["chunks"][0][1].as_u64())),
            Cell::maybe(details.and_then(|details| details.finish_reason.as_deref())),
            lacks(|lacks| lacks.blank),
            lacks(|lacks| lacks.refused),
            lacks(|lacks| lacks.cut_off),
            Cell::count(details.and_then(|details| details.prompt_tokens)),
            Cell::count(details.and_then(|details| details.completion_tokens)),
            Cell::count(details.and_then(|details| details.cached_tokens)),
            Cell::count(details.and_then(|details| details.reasoning_tokens)),
            details.and_then(|details| details.cost).map_or(Cell::Missing, Cell::Real),
            Cell::maybe(details.and_then(|details| details.id.as_deref())),
            reused.map_or(Cell::Missing, |(run, seq)| format!("{run}/{seq}").into()),
            details.map_or(Cell::Missing, |details| reasoning(&details.extra)),
            part("tool_calls").map_or(Cell::Missing, Cell::json),
            part("other_choices").map_or(Cell::Missing, Cell::json),
            Cell::count(answer.as_ref().map(|answer| answer.seq.0)),
            answer.as_ref().map_or(Cell::Missing, |answer| answer.hash.to_string().into()),
            Cell::count(asked.map(|asked| asked.listing.earlier as u64)),
            asked.map_or(Cell::Missing, |asked| list(&asked.listing.new)),
            Cell::maybe(asked.and_then(|asked| asked.listing.last.as_deref())),
        ]);
        if prompts {
            let request = request.as_ref();
            let last = request.and_then(|request| request.messages().pop());
            cells.push(last.map_or(Cell::Missing, |(_, text)| text.into()));
            cells.push(request.map_or(Cell::Missing, |request| Cell::json(request.body())));
        }
        cells.extend(place_cells(run, (question.seq, *time)));
        cells
    }
}

/// A list of hashes as JSON, without its quotes to be escaped.
fn list(hashes: &[String]) -> Cell<'static> {
    Value::from(hashes).to_string().into()
}

/// The status that is not the usual one.
fn http_status<'a>(http: Option<&Value>, failure: Option<&AttemptDetails>) -> Cell<'a> {
    let answered = http.and_then(|http| http["status"].as_u64()).filter(|status| *status != 200);
    let failed = || failure.and_then(|failure| failure.status).map(u64::from);
    Cell::count(if http.is_some() { answered } else { failed() })
}

/// The reasoning of an answer, where it is apart from the text.
fn reasoning(extra: &Map<String, Value>) -> Cell<'_> {
    let found = REASONING.iter().find_map(|part| extra.get(*part));
    match found {
        Some(Value::String(text)) => (&**text).into(),
        Some(parts) => Cell::json(parts),
        None => Cell::Missing,
    }
}

/// The exchanges whose rows are not written yet, in the order in which they were asked.
#[derive(Default)]
pub(crate) struct OpenExchanges(BTreeMap<Seq, Exchange>);

impl OpenExchanges {
    pub(crate) fn add(&mut self, exchange: Exchange) {
        self.0.insert(exchange.question.seq, exchange);
    }

    pub(crate) fn add_answer(&mut self, question: Seq, answered: Answered) {
        let Some(exchange) = self.0.get_mut(&question) else { return };
        if answered.reused_from.is_none() {
            exchange.attempts += 1;
        }
        (exchange.answer, exchange.is_closed) = (Some(answered), true);
    }

    pub(crate) fn add_failure(&mut self, question: Seq, details: AttemptDetails) {
        let Some(exchange) = self.0.get_mut(&question) else { return };
        // An attempt that a fork took over was made in the other run.
        exchange.attempts += u64::from(details.from.is_none());
        exchange.is_closed |= details.gave_up;
        exchange.failed = Some(details);
    }

    /// The next row that can be written.
    pub(crate) fn next(&mut self, is_end: bool) -> Option<Exchange> {
        let first = self.0.first_key_value().map(|(_, exchange)| is_end || exchange.is_closed)?;
        if first {
            return self.0.pop_first().map(|(_, exchange)| exchange);
        }
        if self.0.len() <= WAITING {
            return None;
        }
        let closed = self.0.iter().find(|(_, exchange)| exchange.is_closed).map(|(seq, _)| *seq)?;
        self.0.remove(&closed)
    }
}

/// The row of a failed attempt.
pub(crate) fn attempt_cells<'a>(
    run: &'a str,
    at: (Seq, Time),
    question: &'a DecidedQuestion,
    labels: &'a LabelColumns,
    details: &'a AttemptDetails,
) -> Vec<Cell<'a>> {
    let mut cells = vec![question.call.as_str().into()];
    cells.extend(labels.cells(question));
    let AttemptDetails {
        attempt,
        error,
        gave_up,
        failure,
        from,
        http: _,
        retry_after_ms,
        status,
        batch: _,
    } = details;
    cells.extend([
        Cell::count(u64::from(question.sample)),
        Cell::count(question.seq.0),
        Cell::count(u64::from(*attempt)),
        (&**failure).into(),
        Cell::count(status.map(u64::from)),
        (&**error).into(),
        Cell::count(*retry_after_ms),
        Cell::Truth(*gave_up),
        from.map_or(Cell::Missing, |SharedFailure { run, seq }| format!("{run}/{seq}").into()),
    ]);
    cells.extend(place_cells(run, at));
    cells
}
