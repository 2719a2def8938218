//! Input, output and error files of OpenAI's Batch API: JSON Lines that belong together by
//! `custom_id`. A batch that was cancelled and the one that continued it are one set of files.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use retold::escaping::printable;
use retold::model::FailureKind;
use serde_json::json;

use super::Placed;
use crate::error::{FileProblem, TrafficError};
use crate::exchange::{
    Http, TrafficAnswer, TrafficExchange, TrafficQuestion, method, status, unanswered,
};
use crate::file::{Document, json as read_json};
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

/// Where paths of input files are.
const ORIGIN: &str = "https://api.openai.com";

/// The files of one or more batches.
#[derive(Default)]
pub(crate) struct BatchFiles {
    /// The requests, in the order of their files, and where each `custom_id` is.
    requests: Vec<BatchQuestion>,
    places: BTreeMap<String, usize>,
    results: BTreeMap<String, Vec<BatchAnswer>>,
}

struct BatchQuestion {
    id: String,
    place: String,
    http: Http,
}

struct BatchAnswer {
    place: String,
    answer: TrafficAnswer,
}

impl BatchFiles {
    /// Adds a file: its lines say whether they are input or output.
    ///
    /// # Errors
    /// [`TrafficError`].
    pub(crate) fn add(
        &mut self,
        document: &Document,
        notes: &mut Notes,
    ) -> Result<(), TrafficError> {
        for (at, line) in document.text()?.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let line_place = format!("line {}", at + 1);
            let place = format!("{}, {line_place}", document.name());
            self.line(line, &place, notes).map_err(|(inner, wrong)| {
                let column =
                    inner.and_then(|inner| inner.split_once(", ").map(|(_, at)| at.to_owned()));
                let place =
                    column.map_or(line_place.clone(), |column| format!("{line_place}, {column}"));
                document.wrong(Some(place), wrong)
            })?;
        }
        Ok(())
    }

    fn line(&mut self, line: &str, place: &str, notes: &mut Notes) -> Placed<()> {
        let node = read_json(line)?;
        let id = node.get("custom_id").and_then(LocatedValue::text);
        let id = id.ok_or((None, FileProblem::Missing("custom_id")))?.to_owned();
        if node.get("body").is_some() {
            return self.request(id, &node, place, notes).map_err(|wrong| (None, wrong));
        }
        let answer = result(&node).map_err(|wrong| (None, wrong))?;
        self.results.entry(id).or_default().push(BatchAnswer { place: place.to_owned(), answer });
        Ok(())
    }

    fn request(
        &mut self,
        id: String,
        node: &LocatedValue,
        place: &str,
        notes: &mut Notes,
    ) -> Result<(), FileProblem> {
        let url =
            node.get("url").and_then(LocatedValue::text).ok_or(FileProblem::Missing("url"))?;
        let url = if url.starts_with('/') { format!("{ORIGIN}{url}") } else { url.to_owned() };
        let name = node.get("method").and_then(LocatedValue::text).unwrap_or("POST");
        let body = node.get("body").ok_or(FileProblem::Missing("body"))?;
        let body = Bytes::from(body.text_of_json().ok_or(FileProblem::Missing("body"))?);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let http = Http { method: method(name)?, url, headers, body };
        match self.places.get(&id).and_then(|at| self.requests.get(*at)) {
            // The rest of a batch that was cancelled is sent again under the same names.
            Some(known) if known.http.url == http.url && known.http.body == http.body => {}
            Some(known) => {
                let (id, first) = (printable(&id, 80), &known.place);
                return Err(FileProblem::Said(format!(
                    "custom_id {id} asks for something else than in {first}"
                )));
            }
            None => {
                self.places.insert(id.clone(), self.requests.len());
                self.requests.push(BatchQuestion { id, place: place.to_owned(), http });
                let known = ["custom_id", "method", "url", "body"];
                for (name, _) in node.map().unwrap_or_default() {
                    if !known.contains(&name.as_str()) {
                        notes.lost(&format!("the field {:?}", printable(name, 60)), place);
                    }
                }
            }
        }
        Ok(())
    }

    /// The exchanges: each request once, with what came of it.
    pub(crate) fn exchanges(mut self, notes: &mut Notes) -> Vec<TrafficExchange> {
        let mut exchanges = Vec::with_capacity(self.requests.len());
        for BatchQuestion { id, place, http } in self.requests {
            let found = self.results.remove(&id).unwrap_or_default();
            // What failed was asked again: the answer comes last, and there is one.
            let (failed, answered): (Vec<BatchAnswer>, Vec<BatchAnswer>) =
                found.into_iter().partition(|found| !found.answer.is_success());
            let mut answers: Vec<TrafficAnswer> =
                failed.into_iter().map(|found| found.answer).collect();
            let mut answered = answered.into_iter();
            answers.extend(answered.next().map(|found| found.answer));
            for second in answered {
                notes.lost("a second answer to one request", &second.place);
            }
            exchanges.push(TrafficExchange {
                place,
                asked: TrafficQuestion::Http(http),
                answers,
                label: Some(json!({"custom_id": id})),
                latency: Duration::ZERO,
            });
        }
        for found in self.results.into_values().flatten() {
            notes.lost("an answer whose request is in none of the files", &found.place);
        }
        exchanges
    }
}

/// A line of an output or error file.
fn result(node: &LocatedValue) -> Result<TrafficAnswer, FileProblem> {
    if let Some(response) = node.get("response") {
        let code = match response.get("status_code").map(|code| &code.value) {
            Some(Value::Number(code)) => code.as_u64(),
            _ => None,
        };
        let status = status(code.ok_or(FileProblem::Missing("status_code"))?)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let id = response.get("request_id").and_then(LocatedValue::text);
        if let Some(id) = id.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(HeaderName::from_static("x-request-id"), id);
        }
        let body = response
            .get("body")
            .map(|body| body.text_of_json().ok_or(FileProblem::Missing("body")));
        let body = Bytes::from(body.transpose()?.unwrap_or_default());
        return Ok(TrafficAnswer::Http { status, headers, body });
    }
    let error = node.get("error").ok_or(FileProblem::Missing("response"))?;
    let text = |name: &str| error.get(name).and_then(LocatedValue::text).unwrap_or("");
    let (code, message) = (printable(text("code"), 80), printable(text("message"), 300));
    Ok(unanswered(FailureKind::Timeout, &code, &message))
}
