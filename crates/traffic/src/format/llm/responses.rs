//! The table `responses`, which llm wrote up to version 0.35: one row per answer.

use std::collections::{BTreeMap, BTreeSet};

use retold::escaping::printable;
use serde_json::{Map, Value, json};

use super::condensed::whole;
use super::{Each, LlmCall, LlmContext, LlmError, LlmLog, LlmRow};
use crate::notes::Notes;

const COLUMNS: &[&str] = &[
    "id", "model", "prompt", "system", "prompt_json", "options_json", "response", "response_json",
    "conversation_id", "duration_ms", "datetime_utc", "input_tokens", "output_tokens",
    "token_details", "schema_id", "resolved_model", "reasoning",
];

/// What other tables have of each answer, by its id.
struct LlmAnswerDetails {
    fragments: BTreeMap<String, Vec<i64>>,
    system_fragments: BTreeMap<String, Vec<i64>>,
    attachments: BTreeMap<String, Vec<String>>,
    tools: BTreeMap<String, Vec<i64>>,
    calls: BTreeMap<String, Vec<Value>>,
    results: BTreeMap<String, Vec<Value>>,
}

/// The earlier messages of a conversation.
#[derive(Default)]
struct Earlier {
    system: Option<String>,
    messages: Vec<Value>,
    attachments: Vec<String>,
}

/// Reads the table, if the log has one.
pub(super) fn read(
    log: &mut LlmLog,
    shared: &LlmContext,
    notes: &mut Notes,
    each: Each<'_>,
) -> Result<(), LlmError> {
    let rows = log.rows("responses", COLUMNS)?;
    if rows.is_empty() {
        return Ok(());
    }
    let beside = LlmAnswerDetails::read(log, notes)?;
    // A version between the two wrote both tables.
    let turns = log.rows("turns", &["id"])?;
    let turns: BTreeSet<&str> = turns.iter().filter_map(|row| row.text("id")).collect();
    let texts: BTreeMap<&str, &str> =
        rows.iter().filter_map(|row| Some((row.text("id")?, row.text("response")?))).collect();
    let lookup = |id: &str| {
        if let Some(response) = id.strip_prefix("r:") {
            return texts.get(response).map(|text| Value::from(*text));
        }
        let id = id.strip_prefix("f:").or_else(|| id.strip_prefix('f'))?;
        shared.fragments.get(&id.parse().ok()?).map(|text| text.clone().into())
    };
    let mut conversations: BTreeMap<String, Earlier> = BTreeMap::new();
    for row in &rows {
        let id = row.text("id").unwrap_or_default();
        if turns.contains(id) {
            continue;
        }
        let place = format!("responses {}", row.id());
        let mut turn = row.turn(&place)?;
        let conversation = row.text("conversation_id").unwrap_or(id);
        turn.conversation = row.text("conversation_id").map(str::to_owned);
        let schema = row.text("schema_id").and_then(|id| shared.schemas.get(id));
        turn.schema = schema.and_then(|text| serde_json::from_str(text).ok());
        turn.text = row.text("response").unwrap_or_default().to_owned();
        turn.reasoning = row.text("reasoning").filter(|it| !it.is_empty()).map(str::to_owned);
        turn.calls = beside.calls.get(id).cloned().unwrap_or_default();
        let tools = beside.tools.get(id).into_iter().flatten();
        turn.tools = tools.filter_map(|tool| shared.tools.get(tool).cloned()).collect();
        let mut whole = |column: &str, log: &mut LlmLog| -> Result<Option<Value>, LlmError> {
            let Some(condensed) = row.json(column, &place)? else { return Ok(None) };
            let whole = whole(condensed, &lookup, &mut log.left);
            if whole.is_none() {
                notes.add(&format!("{column}, which refers to what is not in the file"), &place);
            }
            Ok(whole)
        };
        let prompt = whole("prompt_json", log)?;
        turn.raw = whole("response_json", log)?;
        let earlier = conversations.entry(conversation.to_owned()).or_default();
        let said = beside.new_messages(row, earlier, shared, &place, notes);
        match prompt {
            Some(Value::Object(prompt)) if is_chat(&prompt) => {
                restore_prompt(&mut turn, prompt, earlier, shared);
            }
            other => {
                let prompt = match other {
                    Some(Value::Object(mut prompt)) => prompt_of_completions(&mut prompt),
                    Some(other) => Some(other),
                    None => None,
                };
                if let Some(prompt) = prompt {
                    turn.more.insert("prompt_json".to_owned(), prompt);
                }
                let what = "a prompt as it was sent, which is put together from its parts";
                notes.add(what, &place);
                turn.messages.clone_from(&earlier.messages);
                turn.messages.extend(said.iter().cloned());
                log.spend(turn.messages.iter().map(|it| it.to_string().len()).sum(), &place)?;
            }
        }
        if row.text("token_details").is_some() && !super::chat::is_known(&turn) {
            notes.add("what tokens were used for (token_details)", &place);
        }
        earlier.messages.extend(said);
        if !turn.text.is_empty() {
            earlier.messages.push(json!({"role": "assistant", "content": turn.text}));
        }
        if !turn.calls.is_empty() {
            earlier.messages.push(json!({"role": "assistant", "tool_calls": turn.calls}));
        }
        each(log, turn, notes)?;
    }
    Ok(())
}

/// Whether this is a list of messages as many APIs have it.
fn is_chat(prompt: &Map<String, Value>) -> bool {
    prompt
        .get("messages")
        .and_then(Value::as_array)
        .is_some_and(|messages| messages.iter().all(|message| message["role"].is_string()))
}

/// A prompt of OpenAI's older completions is a list of texts, which the messages repeat.
fn prompt_of_completions(prompt: &mut Map<String, Value>) -> Option<Value> {
    let messages = prompt.get("messages").and_then(Value::as_array);
    if messages.is_some_and(|messages| messages.iter().all(Value::is_string)) {
        prompt.remove("messages");
    }
    (!prompt.is_empty()).then(|| std::mem::take(prompt).into())
}

/// The prompt as it was sent. Images and sounds were taken out of it before it was logged: they are
/// put back if the log has all of them.
fn restore_prompt(
    turn: &mut LlmCall,
    mut prompt: Map<String, Value>,
    earlier: &Earlier,
    shared: &LlmContext,
) {
    let mut messages = match prompt.remove("messages") {
        Some(Value::Array(messages)) => messages,
        _ => Vec::new(),
    };
    let mut gaps: Vec<&mut Value> = Vec::new();
    for message in &mut messages {
        let parts = message.get_mut("content").and_then(Value::as_array_mut);
        for part in parts.into_iter().flatten() {
            let is_gap =
                part["image_url"]["url"] == "data:..." || part["input_audio"]["data"] == "...";
            if is_gap {
                gaps.push(part);
            }
        }
    }
    // Notes about them were made when they were first sent.
    let mut unsaid = Notes::default();
    let parts = earlier.attachments.iter().map(|id| shared.part(id, "", &mut unsaid));
    let parts: Vec<(Value, bool)> = parts.filter(|(part, _)| part["file"].is_null()).collect();
    let fits = parts.len() == gaps.len();
    turn.is_exact = fits || gaps.is_empty();
    if fits {
        for (gap, (part, is_whole)) in gaps.into_iter().zip(parts) {
            let is_detailed = !gap["image_url"]["detail"].is_null();
            turn.is_exact &= is_whole && !is_detailed && part["type"] == gap["type"];
            if part["type"] == gap["type"] {
                *gap = part;
            }
        }
    }
    turn.messages = messages;
    prompt.remove("model");
    turn.more = prompt;
}

impl LlmAnswerDetails {
    fn read(log: &mut LlmLog, notes: &mut Notes) -> Result<Self, LlmError> {
        let mut of = |table: &str, column: &'static str| -> Result<_, LlmError> {
            let mut rows: Vec<(String, i64, LlmRow)> = Vec::new();
            for row in log.rows(table, &["response_id", column, "order"])? {
                let response = row.text("response_id").unwrap_or_default().to_owned();
                rows.push((response, row.integer("order").unwrap_or_default(), row));
            }
            rows.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
            Ok(rows)
        };
        let numbers = |rows: Vec<(String, i64, LlmRow)>, column: &str| {
            let mut all: BTreeMap<String, Vec<i64>> = BTreeMap::new();
            for (response, _, row) in rows {
                all.entry(response).or_default().extend(row.integer(column));
            }
            all
        };
        let fragments = numbers(of("prompt_fragments", "fragment_id")?, "fragment_id");
        let system_fragments = numbers(of("system_fragments", "fragment_id")?, "fragment_id");
        let tools = numbers(of("tool_responses", "tool_id")?, "tool_id");
        let mut attachments: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (response, _, row) in of("prompt_attachments", "attachment_id")? {
            let ids = attachments.entry(response).or_default();
            ids.extend(row.text("attachment_id").map(str::to_owned));
        }
        let mut calls: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for row in log.rows("tool_calls", &["response_id", "name", "arguments", "tool_call_id"])? {
            let response = row.text("response_id").unwrap_or_default().to_owned();
            let function = json!({"name": row.text("name"), "arguments": row.text("arguments")});
            calls.entry(response).or_default().push(
                json!({"id": row.text("tool_call_id"), "type": "function", "function": function}),
            );
        }
        let mut results: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let columns = &["id", "response_id", "name", "output", "tool_call_id", "exception"];
        for row in log.rows("tool_results", columns)? {
            let response = row.text("response_id").unwrap_or_default().to_owned();
            if row.text("exception").is_some() {
                let what = "the exception of a tool, of which the model saw the output";
                notes.add(what, &format!("responses {}", printable(&response, 60)));
            }
            results.entry(response).or_default().push(json!({
                "role": "tool", "tool_call_id": row.text("tool_call_id"), "content": row.text("output"),
            }));
        }
        for row in log.rows("tool_results_attachments", &["tool_result_id"])? {
            let id = row.integer("tool_result_id").unwrap_or_default();
            notes.add("an attachment that a tool returned", &format!("tool_results {id}"));
        }
        Ok(LlmAnswerDetails { fragments, system_fragments, attachments, tools, calls, results })
    }

    /// What this turn adds to its conversation.
    fn new_messages(
        &self,
        row: &LlmRow,
        earlier: &mut Earlier,
        shared: &LlmContext,
        place: &str,
        notes: &mut Notes,
    ) -> Vec<Value> {
        let id = row.text("id").unwrap_or_default();
        let mut joined = |own: Option<&str>, of: &BTreeMap<String, Vec<i64>>| {
            let mut pieces = Vec::new();
            for fragment in of.get(id).into_iter().flatten() {
                match shared.fragments.get(fragment) {
                    Some(text) => pieces.push(text.as_str()),
                    None => notes.add("a fragment that is not in the file", place),
                }
            }
            pieces.extend(own.filter(|text| !text.is_empty()));
            (!pieces.is_empty()).then(|| pieces.join("\n"))
        };
        let system = joined(row.text("system"), &self.system_fragments);
        let prompt = joined(row.text("prompt"), &self.fragments);
        let mut said = Vec::new();
        if let Some(system) = system.filter(|system| earlier.system.as_ref() != Some(system)) {
            said.push(json!({"role": "system", "content": system}));
            earlier.system = Some(system);
        }
        said.extend(self.results.get(id).into_iter().flatten().cloned());
        let attachments = self.attachments.get(id).map_or(&[][..], Vec::as_slice);
        earlier.attachments.extend(attachments.iter().cloned());
        if attachments.is_empty() {
            said.extend(prompt.map(|prompt| json!({"role": "user", "content": prompt})));
        } else {
            let mut parts: Vec<Value> =
                prompt.into_iter().map(|text| json!({"type": "text", "text": text})).collect();
            parts.extend(attachments.iter().map(|id| shared.part(id, place, notes).0));
            said.push(json!({"role": "user", "content": parts}));
        }
        said
    }
}
