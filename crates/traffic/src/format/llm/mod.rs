//! The log of `llm`, Simon Willison's command line for models: an SQLite file, `logs.db`.
//!
//! Versions before 0.36 have one row per answer (`responses`, read by [`responses`]); later ones have messages that
//! conversations share (`turns`, read by [`turns`]), and keep the rows of earlier ones. A log has the requests, but not
//! their address: a request to OpenAI's chat completions is known by its answer, which has the form of that API and names
//! the model that was asked for.

mod chat;
mod condensed;
mod python;
mod responses;
mod turns;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use data_encoding::BASE64;
use retold::escaping::printable;
use retold::log::{Cell, ForeignDatabase};
use retold::model::{Response, Usage};
use retold::prompt::{Api, Request};
use retold::scratch_folder::ScratchFolder;
use serde_json::{Map, Value, json};

use super::recognised::is_sqlite;
use crate::error::{FileProblem, TrafficError};
use crate::exchange::{TrafficAnswer, TrafficExchange, TrafficQuestion};
use crate::notes::Notes;

/// The most that is read of a log, and the most that its exchanges may amount to: the turns of a
/// dialogue repeat each other.
const MOST_BYTES: u64 = 512 << 20;

/// One call of a model.
#[derive(Debug, Default)]
struct LlmCall {
    id: String,
    conversation: Option<String>,
    time: Option<String>,
    model: String,
    /// The model as its provider names it.
    reported: Option<String>,
    /// The options that the user gave.
    options: Map<String, Value>,
    /// The tools, in the form of chat completions.
    tools: Vec<Value>,
    /// The JSON schema that the answer has to fit.
    schema: Option<Value>,
    /// The prompt, in the form of chat completions.
    messages: Vec<Value>,
    /// Further fields of the request, as the log has them.
    more: Map<String, Value>,
    /// Whether these are the messages that were sent, without anything left out.
    is_exact: bool,
    text: String,
    reasoning: Option<String>,
    /// The tool calls of the answer, in the form of chat completions.
    calls: Vec<Value>,
    usage: [Option<u64>; 2],
    /// The answer as the provider sent it, if the log has it.
    raw: Option<Value>,
    latency: Duration,
}

/// The exchanges of a log, in the order of its rows.
///
/// # Errors
/// [`TrafficError`].
pub(crate) fn read(path: &Path, notes: &mut Notes) -> Result<Vec<TrafficExchange>, TrafficError> {
    let shown = path.display().to_string();
    // SQLite reads from a file: a log that is packed, or comes through a pipe, is unpacked into one.
    let unpacked = match is_plain(path) {
        true => None,
        false => Some(unpack(path)?),
    };
    let db = unpacked.as_ref().map_or(path, |(_, file)| file.as_path());
    let db = ForeignDatabase::open(db, &shown, MOST_BYTES)?;
    if !db.has("responses") && !db.has("turns") {
        let what = "a log of llm: it has neither a table responses nor a table turns";
        return Err(TrafficError::wrong(&shown, None, FileProblem::Not(what)));
    }
    let mut log = LlmLog { db, left: MOST_BYTES };
    let wrong = |failed: LlmError| match failed {
        LlmError::Database(error) => TrafficError::Database(error),
        LlmError::Wrong(place, wrong) => TrafficError::wrong(&shown, Some(place), wrong),
    };
    log.early(notes).map_err(wrong)?;
    let shared = log.read_context().map_err(wrong)?;
    let mut exchanges = Vec::new();
    responses::read(&mut log, &shared, notes, &mut |log, turn, notes| {
        exchanges.extend(log.exchange(turn, "responses", notes)?);
        Ok(())
    })
    .map_err(wrong)?;
    turns::read(&mut log, &shared, notes, &mut |log, turn, notes| {
        exchanges.extend(log.exchange(turn, "turns", notes)?);
        Ok(())
    })
    .map_err(wrong)?;
    Ok(exchanges)
}

/// Whether SQLite can open this file, or none can.
fn is_plain(path: &Path) -> bool {
    let mut begin = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    path != Path::new("-") && (read.is_err() || is_sqlite(&begin))
}

/// A private copy of a file, unpacked; it is removed when it is dropped.
fn unpack(path: &Path) -> Result<(ScratchFolder, PathBuf), TrafficError> {
    let bytes = crate::file::bytes(path)?;
    let made = ScratchFolder::make().and_then(|folder| {
        let file = folder.path().join("log.db");
        std::fs::write(&file, &bytes)?;
        Ok((folder, file))
    });
    made.map_err(|error| {
        let said = format!("no temporary copy of it can be made: {error}");
        TrafficError::wrong(&path.display().to_string(), None, FileProblem::Said(said))
    })
}

/// Why a log is not read.
enum LlmError {
    Database(retold::log::ForeignError),
    /// Where, and what.
    Wrong(String, FileProblem),
}

impl From<retold::log::ForeignError> for LlmError {
    fn from(error: retold::log::ForeignError) -> Self {
        LlmError::Database(error)
    }
}

/// What to do with each turn.
type Each<'a> = &'a mut dyn FnMut(&mut LlmLog, LlmCall, &mut Notes) -> Result<(), LlmError>;

/// A log that is being read.
struct LlmLog {
    db: ForeignDatabase,
    left: u64,
}

/// What both kinds of rows refer to.
struct LlmContext {
    /// Texts that prompts are made of.
    fragments: BTreeMap<i64, String>,
    /// Files that are part of prompts.
    attachments: BTreeMap<String, Attachment>,
    schemas: BTreeMap<String, String>,
    tools: BTreeMap<i64, Value>,
}

struct Attachment {
    kind: Option<String>,
    path: Option<String>,
    url: Option<String>,
    content: Option<Vec<u8>>,
}

impl LlmLog {
    /// The rows of a table, each as a map from columns to values.
    fn rows(&mut self, table: &str, columns: &[&'static str]) -> Result<Vec<LlmRow>, LlmError> {
        let rows = self.db.rows(table, columns)?;
        let row = |cells: Vec<Cell>| LlmRow(columns.iter().copied().zip(cells).collect());
        Ok(rows.into_iter().map(row).collect())
    }

    /// Counts the bytes that are taken into memory.
    fn spend(&mut self, bytes: usize, place: &str) -> Result<(), LlmError> {
        let left = self.left.checked_sub(bytes as u64);
        self.left = left.ok_or_else(|| {
            let most = MOST_BYTES >> 20;
            let said = format!("the prompts of the log amount to more than {most} MiB");
            LlmError::Wrong(place.to_owned(), FileProblem::Said(said))
        })?;
        Ok(())
    }

    /// Rows of the first versions, which are in none of the later tables.
    fn early(&mut self, notes: &mut Notes) -> Result<(), LlmError> {
        for row in self.rows("logs", &["id"])? {
            let place = format!("logs {}", row.id());
            notes.add("an answer that a version of llm before 0.5 recorded", &place);
        }
        Ok(())
    }

    fn read_context(&mut self) -> Result<LlmContext, LlmError> {
        let mut shared = LlmContext {
            fragments: BTreeMap::new(),
            attachments: BTreeMap::new(),
            schemas: BTreeMap::new(),
            tools: BTreeMap::new(),
        };
        for row in self.rows("fragments", &["id", "content"])? {
            if let (Some(id), Some(text)) = (row.integer("id"), row.text("content")) {
                shared.fragments.insert(id, text.to_owned());
            }
        }
        for mut row in self.rows("attachments", &["id", "type", "path", "url", "content"])? {
            let content = match row.0.remove("content") {
                Some(Cell::Bytes(bytes)) => Some(bytes),
                _ => None,
            };
            let text = |name: &str| row.text(name).map(str::to_owned);
            let attachment =
                Attachment { kind: text("type"), path: text("path"), url: text("url"), content };
            if let Some(id) = text("id") {
                shared.attachments.insert(id, attachment);
            }
        }
        for row in self.rows("schemas", &["id", "content"])? {
            if let (Some(id), Some(text)) = (row.text("id"), row.text("content")) {
                shared.schemas.insert(id.to_owned(), text.to_owned());
            }
        }
        for row in self.rows("tools", &["id", "name", "description", "input_schema"])? {
            let place = format!("tools {}", row.id());
            let schema = row.json("input_schema", &place)?.unwrap_or_default();
            let description = row.text("description").filter(|text| !text.is_empty());
            let tool = json!({"type": "function", "function": {
                "name": row.text("name"), "description": description, "parameters": schema,
            }});
            if let Some(id) = row.integer("id") {
                shared.tools.insert(id, tool);
            }
        }
        Ok(shared)
    }

    /// A turn as an exchange; none if it has no form that a log can keep.
    fn exchange(
        &mut self,
        turn: LlmCall,
        table: &str,
        notes: &mut Notes,
    ) -> Result<Option<TrafficExchange>, LlmError> {
        let place = format!("{table} {}", printable(&turn.id, 60));
        let label = json!({
            "id": turn.id, "conversation": turn.conversation, "datetime_utc": turn.time,
        });
        let latency = turn.latency;
        let (asked, answer) = match chat::http(&turn) {
            Some((asked, answer)) => {
                self.spend(asked.body.len(), &place)?;
                notes.add("where a request went, which the file does not say: it counts as asked of OpenAI", &place);
                notes.add(
                    "the bytes of an answer, of which the file has only the JSON in it",
                    &place,
                );
                (TrafficQuestion::Http(asked), answer)
            }
            None => {
                let answer = TrafficAnswer::Read(Box::new(turn.answer()));
                let request = match turn.request() {
                    Ok(request) => request,
                    Err(error) => {
                        notes.add(&format!("an exchange: {error}"), &place);
                        return Ok(None);
                    }
                };
                self.spend(request.canonical().len(), &place)?;
                notes.add("that the request of an exchange is not in the file: it is shown and parsed, but not replayed", &place);
                (TrafficQuestion::other("llm", request), answer)
            }
        };
        Ok(Some(TrafficExchange {
            place,
            asked,
            answers: vec![answer],
            label: Some(label),
            decisions: Vec::new(),
            latency,
        }))
    }
}

impl LlmCall {
    /// The request, as far as the log has it.
    fn request(self) -> Result<Request, retold::prompt::RequestError> {
        let mut body = self.more;
        body.extend(self.options);
        body.insert("http".to_owned(), json!({"dialect": "llm@1"}));
        body.insert("model".to_owned(), self.model.into());
        body.insert("messages".to_owned(), self.messages.into());
        if !self.tools.is_empty() {
            body.insert("tools".to_owned(), self.tools.into());
        }
        if let Some(schema) = self.schema {
            body.insert("schema".to_owned(), schema);
        }
        Request::of_program(Api::Chat, body)
    }

    /// The answer as llm reads it.
    fn answer(&self) -> Response {
        let mut response = Response::text(self.text.clone());
        let raw = self.raw.as_ref().unwrap_or(&Value::Null);
        let named = || raw["model"].as_str().map(str::to_owned);
        response.model = self.reported.clone().or_else(named);
        response.id = raw["id"].as_str().map(str::to_owned);
        let finish = raw["finish_reason"].as_str();
        let finish = finish.or_else(|| raw["choices"][0]["finish_reason"].as_str());
        let finish = finish.or_else(|| raw["stop_reason"].as_str().or(raw["status"].as_str()));
        response.finish_reason = finish.map(str::to_owned);
        let [prompt_tokens, completion_tokens] = self.usage;
        if prompt_tokens.or(completion_tokens).is_some() {
            response.usage = Some(Usage {
                prompt_tokens,
                completion_tokens,
                cached_tokens: None,
                reasoning_tokens: None,
                cost: None,
            });
        }
        if let Some(reasoning) = &self.reasoning {
            response.extra.insert("reasoning_content".to_owned(), reasoning.clone().into());
        }
        if !self.calls.is_empty() {
            response.extra.insert("tool_calls".to_owned(), self.calls.clone().into());
        }
        response
    }
}

impl LlmContext {
    /// An attachment as a part of a message, and whether all of it is in the log.
    fn part(&self, id: &str, place: &str, notes: &mut Notes) -> (Value, bool) {
        let Some(attachment) = self.attachments.get(id) else {
            notes.add("an attachment that is not in the file", place);
            return (json!({"type": "file", "file": {"id": id}}), false);
        };
        let kind = attachment.kind.as_deref().unwrap_or("application/octet-stream");
        let data = attachment.content.as_deref().map(|bytes| BASE64.encode(bytes));
        let as_url = |data: &String| format!("data:{kind};base64,{data}");
        // A path is somebody's file: its name is shown, and it is not opened.
        let named = |notes: &mut Notes| {
            notes.add("an attachment of which the file has only the path", place);
            json!({"type": "file", "file": {"id": id, "type": kind, "path": attachment.path}})
        };
        match (&attachment.url, &data) {
            (Some(url), _) if kind.starts_with("image/") => {
                (json!({"type": "image_url", "image_url": {"url": url}}), true)
            }
            (_, Some(data)) if kind.starts_with("image/") => {
                (json!({"type": "image_url", "image_url": {"url": as_url(data)}}), true)
            }
            (_, Some(data)) if kind == "application/pdf" => {
                let name = format!("{id}.pdf");
                let file = json!({"filename": name, "file_data": as_url(data)});
                (json!({"type": "file", "file": file}), true)
            }
            (_, Some(data)) => {
                let format = if kind == "audio/wav" { "wav" } else { "mp3" };
                let audio = json!({"data": data, "format": format});
                (json!({"type": "input_audio", "input_audio": audio}), kind.starts_with("audio/"))
            }
            (Some(url), None) => {
                notes.add("an attachment of which the file has only the URL", place);
                (json!({"type": "file", "file": {"id": id, "type": kind, "url": url}}), false)
            }
            (None, None) => (named(notes), false),
        }
    }
}

/// A row of a table.
struct LlmRow(BTreeMap<&'static str, Cell>);

impl LlmRow {
    fn text(&self, column: &str) -> Option<&str> {
        self.0.get(column)?.text()
    }

    /// Its id, for messages.
    fn id(&self) -> String {
        let number = || self.integer("id").map(|id| id.to_string());
        let id = self.text("id").map(|id| printable(id, 60)).or_else(number);
        id.unwrap_or_else(|| "without an id".to_owned())
    }

    fn integer(&self, column: &str) -> Option<i64> {
        self.0.get(column)?.integer()
    }

    fn count(&self, column: &str) -> Option<u64> {
        u64::try_from(self.integer(column)?).ok()
    }

    /// A column that has JSON, if it is not empty.
    fn json(&self, column: &str, place: &str) -> Result<Option<Value>, LlmError> {
        let Some(text) = self.text(column) else { return Ok(None) };
        let found = crate::file::json_value(text);
        let found = found.map_err(|(at, wrong)| {
            let at = at.map_or_else(String::new, |at| format!(", {at}"));
            LlmError::Wrong(format!("{place}, {column}{at}"), wrong)
        })?;
        Ok(Some(found).filter(|value| !value.is_null()))
    }

    /// The columns that both kinds of rows have.
    fn turn(&self, place: &str) -> Result<LlmCall, LlmError> {
        let text = |name: &str| self.text(name).map(str::to_owned);
        let options = match self.json("options_json", place)? {
            Some(Value::Object(options)) => options,
            _ => Map::new(),
        };
        Ok(LlmCall {
            id: self.id(),
            time: text("datetime_utc"),
            model: text("model").unwrap_or_default(),
            reported: text("resolved_model"),
            options,
            usage: [self.count("input_tokens"), self.count("output_tokens")],
            latency: Duration::from_millis(self.count("duration_ms").unwrap_or_default()),
            ..LlmCall::default()
        })
    }
}
