//! OpenAI's batches, and Azure's where they are the same.

use serde_json::{Map, Value, json};

use super::answers::Refusal;
use super::batch::{Batch, Outcome, Stage};
use super::openai_files;
use super::openai_lines::lines;
use super::routes::{Api, Kind, Route, parameter};
use super::world::World;
use crate::support::server::{Received, Reply};

/// What a batch can ask; Azure leaves out `/v1`.
const ENDPOINTS: [&str; 4] =
    ["/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/completions"];

/// A refusal of one parameter.
pub(super) fn refuse_parameter(code: Option<&str>, param: &str, message: &str) -> Reply {
    let error = json!({"message": message, "type": "invalid_request_error", "param": param,
        "code": code});
    Reply::new(400, json!({"error": error}).to_string())
}

/// A refusal.
pub(super) fn refuse(refusal: &Refusal, param: Option<&str>) -> Reply {
    Reply::new(refusal.status, json!({"error": error(refusal, param)}).to_string())
}

pub(super) fn error(refusal: &Refusal, param: Option<&str>) -> Value {
    let (kind, code) = match refusal.status {
        429 => ("requests", Some("rate_limit_exceeded")),
        401 => ("invalid_request_error", Some("invalid_api_key")),
        500.. => ("server_error", None),
        _ => ("invalid_request_error", None),
    };
    json!({"message": refusal.message, "type": kind, "param": param, "code": code})
}

pub(super) fn reply(world: &mut World, route: &Route, received: &Received) -> Reply {
    let bearer = received.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    let key = if route.azure { received.header("api-key").or(bearer) } else { bearer };
    let Some(owner) = key.filter(|key| !key.is_empty()) else {
        return refuse(&Refusal::new(401, "You didn't provide an API key."), None);
    };
    match route.kind {
        Kind::Create => create(world, route, received, owner),
        Kind::Get | Kind::Cancel => {
            let Some(number) = world.find(Api::OpenAi, &route.id, owner) else {
                let message = format!("No batch found with id '{}'.", route.id);
                return refuse(&Refusal::new(404, message), None);
            };
            if route.kind == Kind::Cancel && !cancel(world, number) {
                let status = status(world.batches[number].stage);
                let message = format!("Cannot cancel a batch with status '{status}'.");
                return refuse(&Refusal::new(409, message), None);
            }
            Reply::new(200, object(world, &world.batches[number]).to_string())
        }
        Kind::List => {
            let batches = world.list(Api::OpenAi, owner);
            let batches = batches.iter().map(|batch| object(world, batch)).collect();
            page(received, batches, 20, 100)
        }
        Kind::Live => live(world, &route.id, received),
        _ => openai_files::reply(world, route, received, owner),
    }
}

/// One page of a list.
pub(super) fn page(received: &Received, all: Vec<Value>, usual: usize, most: usize) -> Reply {
    let limit = parameter(received, "limit");
    let limit = limit.map_or(Some(usual), |limit| limit.parse().ok());
    let Some(limit) = limit.filter(|limit| (1..=most).contains(limit)) else {
        let message = format!("Invalid 'limit': expected an integer between 1 and {most}.");
        return refuse_parameter(Some("invalid_value"), "limit", &message);
    };
    let begin = match parameter(received, "after") {
        None => 0,
        Some(after) => match all.iter().position(|object| object["id"] == after.as_str()) {
            Some(place) => place + 1,
            None => {
                let message = format!("No object found with id '{after}'.");
                return refuse_parameter(None, "after", &message);
            }
        },
    };
    let rest = &all[begin..];
    let data = &rest[..limit.min(rest.len())];
    let id = |object: Option<&Value>| object.map_or(Value::Null, |object| object["id"].clone());
    let list = json!({"object": "list", "data": data, "first_id": id(data.first()),
        "last_id": id(data.last()), "has_more": rest.len() > limit});
    Reply::new(200, list.to_string())
}

fn live(world: &mut World, endpoint: &str, received: &Received) -> Reply {
    let Ok(body) = serde_json::from_slice::<Value>(&received.body) else {
        return refuse(
            &Refusal::new(400, "We could not parse the JSON body of your request."),
            None,
        );
    };
    match world.ask(Api::OpenAi, endpoint, &body, None) {
        Ok(answer) => Reply::new(200, answer.to_string()),
        Err(refusal) => refuse(&refusal, None),
    }
}

fn create(world: &mut World, route: &Route, received: &Received, owner: &str) -> Reply {
    let Ok(body) = serde_json::from_slice::<Map<String, Value>>(&received.body) else {
        return refuse(
            &Refusal::new(400, "We could not parse the JSON body of your request."),
            None,
        );
    };
    for param in ["input_file_id", "endpoint", "completion_window"] {
        if body.get(param).is_none_or(Value::is_null) {
            let message = format!("Missing required parameter: '{param}'.");
            return refuse_parameter(Some("missing_required_parameter"), param, &message);
        }
    }
    let known =
        ["input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after"];
    if let Some(other) = body.keys().find(|key| !known.contains(&key.as_str())) {
        let message = format!("Unknown parameter: '{other}'.");
        return refuse_parameter(Some("unknown_parameter"), other, &message);
    }
    let given = body["endpoint"].as_str().unwrap_or_default();
    let spelled = |known: &&str| *known == given || (route.azure && known[3..] == *given);
    let Some(endpoint) = ENDPOINTS.into_iter().find(spelled) else {
        let message = format!("Invalid value: '{given}'. Supported values are: {ENDPOINTS:?}.");
        return refuse_parameter(Some("invalid_value"), "endpoint", &message);
    };
    if body["completion_window"] != "24h" {
        let message = format!("Invalid value: {}. Value must be '24h'.", body["completion_window"]);
        return refuse_parameter(Some("invalid_value"), "completion_window", &message);
    }
    if let Err(reply) = metadata(&body).and_then(|()| expiry(&body)) {
        return reply;
    }
    let id = format!("batch_{}", world.id());
    let file = body["input_file_id"].as_str().unwrap_or_default();
    let (lines, problems) = lines(world, file, owner, given);
    let about = json!({"input_file_id": file, "endpoint": given, "completion_window": "24h",
        "model": lines.first().map(|line| line.body["model"].clone()),
        "metadata": body.get("metadata"), "output_expires_after": body.get("output_expires_after")});
    let created = world.now;
    let batch = world.create(Batch {
        id,
        api: Api::OpenAi,
        owner: owner.to_owned(),
        endpoint: endpoint["/v1/".len()..].to_owned(),
        about,
        problems,
        lines,
        stage: Stage::Validating,
        stages: vec![(Stage::Validating, created)],
        // With Azure, 24 hours are a target.
        expires: (!route.azure).then_some(World::days(created, 1)),
        fate: Default::default(),
        results: [None, None],
    });
    let batch = batch.clone();
    Reply::new(200, object(world, &batch).to_string())
}

/// At most 16 texts.
fn metadata(body: &Map<String, Value>) -> Result<(), Reply> {
    let Some(metadata) = body.get("metadata").filter(|it| !it.is_null()) else { return Ok(()) };
    let refuse = |code: &str, message: &str| Err(refuse_parameter(Some(code), "metadata", message));
    let Some(pairs) = metadata.as_object() else {
        return refuse("invalid_type", "Invalid type for 'metadata': expected an object.");
    };
    if pairs.len() > 16 {
        let message = format!(
            "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object \
             with {} properties instead.",
            pairs.len()
        );
        return refuse("object_above_max_properties", &message);
    }
    for (key, value) in pairs {
        let Some(value) = value.as_str() else {
            let message = format!("Invalid type for 'metadata.{key}': expected a string.");
            return refuse("invalid_type", &message);
        };
        let lengths = [("key", key.chars().count(), 64), ("value", value.chars().count(), 512)];
        if let Some((what, length, most)) = lengths.iter().find(|(_, length, most)| length > most) {
            let message = format!(
                "Invalid 'metadata' {what}: string too long. Expected a string with maximum length {most}, but got a \
                 string with length {length} instead."
            );
            return refuse("string_above_max_length", &message);
        }
    }
    Ok(())
}

/// One hour to 30 days.
fn expiry(body: &Map<String, Value>) -> Result<(), Reply> {
    let Some(expiry) = body.get("output_expires_after").filter(|it| !it.is_null()) else {
        return Ok(());
    };
    let seconds = expiry["seconds"].as_i64().filter(|it| (3600..=2_592_000).contains(it));
    if seconds.is_none() || expiry["anchor"] != "created_at" {
        let message = "Invalid 'output_expires_after': 3600 to 2592000 seconds from 'created_at'.";
        return Err(refuse_parameter(Some("invalid_value"), "output_expires_after", message));
    }
    Ok(())
}

/// Whether it can be cancelled.
fn cancel(world: &mut World, number: usize) -> bool {
    let batch = &world.batches[number];
    let can_be = batch.ended().is_none() && batch.stage != Stage::Cancelling;
    if can_be {
        world.cancel(number);
    }
    can_be
}

fn status(stage: Stage) -> &'static str {
    match stage {
        Stage::Validating => "validating",
        Stage::Running => "in_progress",
        Stage::Finalizing => "finalizing",
        Stage::Cancelling => "cancelling",
        Stage::Completed => "completed",
        Stage::Failed => "failed",
        Stage::Expired => "expired",
        Stage::Cancelled => "cancelled",
    }
}

/// A batch as the API shows it.
fn object(world: &World, batch: &Batch) -> Value {
    let errors = (batch.stage == Stage::Failed).then(|| {
        let data = batch.problems.iter().map(|problem| {
            json!({"code": problem.code, "message": problem.message, "param": problem.param,
                "line": problem.line})
        });
        let other = json!({"code": "token_limit_exceeded", "param": null, "line": null,
            "message": "Enqueued token limit reached for a test."});
        let data: Vec<Value> = data.collect();
        json!({"object": "list", "data": if data.is_empty() { vec![other] } else { data }})
    });
    let completed = batch.count(|outcome| matches!(outcome, Outcome::Answered(_)));
    let failed = batch.count(|outcome| matches!(outcome, Outcome::Refused(_)));
    let total = if batch.since(Stage::Running).is_some() { batch.lines.len() } else { 0 };
    let file = |place: usize| {
        let none = if world.options.empty_ids { json!("") } else { Value::Null };
        let id = batch.results[place].as_deref().filter(|_| world.is_named(batch));
        id.map_or(none, |id| json!(id))
    };
    let mut object = json!({"id": batch.id, "object": "batch", "errors": errors,
        "input_file_id": batch.about["input_file_id"], "endpoint": batch.about["endpoint"],
        "completion_window": "24h", "status": status(batch.stage), "created_at": batch.created(),
        "expires_at": batch.expires, "metadata": batch.about["metadata"],
        "model": batch.about["model"], "output_file_id": file(0), "error_file_id": file(1),
        "request_counts": {"total": total, "completed": completed, "failed": failed}});
    let stages = [
        Stage::Running,
        Stage::Finalizing,
        Stage::Completed,
        Stage::Failed,
        Stage::Expired,
        Stage::Cancelling,
        Stage::Cancelled,
    ];
    for stage in stages {
        object[format!("{}_at", status(stage))] = json!(batch.since(stage));
    }
    object
}
