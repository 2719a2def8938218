//! Gemini's files, which are uploaded in steps.

use serde_json::{Map, Value, json};

use super::answers::Refusal;
use super::batch::{Line, Outcome, Problem};
use super::files::{File, Started};
use super::gemini::{body, field, invalid, line_error, page, refuse};
use super::routes::{Api, Kind, Route, parameter, path};
use super::world::World;
use crate::support::server::{Received, Reply};

/// How long files are kept, in days.
const KEPT: i64 = 2;

pub(super) fn reply(world: &mut World, route: &Route, received: &Received, owner: &str) -> Reply {
    match route.kind {
        Kind::StartUpload => return start(world, received, owner),
        Kind::ListFiles => {
            let files = world.list_files(Api::Gemini, owner);
            let files = files.into_iter().map(|file| object(file, received)).collect();
            return page(received, "files", files, 100);
        }
        _ => {}
    }
    let Some(file) = world.file(Api::Gemini, &route.id, owner) else {
        // So that nobody learns which files there are.
        let message = format!(
            "You do not have permission to access the File {} or it may not exist.",
            route.id
        );
        return refuse(&Refusal::new(403, message));
    };
    match route.kind {
        Kind::Results if file.is_uploaded => invalid("Only generated files can be downloaded."),
        Kind::Results if parameter(received, "alt").as_deref() != Some("media") => {
            invalid("alt=media is required")
        }
        Kind::Results => Reply::new(200, file.bytes.clone()).header("content-type", &file.mime),
        Kind::DeleteFile => {
            world.delete_file(&route.id);
            Reply::new(200, "{}")
        }
        _ => Reply::new(200, object(file, received).to_string()),
    }
}

fn start(world: &mut World, received: &Received, owner: &str) -> Reply {
    let header = |name: &str| received.header(&format!("x-goog-upload-{name}"));
    if header("protocol") != Some("resumable") || header("command") != Some("start") {
        return invalid("Only resumable uploads are supported: X-Goog-Upload-Command: start");
    }
    let size = header("header-content-length").and_then(|size| size.parse().ok());
    let (Some(size), Some(mime)) = (size, header("header-content-type")) else {
        return invalid("X-Goog-Upload-Header-Content-Length and -Type are required");
    };
    if size > world.options.max_bytes[2] {
        return invalid("The file is larger than 2 GB.");
    }
    let file: Map<String, Value> = serde_json::from_slice(&received.body).unwrap_or_default();
    let file = file.get("file").and_then(Value::as_object).cloned().unwrap_or_default();
    let name = field(&file, "displayName", "display_name").and_then(Value::as_str);
    let name = name.unwrap_or_default().to_owned();
    if name.chars().count() > 512 {
        return invalid("file.display_name must be at most 512 characters");
    }
    let (id, owner, mime) = (world.id(), owner.to_owned(), mime.to_owned());
    let (host, path) = (received.header("host").unwrap_or_default(), path(received));
    let url = format!("http://{host}{path}?upload_id={id}&upload_protocol=resumable");
    world.started.push(Started { id, owner, name, mime, size, bytes: Vec::new(), file: None });
    Reply::new(200, "")
        .header("x-goog-upload-url", &url)
        .header("x-goog-upload-status", "active")
        .header("x-goog-upload-chunk-granularity", "262144")
}

/// The next part of a started upload, or the question how far it is.
pub(super) fn upload(world: &mut World, received: &Received) -> Reply {
    let id = parameter(received, "upload_id").unwrap_or_default();
    let Some(place) = world.started.iter().position(|started| started.id == id) else {
        return refuse(&Refusal::new(404, "Upload not found."));
    };
    let (file_id, now) = (world.id(), world.now);
    let started = &mut world.started[place];
    let command = received.header("x-goog-upload-command").unwrap_or_default();
    let commands: Vec<&str> = command.split(',').map(str::trim).collect();
    if commands == ["query"] {
        let state = if started.file.is_some() { "final" } else { "active" };
        let size = started.bytes.len().to_string();
        return Reply::new(200, "")
            .header("x-goog-upload-status", state)
            .header("x-goog-upload-size-received", &size);
    }
    if started.file.is_some() {
        return invalid("Upload has already been terminated.");
    }
    let offset = received.header("x-goog-upload-offset").and_then(|offset| offset.parse().ok());
    if offset != Some(started.bytes.len()) {
        return invalid(format!("The offset must be {}.", started.bytes.len()));
    }
    if commands.contains(&"upload") {
        started.bytes.extend_from_slice(&received.body);
    }
    if !commands.contains(&"finalize") {
        return Reply::new(200, "").header("x-goog-upload-status", "active");
    }
    if started.bytes.len() != started.size {
        return invalid(format!(
            "The upload has {} of {} bytes.",
            started.bytes.len(),
            started.size
        ));
    }
    let file = File {
        id: format!("files/{}", &file_id[..12]),
        api: Api::Gemini,
        owner: started.owner.clone(),
        name: started.name.clone(),
        purpose: String::new(),
        mime: started.mime.clone(),
        bytes: std::mem::take(&mut started.bytes),
        created: now,
        expires: World::days(now, KEPT),
        is_uploaded: true,
        batch: None,
    };
    started.file = Some(file.id.clone());
    let reply = json!({"file": object(&file, received)});
    world.files.push(file);
    Reply::new(200, reply.to_string()).header("x-goog-upload-status", "final")
}

/// A file as the API shows it.
fn object(file: &File, received: &Received) -> Value {
    let host = received.header("host").unwrap_or_default();
    let uri = format!("http://{host}/v1beta/{}", file.id);
    let mut object = json!({"name": file.id, "mimeType": file.mime, "uri": uri,
        "sizeBytes": file.bytes.len().to_string(), "state": "ACTIVE",
        "createTime": World::time(file.created), "updateTime": World::time(file.created),
        "expirationTime": World::time(file.expires),
        "source": if file.is_uploaded { "UPLOADED" } else { "GENERATED" }});
    if !file.name.is_empty() {
        object["displayName"] = json!(file.name);
    }
    if !file.is_uploaded {
        object["downloadUri"] = json!(format!("{uri}:download?alt=media"));
    }
    object
}

/// The questions in a file, and what is wrong with it.
pub(super) fn input(
    world: &World,
    file: &str,
    owner: &str,
) -> Result<(Vec<Line>, Vec<Problem>), String> {
    let file = world.file(Api::Gemini, file, owner).ok_or("The input file was not found.")?;
    let (mut lines, mut problems) = (Vec::new(), Vec::new());
    let text = String::from_utf8_lossy(&file.bytes);
    for (number, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let line: Value = serde_json::from_str(text).unwrap_or_default();
        let key = line["key"].as_str().unwrap_or_default();
        if line["request"]["contents"].is_array() {
            lines.push(Line::new(key, body(&line["request"])));
        } else {
            let message = format!("Line {} is not a request.", number + 1);
            let line = Some(number + 1);
            problems.push(Problem { code: "INVALID_ARGUMENT", message, param: None, line });
        }
    }
    if lines.is_empty() && problems.is_empty() {
        let message = "The input file is empty.".to_owned();
        problems.push(Problem { code: "INVALID_ARGUMENT", message, param: None, line: None });
    }
    Ok((lines, problems))
}

/// Writes the file of answers of a batch that was made from a file. The API says that they are in the order of the questions;
/// here they are not, so that nobody relies on it.
pub(super) fn write(world: &mut World, number: usize) {
    let batch = &world.batches[number];
    if batch.since(super::batch::Stage::Completed).is_none() || !batch.about["file"].is_string() {
        return;
    }
    let mut text = String::new();
    for place in batch.order(world.options.seed) {
        let line = &batch.lines[place];
        let mut answer = match &line.outcome {
            Outcome::Answered(answer) => json!({"response": answer}),
            other => json!({"error": line_error(other)}),
        };
        if !line.custom_id.is_empty() {
            answer["key"] = json!(line.custom_id);
        }
        text.push_str(&format!("{answer}\n"));
    }
    let id = format!("files/batch-{}", batch.id);
    let created = batch.ended().unwrap_or_default();
    let file = File {
        id: id.clone(),
        api: Api::Gemini,
        owner: batch.owner.clone(),
        name: String::new(),
        purpose: String::new(),
        mime: "application/jsonl".to_owned(),
        bytes: text.into_bytes(),
        created,
        expires: World::days(created, KEPT),
        is_uploaded: false,
        batch: Some(number),
    };
    world.files.push(file);
    world.batches[number].results[0] = Some(id);
}
