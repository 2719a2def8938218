//! The table `turns`, which llm writes since version 0.36: each turn names the last message of its prompt
//! and of its answer, and each message the one before it, so that conversations share messages.

use std::collections::BTreeMap;

use retold::escaping::printable;
use serde_json::{Map, Value, json};

use super::condensed::whole;
use super::{Each, LlmCall, LlmContext, LlmError, LlmLog, python};
use crate::error::FileProblem;
use crate::node::LocatedValue;
use crate::notes::Notes;

const COLUMNS: &[&str] = &[
    "id",
    "thread_id",
    "parent_message_hash",
    "tip_message_hash",
    "model",
    "resolved_model",
    "options_json",
    "schema_id",
    "input_tokens",
    "output_tokens",
    "token_details",
    "duration_ms",
    "datetime_utc",
    "response_json",
];

/// Values that OpenAI's answers repeat; llm writes their names (`json_replacements` of its models).
const REPEATED: &[(&str, &str)] = &[
    (
        "completion_tokens_details_0",
        r#"{"accepted_prediction_tokens": 0, "audio_tokens": 0, "reasoning_tokens": 0, "rejected_prediction_tokens": 0}"#,
    ),
    ("prompt_tokens_details_0", r#"{"audio_tokens": 0, "cached_tokens": 0}"#),
    (
        "tool_usage_0",
        r#"{"image_gen": {"input_tokens": 0, "input_tokens_details": {"image_tokens": 0, "text_tokens": 0},
            "output_tokens": 0, "output_tokens_details": {"image_tokens": 0, "text_tokens": 0},
            "total_tokens": 0}, "web_search": {"num_requests": 0}}"#,
    ),
    ("input_tokens_details_0", r#"{"cached_tokens": 0, "cache_write_tokens": 0}"#),
    (
        "reasoning_settings_0",
        r#"{"effort": "medium", "summary": "detailed", "context": "all_turns", "mode": "standard"}"#,
    ),
    (
        "reasoning_settings_1",
        r#"{"effort": "medium", "summary": "detailed", "context": "current_turn", "mode": "standard"}"#,
    ),
    ("text_format_0", r#"{"format": {"type": "text"}, "verbosity": "medium"}"#),
    (
        "response_env_0",
        r#"{"object": "response", "parallel_tool_calls": true, "temperature": 1.0, "tool_choice": "auto",
            "top_p": 1.0, "background": false, "service_tier": "default", "status": "completed",
            "top_logprobs": 0, "truncation": "disabled", "frequency_penalty": 0.0,
            "presence_penalty": 0.0, "store": false, "tools": []}"#,
    ),
    (
        "message_completed",
        r#"{"role": "assistant", "status": "completed", "type": "message", "phase": "final_answer"}"#,
    ),
];

/// The bytes that a message costs besides its text.
const STEP: usize = 64;

/// A message that conversations share.
#[derive(Default)]
struct SharedMessage {
    parent: Option<String>,
    role: String,
    parts: Vec<MessagePart>,
}

/// A part of a message.
struct MessagePart {
    kind: String,
    text: Option<String>,
    /// The value of the column `payload`, with fields in their order.
    payload: Option<LocatedValue>,
}

/// The messages of a log, by hash.
struct SharedMessages(BTreeMap<String, SharedMessage>);

/// Reads the table, if the log has one.
pub(super) fn read(
    log: &mut LlmLog,
    shared: &LlmContext,
    notes: &mut Notes,
    each: Each<'_>,
) -> Result<(), LlmError> {
    let rows = log.rows("turns", COLUMNS)?;
    if rows.is_empty() {
        return Ok(());
    }
    let messages = SharedMessages::read(log, shared)?;
    let mut tools: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for row in log.rows("turn_tools", &["turn_id", "tool_id"])? {
        let tool = row.integer("tool_id").and_then(|id| shared.tools.get(&id));
        if let (Some(turn), Some(tool)) = (row.text("turn_id"), tool) {
            tools.entry(turn.to_owned()).or_default().push(tool.clone());
        }
    }
    for row in &rows {
        let id = row.text("id").unwrap_or_default();
        let place = format!("turns {}", row.id());
        let mut turn = row.turn(&place)?;
        turn.conversation = row.text("thread_id").map(str::to_owned);
        let schema = row.text("schema_id").and_then(|id| shared.schemas.get(id));
        turn.schema = schema.and_then(|text| serde_json::from_str(text).ok());
        turn.tools = tools.remove(id).unwrap_or_default();
        let parent = row.text("parent_message_hash");
        let prompt = messages.conversation(parent, None, &place)?;
        let own = messages.conversation(row.text("tip_message_hash"), parent, &place)?;
        log.spend((prompt.len() + own.len()) * STEP, &place)?;
        turn.is_exact = true;
        let mut spoken = PromptBuilder { turn: &mut turn, shared, place: &place, system: None };
        for message in prompt {
            spoken.add_message(message, notes);
        }
        let is_detailed = turn.options.contains_key("image_detail");
        turn.is_exact &= !is_detailed;
        for part in own.iter().flat_map(|message| &message.parts) {
            match part.kind.as_str() {
                "text" => turn.text += part.text.as_deref().unwrap_or_default(),
                "reasoning" => {
                    let text = part.text.as_deref().unwrap_or_default();
                    if !text.is_empty() {
                        turn.reasoning.get_or_insert_default().push_str(text);
                    }
                }
                "tool_call" => turn.calls.push(part.call()),
                other => {
                    let what = format!(
                        "a part of an answer that is neither text nor a call: {}",
                        printable(other, 40)
                    );
                    notes.add(&what, &place);
                }
            }
            if part.field("provider_metadata").is_some() {
                notes.add("what only the provider understands (provider_metadata)", &place);
            }
        }
        let lookup = |id: &str| value_of(id, &own, &turn);
        if let Some(condensed) = row.json("response_json", &place)? {
            turn.raw = whole(condensed, &lookup, &mut log.left);
            if turn.raw.is_none() && turn.is_exact {
                notes.add("response_json, which refers to what is not in the file", &place);
            }
        }
        if row.text("token_details").is_some() && !super::chat::is_known(&turn) {
            notes.add("what tokens were used for (token_details)", &place);
        }
        log.spend(turn.messages.iter().map(|message| message.to_string().len()).sum(), &place)?;
        each(log, turn, notes)?;
    }
    Ok(())
}

/// The value of an id in `response_json`. The id is the offset of a message of the answer and of a part in it, with a field
/// of that; or the schema, a tool's description, or a value that the program knows.
fn value_of(id: &str, own: &[&SharedMessage], turn: &LlmCall) -> Option<Value> {
    if let Some(name) = id.strip_prefix("m.") {
        let (_, json) = REPEATED.iter().find(|(known, _)| *known == name)?;
        return serde_json::from_str(json).ok();
    }
    if id == "schema" {
        return turn.schema.clone();
    }
    if let Some(name) = id.strip_prefix("tool.").and_then(|id| id.strip_suffix(".description")) {
        let tool = turn.tools.iter().find(|tool| tool["function"]["name"] == name)?;
        return Some(tool["function"]["description"].clone());
    }
    let mut path = id.split('.');
    let mut at = || path.next()?.parse::<usize>().ok();
    let (message, part) = (at()?, at()?);
    let part = own.get(message)?.parts.get(part)?;
    match path.next()? {
        "text" => part.text.clone().map(Value::from),
        "output" => part.field("output")?.json(),
        "args" => Some(python::compact(part.field("arguments")?).into()),
        "args2" => Some(python::dumps(part.field("arguments")?).into()),
        "argsv" => part.field("arguments")?.json(),
        "pm" => {
            let mut node = part.field("provider_metadata")?;
            for name in path {
                node = match node.list() {
                    Some(items) => items.get(name.parse::<usize>().ok()?)?,
                    None => node.get(name)?,
                };
            }
            node.json()
        }
        _ => None,
    }
}

impl SharedMessages {
    fn read(log: &mut LlmLog, shared: &LlmContext) -> Result<Self, LlmError> {
        let mut all: BTreeMap<String, SharedMessage> = BTreeMap::new();
        for row in log.rows("messages", &["hash", "parent_hash", "role"])? {
            let text = |name: &str| row.text(name).map(str::to_owned);
            let message = SharedMessage {
                parent: text("parent_hash"),
                role: text("role").unwrap_or_default(),
                parts: Vec::new(),
            };
            all.insert(text("hash").unwrap_or_default(), message);
        }
        let mut parts = Vec::new();
        for row in
            log.rows("parts", &["id", "message_hash", "position", "type", "text", "payload"])?
        {
            let place = format!("parts {}", row.id());
            let payload = match row.text("payload") {
                Some(text) => {
                    let node = crate::file::json(text).map_err(|(at, wrong)| {
                        let at = at.map_or_else(String::new, |at| format!(", {at}"));
                        LlmError::Wrong(format!("{place}, payload{at}"), wrong)
                    })?;
                    Some(node)
                }
                None => None,
            };
            let mut text = row.text("text").map(str::to_owned);
            for piece in payload.iter().filter_map(|it| it.get("text_ref")?.list()).flatten() {
                let found = match piece.get("fragment").and_then(number) {
                    Some(id) => shared.fragments.get(&id).map_or("", String::as_str),
                    None => piece.get("literal").and_then(LocatedValue::text).unwrap_or_default(),
                };
                log.spend(found.len(), &place)?;
                text.get_or_insert_default().push_str(found);
            }
            let kind = row.text("type").unwrap_or_default().to_owned();
            let message = row.text("message_hash").unwrap_or_default().to_owned();
            let position = row.integer("position").unwrap_or_default();
            parts.push((message, position, MessagePart { kind, text, payload }));
        }
        parts.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        for (message, _, part) in parts {
            if let Some(message) = all.get_mut(&message) {
                message.parts.push(part);
            }
        }
        Ok(SharedMessages(all))
    }

    /// The messages from the first one, or from the one after `after`, to this one.
    fn conversation(
        &self,
        tip: Option<&str>,
        after: Option<&str>,
        place: &str,
    ) -> Result<Vec<&SharedMessage>, LlmError> {
        let wrong = |said: String| LlmError::Wrong(place.to_owned(), FileProblem::Said(said));
        let mut chain = Vec::new();
        let mut at = tip;
        while let Some(hash) = at.filter(|at| Some(*at) != after) {
            let found = self.0.get(hash);
            let message = found.ok_or_else(|| {
                wrong(format!("the message {} is not in the file", printable(hash, 60)))
            })?;
            if chain.len() == self.0.len() {
                return Err(wrong("its messages follow each other in a circle".to_owned()));
            }
            chain.push(message);
            at = message.parent.as_deref();
        }
        chain.reverse();
        Ok(chain)
    }
}

fn number(node: &LocatedValue) -> Option<i64> {
    match &node.value {
        crate::node::Value::Number(number) => number.as_i64(),
        _ => None,
    }
}

impl MessagePart {
    fn field(&self, name: &str) -> Option<&LocatedValue> {
        self.payload.as_ref()?.get(name)
    }

    /// A tool call, as llm sends it again.
    fn call(&self) -> Value {
        let text = |name: &str| self.field(name).and_then(LocatedValue::text);
        let arguments = self.field("arguments").map_or_else(|| "{}".to_owned(), python::dumps);
        json!({
            "id": text("tool_call_id"), "type": "function",
            "function": {"name": text("name"), "arguments": arguments},
        })
    }
}

/// A prompt that is being put together as llm does it for chat completions.
struct PromptBuilder<'a> {
    turn: &'a mut LlmCall,
    shared: &'a LlmContext,
    place: &'a str,
    system: Option<String>,
}

impl PromptBuilder<'_> {
    fn add_message(&mut self, message: &SharedMessage, notes: &mut Notes) {
        let (mut text, mut files, mut calls) = (None::<String>, Vec::new(), Vec::new());
        for part in &message.parts {
            match part.kind.as_str() {
                "text" => {
                    text.get_or_insert_default().push_str(part.text.as_deref().unwrap_or_default())
                }
                "attachment" => {
                    let id = part.field("attachment").and_then(|it| it.get("id")?.text());
                    let (file, is_whole) = self.shared.part(id.unwrap_or(""), self.place, notes);
                    self.turn.is_exact &= is_whole;
                    files.push(file);
                }
                "tool_call" => calls.push(part.call()),
                "tool_result" => {
                    for (field, what) in [
                        ("exception", "the exception of a tool, of which the model saw the output"),
                        ("attachments", "an attachment that a tool returned"),
                    ] {
                        if part.field(field).is_some() {
                            notes.add(what, self.place);
                        }
                    }
                    let field = |name: &str| part.field(name).and_then(LocatedValue::text);
                    self.turn.messages.push(json!({
                        "role": "tool", "tool_call_id": field("tool_call_id"), "content": field("output"),
                    }));
                }
                // The reasoning of the model is not sent again.
                "reasoning" => {}
                other => {
                    self.turn.is_exact = false;
                    notes
                        .add(&format!("a part of a message: {}", printable(other, 40)), self.place);
                }
            }
        }
        match message.role.as_str() {
            "tool" => return,
            // Sent once, until it changes.
            "system" if self.system == text => return,
            "system" => self.system.clone_from(&text),
            _ => {}
        }
        let content = match files.is_empty() {
            true => text.map_or(Value::Null, Value::from),
            false => {
                let text = text.into_iter().map(|text| json!({"type": "text", "text": text}));
                text.chain(files).collect()
            }
        };
        let mut out = Map::new();
        let has_nothing = content.is_null() && calls.is_empty();
        if has_nothing && message.role != "assistant" {
            return;
        }
        out.insert("role".to_owned(), message.role.clone().into());
        out.insert("content".to_owned(), content);
        if !calls.is_empty() {
            out.insert("tool_calls".to_owned(), calls.into());
        }
        self.turn.messages.push(out.into());
    }
}
