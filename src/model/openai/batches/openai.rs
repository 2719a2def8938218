//! OpenAI's Batch API, and Azure's.

use std::path::Path;

use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::client::HttpClient;
use super::reply::{BatchLine, BatchReply, LineEnd, not_of_api, text};
use super::report::{BatchLimits, BatchPhase, BatchReport, BatchTicket, FoundBatch};
use super::transfer::{around_file, each_page};
use crate::id::Time;
use crate::model::providers::PostedRequest;
use crate::model::{Failure, FailureKind};

/// "A single batch may include up to 50,000 requests, and a batch input file can be up to 200 MB in size."
pub(super) const LIMITS: BatchLimits = BatchLimits { lines: 50_000, bytes: 200_000_000 };

/// The hosts whose functions have no version in their path.
const AZURE: &str = ".azure.com";

/// The path of a function, as a batch names it.
fn endpoint(client: &HttpClient, path: &[String]) -> String {
    let host = client.endpoint.url::<&str>(&[]).host_str().unwrap_or_default().to_owned();
    let version = if host.ends_with(AZURE) { "" } else { "/v1" };
    format!("{version}/{}", path.join("/"))
}

pub(super) fn line(client: &HttpClient, id: &str, posted: &PostedRequest) -> (Value, String) {
    let url = endpoint(client, &posted.path);
    (json!({"custom_id": id, "method": "POST", "url": url, "body": posted.body}), url)
}

/// The next page of a list.
fn next(page: &Value) -> Option<(&'static str, String)> {
    let last = page["data"].as_array()?.last()?["id"].as_str()?;
    (page["has_more"] == true).then(|| ("after", last.to_owned()))
}

pub(super) async fn find_file(client: &HttpClient, name: &str) -> Result<Option<String>, Failure> {
    let mut found = None;
    let query = [("purpose", "batch"), ("limit", "1000")];
    each_page(client, &["files"], &query, "data", next, |file| {
        if file["filename"] == name {
            found = file["id"].as_str().map(str::to_owned);
        }
        found.is_none()
    })
    .await?;
    Ok(found)
}

pub(super) async fn upload(
    client: &HttpClient,
    name: &str,
    lines: &Path,
) -> Result<String, Failure> {
    // No line has it: each begins with `{`.
    let boundary = format!("--{name}");
    let before = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/jsonl\r\n\r\n"
    );
    let after = format!("\r\n--{boundary}--\r\n");
    let (body, length) = around_file(before, lines, after)?;
    let request = client
        .request(Method::POST, client.endpoint.url(&["files"]))
        .header(CONTENT_TYPE, format!("multipart/form-data; boundary={boundary}"))
        .header(reqwest::header::CONTENT_LENGTH, length)
        .body(body);
    let file = client.in_time(request).await?.into_value(&client.endpoint.secrets)?;
    Ok(text(&file, "id")?.to_owned())
}

pub(super) async fn find(client: &HttpClient, ticket: &BatchTicket) -> Result<FoundBatch, Failure> {
    let mut found = None;
    each_page(client, &["batches"], &[("limit", "100")], "data", next, |batch| {
        if batch["metadata"]["retold_nonce"] == ticket.nonce.as_str() {
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
    let body = json!({
        "input_file_id": file,
        "endpoint": ticket.endpoint,
        "completion_window": "24h",
        "metadata": {
            "retold_run": ticket.run,
            "retold_batch": ticket.number.to_string(),
            "retold_nonce": ticket.nonce,
        },
    });
    report(&client.post_json(&["batches"], Some(&body)).await?)
}

pub(super) async fn look(client: &HttpClient, id: &str) -> Result<BatchReport, Failure> {
    report(&client.get_json(&["batches", id], &[]).await?)
}

pub(super) async fn cancel(client: &HttpClient, id: &str) -> Result<(), Failure> {
    client.post_json(&["batches", id, "cancel"], None).await.map(drop)
}

fn report(batch: &Value) -> Result<BatchReport, Failure> {
    let status = text(batch, "status")?;
    let counts = &batch["request_counts"];
    let count = |name: &str| counts[name].as_u64().unwrap_or(0);
    let done = count("completed") + count("failed");
    let files = ["output_file_id", "error_file_id"];
    let files: Vec<String> = files
        .iter()
        // At times, a file that there is not is an empty text.
        .filter_map(|file| batch[*file].as_str().filter(|id| !id.is_empty()))
        .map(|file| format!("files/{file}/content"))
        .collect();
    let phase = match status {
        // A batch may be completed before its files are there.
        "completed" if files.is_empty() && done > 0 => BatchPhase::UnderWay,
        "completed" | "expired" | "cancelled" => BatchPhase::Ended(files),
        "failed" => BatchPhase::Refused(errors(batch)),
        _ => BatchPhase::UnderWay,
    };
    let expires = batch["expires_at"].as_i64().map(|seconds| Time(seconds.saturating_mul(1000)));
    Ok(BatchReport {
        id: text(batch, "id")?.to_owned(),
        status: status.to_owned(),
        done,
        expires,
        phase,
    })
}

/// Why a batch failed as a whole.
fn errors(batch: &Value) -> String {
    let errors = batch["errors"]["data"].as_array().map_or(&[][..], Vec::as_slice);
    let said = errors.iter().filter_map(|error| {
        let message = error["message"].as_str()?;
        Some(match error["line"].as_u64() {
            Some(line) => format!("line {line}: {message}"),
            None => message.to_owned(),
        })
    });
    said.take(5).collect::<Vec<_>>().join("; ")
}

/// A line of the output or of the error file.
#[derive(Deserialize)]
struct ResultLine<'a> {
    custom_id: String,
    #[serde(borrow, default)]
    response: Option<ResultResponse<'a>>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ResultResponse<'a> {
    status_code: u16,
    #[serde(borrow)]
    body: &'a RawValue,
}

pub(super) fn read(line: &[u8]) -> Result<BatchLine, Failure> {
    let ResultLine { custom_id: id, response, error } =
        serde_json::from_slice(line).map_err(not_of_api)?;
    let end = match (response, error) {
        (Some(ResultResponse { status_code, body }), _) => {
            LineEnd::Replied(BatchReply::new(status_code, body))
        }
        (None, Some(error)) => match error["code"].as_str() {
            Some("batch_expired") => LineEnd::Expired,
            Some("batch_cancelled") => LineEnd::Cancelled,
            code => {
                let message = error["message"].as_str().or(code).unwrap_or("without a reason");
                LineEnd::Failed(Failure::new(FailureKind::Server, message))
            }
        },
        (None, None) => return Err(not_of_api("a line has neither a response nor an error")),
    };
    Ok(BatchLine { id, end })
}
