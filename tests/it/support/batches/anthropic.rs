//! Anthropic's batches of messages.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::answers::Refusal;
use super::batch::{Batch, Line, Outcome, Stage};
use super::routes::{Api, Kind, Route, parameter};
use super::world::World;
use crate::support::server::{Received, Reply};

/// How long results can be read after a batch was created, in days.
const KEPT: i64 = 29;

pub(super) fn refuse(refusal: &Refusal) -> Reply {
    let body = json!({"type": "error", "error": error(refusal), "request_id": "req_test"});
    Reply::new(refusal.status, body.to_string())
}

fn error(refusal: &Refusal) -> Value {
    let kind = match refusal.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    json!({"type": kind, "message": refusal.message})
}

fn invalid(message: impl Into<String>) -> Reply {
    refuse(&Refusal::new(400, message))
}

pub(super) fn reply(world: &mut World, route: &Route, received: &Received) -> Reply {
    let bearer = received.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    let Some(owner) = received.header("x-api-key").or(bearer).filter(|key| !key.is_empty()) else {
        return refuse(&Refusal::new(401, "x-api-key header is required"));
    };
    if received.header("anthropic-version").is_none() {
        return invalid("anthropic-version: header is required");
    }
    match route.kind {
        Kind::Create => return create(world, received, owner),
        Kind::List => return list(world, received, owner),
        Kind::Live => return live(world, received),
        _ => {}
    }
    let Some(number) = world.find(Api::Anthropic, &route.id, owner) else {
        return refuse(&Refusal::new(404, format!("Message batch {} not found.", route.id)));
    };
    let batch = &world.batches[number];
    match route.kind {
        Kind::Cancel if batch.ended().is_some() => {
            invalid("Batches may be canceled any time before processing ends.")
        }
        Kind::Cancel => {
            // It has no stage in which its results are put together.
            if batch.stage != Stage::Cancelling {
                world.cancel(number);
            }
            Reply::new(200, object(world, &world.batches[number], received).to_string())
        }
        Kind::Results => results(world, batch),
        _ => Reply::new(200, object(world, batch, received).to_string()),
    }
}

fn live(world: &mut World, received: &Received) -> Reply {
    let Ok(body) = serde_json::from_slice::<Value>(&received.body) else {
        return invalid("The request body is not valid JSON");
    };
    match world.ask(Api::Anthropic, "messages", &body, None) {
        Ok(answer) => Reply::new(200, answer.to_string()),
        Err(refusal) => refuse(&refusal),
    }
}

fn create(world: &mut World, received: &Received, owner: &str) -> Reply {
    if received.body.len() > world.options.max_bytes[1] {
        return refuse(&Refusal::new(413, "Request exceeds the maximum size"));
    }
    let Ok(mut body) = serde_json::from_slice::<Map<String, Value>>(&received.body) else {
        return invalid("The request body is not valid JSON");
    };
    let requests = body.remove("requests");
    if let Some(other) = body.keys().next() {
        return invalid(format!("{other}: Extra inputs are not permitted"));
    }
    let Some(Value::Array(requests)) = requests else {
        return invalid("requests: Field required");
    };
    let (most, count) = (world.options.max_lines[1], requests.len());
    if count == 0 {
        return invalid("requests: List should have at least 1 item after validation, not 0");
    }
    if count > most {
        return invalid(format!(
            "requests: List should have at most {most} items after validation, not {count}"
        ));
    }
    let lines = match lines(requests) {
        Ok(lines) => lines,
        Err(why) => return invalid(why),
    };
    let id = format!("msgbatch_{}", world.id());
    let created = world.now;
    // It is in progress at once.
    let stages = vec![(Stage::Running, created)];
    let batch = world.create(Batch {
        id,
        api: Api::Anthropic,
        owner: owner.to_owned(),
        endpoint: "messages".to_owned(),
        about: Value::Null,
        problems: Vec::new(),
        lines,
        stage: Stage::Running,
        stages,
        expires: Some(World::days(created, 1)),
        fate: Default::default(),
        results: [None, None],
    });
    let batch = batch.clone();
    Reply::new(200, object(world, &batch, received).to_string())
}

/// The questions of a request. Their parameters are checked when they are asked, but for what batches never take.
fn lines(requests: Vec<Value>) -> Result<Vec<Line>, String> {
    let (mut lines, mut ids) = (Vec::new(), BTreeSet::new());
    for (place, request) in requests.into_iter().enumerate() {
        let at = format!("requests.{place}");
        let request =
            request.as_object().ok_or_else(|| format!("{at}: Input should be an object"))?;
        if let Some(key) =
            request.keys().find(|key| !["custom_id", "params"].contains(&key.as_str()))
        {
            return Err(format!("{at}.{key}: Extra inputs are not permitted"));
        }
        let id =
            request.get("custom_id").ok_or_else(|| format!("{at}.custom_id: Field required"))?;
        let fits = |id: &&str| {
            let is_of_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            (1..=64).contains(&id.len()) && id.bytes().all(is_of_id)
        };
        let Some(id) = id.as_str().filter(fits) else {
            return Err(format!(
                "{at}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
            ));
        };
        if !ids.insert(id.to_owned()) {
            return Err(format!("{at}.custom_id: {id} is not unique in the batch"));
        }
        let params = request.get("params").filter(|params| params.is_object());
        let params = params.ok_or_else(|| format!("{at}.params: Field required"))?;
        if params["stream"] == true {
            return Err(format!("{at}.params.stream: streaming is not supported in batches"));
        }
        lines.push(Line::new(id, params.clone()));
    }
    Ok(lines)
}

fn list(world: &World, received: &Received, owner: &str) -> Reply {
    let limit = parameter(received, "limit").map_or(Some(20), |limit| limit.parse().ok());
    let Some(limit) = limit.filter(|limit| (1..=1000).contains(limit)) else {
        return invalid("limit: Input should be between 1 and 1000");
    };
    let all = world.list(Api::Anthropic, owner);
    let place = |id: &str| all.iter().position(|batch| batch.id == id);
    let (data, has_more) = match (parameter(received, "after_id"), parameter(received, "before_id"))
    {
        (Some(_), Some(_)) => return invalid("before_id and after_id cannot both be given"),
        (None, Some(before)) => {
            let Some(end) = place(&before) else { return invalid("before_id: not found") };
            let begin = end.saturating_sub(limit);
            (&all[begin..end], begin > 0)
        }
        (after, None) => {
            let begin = match &after {
                None => Some(0),
                Some(after) => place(after).map(|place| place + 1),
            };
            let Some(begin) = begin else { return invalid("after_id: not found") };
            let end = (begin + limit).min(all.len());
            (&all[begin..end], end < all.len())
        }
    };
    let ids = [data.first(), data.last()].map(|batch| batch.map(|batch| batch.id.clone()));
    let data: Vec<Value> = data.iter().map(|batch| object(world, batch, received)).collect();
    let page = json!({"data": data, "has_more": has_more, "first_id": ids[0], "last_id": ids[1]});
    Reply::new(200, page.to_string())
}

/// Whether its results are kept no longer.
fn is_archived(world: &World, batch: &Batch) -> bool {
    batch.ended().is_some() && (batch.fate.gone || world.now >= World::days(batch.created(), KEPT))
}

/// A batch as the API shows it.
fn object(world: &World, batch: &Batch, received: &Received) -> Value {
    let time = |at: Option<i64>| at.map(World::time);
    let ended = batch.ended().filter(|_| world.is_named(batch));
    let count = |is_it: fn(&Outcome) -> bool| if ended.is_some() { batch.count(is_it) } else { 0 };
    let processing = if ended.is_some() { 0 } else { batch.lines.len() };
    let archived = is_archived(world, batch);
    let host = received.header("host").unwrap_or_default();
    let url = format!("http://{host}/v1/messages/batches/{}/results", batch.id);
    let status = match batch.stage {
        _ if ended.is_some() => "ended",
        Stage::Cancelling | Stage::Cancelled => "canceling",
        _ => "in_progress",
    };
    json!({"id": batch.id, "type": "message_batch", "processing_status": status,
        "request_counts": {
            "processing": processing,
            "succeeded": count(|it| matches!(it, Outcome::Answered(_))),
            "errored": count(|it| matches!(it, Outcome::Refused(_))),
            "canceled": count(|it| matches!(it, Outcome::Cancelled)),
            "expired": count(|it| matches!(it, Outcome::Expired)),
        },
        "created_at": World::time(batch.created()), "expires_at": time(batch.expires),
        "ended_at": time(ended), "cancel_initiated_at": time(batch.since(Stage::Cancelling)),
        "archived_at": archived.then(|| World::time(World::days(batch.created(), KEPT))),
        "results_url": ended.filter(|_| !archived).map(|_| url)})
}

fn results(world: &World, batch: &Batch) -> Reply {
    if !world.is_readable(batch) || is_archived(world, batch) {
        return refuse(&Refusal::new(404, format!("No results of batch {}.", batch.id)));
    }
    let mut text = String::new();
    for place in batch.order(world.options.seed) {
        let line = &batch.lines[place];
        let result = match &line.outcome {
            Outcome::Answered(message) => json!({"type": "succeeded", "message": message}),
            Outcome::Refused(refusal) => {
                let error =
                    json!({"type": "error", "error": error(refusal), "request_id": "req_test"});
                json!({"type": "errored", "error": error})
            }
            Outcome::Cancelled => json!({"type": "canceled"}),
            Outcome::Expired | Outcome::Waiting => json!({"type": "expired"}),
        };
        text.push_str(&format!("{}\n", json!({"custom_id": line.custom_id, "result": result})));
    }
    Reply::new(200, text).header("content-type", "application/x-jsonl")
}
