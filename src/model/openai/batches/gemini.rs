//! Gemini's Batch API.

use std::path::Path;

use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use reqwest::{Method, Url};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::client::HttpClient;
use super::reply::{BatchLine, BatchReply, LineEnd, not_of_api, text};
use super::report::{BatchLimits, BatchPhase, BatchReport, BatchTicket, FoundBatch};
use super::transfer::{around_file, each_page};
use crate::model::providers::PostedRequest;
use crate::model::{Failure, FailureKind};

/// An input file has at most 2 GB. The number of lines is not limited; this one bounds what is lost with a batch that is.
pub(super) const LIMITS: BatchLimits = BatchLimits { lines: 200_000, bytes: 2_000_000_000 };

/// What asks for the bytes of a file.
pub(super) const AS_FILE: &[(&str, &str)] = &[("alt", "media")];

const VERSION: &str = "v1beta";

pub(super) fn line(id: &str, posted: &PostedRequest) -> (Value, String) {
    // A batch is of one model: `models/NAME:generateContent` is asked for each line.
    (json!({"key": id, "request": posted.body}), format!("/{}", posted.path.join("/")))
}

/// The next page of a list.
fn next(page: &Value) -> Option<(&'static str, String)> {
    let token = page["nextPageToken"].as_str().filter(|token| !token.is_empty())?;
    Some(("pageToken", token.to_owned()))
}

pub(super) async fn find_file(client: &HttpClient, name: &str) -> Result<Option<String>, Failure> {
    let mut found = None;
    let query = [("pageSize", "100")];
    each_page(client, &[VERSION, "files"], &query, "files", next, |file| {
        if file["displayName"] == name {
            found = file["name"].as_str().map(str::to_owned);
        }
        found.is_none()
    })
    .await?;
    Ok(found)
}

/// Sends a file as the service wants long ones: it says where, and the key goes there only if that is the same server.
pub(super) async fn upload(
    client: &HttpClient,
    name: &str,
    lines: &Path,
) -> Result<String, Failure> {
    let (body, length) = around_file(String::new(), lines, String::new())?;
    let request = client
        .request(Method::POST, client.endpoint.url(&["upload", VERSION, "files"]))
        .header("x-goog-upload-protocol", "resumable")
        .header("x-goog-upload-command", "start")
        .header("x-goog-upload-header-content-length", length)
        .header("x-goog-upload-header-content-type", "application/jsonl")
        .json(&json!({"file": {"display_name": name}}));
    let reply = client.in_time(request).await?;
    let place = reply.headers.get("x-goog-upload-url").and_then(|url| url.to_str().ok());
    let place = place.and_then(|url| Url::parse(url).ok());
    // Its body is empty.
    if !(200..300).contains(&reply.status) {
        return Err(reply.refusal(&client.endpoint.secrets));
    }
    let place = place.ok_or_else(|| not_of_api("there is no place to upload to"))?;
    if place.origin() != client.endpoint.url::<&str>(&[]).origin() {
        return Err(not_of_api("the place to upload to is another server"));
    }
    let request = client
        .request(Method::POST, place)
        .header("x-goog-upload-offset", 0)
        .header("x-goog-upload-command", "upload, finalize")
        .header(CONTENT_TYPE, "application/jsonl")
        .header(CONTENT_LENGTH, length)
        .body(body);
    let uploaded = client.in_time(request).await?.into_value(&client.endpoint.secrets)?;
    Ok(text(&uploaded["file"], "name")?.to_owned())
}

pub(super) async fn find(client: &HttpClient, name: &str) -> Result<FoundBatch, Failure> {
    let mut found = None;
    let query = [("pageSize", "100")];
    each_page(client, &[VERSION, "batches"], &query, "operations", next, |batch| {
        if batch["metadata"]["displayName"] == name {
            found = Some(report(batch));
        }
        found.is_none()
    })
    .await?;
    Ok(found.transpose()?.map_or(FoundBatch::NotFound, FoundBatch::Found))
}

pub(super) async fn submit(
    client: &HttpClient,
    ticket: &BatchTicket,
    file: &str,
) -> Result<BatchReport, Failure> {
    let body = json!({"batch": {
        "display_name": ticket.name(),
        "input_config": {"file_name": file},
    }});
    let model = ticket.endpoint.rsplit('/').next().unwrap_or_default();
    let model = model.split(':').next().unwrap_or_default();
    let function = format!("{model}:batchGenerateContent");
    report(&client.post_json(&[VERSION, "models", &function], Some(&body)).await?)
}

pub(super) async fn look(client: &HttpClient, id: &str) -> Result<BatchReport, Failure> {
    let path: Vec<&str> = std::iter::once(VERSION).chain(id.split('/')).collect();
    report(&client.get_json(&path, &[]).await?)
}

pub(super) async fn cancel(client: &HttpClient, id: &str) -> Result<(), Failure> {
    let last = format!("{}:cancel", id.rsplit('/').next().unwrap_or_default());
    client.post_json(&[VERSION, "batches", &last], None).await.map(drop)
}

/// A count, which is a text in JSON because it has 64 bits.
fn count(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(0)
}

fn report(batch: &Value) -> Result<BatchReport, Failure> {
    let metadata = &batch["metadata"];
    let status = text(metadata, "state")?;
    let stats = &metadata["batchStats"];
    let done = count(&stats["successfulRequestCount"]) + count(&stats["failedRequestCount"]);
    let file = ["/response/responsesFile", "/metadata/output/responsesFile"]
        .iter()
        .find_map(|place| batch.pointer(place)?.as_str())
        .map(|file| format!("download/{VERSION}/{file}:download"));
    // The words of the API and of its older SDKs differ in their beginnings.
    let word = status.trim_start_matches("BATCH_STATE_").trim_start_matches("JOB_STATE_");
    let phase = match word {
        "SUCCEEDED" | "PARTIALLY_SUCCEEDED" if file.is_none() => BatchPhase::UnderWay,
        "SUCCEEDED" | "PARTIALLY_SUCCEEDED" | "CANCELLED" | "EXPIRED" => {
            BatchPhase::Ended(file.into_iter().collect())
        }
        "FAILED" => {
            let said = batch["error"]["message"].as_str().unwrap_or("without a reason");
            BatchPhase::Refused(said.to_owned())
        }
        _ => BatchPhase::UnderWay,
    };
    let id = text(batch, "name")?.to_owned();
    Ok(BatchReport { id, status: word.to_lowercase(), done, expires: None, phase })
}

/// A line of results.
#[derive(Deserialize)]
struct ResultLine<'a> {
    key: String,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "status")]
    error: Option<&'a RawValue>,
}

pub(super) fn read(line: &[u8]) -> Result<BatchLine, Failure> {
    let ResultLine { key: id, response, error } =
        serde_json::from_slice(line).map_err(not_of_api)?;
    let end = match (response, error) {
        (Some(response), _) => LineEnd::Replied(BatchReply::new(200, response)),
        (None, Some(error)) => failed(error.get()),
        (None, None) => return Err(not_of_api("a line has neither a response nor an error")),
    };
    Ok(BatchLine { id, end })
}

/// An error has one of [gRPC's codes](https://github.com/grpc/grpc/blob/master/doc/statuscodes.md), or an HTTP status.
fn failed(error: &str) -> LineEnd {
    let error: Value = serde_json::from_str(error).unwrap_or_default();
    let status = match error["code"].as_u64() {
        Some(status @ 400..600) => u16::try_from(status).unwrap_or(500),
        Some(1) => return LineEnd::Cancelled,
        Some(4) => return LineEnd::Expired,
        Some(3 | 9 | 11) => 400,
        Some(5) => 404,
        Some(7) => 403,
        Some(8) => 429,
        Some(16) => 401,
        _ => 500,
    };
    let said = error["message"].as_str().unwrap_or("without a reason");
    let kind = FailureKind::of_status(status, error["status"].as_str());
    LineEnd::Failed(Failure { status: Some(status), ..Failure::new(kind, said) })
}
