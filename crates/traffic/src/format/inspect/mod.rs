//! Logs of Inspect AI: `.eval` archives and `.json` files. Each model event is an exchange.
//!
//! A log says what was sent and received as JSON, and not where: the provider is the first part of
//! the model's name. Texts and messages that occur more than once are stored once, and referred to.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use retold::escaping::printable;
use retold::model::{FailureKind, Response};
use retold::prompt::{Api, Request};
use serde_json::{Map, Value, json};

use crate::error::FileProblem;
use crate::exchange::{Http, TrafficAnswer, TrafficExchange, TrafficQuestion, unanswered};
use crate::notes::Notes;

/// What stands for an attachment, before its hash.
const ATTACHMENT: &str = "attachment://";

/// How much the attachments of one sample may amount to when they are put back.
const MOST_BYTES: usize = 256 << 20;

/// The exchanges of a log in JSON.
///
/// # Errors
/// [`FileProblem`].
pub(crate) fn read(log: &Value, notes: &mut Notes) -> Result<Vec<TrafficExchange>, FileProblem> {
    let eval = log.get("eval").ok_or(FileProblem::Missing("eval"))?;
    let samples = log["samples"].as_array().map_or(&[][..], Vec::as_slice);
    let mut exchanges = Vec::new();
    for sample in samples {
        exchanges.extend(of_sample(sample, eval, notes)?);
    }
    Ok(exchanges)
}

/// The exchanges of one sample.
///
/// # Errors
/// [`FileProblem`].
pub(crate) fn of_sample(
    sample: &Value,
    eval: &Value,
    notes: &mut Notes,
) -> Result<Vec<TrafficExchange>, FileProblem> {
    let place = format!("sample {}, epoch {}", shown(&sample["id"]), shown(&sample["epoch"]));
    let label = json!({"sample": sample["id"], "epoch": sample["epoch"]});
    let mut pool = SamplePool { sample, left: MOST_BYTES };
    let mut exchanges = Vec::new();
    for (at, event) in sample["events"].as_array().into_iter().flatten().enumerate() {
        if event["event"] != "model" {
            continue;
        }
        let place = format!("{place}, event {at}");
        if event["cache"] == "read" {
            notes.lost("an answer from Inspect's own cache, which was not asked for", &place);
            continue;
        }
        let (asked, answer) = exchange(event, eval, &mut pool, &place, notes)?;
        let seconds = event["call"]["time"].as_f64().or(event["output"]["time"].as_f64());
        let latency = Duration::try_from_secs_f64(seconds.unwrap_or(0.0)).unwrap_or_default();
        let retries = event["retries"].as_u64().unwrap_or(0);
        if retries > 0 {
            notes.lost("failed attempts, of which the file has only the number", &place);
        }
        let (answers, label) = (answer.into_iter().collect(), Some(label.clone()));
        exchanges.push(TrafficExchange { place, asked, answers, label, latency });
    }
    Ok(exchanges)
}

/// An id, for messages.
fn shown(value: &Value) -> String {
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
        notes.lost("the bytes of a body, of which the file has only the JSON in it", place);
        let answer = match (response.is_object(), failed) {
            (true, None) => Some(TrafficAnswer::Http {
                status: StatusCode::OK,
                headers: json_headers(),
                body: Bytes::from(response.to_string()),
            }),
            (_, Some(error)) => {
                Some(unanswered(FailureKind::Server, "error", &printable(error, 300)))
            }
            (false, None) => None,
        };
        return Ok((TrafficQuestion::Http(http), answer));
    }
    notes.lost("that the request of an exchange is not in the file: it is shown and parsed, but not replayed", place);
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
        Some(error) => Some(unanswered(FailureKind::Server, "error", &printable(error, 300))),
        None => output(&event["output"]).map(|answer| TrafficAnswer::Read(Box::new(answer))),
    };
    Ok((TrafficQuestion::Other("inspect", Box::new(request)), answer))
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

fn json_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers
}

/// The request as it went over HTTP, if its provider is one whose API is known.
fn http(event: &Value, eval: &Value, request: Value) -> Option<Http> {
    let Value::Object(mut body) = request else { return None };
    let mut headers = json_headers();
    let extra = body.remove("extra_headers");
    for (name, value) in extra.as_ref().and_then(Value::as_object).into_iter().flatten().take(1000)
    {
        let value = value.as_str().and_then(|value| HeaderValue::from_str(value).ok());
        if let (Ok(name), Some(value)) = (HeaderName::try_from(name.as_str()), value) {
            headers.insert(name, value);
        }
    }
    // Arguments of the SDK, which are not sent as they are.
    if let Some(Value::Object(more)) = body.remove("extra_body") {
        body.extend(more);
    }
    for name in ["timeout", "extra_query"] {
        body.remove(name);
    }
    // What was not given.
    body.retain(|_, value| !value.is_null());
    let provider = event["model"].as_str().and_then(|model| model.split('/').next())?;
    let named = eval["model_base_url"].as_str();
    let has = |name: &str| body.contains_key(name);
    let (base, path) = match provider {
        "openai" if has("input") => {
            (named.unwrap_or("https://api.openai.com/v1"), "/responses".to_owned())
        }
        "openai" if has("messages") => {
            (named.unwrap_or("https://api.openai.com/v1"), "/chat/completions".to_owned())
        }
        "anthropic" if has("messages") => {
            if !headers.contains_key("anthropic-version") {
                headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
            }
            (named.unwrap_or("https://api.anthropic.com"), "/v1/messages".to_owned())
        }
        // Servers with OpenAI's API.
        _ if has("messages") && event["call"]["response"]["object"] == "chat.completion" => {
            (named?, "/chat/completions".to_owned())
        }
        _ => return None,
    };
    let url = format!("{}{path}", base.trim_end_matches('/'));
    let body = Bytes::from(Value::Object(body).to_string());
    Some(Http { method: Method::POST, url, headers, body })
}

/// What a sample stores once.
struct SamplePool<'a> {
    sample: &'a Value,
    left: usize,
}

impl SamplePool<'_> {
    /// What was sent and received, if the log has it.
    fn call(&mut self, event: &Value) -> Result<Option<(Value, Value)>, FileProblem> {
        let call = &event["call"];
        if !call["request"].is_object() {
            return Ok(None);
        }
        let mut request = call["request"].clone();
        if let Some(key) = call["call_key"].as_str() {
            request[key] = self.ranges(&call["call_refs"], "calls")?;
        }
        let mut response = call["response"].clone();
        self.attached(&mut request)?;
        self.attached(&mut response)?;
        Ok(Some((request, response)))
    }

    /// The messages of an event as Inspect has them.
    fn messages(&mut self, event: &Value) -> Result<Value, FileProblem> {
        let mut messages = match event["input_refs"].is_array() {
            true => self.ranges(&event["input_refs"], "messages")?,
            false => event["input"].clone(),
        };
        self.attached(&mut messages)?;
        for message in messages.as_array_mut().into_iter().flatten() {
            if let Some(fields) = message.as_object_mut() {
                // Made up for each log.
                fields.retain(|name, _| !matches!(name.as_str(), "id" | "source" | "model"));
            }
        }
        Ok(if messages.is_array() { messages } else { json!([]) })
    }

    /// Items of a list that the sample has, by ranges.
    fn ranges(&mut self, ranges: &Value, list: &str) -> Result<Value, FileProblem> {
        let wrong = || FileProblem::Said(format!("a reference leads out of events_data.{list}"));
        let all = self.sample["events_data"][list].as_array().map_or(&[][..], Vec::as_slice);
        let mut items = Vec::new();
        for range in ranges.as_array().into_iter().flatten() {
            let bound = |at: usize| range[at].as_u64().and_then(|at| usize::try_from(at).ok());
            let (begin, end) = bound(0).zip(bound(1)).ok_or_else(wrong)?;
            let found = all.get(begin..end).ok_or_else(wrong)?;
            for item in found {
                self.spend(item.to_string().len())?;
                items.push(item.clone());
            }
        }
        Ok(items.into())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), FileProblem> {
        let most = MOST_BYTES >> 20;
        self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            FileProblem::Said(format!("the messages of a sample amount to more than {most} MiB"))
        })?;
        Ok(())
    }

    /// Puts attachments back where they are referred to.
    fn attached(&mut self, value: &mut Value) -> Result<(), FileProblem> {
        match value {
            Value::String(text) if text.contains(ATTACHMENT) => {
                let (mut out, mut rest) = (String::new(), text.as_str());
                while let Some(at) = rest.find(ATTACHMENT) {
                    let (before, after) = rest.split_at(at);
                    let hash = &after[ATTACHMENT.len()..];
                    let end = hash.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(hash.len());
                    let attached = self.sample["attachments"][&hash[..end]].as_str();
                    out.push_str(before);
                    out.push_str(attached.unwrap_or(&after[..ATTACHMENT.len() + end]));
                    rest = &hash[end..];
                }
                out.push_str(rest);
                self.spend(out.len())?;
                *text = out;
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.attached(item))?,
            Value::Object(fields) => {
                fields.values_mut().try_for_each(|item| self.attached(item))?
            }
            _ => {}
        }
        Ok(())
    }
}

/// The exchanges of an archive, whose samples are files of their own.
///
/// # Errors
/// [`FileProblem`], and where.
pub(crate) fn read_archive(
    bytes: &[u8],
    notes: &mut Notes,
) -> Result<Vec<TrafficExchange>, (Option<String>, FileProblem)> {
    let said = |error: crate::zip::ZipError| (None, FileProblem::Said(error.to_string()));
    let mut archive = crate::zip::ZipArchive::new(bytes).map_err(said)?;
    let entries = archive.entries.clone();
    let mut json = |name: &str| {
        let found = entries.iter().find(|entry| entry.name == name);
        let Some(entry) = found else { return Ok(None) };
        let bytes = archive.read(entry).map_err(said)?;
        let place = |at: Option<String>| match at {
            Some(at) => Some(format!("{name}, {at}")),
            None => Some(name.to_owned()),
        };
        let text = std::str::from_utf8(&bytes).map_err(|_| (place(None), FileProblem::NotUtf8))?;
        crate::file::json_value(text).map(Some).map_err(|(at, wrong)| (place(at), wrong))
    };
    // A log whose writing was cut off has only the first of these.
    let header = match json("header.json")? {
        Some(header) => Some(header),
        None => json("_journal/start.json")?,
    };
    let eval = header.map(|header| header["eval"].clone()).filter(Value::is_object);
    let eval =
        eval.ok_or((None, FileProblem::Not("a log of Inspect AI: it has no header.json")))?;
    let mut names: Vec<&str> = entries
        .iter()
        .map(|entry| entry.name.as_str())
        .filter(|name| name.starts_with("samples/") && name.ends_with(".json"))
        .collect();
    names.sort_unstable();
    names.dedup();
    let mut exchanges = Vec::new();
    for name in names {
        let Some(sample) = json(name)? else { continue };
        let found = of_sample(&sample, &eval, notes);
        exchanges.extend(found.map_err(|wrong| (Some(name.to_owned()), wrong))?);
    }
    Ok(exchanges)
}
