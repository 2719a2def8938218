//! The lines of OpenAI's files: what is refused in an input, and what a batch writes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::batch::{Line, Outcome, Problem};
use super::files::File;
use super::openai::error;
use super::routes::Api;
use super::world::World;

fn problem(code: &'static str, message: impl Into<String>, param: Option<&'static str>) -> Problem {
    Problem { code, message: message.into(), param, line: None }
}

/// The lines of an input, and everything that is wrong with it, which the batch shows only after it was validated.
pub(super) fn lines(
    world: &World,
    file: &str,
    owner: &str,
    endpoint: &str,
) -> (Vec<Line>, Vec<Problem>) {
    let batch_input = |file: &&File| file.purpose == "batch";
    let Some(file) = world.file(Api::OpenAi, file, owner).filter(batch_input) else {
        let message = format!("The file {file} is not an input of batches or cannot be read.");
        return (Vec::new(), vec![problem("invalid_file", message, Some("input_file_id"))]);
    };
    let (mut lines, mut problems) = (Vec::new(), Vec::new());
    let (mut ids, mut model) = (BTreeSet::new(), Value::Null);
    let text = String::from_utf8_lossy(&file.bytes);
    for (number, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        match line(text, endpoint, &mut ids, &mut model) {
            Ok(line) => lines.push(line),
            Err(found) => problems.push(Problem { line: Some(number + 1), ..found }),
        }
    }
    let most = world.options.max_lines[0];
    if lines.len() > most {
        let message = format!("The file has more than {most} requests.");
        problems = vec![problem("too_many_tasks", message, None)];
    }
    if lines.is_empty() && problems.is_empty() {
        problems = vec![problem("empty_file", "The input file is empty.", None)];
    }
    (lines, problems)
}

/// Checks a line; `model` is that of the first.
fn line(
    text: &str,
    endpoint: &str,
    ids: &mut BTreeSet<String>,
    model: &mut Value,
) -> Result<Line, Problem> {
    let unreadable = "This line is not parseable as valid JSON.";
    let line: BTreeMap<String, Value> =
        serde_json::from_str(text).map_err(|_| problem("invalid_json_line", unreadable, None))?;
    for param in ["custom_id", "method", "url", "body"] {
        if !line.contains_key(param) {
            let message = format!("Missing required parameter: '{param}'.");
            return Err(problem("missing_required_parameter", message, Some(param)));
        }
    }
    let id = line["custom_id"].as_str().unwrap_or_default();
    if id.is_empty() {
        let message = "Invalid type for 'custom_id': expected a string.";
        return Err(problem("invalid_type", message, Some("custom_id")));
    }
    if !ids.insert(id.to_owned()) {
        let message = format!("The custom_id '{id}' is used by another request of this batch.");
        return Err(problem("duplicate_custom_id", message, Some("custom_id")));
    }
    if line["method"] != "POST" {
        return Err(problem("invalid_method", "The method must be POST.", Some("method")));
    }
    if line["url"] != endpoint {
        let message = format!("The URL {} does not match the batch's {endpoint}.", line["url"]);
        return Err(problem("url_mismatch", message, Some("url")));
    }
    let body = &line["body"];
    if !body["model"].is_string() {
        let message = "Missing required parameter: 'body.model'.";
        return Err(problem("missing_required_parameter", message, Some("body.model")));
    }
    if body["stream"] == true {
        let message = "Streaming is not supported in batches.";
        return Err(problem("invalid_request", message, Some("body.stream")));
    }
    if model.is_null() {
        *model = body["model"].clone();
    }
    if *model != body["model"] {
        let message = format!("The model {} is not that of the first request.", body["model"]);
        return Err(problem("model_mismatch", message, Some("body.model")));
    }
    Ok(Line::new(id, body.clone()))
}

/// Writes the files of answers and of errors, those that have lines.
pub(super) fn write(world: &mut World, number: usize) {
    let batch = &world.batches[number];
    let mut texts = [String::new(), String::new()];
    for place in batch.order(world.options.seed) {
        let line = &batch.lines[place];
        let response = |status: u16, body: &Value| json!({"status_code": status, "request_id": format!("req_{place}"), "body": body});
        let ended = |code: &str, message: &str| json!({"code": code, "message": message});
        let (file, response, error) = match &line.outcome {
            Outcome::Waiting => continue,
            Outcome::Answered(body) => (0, response(200, body), Value::Null),
            Outcome::Refused(refusal) => {
                let body = json!({"error": error(refusal, None)});
                (1, response(refusal.status, &body), Value::Null)
            }
            Outcome::Expired => {
                let message =
                    "This request could not be executed before the completion window expired.";
                (1, Value::Null, ended("batch_expired", message))
            }
            Outcome::Cancelled => {
                let message = "This request was not executed before the batch was cancelled.";
                (1, Value::Null, ended("batch_cancelled", message))
            }
        };
        let id = format!("batch_req_{}_{place}", batch.id);
        let line =
            json!({"id": id, "custom_id": line.custom_id, "response": response, "error": error});
        texts[file].push_str(&format!("{line}\n"));
    }
    let expires_after = batch.about["output_expires_after"]["seconds"].as_i64();
    let names = ["output", "error"];
    for (place, text) in texts.into_iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        let id = format!("file-{}", world.id());
        let batch = &mut world.batches[number];
        batch.results[place] = Some(id.clone());
        let created = batch.ended().unwrap_or_default();
        world.files.push(File {
            id,
            api: Api::OpenAi,
            owner: batch.owner.clone(),
            name: format!("{}_{}.jsonl", batch.id, names[place]),
            purpose: "batch_output".to_owned(),
            mime: "application/jsonl".to_owned(),
            bytes: text.into_bytes(),
            created,
            expires: expires_after.map_or(World::days(created, 30), |seconds| created + seconds),
            is_uploaded: false,
            batch: Some(number),
        });
    }
}
