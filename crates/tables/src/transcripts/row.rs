//! The row of a dialogue.

use std::time::Duration;

use retold::decided::AnswerDecision;
use retold::event::{AttemptDetails, Labels, RequestSent, ResponseDetails, participant_of};
use retold::id::{EventHash, Seq};
use retold::model::Content;
use retold::model::providers::conversation_of;
use retold::prompt::Request;
use serde_json::{Map, Value};

use super::dialogues::Dialogue;
use super::inspect_message::{answer_message, inspect_message};
use crate::column::ColumnKind::{self, Integer, Json, Real, Text};
use crate::column::{Cell, Column};
use crate::labels::LabelColumns;
use crate::run_row::RunRow;

/// The columns of Scout that retold fills. Those that it has nothing for are left out, as Scout allows.
const COLUMNS: &[(&str, ColumnKind, &str)] = &[
    ("transcript_id", Text, "the run and the last question of the dialogue, as RUN-SEQ"),
    ("source_type", Text, "`retold`"),
    ("source_id", Text, "the run's id"),
    ("date", Text, "when the first question was asked"),
    ("task_set", Text, "the run's name, or the experiment"),
    ("task_id", Text, "where in the experiment the last question was asked"),
    ("task_repeat", Integer, "which answer of this call it is, from 1"),
    ("agent", Text, "who was asked, if a label says so"),
    ("model", Text, "the model that the last answer names, or that was asked for"),
    ("model_options", Json, "the parameters of the last request"),
    ("score", Json, "the decisions in force about the last answer, by name"),
    ("score_explanation", Text, "the reasoning of these decisions"),
    ("message_count", Integer, "how many messages it has"),
    ("total_time", Real, "how long its answers took, in seconds"),
    ("total_tokens", Integer, "the tokens of its requests and answers"),
    ("error", Text, "why the last question has no answer"),
    ("messages", Json, "the messages, as Inspect has them"),
    ("answer_hash", Text, "the hash of the event of the last answer"),
];

/// Names that Scout has for other columns, or uses itself, so that a label cannot have them.
const RESERVED: [&str; 10] = [
    "source_uri", "agent_args", "success", "limit", "events", "timelines", "events_data",
    "filename", "metadata", "index",
];

/// The columns of transcripts, with one for each label.
pub fn transcript_columns(labels: &LabelColumns) -> Vec<Column> {
    let column = |&(name, kind, about): &(&'static str, ColumnKind, &'static str)| Column {
        name: name.into(),
        kind,
        about,
    };
    COLUMNS.iter().map(column).chain(labels.columns_beside(is_taken)).collect()
}

fn is_taken(name: &str) -> bool {
    let columns = COLUMNS.iter().map(|column| column.0);
    columns.chain(RESERVED).any(|column| column.eq_ignore_ascii_case(name))
}

/// How a dialogue ended.
pub(super) enum Ending {
    Answer {
        hash: EventHash,
        content: Content,
        details: Box<ResponseDetails>,
        decisions: Vec<AnswerDecision>,
    },
    Failed(AttemptDetails),
}

/// A dialogue.
pub(super) struct TranscriptRow<'a> {
    pub(super) run: &'a RunRow,
    pub(super) question: Seq,
    pub(super) sent: &'a RequestSent,
    pub(super) request: Option<&'a Request>,
    pub(super) dialogue: Dialogue,
    pub(super) ending: Ending,
}

impl<'a> TranscriptRow<'a> {
    /// Its row; `None` if its last question is not a conversation.
    pub(super) fn cells(&self, labels: &'a LabelColumns) -> Option<Vec<Cell<'a>>> {
        let TranscriptRow { run, question, sent, request, dialogue, ending } = self;
        let request = (*request)?;
        let mut messages: Vec<Value> =
            conversation_of(request)?.messages.iter().map(inspect_message).collect();
        let (details, error) = match ending {
            Ending::Answer { content, details, .. } => {
                messages.push(inspect_message(&answer_message(content, details)));
                (Some(details), None)
            }
            Ending::Failed(failed) => (None, Some(failed.error.clone())),
        };
        let RequestSent { call, sample, labels: own, .. } = sent;
        let started = &run.started;
        let name = started.name().unwrap_or(&started.experiment);
        let model = details.and_then(|details| details.model.as_deref()).or(request.model());
        let owned = |text: Option<&str>| text.map_or(Cell::Missing, |text| text.to_owned().into());
        let (score, why) = ending.score();
        let hash = match ending {
            Ending::Answer { hash, .. } => hash.to_string().into(),
            Ending::Failed(_) => Cell::Missing,
        };
        let mut cells = vec![
            format!("{}-{question}", run.id()).into(),
            "retold".into(),
            run.id().to_owned().into(),
            dialogue.began.to_string().into(),
            name.to_owned().into(),
            call.to_string().into(),
            Cell::count(u64::from(*sample) + 1),
            owned(participant_of(own).map(|(_, who)| who)),
            owned(model),
            Value::Object(options(request)).to_string().into(),
            score,
            why,
            Cell::count(messages.len() as u64),
            Cell::Real(Duration::from_millis(dialogue.latency_ms).as_secs_f64()),
            Cell::count(dialogue.tokens),
            owned(error.as_deref()),
            Value::from(messages).to_string().into(),
            hash,
        ];
        cells.extend(label_cells(labels, own));
        Some(cells)
    }
}

impl Ending {
    /// The decisions in force, by their names, and their reasoning.
    fn score(&self) -> (Cell<'static>, Cell<'static>) {
        let Ending::Answer { decisions, .. } = self else { return (Cell::Missing, Cell::Missing) };
        let (mut values, mut reasons) = (Map::new(), Vec::new());
        for decision in decisions.iter().filter(|decision| decision.in_force) {
            let (by, details) = (&decision.made.by, &decision.made.details);
            values.insert(by.decides().to_owned(), details.value.clone());
            reasons.extend(details.reasoning.clone());
        }
        let score = if values.is_empty() {
            Cell::Missing
        } else {
            Value::Object(values).to_string().into()
        };
        let why = if reasons.is_empty() { Cell::Missing } else { reasons.join("\n").into() };
        (score, why)
    }
}

/// The parameters of a request.
fn options(request: &Request) -> Map<String, Value> {
    let is_option = |name: &str| !["messages", "model", "http", "tools", "system"].contains(&name);
    let fields = request.body().as_object().into_iter().flatten();
    let options = fields.filter(|(name, _)| is_option(name));
    options.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn label_cells<'a>(labels: &'a LabelColumns, own: &Labels) -> Vec<Cell<'a>> {
    let label = |name: &str| own.get(name).map_or(Cell::Missing, |value| value.clone().into());
    labels.names().map(label).collect()
}
