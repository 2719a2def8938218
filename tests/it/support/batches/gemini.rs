//! Gemini's batches, which it shows as operations.

use serde_json::{Map, Value, json};

use super::answers::Refusal;
use super::batch::{Batch, Line, Outcome, Stage};
use super::gemini_files::{self, input};
use super::routes::{Api, Kind, Route, parameter};
use super::world::World;
use crate::support::server::{Received, Reply};

pub(super) fn refuse(refusal: &Refusal) -> Reply {
    let error = json!({"code": refusal.status, "message": refusal.message,
        "status": status(refusal.status).1});
    Reply::new(refusal.status, json!({"error": error}).to_string())
}

/// The number and the word for a status of HTTP.
fn status(http: u16) -> (u16, &'static str) {
    match http {
        401 => (16, "UNAUTHENTICATED"),
        403 => (7, "PERMISSION_DENIED"),
        404 => (5, "NOT_FOUND"),
        429 => (8, "RESOURCE_EXHAUSTED"),
        503 => (14, "UNAVAILABLE"),
        500.. => (13, "INTERNAL"),
        _ => (3, "INVALID_ARGUMENT"),
    }
}

pub(super) fn invalid(message: impl Into<String>) -> Reply {
    refuse(&Refusal::new(400, message))
}

/// A field under either of its names: the API reads both.
pub(super) fn field<'a>(of: &'a Map<String, Value>, camel: &str, snake: &str) -> Option<&'a Value> {
    of.get(camel).or_else(|| of.get(snake)).filter(|value| !value.is_null())
}

pub(super) fn reply(world: &mut World, route: &Route, received: &Received) -> Reply {
    // The URL of a started upload is a secret of its own.
    if route.kind == Kind::Upload {
        return gemini_files::upload(world, received);
    }
    let key = received.header("x-goog-api-key").map(str::to_owned);
    let Some(owner) = key.or_else(|| parameter(received, "key")).filter(|key| !key.is_empty())
    else {
        let message =
            "Method doesn't allow unregistered callers (callers without established identity).";
        return refuse(&Refusal::new(403, message));
    };
    match route.kind {
        Kind::Create => return create(world, &route.id, received, &owner),
        Kind::List => return list(world, received, &owner),
        Kind::Live => return live(world, &route.id, received),
        Kind::Get | Kind::Cancel => {}
        _ => return gemini_files::reply(world, route, received, &owner),
    }
    let id = route.id.strip_prefix("batches/").unwrap_or_default();
    let Some(number) = world.find(Api::Gemini, id, &owner) else {
        return refuse(&Refusal::new(404, "Requested entity was not found."));
    };
    if route.kind == Kind::Cancel {
        let batch = &world.batches[number];
        if batch.ended().is_none() && batch.stage != Stage::Cancelling {
            world.cancel(number);
        }
        return Reply::new(200, "{}");
    }
    Reply::new(200, operation(world, &world.batches[number]).to_string())
}

fn live(world: &mut World, model: &str, received: &Received) -> Reply {
    let Ok(body) = serde_json::from_slice::<Value>(&received.body) else {
        return invalid("Invalid JSON payload received.");
    };
    match world.ask(Api::Gemini, model, &body, None) {
        Ok(answer) => Reply::new(200, answer.to_string()),
        Err(refusal) => refuse(&refusal),
    }
}

/// The fields of an object, none of which may be unknown; each is given with both of its names.
fn fields<'a>(
    object: Option<&'a Value>,
    at: &str,
    known: &[&str],
) -> Result<&'a Map<String, Value>, String> {
    let object = object.and_then(Value::as_object);
    let object = object.ok_or_else(|| format!("{at}: an object is required"))?;
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(object),
        Some(key) => Err(format!(
            "Invalid JSON payload received. Unknown name \"{key}\" at '{at}': Cannot find field."
        )),
    }
}

fn create(world: &mut World, model: &str, received: &Received, owner: &str) -> Reply {
    let most = world.options.max_inline_bytes;
    if received.body.len() > most {
        return invalid(format!("Request payload size exceeds the limit: {most} bytes."));
    }
    let Ok(body) = serde_json::from_slice::<Value>(&received.body) else {
        return invalid("Invalid JSON payload received.");
    };
    match read(world, model, &body, owner) {
        Err(why) => invalid(why),
        Ok(batch) => {
            let batch = world.create(batch).clone();
            Reply::new(200, operation(world, &batch).to_string())
        }
    }
}

fn read(world: &mut World, model: &str, body: &Value, owner: &str) -> Result<Batch, String> {
    let body = fields(Some(body), "", &["batch"])?;
    let known = [
        "displayName", "display_name", "inputConfig", "input_config", "model", "priority",
        "webhookConfig", "webhook_config",
    ];
    let batch = fields(body.get("batch"), "batch", &known)?;
    let name = field(batch, "displayName", "display_name").and_then(Value::as_str);
    let name = name.filter(|name| !name.is_empty()).ok_or("batch.display_name is required")?;
    let input_config = field(batch, "inputConfig", "input_config");
    let known = ["fileName", "file_name", "requests"];
    let config = fields(input_config, "batch.input_config", &known)?;
    let (lines, problems, file) =
        match (field(config, "fileName", "file_name"), config.get("requests")) {
            (Some(file), None) => {
                let file = file.as_str().unwrap_or_default();
                let (lines, problems) = input(world, file, owner)?;
                (lines, problems, Some(file.to_owned()))
            }
            (None, Some(requests)) => (inline(requests)?, Vec::new(), None),
            _ => return Err("batch.input_config: exactly one source is required".to_owned()),
        };
    let created = world.now;
    Ok(Batch {
        id: world.id(),
        api: Api::Gemini,
        owner: owner.to_owned(),
        endpoint: model.to_owned(),
        about: json!({"model": model, "displayName": name, "file": file}),
        problems,
        lines,
        stage: Stage::Validating,
        stages: vec![(Stage::Validating, created)],
        expires: Some(World::days(created, 2)),
        fate: Default::default(),
        results: [None, None],
    })
}

/// Questions in the request itself.
fn inline(requests: &Value) -> Result<Vec<Line>, String> {
    let at = "batch.input_config.requests";
    let requests = fields(Some(requests), at, &["requests"])?.get("requests");
    let requests = requests.and_then(Value::as_array).filter(|requests| !requests.is_empty());
    let requests = requests.ok_or_else(|| format!("{at}: at least one request is required"))?;
    let line = |request: &Value| {
        let request = fields(Some(request), at, &["request", "metadata"])?;
        let asked = request.get("request").ok_or_else(|| format!("{at}: request is required"))?;
        let key = request.get("metadata").and_then(|metadata| metadata["key"].as_str());
        Ok(Line::new(key.unwrap_or_default(), body(asked)))
    };
    requests.iter().map(line).collect()
}

/// What is asked; the model is that of the batch.
pub(super) fn body(request: &Value) -> Value {
    let mut body = request.clone();
    if let Some(fields) = body.as_object_mut() {
        fields.remove("model");
    }
    body
}

fn list(world: &World, received: &Received, owner: &str) -> Reply {
    let all = world.list(Api::Gemini, owner);
    let all = all.iter().map(|batch| operation(world, batch)).collect();
    page(received, "operations", all, 100)
}

/// One page of a list. A token is the place at which the page begins.
pub(super) fn page(received: &Received, name: &str, all: Vec<Value>, most: usize) -> Reply {
    let number = |name: &str, usual: usize| {
        parameter(received, name).map_or(Some(usual), |text| text.parse().ok())
    };
    let (Some(size), Some(begin)) = (number("pageSize", 10), number("pageToken", 0)) else {
        return invalid("Invalid page size or page token.");
    };
    if size > most || begin > all.len() {
        return invalid(format!("Invalid page size or page token: a page has at most {most}."));
    }
    let end = (begin + size.max(1)).min(all.len());
    let mut list = json!({name: all[begin..end]});
    if end < all.len() {
        list["nextPageToken"] = json!(end.to_string());
    }
    Reply::new(200, list.to_string())
}

/// What the API says of a question that was not answered.
pub(super) fn line_error(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Refused(refusal) => {
            json!({"code": status(refusal.status).0, "message": refusal.message})
        }
        _ => json!({"code": 1, "message": "The operation was cancelled."}),
    }
}

/// A batch as the API shows it.
fn operation(world: &World, batch: &Batch) -> Value {
    let state = match batch.stage {
        Stage::Validating => "PENDING",
        Stage::Running | Stage::Finalizing | Stage::Cancelling => "RUNNING",
        Stage::Completed => "SUCCEEDED",
        Stage::Failed => "FAILED",
        Stage::Cancelled => "CANCELLED",
        Stage::Expired => "EXPIRED",
    };
    let answered = batch.count(|outcome| matches!(outcome, Outcome::Answered(_)));
    let waiting = batch.count(|outcome| *outcome == Outcome::Waiting);
    let (all, updated) = (batch.lines.len(), batch.stages.last().unwrap().1);
    let mut metadata = json!({
        "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
        "model": batch.about["model"], "displayName": batch.about["displayName"],
        "name": format!("batches/{}", batch.id), "state": format!("BATCH_STATE_{state}"),
        "createTime": World::time(batch.created()), "updateTime": World::time(updated),
        "batchStats": {"requestCount": all.to_string(), "pendingRequestCount": waiting.to_string(),
            "successfulRequestCount": answered.to_string(),
            "failedRequestCount": (all - answered - waiting).to_string()}});
    if batch.about["file"].is_string() {
        metadata["inputConfig"] = json!({"fileName": batch.about["file"]});
    }
    let mut operation = json!({"name": format!("batches/{}", batch.id)});
    if let Some(ended) = batch.ended() {
        metadata["endTime"] = json!(World::time(ended));
        operation["done"] = true.into();
        match batch.stage {
            Stage::Completed if world.is_named(batch) => {
                let output = output(batch);
                metadata["output"] = output.clone();
                operation["response"] = output;
                operation["response"]["@type"] = json!(
                    "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatchOutput"
                );
            }
            Stage::Completed => {}
            Stage::Cancelled => operation["error"] = line_error(&Outcome::Cancelled),
            Stage::Expired => {
                operation["error"] = json!({"code": 4, "message": "The batch has expired."});
            }
            _ => {
                let why = batch.problems.first().map_or("refused for a test", |it| &it.message);
                operation["error"] = json!({"code": 3, "message": why});
            }
        }
    }
    operation["metadata"] = metadata;
    operation
}

/// Where the answers are. Those in the batch itself are in the order of the questions.
fn output(batch: &Batch) -> Value {
    if let Some(file) = &batch.results[0] {
        return json!({"responsesFile": file});
    }
    let response = |line: &Line| {
        let mut response = match &line.outcome {
            Outcome::Answered(answer) => json!({"response": answer}),
            other => json!({"error": line_error(other)}),
        };
        if !line.custom_id.is_empty() {
            response["metadata"] = json!({"key": line.custom_id});
        }
        response
    };
    let responses: Vec<Value> = batch.lines.iter().map(response).collect();
    json!({"inlinedResponses": {"inlinedResponses": responses}})
}
