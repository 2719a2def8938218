//! A run as rows: its exchanges, decisions and facts. A run ends before the first event that cannot be trusted: reading
//! on is an error that names it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use retold::event::{
    AttemptDetails, DecidedBy, DecisionMade, Event, FactOccurred, RequestSent, ResponseDetails,
    ResponseReceived,
};
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader, RunEvents, SqliteOptions};
use retold::model::providers::conversation;
use retold_archive::{Archive, RunView, VerifyDepth, find};
use serde_json::{Map, Value, json};

use crate::{convert, value_error};

type Rows<'py> = PyResult<Vec<Bound<'py, PyDict>>>;

/// The runs of a log: id, experiment, name, events.
#[pyfunction]
pub(crate) fn runs(py: Python<'_>, log: PathBuf) -> Rows<'_> {
    let rows = py.detach(|| -> Result<Vec<Map<String, Value>>, LogError> {
        let archive = Archive::open_unchanged(&log, SqliteOptions::default())?;
        let mut reader = archive.backend().reader()?;
        let heads = reader.runs()?;
        heads.into_iter().map(|head| {
            let started = retold::run::started(reader.as_mut(), head.run)?;
            Ok(row(json!({
                "run": head.run, "experiment": started.experiment, "name": started.settings["name"],
                "events": head.head.seq.0,
            })))
        }).collect()
    });
    tables(py, rows.map_err(log_error)?)
}

/// The questions of a run with their answers, in the order in which they were asked.
#[pyfunction]
pub(crate) fn exchanges<'py>(py: Python<'py>, log: PathBuf, run: &str) -> Rows<'py> {
    rows_of(py, &log, run, RowKind::Exchanges)
}

/// The decisions of a run, each with what its answer was asked for.
#[pyfunction]
pub(crate) fn decisions<'py>(py: Python<'py>, log: PathBuf, run: &str) -> Rows<'py> {
    rows_of(py, &log, run, RowKind::Decisions)
}

/// The facts of a run.
#[pyfunction]
pub(crate) fn facts<'py>(py: Python<'py>, log: PathBuf, run: &str) -> Rows<'py> {
    rows_of(py, &log, run, RowKind::Facts)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RowKind {
    Exchanges,
    Decisions,
    Facts,
}

fn rows_of<'py>(py: Python<'py>, log: &Path, run: &str, kind: RowKind) -> Rows<'py> {
    let rows = py.detach(|| {
        let archive = Archive::open_unchanged(log, SqliteOptions::default()).map_err(log_error)?;
        let found = find(archive.backend().as_ref(), run).map_err(value_error)?;
        let view = RunView::new(
            archive.backend().clone(),
            found.head.run,
            VerifyDepth::Whole,
            None,
            Duration::ZERO,
        );
        let view = view.map_err(log_error)?;
        let mut reader = view.log().reader().map_err(log_error)?;
        let mut table = RunRows::new(view.run(), kind);
        table.read(reader.as_mut()).map_err(log_error)?;
        Ok::<_, PyErr>(table.rows)
    })?;
    tables(py, rows)
}

fn tables<'py>(py: Python<'py>, rows: Vec<Map<String, Value>>) -> Rows<'py> {
    rows.iter().map(|row| convert::object(py, row)).collect()
}

fn log_error(error: LogError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

fn row(fields: Value) -> Map<String, Value> {
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The rows of one run.
struct RunRows {
    run: RunId,
    kind: RowKind,
    /// What is repeated of each question: its call, its sample and its labels; in a table of exchanges, its row.
    asked: BTreeMap<Seq, Map<String, Value>>,
    /// The question of each answer.
    answered: BTreeMap<Seq, Seq>,
    rows: Vec<Map<String, Value>>,
    /// The row of each question, in a table of exchanges.
    places: BTreeMap<Seq, usize>,
}

impl RunRows {
    fn new(run: RunId, kind: RowKind) -> Self {
        let (asked, answered, places) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        RunRows { run, kind, asked, answered, rows: Vec::new(), places }
    }

    fn read(&mut self, reader: &mut dyn Reader) -> Result<(), LogError> {
        let mut events = RunEvents::new(self.run);
        while let Some(stored) = events.next(reader)? {
            let begun =
                row(json!({"run": self.run, "seq": stored.seq, "time": stored.time.to_string()}));
            match stored.event()? {
                Event::RequestSent(sent) => self.question(reader, stored.seq, begun, sent)?,
                Event::ResponseReceived(received) => {
                    let ResponseReceived { request, content, details } = received;
                    self.answer(request, stored.seq, content.text(), &details);
                }
                Event::AnswerReused(reused) => {
                    self.answer(reused.request, stored.seq, reused.content.text(), &reused.details);
                }
                Event::AttemptFailed(failed) => self.failed(failed.request, &failed.details),
                Event::DecisionMade(made) if self.kind == RowKind::Decisions => {
                    self.decision(begun, made)
                }
                Event::Occurred(occurred) if self.kind == RowKind::Facts => {
                    self.fact(begun, occurred)
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn question(
        &mut self,
        reader: &mut dyn Reader,
        seq: Seq,
        mut begun: Map<String, Value>,
        sent: RequestSent,
    ) -> Result<(), LogError> {
        let mut asked = row(json!({"call": sent.call, "sample": sent.sample}));
        for (name, value) in sent.labels {
            // A label does not take the place of a column.
            let is_taken = COLUMNS.contains(&&*name);
            asked.insert(if is_taken { format!("label_{name}") } else { name }, value.into());
        }
        if self.kind != RowKind::Exchanges {
            self.asked.insert(seq, asked);
            return Ok(());
        }
        begun.extend(asked);
        begun.insert("prompt".to_owned(), json!(sent.prompt));
        if let Some(request) = reader.request(sent.prompt)? {
            let body = request.body();
            begun.insert("question".to_owned(), body.as_object().map_or(Value::Null, last_message));
            begun.insert("model".to_owned(), body["model"].clone());
            begun.insert("request".to_owned(), body.clone());
        }
        begun.insert("status".to_owned(), "unanswered".into());
        self.places.insert(seq, self.rows.len());
        self.rows.push(begun);
        Ok(())
    }

    fn answer(&mut self, question: Seq, seq: Seq, text: &str, details: &ResponseDetails) {
        self.answered.insert(seq, question);
        let Some(row) = self.row_of(question) else { return };
        for (name, value) in [
            ("status", json!("answered")),
            ("answer", json!(text)),
            ("answer_seq", json!(seq)),
            ("finish_reason", json!(details.finish_reason)),
            ("prompt_tokens", json!(details.prompt_tokens)),
            ("completion_tokens", json!(details.completion_tokens)),
            ("latency_ms", json!(details.latency_ms)),
            ("cost", json!(details.cost)),
            ("answer_id", json!(details.id)),
        ] {
            row.insert(name.to_owned(), value);
        }
        if let Some(model) = &details.model {
            row.insert("model".to_owned(), model.clone().into());
        }
    }

    fn failed(&mut self, question: Seq, details: &AttemptDetails) {
        let Some(row) = self.row_of(question) else { return };
        if row["status"] != "answered" {
            row.insert("status".to_owned(), "failed".into());
        }
        row.insert("error".to_owned(), details.error.clone().into());
    }

    fn row_of(&mut self, question: Seq) -> Option<&mut Map<String, Value>> {
        self.places.get(&question).and_then(|at| self.rows.get_mut(*at))
    }

    fn decision(&mut self, mut begun: Map<String, Value>, made: DecisionMade) {
        let asked = self.answered.get(&made.response).and_then(|seq| self.asked.get(seq));
        begun.extend(asked.cloned().unwrap_or_default());
        let DecidedBy { method, parser } = &made.by;
        begun.extend(row(json!({
            "name": made.by.decides(), "value": made.details.value, "method": method,
            "reasoning": made.details.reasoning, "warnings": made.details.warnings,
            "parser": parser["name"], "parser_version": parser["version"], "answer_seq": made.response,
        })));
        self.rows.push(begun);
    }

    fn fact(&mut self, mut begun: Map<String, Value>, occurred: FactOccurred) {
        match occurred.fact {
            Value::Object(fact) => begun.extend(fact),
            fact => {
                begun.insert("value".to_owned(), fact);
            }
        }
        begun.insert("because".to_owned(), json!(occurred.causes));
        self.rows.push(begun);
    }
}

/// The columns of these tables.
const COLUMNS: &[&str] = &[
    "run",
    "seq",
    "time",
    "call",
    "sample",
    "prompt",
    "question",
    "model",
    "request",
    "status",
    "answer",
    "answer_seq",
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "latency_ms",
    "cost",
    "answer_id",
    "error",
    "name",
    "value",
    "method",
    "reasoning",
    "warnings",
    "parser",
    "parser_version",
    "because",
];

/// The text of the last message of a question.
fn last_message(body: &Map<String, Value>) -> Value {
    let dialect = body.get("http").and_then(|http| http["dialect"].as_str());
    let dialect = dialect.and_then(|it| it.split('@').next()).unwrap_or("openai.chat");
    let last = conversation(dialect, body).and_then(|chat| chat.messages.into_iter().last());
    match last.as_ref().map(|message| &message["content"]) {
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<String>().into()
        }
        Some(text) => text.clone(),
        None => Value::Null,
    }
}
