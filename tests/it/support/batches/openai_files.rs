//! OpenAI's files.

use serde_json::{Value, json};

use super::answers::Refusal;
use super::files::File;
use super::multipart::fields;
use super::openai::{page, refuse, refuse_parameter};
use super::routes::{Api, Kind, Route, parameter};
use super::world::World;
use crate::support::server::{Received, Reply};

const PURPOSES: [&str; 6] = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"];

pub(super) fn reply(world: &mut World, route: &Route, received: &Received, owner: &str) -> Reply {
    match route.kind {
        Kind::Upload => return upload(world, received, owner),
        Kind::ListFiles => return list(world, received, owner),
        _ => {}
    }
    let Some(file) = world.file(Api::OpenAi, &route.id, owner) else {
        let message = format!("No such File object: {}", route.id);
        return refuse(&Refusal::new(404, message), Some("id"));
    };
    match route.kind {
        Kind::Results => {
            Reply::new(200, file.bytes.clone()).header("content-type", "application/octet-stream")
        }
        Kind::DeleteFile => {
            world.delete_file(&route.id);
            let deleted = json!({"id": route.id, "object": "file", "deleted": true});
            Reply::new(200, deleted.to_string())
        }
        _ => Reply::new(200, object(file).to_string()),
    }
}

fn upload(world: &mut World, received: &Received, owner: &str) -> Reply {
    let Some(fields) = fields(received) else {
        let message = "Could not parse multipart form";
        return refuse(&Refusal::new(400, message), None);
    };
    let field = |name: &str| fields.iter().find(|field| field.name == name);
    let purpose = field("purpose").map(|field| String::from_utf8_lossy(&field.bytes).into_owned());
    let Some(purpose) = purpose.filter(|purpose| PURPOSES.contains(&purpose.as_str())) else {
        let message = format!("Invalid value. Supported values are: {PURPOSES:?}.");
        return refuse_parameter(Some("invalid_value"), "purpose", &message);
    };
    let file = field("file").and_then(|field| Some((field.filename.clone()?, &field.bytes)));
    let Some((name, bytes)) = file else {
        return refuse_parameter(
            Some("missing_required_parameter"),
            "file",
            "Missing required parameter: 'file'.",
        );
    };
    if purpose == "batch" && !name.ends_with(".jsonl") {
        let message = "Invalid file format for Batch API. Must be .jsonl";
        return refuse(&Refusal::new(400, message), None);
    }
    let most = world.options.max_bytes[0];
    if purpose == "batch" && bytes.len() > most {
        let message = format!("File is too large: a batch's input has at most {most} bytes.");
        return refuse(&Refusal::new(413, message), Some("file"));
    }
    let file = File {
        id: format!("file-{}", world.id()),
        api: Api::OpenAi,
        owner: owner.to_owned(),
        name,
        purpose,
        mime: "application/jsonl".to_owned(),
        bytes: bytes.clone(),
        created: world.now,
        expires: World::days(world.now, 30),
        is_uploaded: true,
        batch: None,
    };
    let reply = Reply::new(200, object(&file).to_string());
    world.files.push(file);
    reply
}

fn list(world: &World, received: &Received, owner: &str) -> Reply {
    let purpose = parameter(received, "purpose");
    let has_purpose = |file: &&File| purpose.as_ref().is_none_or(|it| *it == file.purpose);
    let files = world.list_files(Api::OpenAi, owner);
    let mut files: Vec<Value> = files.into_iter().filter(has_purpose).map(object).collect();
    if parameter(received, "order").as_deref() == Some("asc") {
        files.reverse();
    }
    page(received, files, 10_000, 10_000)
}

/// A file as the API shows it.
fn object(file: &File) -> Value {
    json!({"id": file.id, "object": "file", "bytes": file.bytes.len(), "created_at": file.created,
        "expires_at": file.expires, "filename": file.name, "purpose": file.purpose,
        "status": "processed", "status_details": null})
}
