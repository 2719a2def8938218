//! Logs of Inspect AI: `.eval` archives and `.json` files. Each model event is an exchange, and the scores
//! of a sample are decisions.
//!
//! A log has the requests and responses as JSON, but not the address: the provider is the first part of the model's name.
//! Texts and messages that occur more than once are stored once, and referred to.

pub(crate) mod archive;
mod numbers;
mod pool;
mod scores;
mod sent;

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use retold::escaping::printable;
use retold::model::{FailureKind, Response};
use retold::prompt::{Api, Request};
use serde_json::{Map, Value, json};

use super::Placed;
use crate::error::FileProblem;
use crate::exchange::{TrafficAnswer, TrafficExchange, TrafficQuestion, failed_attempt};
use crate::file::json_value;
use crate::notes::Notes;

use pool::{MOST_BYTES, SamplePool};
use scores::add_scores;
use sent::{http, json_headers};

/// The contents of a log.
pub(crate) struct InspectLog {
    pub(crate) exchanges: Vec<TrafficExchange>,
    /// True if the evaluation came to its end.
    pub(crate) is_ended: bool,
}

/// Reads a log in JSON.
///
/// # Errors
/// The problem, and its place.
pub(crate) fn read(text: &str, notes: &mut Notes) -> Placed<InspectLog> {
    let log = json_value(&numbers::of_json(text, "the log", notes))?;
    if !log["eval"].is_object() {
        return Err((None, FileProblem::Missing("eval")));
    }
    let (mut exchanges, mut left) = (Vec::new(), MOST_BYTES);
    for sample in log["samples"].as_array().into_iter().flatten() {
        exchanges.extend(of_sample(sample, &log, &mut left, notes).map_err(|wrong| (None, wrong))?);
    }
    Ok(InspectLog { exchanges, is_ended: status(&log, notes) })
}

/// Whether an evaluation came to its end, which its status says; another one is noted.
fn status(log: &Value, notes: &mut Notes) -> bool {
    // The first entry of an archive has none.
    let status = log["status"].as_str().unwrap_or("started");
    if status != "success" {
        let said = format!(
            "that the evaluation has the status {}: the run is not finished",
            printable(status, 40)
        );
        notes.add(&said, "the log");
    }
    status == "success"
}

/// The exchanges of one sample. `left` is how much may still be put back.
///
/// # Errors
/// [`FileProblem`].
fn of_sample(
    sample: &Value,
    log: &Value,
    left: &mut usize,
    notes: &mut Notes,
) -> Result<Vec<TrafficExchange>, FileProblem> {
    let place = format!("sample {}, epoch {}", id_text(&sample["id"]), id_text(&sample["epoch"]));
    let label = json!({"sample": sample["id"], "epoch": sample["epoch"]});
    let mut pool = SamplePool::new(sample, left);
    let mut exchanges = Vec::new();
    // In the first releases, events were in a transcript.
    let events = match sample["events"].is_array() {
        true => &sample["events"],
        false => &sample["transcript"]["events"],
    };
    for (at, event) in model_events(events, "") {
        let place = format!("{place}, event {at}");
        if event["cache"] == "read" {
            notes.add("an answer from Inspect's own cache, which was not asked for", &place);
            continue;
        }
        let (asked, answer) = exchange(event, &log["eval"], &mut pool, &place, notes)?;
        let seconds = event["call"]["time"].as_f64().or(event["output"]["time"].as_f64());
        let latency = Duration::try_from_secs_f64(seconds.unwrap_or(0.0)).unwrap_or_default();
        let retries = event["retries"].as_u64().unwrap_or(0);
        if retries > 0 {
            notes.add("failed attempts, of which the file has only the number", &place);
        }
        let (answers, label) = (answer.into_iter().collect(), Some(label.clone()));
        let decisions = Vec::new();
        exchanges.push(TrafficExchange { place, asked, answers, decisions, label, latency });
    }
    add_scores(sample, log, &mut exchanges, &place, notes);
    Ok(exchanges)
}

/// The events of models, and where they are. Tools and subtasks had events of their own, once.
fn model_events<'a>(events: &'a Value, within: &str) -> Vec<(String, &'a Value)> {
    let mut found = Vec::new();
    for (at, event) in events.as_array().into_iter().flatten().enumerate() {
        let at = format!("{within}{at}");
        match event["event"].as_str() {
            Some("model") => found.push((at, event)),
            _ => found.extend(model_events(&event["events"], &format!("{at}."))),
        }
    }
    found
}

/// An id, for messages.
fn id_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| printable(text, 60))
}

fn exchange(
    event: &Value,
    eval: &Value,
    pool: &mut SamplePool<'_>,
    place: &str,
    notes: &mut Notes,
) -> Result<(TrafficQuestion, Option<TrafficAnswer>), FileProblem> {
    let failed = event["error"].as_str();
    let call = pool.call(event)?;
    if let Some((request, response)) = call
        && let Some(http) = http(event, eval, request)
    {
        notes.add("the bytes of a body, of which the file has only the JSON in it", place);
        let answer = match (response.is_object(), failed) {
            (true, None) => Some(TrafficAnswer::Http {
                status: StatusCode::OK,
                headers: json_headers(),
                body: Bytes::from(response.to_string()),
            }),
            (_, Some(error)) => {
                Some(failed_attempt(FailureKind::Server, "error", &printable(error, 300)))
            }
            (false, None) => None,
        };
        return Ok((TrafficQuestion::Http(http), answer));
    }
    notes.add("that the request of an exchange is not in the file: it is shown and parsed, but not replayed", place);
    let mut body = Map::new();
    body.insert("http".to_owned(), json!({"dialect": "inspect@1"}));
    body.insert("model".to_owned(), event["model"].clone());
    body.insert("messages".to_owned(), pool.messages(event)?);
    for (name, value) in event["config"].as_object().into_iter().flatten() {
        if !value.is_null() && !body.contains_key(name) {
            body.insert(name.clone(), value.clone());
        }
    }
    if event["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
        body.insert("tools".to_owned(), event["tools"].clone());
        body.insert("tool_choice".to_owned(), event["tool_choice"].clone());
    }
    let request = Request::of_program(Api::Chat, body);
    let request = request.map_err(|error| FileProblem::Said(error.to_string()))?;
    let answer = match failed {
        Some(error) => Some(failed_attempt(FailureKind::Server, "error", &printable(error, 300))),
        None => output(&event["output"]).map(|answer| TrafficAnswer::Read(Box::new(answer))),
    };
    Ok((TrafficQuestion::other("inspect", request), answer))
}

/// The answer as Inspect reads it.
fn output(output: &Value) -> Option<Response> {
    let choice = output["choices"].get(0)?;
    let content = &choice["message"]["content"];
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    let usage = &output["usage"];
    let mut response = Response::text(text);
    response.model = output["model"].as_str().map(str::to_owned);
    response.finish_reason = choice["stop_reason"].as_str().map(str::to_owned);
    response.usage = usage.is_object().then(|| retold::model::Usage {
        prompt_tokens: usage["input_tokens"].as_u64(),
        completion_tokens: usage["output_tokens"].as_u64(),
        cached_tokens: usage["input_tokens_cache_read"].as_u64(),
        reasoning_tokens: usage["reasoning_tokens"].as_u64(),
        cost: None,
    });
    if let Some(written) = usage["input_tokens_cache_write"].as_u64().filter(|tokens| *tokens > 0) {
        // Under Anthropic's name, like all tokens that are written to a cache.
        let written = json!({"cache_creation_input_tokens": written});
        response.extra.insert("usage".to_owned(), written);
    }
    let calls = choice["message"]["tool_calls"].as_array().filter(|calls| !calls.is_empty());
    if let Some(calls) = calls {
        let calls = calls.iter().map(|call| {
            json!({"id": call["id"], "type": "function",
                "function": {"name": call["function"], "arguments": call["arguments"].to_string()}})
        });
        response.extra.insert("tool_calls".to_owned(), calls.collect());
    }
    Some(response)
}
