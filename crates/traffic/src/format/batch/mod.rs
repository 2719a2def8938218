//! Files of batches, which belong together by `custom_id`: input, output and error files of OpenAI's
//! Batch API, and requests and results of Anthropic's Message Batches. A batch that was cancelled and
//! the one that continued it are one set of files.

mod anthropic;
mod openai;

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use retold::escaping::printable;
use serde_json::json;

use super::Placed;
use crate::error::{FileProblem, TrafficError};
use crate::exchange::{Http, TrafficAnswer, TrafficExchange, TrafficQuestion};
use crate::file::{Document, json as read_json};
use crate::node::LocatedValue;
use crate::notes::Notes;

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
    result: BatchResult,
}

/// What came of a request.
enum BatchResult {
    Http(TrafficAnswer),
    /// Nothing over HTTP, and why: the batch was cancelled before, say.
    Unsent(String),
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
        if let Some(all) = anthropic::requests(document)? {
            for (at, node) in all.iter().enumerate() {
                let inner = format!("requests.{at}");
                let place = format!("{}, {inner}", document.name());
                self.node(node, &place, notes)
                    .map_err(|wrong| document.wrong(Some(inner), wrong))?;
            }
            return Ok(());
        }
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
        self.node(&read_json(line)?, place, notes).map_err(|wrong| (None, wrong))
    }

    /// Adds a request or a result.
    fn node(
        &mut self,
        node: &LocatedValue,
        place: &str,
        notes: &mut Notes,
    ) -> Result<(), FileProblem> {
        let id = node.get("custom_id").and_then(LocatedValue::text);
        let id = id.ok_or(FileProblem::Missing("custom_id"))?.to_owned();
        let has = |name| node.get(name).is_some();
        let result = match () {
            () if has("body") => return self.request(id, openai::request(node)?, place, notes),
            () if has("params") => {
                return self.request(id, anthropic::request(node)?, place, notes);
            }
            () if has("result") => anthropic::result(node)?,
            () => openai::result(node)?,
        };
        self.results.entry(id).or_default().push(BatchAnswer { place: place.to_owned(), result });
        Ok(())
    }

    fn request(
        &mut self,
        id: String,
        request: BatchRequest,
        place: &str,
        notes: &mut Notes,
    ) -> Result<(), FileProblem> {
        let BatchRequest { http, unknown } = request;
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
                for name in unknown {
                    notes.add(&format!("the field {:?}", printable(&name, 60)), place);
                }
            }
        }
        Ok(())
    }

    /// The exchanges: each request once, with what came of it.
    pub(crate) fn exchanges(mut self, notes: &mut Notes) -> Vec<TrafficExchange> {
        let mut exchanges = Vec::with_capacity(self.requests.len());
        for BatchQuestion { id, place, http } in self.requests {
            let (mut failed, mut answered) = (Vec::new(), Vec::new());
            for BatchAnswer { place, result } in self.results.remove(&id).unwrap_or_default() {
                match result {
                    // What failed was asked again: the answer comes last, and there is one.
                    BatchResult::Http(answer) if answer.is_success() => {
                        answered.push((place, answer));
                    }
                    BatchResult::Http(answer) => failed.push(answer),
                    BatchResult::Unsent(why) => {
                        let said = format!("a request that was not answered over HTTP ({why})");
                        notes.add(&said, &place);
                    }
                }
            }
            let mut answers: Vec<TrafficAnswer> = failed;
            let mut answered = answered.into_iter();
            answers.extend(answered.next().map(|(_, answer)| answer));
            for (place, _) in answered {
                notes.add("a second answer to one request", &place);
            }
            exchanges.push(TrafficExchange {
                place,
                asked: TrafficQuestion::Http(http),
                answers,
                decisions: Vec::new(),
                label: Some(json!({"custom_id": id})),
                latency: Duration::ZERO,
            });
        }
        for found in self.results.into_values().flatten() {
            notes.add("an answer whose request is in none of the files", &found.place);
        }
        exchanges
    }
}

/// A request of a batch.
struct BatchRequest {
    http: Http,
    /// The names of fields that are not of the format.
    unknown: Vec<String>,
}

/// The names of the fields that are none of these.
fn unknown(node: &LocatedValue, known: &[&str]) -> Vec<String> {
    let names = node.map().unwrap_or_default().iter().map(|(name, _)| name);
    names.filter(|name| !known.contains(&name.as_str())).cloned().collect()
}

fn json_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers
}

/// A field of the JSON of a file, as the body that it was.
fn body(node: &LocatedValue, name: &'static str) -> Result<Bytes, FileProblem> {
    let text = node.get(name).and_then(LocatedValue::text_of_json);
    text.map(Bytes::from).ok_or(FileProblem::Missing(name))
}
