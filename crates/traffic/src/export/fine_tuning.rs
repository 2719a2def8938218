//! JSON Lines for fine-tuning at OpenAI: one conversation per line, which ends with the answer.

use retold::id::RunId;
use retold::log::{LogError, Reader};
use retold::members::Members;
use retold::model::providers::{Conversation, conversation};
use retold::prompt::Api;
use serde_json::{Map, Value, json};

use super::{ExportError, ExportedOutcome, QuestionOutcome, each, request};
use crate::notes::Notes;

/// Writes each answer of a run with its conversation. Returns the number of answers, and notes on the parts that the format
/// cannot hold.
///
/// # Errors
/// [`ExportError`], and any error of `line`.
pub fn export_fine_tuning<E: From<ExportError> + From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    line: &mut dyn FnMut(&str) -> Result<(), E>,
) -> Result<(u64, Notes), E> {
    let mut notes = Notes::default();
    let mut written = 0;
    each::<E>(reader, run, &mut notes, |reader, answered, notes| {
        let QuestionOutcome { seq, prompt, outcome, labels, .. } = answered;
        let place = format!("seq {seq}");
        let ExportedOutcome::Answer(content, details) = outcome else {
            notes.add("a failed attempt", &place);
            return Ok(());
        };
        let asked = request(reader, run, seq, prompt)?;
        let Some(body) = asked.body().as_object().filter(|_| asked.api() == Api::Chat) else {
            notes.add("a request that is not a conversation", &place);
            return Ok(());
        };
        let dialect = body.get("http").and_then(|address| address["dialect"].as_str());
        let dialect = dialect.and_then(|name| name.split('@').next()).unwrap_or("openai.chat");
        let Some(Conversation { mut messages, tools, lost }) = conversation(dialect, body) else {
            notes.add(&format!("a request to an API that is not known ({dialect})"), &place);
            return Ok(());
        };
        if !labels.is_empty() {
            notes.add("the labels of a call, which `--as exchanges` keeps", &place);
        }
        for what in lost {
            notes.add(&what, &place);
        }
        let calls = details.extra.get("tool_calls").filter(|calls| calls.is_array());
        let text = content.text();
        if text.is_empty() && calls.is_none() {
            notes.add("an answer without text or tool calls", &place);
            return Ok(());
        }
        for what in ["refusal", "reasoning", "reasoning_content", "thinking"] {
            if details.extra.contains_key(what) {
                notes.add(&format!("{what} of an answer"), &place);
            }
        }
        let mut message = json!({"role": "assistant"});
        if !text.is_empty() {
            message.set("content", text.into());
        }
        if let Some(calls) = calls {
            message.set("tool_calls", calls.clone());
        }
        messages.push(message);
        let mut example = Map::new();
        example.insert("messages".to_owned(), messages.into());
        if !tools.is_empty() {
            example.insert("tools".to_owned(), tools.into());
        }
        if let Some(parallel) = body.get("parallel_tool_calls").filter(|value| value.is_boolean()) {
            example.insert("parallel_tool_calls".to_owned(), parallel.clone());
        }
        line(&Value::Object(example).to_string())?;
        written += 1;
        Ok(())
    })?;
    match written {
        0 => Err(ExportError::Nothing { run, format: "a file for fine-tuning" }.into()),
        written => Ok((written, notes)),
    }
}
