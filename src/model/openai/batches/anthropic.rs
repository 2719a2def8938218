//! Anthropic's Message Batches.

use std::path::Path;

use reqwest::Method;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::client::HttpClient;
use super::reply::{BatchLine, BatchReply, LineEnd, not_of_api, text};
use super::report::{BatchLimits, BatchPhase, BatchReport, BatchTicket, FoundBatch};
use super::transfer::{around_lines, each_page};
use crate::id::Time;
use crate::model::Failure;
use crate::model::providers::PostedRequest;

/// "A Message Batch is limited to either 100,000 Message requests or 256 MB in size, whichever is reached first."
pub(super) const LIMITS: BatchLimits = BatchLimits { lines: 100_000, bytes: 256_000_000 };

const BATCHES: &[&str] = &["v1", "messages", "batches"];

/// How much earlier than planned a batch may have been created, in milliseconds: clocks differ.
const CLOCKS_DIFFER: i64 = 10 * 60 * 1000;

pub(super) fn line(id: &str, posted: &PostedRequest) -> (Value, String) {
    (json!({"custom_id": id, "params": posted.body}), format!("/{}", posted.path.join("/")))
}

/// The next page of a list.
fn next(page: &Value) -> Option<(&'static str, String)> {
    let last = page["last_id"].as_str().filter(|_| page["has_more"] == true)?;
    Some(("after_id", last.to_owned()))
}

/// A batch has neither a name nor metadata: it is one of as many lines that was created since, and the ids of its lines, which show when
/// it has ended, decide.
pub(super) async fn find(client: &HttpClient, ticket: &BatchTicket) -> Result<FoundBatch, Failure> {
    let mut candidates = Vec::new();
    each_page(client, BATCHES, &[("limit", "1000")], "data", next, |batch| {
        let created = batch["created_at"].as_str().and_then(time);
        let is_since = created.is_none_or(|time| time.0 >= ticket.planned.0 - CLOCKS_DIFFER);
        let is_other = batch["id"].as_str().is_none_or(|id| ticket.others.iter().any(|o| o == id));
        if is_since && !is_other && total(batch) == ticket.lines {
            candidates.push(report(batch));
        }
        is_since
    })
    .await?;
    let mut found = FoundBatch::NotFound;
    for candidate in candidates {
        let candidate = candidate?;
        match &candidate.phase {
            BatchPhase::Ended(files) => {
                if has_line_of(client, files, ticket).await? {
                    return Ok(FoundBatch::Found(candidate));
                }
            }
            BatchPhase::UnderWay | BatchPhase::Refused(_) => found = FoundBatch::Perhaps,
        }
    }
    Ok(found)
}

/// Whether the first line of the results is of the run.
async fn has_line_of(
    client: &HttpClient,
    files: &[String],
    ticket: &BatchTicket,
) -> Result<bool, Failure> {
    let Some(file) = files.first() else { return Ok(false) };
    let path: Vec<&str> = file.split('/').collect();
    let mut is_of_run = None;
    client
        .each_line(client.url_with(&path, &[]), &mut |line| {
            let id = read(line)?.id;
            is_of_run.get_or_insert(BatchTicket::question(ticket.run, &id).is_some());
            Ok(())
        })
        .await?;
    Ok(is_of_run.unwrap_or(false))
}

pub(super) async fn submit(client: &HttpClient, lines: &Path) -> Result<BatchReport, Failure> {
    let (body, length) = around_lines("{\"requests\":[", lines, "]}")?;
    let request = client
        .request(Method::POST, client.endpoint.url(BATCHES))
        .header(CONTENT_TYPE, "application/json")
        .header(CONTENT_LENGTH, length)
        .body(body);
    report(&client.in_time(request).await?.into_value(&client.endpoint.secrets)?)
}

pub(super) async fn look(client: &HttpClient, id: &str) -> Result<BatchReport, Failure> {
    report(&client.get_json(&[BATCHES, &[id]].concat(), &[]).await?)
}

pub(super) async fn cancel(client: &HttpClient, id: &str) -> Result<(), Failure> {
    client.post_json(&[BATCHES, &[id, "cancel"]].concat(), None).await.map(drop)
}

fn count(batch: &Value, name: &str) -> u64 {
    batch["request_counts"][name].as_u64().unwrap_or(0)
}

const ENDS: &[&str] = &["succeeded", "errored", "canceled", "expired"];

fn total(batch: &Value) -> u64 {
    ENDS.iter().map(|name| count(batch, name)).sum::<u64>() + count(batch, "processing")
}

fn time(text: &str) -> Option<Time> {
    text.parse::<jiff::Timestamp>().ok().map(|time| Time(time.as_millisecond()))
}

fn report(batch: &Value) -> Result<BatchReport, Failure> {
    let (id, status) = (text(batch, "id")?, text(batch, "processing_status")?);
    let phase = match status {
        "ended" => BatchPhase::Ended(vec![format!("{}/{id}/results", BATCHES.join("/"))]),
        _ => BatchPhase::UnderWay,
    };
    let expires = batch["expires_at"].as_str().and_then(time);
    // The others are counted while it goes on, but their results are not there.
    let done = ENDS.iter().map(|name| count(batch, name)).sum();
    Ok(BatchReport { id: id.to_owned(), status: status.to_owned(), done, expires, phase })
}

/// A line of results.
#[derive(Deserialize)]
struct ResultLine<'a> {
    custom_id: String,
    #[serde(borrow)]
    result: LineResult<'a>,
}

#[derive(Deserialize)]
struct LineResult<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

pub(super) fn read(line: &[u8]) -> Result<BatchLine, Failure> {
    let ResultLine { custom_id: id, result } = serde_json::from_slice(line).map_err(not_of_api)?;
    let end = match (result.kind.as_str(), result.message, result.error) {
        ("succeeded", Some(message), _) => LineEnd::Replied(BatchReply::new(200, message)),
        ("errored", _, Some(error)) => {
            LineEnd::Replied(BatchReply::new(status_of(error.get()), error))
        }
        ("expired", ..) => LineEnd::Expired,
        ("canceled", ..) => LineEnd::Cancelled,
        (kind, ..) => return Err(not_of_api(format_args!("a line is {kind:?}"))),
    };
    Ok(BatchLine { id, end })
}

/// The HTTP status that stands for an error of this type.
fn status_of(error: &str) -> u16 {
    let error: Value = serde_json::from_str(error).unwrap_or_default();
    match error["error"]["type"].as_str().unwrap_or_default() {
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "api_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 400,
    }
}
