//! Reads the lines of an exchanges file into answers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::Value;

use super::{ScriptedAnswer, ScriptedModel};
use crate::escaping::printable;
use crate::exact::has_inexact;
use crate::explain::explain;
use crate::id::{CallPath, PromptHash, Sample};
use crate::model::exchange_line::{ExchangeError, ExchangeLine};
use crate::model::exchange_response::{ExchangeResponse, ExchangeResponseError};
use crate::model::mend::mend;
use crate::model::{Failure, Response};
use crate::prompt::{Api, CanonicalError, Request, RequestError, check_exact};

/// Why an exchanges file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError<E> {
    /// The file itself cannot be read.
    #[error(transparent)]
    Read(E),
    /// A line cannot be used.
    #[error("line {line}: {problem}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The problem with it.
        #[source]
        problem: LoadProblem,
    },
}

/// A problem with a line of an exchanges file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadProblem {
    /// Not a JSON object at all.
    #[error("an exchange is a JSON object, {{\"request\": .., \"response\": ..}}")]
    NotAnObject,
    /// Not JSON, or not the fields of an exchange.
    #[error("column {column}: {reason}")]
    NotAnExchange {
        /// The position in the line, from 1.
        column: usize,
        /// The problem.
        reason: String,
    },
    /// Its request is not a valid request.
    #[error("\"request\": {0}")]
    Request(#[from] RequestError),
    /// Its response is not a valid response.
    #[error("{0}")]
    Response(#[from] ExchangeResponseError),
    /// A label that a log cannot hold.
    #[error("\"label\": {0}")]
    Label(String),
    /// A text answer to an embedding request, or the reverse.
    #[error("\"request\" asks for {asked}, \"response\" has {found}")]
    WrongKind {
        /// The kind of answer that the request asks for.
        asked: &'static str,
        /// The kind of answer that the response has.
        found: &'static str,
    },
    /// A sample number without a call.
    #[error("it has \"sample\" but no \"call\": lines without a call are used in file order")]
    SampleWithoutCall,
    /// The same address twice.
    #[error(
        "call \"{call}\", sample {sample}, prompt {prompt} is already on line {first}: \
         each address has only one answer"
    )]
    Duplicate {
        /// The call.
        call: CallPath,
        /// The sample.
        sample: Sample,
        /// The prompt, shortened.
        prompt: String,
        /// The line with the first occurrence.
        first: usize,
    },
}

impl ScriptedModel {
    /// Reads the lines of an exchanges file, each with its number. `source` is the file's name for
    /// messages.
    ///
    /// # Errors
    /// [`LoadError`] with the first line that cannot be used, or the error of the lines themselves.
    pub fn from_lines<E>(
        source: impl Into<String>,
        lines: impl IntoIterator<Item = Result<(usize, String), E>>,
    ) -> Result<Self, LoadError<E>> {
        let mut loader = Loader {
            scripted: ScriptedModel {
                source: source.into(),
                simulated: false,
                requests: BTreeMap::new(),
                calls: BTreeMap::new(),
                queues: BTreeMap::new(),
            },
            counted: BTreeMap::new(),
        };
        for line in lines {
            let (line, text) = line.map_err(LoadError::Read)?;
            loader.add(line, &text).map_err(|problem| LoadError::Line { line, problem })?;
        }
        Ok(loader.scripted)
    }
}

/// A line of an exchanges file, checked.
#[derive(Debug, Clone)]
pub struct ScriptedExchange {
    /// Where in the experiment, if the line says so.
    pub call: Option<CallPath>,
    /// Which answer this is, if the line says so.
    pub sample: Option<Sample>,
    /// The request.
    pub request: Request,
    /// The answer, or why the call ran out of retries.
    pub outcome: Result<Response, ExchangeError>,
    /// The right decision, if the line gives it.
    pub label: Option<Value>,
    /// Whether a program made the answer up.
    pub simulated: bool,
}

impl ScriptedExchange {
    /// Reads a line.
    ///
    /// # Errors
    /// [`LoadProblem`] if it is not a valid exchange.
    pub fn read(text: &str) -> Result<Self, LoadProblem> {
        // serde would also accept a list of the fields in order.
        if !text.trim_start().starts_with('{') {
            return Err(LoadProblem::NotAnObject);
        }
        let exchange: ExchangeLine = serde_json::from_str(text).map_err(not_an_exchange)?;
        let ExchangeLine { call, sample, request, response, error, label, simulated } = exchange;
        let request = Request::from_record(request)?;
        label.as_ref().map_or(Ok(()), check_exact).map_err(|error| match error {
            CanonicalError::TooDeep { limit } => {
                LoadProblem::Label(format!("it is nested more than {limit} levels deep"))
            }
            other => LoadProblem::Label(format!("{other}: write it as a text")),
        })?;
        let exact = response.as_ref().and_then(|response| exactly(text, response));
        let outcome = match exact {
            Some(response) if error.is_none() => Ok(response),
            _ => ExchangeLine::outcome(response, error)?,
        };
        if let Ok(response) = &outcome {
            check_kind(&request, response)?;
        }
        Ok(ScriptedExchange { call, sample, request, outcome, label, simulated })
    }
}

/// The response of a line with integers that no double can hold: only the text has their digits.
fn exactly(text: &str, read: &ExchangeResponse) -> Option<Response> {
    if !read.extra.values().chain(&read.usage).any(has_inexact) {
        return None;
    }
    let mended = mend(text.as_bytes());
    let line: ExchangeLine = serde_json::from_str(&mended.text).ok()?;
    let mut response = Response::try_from(line.response?).ok()?;
    mended.mark.give_back_digits(&mut response);
    Some(response)
}

struct Loader {
    scripted: ScriptedModel,
    /// The next sample for lines without a sample number.
    counted: BTreeMap<(CallPath, PromptHash), Sample>,
}

impl Loader {
    fn add(&mut self, line: usize, text: &str) -> Result<(), LoadProblem> {
        let ScriptedExchange { call, sample, request, outcome, label: _, simulated } =
            ScriptedExchange::read(text)?;
        self.scripted.simulated |= simulated;
        let outcome = outcome.map_err(Failure::from);
        let hash = request.hash();
        self.scripted.requests.entry(hash).or_insert(request);
        match (call, sample) {
            (None, Some(_)) => Err(LoadProblem::SampleWithoutCall),
            (None, None) => {
                self.scripted.queues.entry(hash).or_default().push(outcome);
                Ok(())
            }
            (Some(call), sample) => {
                let sample = sample.unwrap_or_else(|| self.count(&call, hash));
                self.place(call, hash, sample, ScriptedAnswer { line, outcome })
            }
        }
    }

    fn count(&mut self, call: &CallPath, hash: PromptHash) -> Sample {
        let next = self.counted.entry((call.clone(), hash)).or_default();
        let sample = *next;
        *next = next.saturating_add(1);
        sample
    }

    fn place(
        &mut self,
        call: CallPath,
        hash: PromptHash,
        sample: Sample,
        recorded: ScriptedAnswer,
    ) -> Result<(), LoadProblem> {
        let prompts = self.scripted.calls.entry(call.clone()).or_default();
        match prompts.entry(hash).or_default().entry(sample) {
            Entry::Vacant(place) => {
                place.insert(recorded);
                Ok(())
            }
            Entry::Occupied(first) => Err(LoadProblem::Duplicate {
                call,
                sample,
                prompt: hash.short(12),
                first: first.get().line,
            }),
        }
    }
}

/// The parser counts lines within its input, which is a single line, so only the column is
/// meaningful.
fn not_an_exchange(error: serde_json::Error) -> LoadProblem {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    LoadProblem::NotAnExchange { column: error.column(), reason: printable(&explain(reason), 400) }
}

fn check_kind(request: &Request, response: &Response) -> Result<(), LoadProblem> {
    use crate::model::Content;
    match (request.api(), &response.content) {
        (Api::Chat | Api::Tool, Content::Text(_)) | (Api::Embedding, Content::Vector(_)) => Ok(()),
        (Api::Chat | Api::Tool, Content::Vector(_)) => {
            Err(LoadProblem::WrongKind { asked: "a text", found: "an embedding" })
        }
        (Api::Embedding, Content::Text(_)) => {
            Err(LoadProblem::WrongKind { asked: "an embedding", found: "a text" })
        }
    }
}
