//! What can be asked of a server about batches.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::super::client::{HttpClient, Surroundings};
use super::super::settings::{OpenAiError, OpenAiSettings};
use super::reply::{BatchLine, PostedLine};
use super::{anthropic, gemini, openai};
use crate::id::{RunId, Time};
use crate::model::Failure;
use crate::model::providers::{BatchApi, PostedRequest, StudyAccess};

/// The largest batch that a server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimits {
    /// Lines.
    pub lines: usize,
    /// Bytes of all lines.
    pub bytes: u64,
}

/// By what a batch is found again, if the reply to its submission is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchTicket {
    /// The run.
    pub run: RunId,
    /// The number of the batch in it.
    pub number: u64,
    /// A random text.
    pub nonce: String,
    /// How many lines it has.
    pub lines: u64,
    /// The model that all its requests name.
    pub model: String,
    /// The function of the server that answers each line.
    pub endpoint: String,
    /// When it was planned.
    pub planned: Time,
    /// The ids of batches that are others.
    pub others: Vec<String>,
}

impl BatchTicket {
    /// The name of its file, and the one that it is shown under.
    pub fn name(&self) -> String {
        format!("retold-{}-{}-{}.jsonl", self.run, self.number, self.nonce)
    }

    /// The id of a line: the run and the question. Equal prompts are different questions.
    pub fn line_id(run: RunId, question: u64) -> String {
        format!("rt-{run}-{question}")
    }

    /// The question of a line of this run.
    pub fn question(run: RunId, id: &str) -> Option<u64> {
        id.strip_prefix("rt-")?.strip_prefix(&run.to_string())?.strip_prefix('-')?.parse().ok()
    }
}

/// What a server says about a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchReport {
    /// The server's id.
    pub id: String,
    /// The server's word for its state.
    pub status: String,
    /// How many lines have ended, as far as it says.
    pub done: u64,
    /// The end of the time in which it wants to have answered.
    pub expires: Option<Time>,
    /// How far it is.
    pub phase: BatchPhase,
}

/// How far a batch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchPhase {
    /// The server works on it, or has not begun.
    UnderWay,
    /// Nothing more will be answered: where the results are.
    Ended(Vec<String>),
    /// The server refused it as a whole: why. Nothing of it is paid for.
    Refused(String),
}

/// A batch that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundBatch {
    /// The server has it.
    Found(BatchReport),
    /// The server has one that may be it, which shows when that has ended.
    Perhaps,
    /// The server does not have it.
    NotFound,
}

/// A server that takes batches.
#[derive(Debug, Clone)]
pub struct BatchServer {
    client: Arc<HttpClient>,
    api: BatchApi,
}

impl BatchServer {
    /// The one at a base URL, asked as a study asks it. Sends nothing yet.
    ///
    /// # Errors
    /// [`OpenAiError`] if the settings cannot be used.
    pub fn new(access: &StudyAccess, settings: &OpenAiSettings) -> Result<Self, OpenAiError> {
        let around = Surroundings { key: access.key_header, others: access.headers, tier: None };
        Ok(BatchServer::over(Arc::new(HttpClient::new(settings, around)?), access.batches))
    }

    pub(in super::super) fn over(client: Arc<HttpClient>, api: BatchApi) -> Self {
        BatchServer { client, api }
    }

    /// Its base URL without credentials.
    pub fn source(&self) -> &str {
        &self.client.endpoint.source
    }

    /// The largest batch that it takes.
    pub fn limits(&self) -> BatchLimits {
        match self.api {
            BatchApi::OpenAi => openai::LIMITS,
            BatchApi::Anthropic => anthropic::LIMITS,
            BatchApi::Gemini => gemini::LIMITS,
        }
    }

    /// Whether the lines are a file of their own, which is at the server before the batch is created.
    pub fn takes_files(&self) -> bool {
        self.api != BatchApi::Anthropic
    }

    /// The line that asks a request.
    pub fn line(&self, id: &str, posted: &PostedRequest) -> PostedLine {
        let (line, endpoint) = match self.api {
            BatchApi::OpenAi => openai::line(&self.client, id, posted),
            BatchApi::Anthropic => anthropic::line(id, posted),
            BatchApi::Gemini => gemini::line(id, posted),
        };
        PostedLine { text: format!("{line}\n"), endpoint }
    }

    /// The file with the lines of a batch, if the server has it.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be asked, as below.
    pub async fn find_file(&self, ticket: &BatchTicket) -> Result<Option<String>, Failure> {
        match self.api {
            BatchApi::OpenAi => openai::find_file(&self.client, &ticket.name()).await,
            BatchApi::Anthropic => Ok(None),
            BatchApi::Gemini => gemini::find_file(&self.client, &ticket.name()).await,
        }
    }

    /// Sends the file with the lines of a batch; the server's id of it.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn upload(&self, ticket: &BatchTicket, lines: &Path) -> Result<String, Failure> {
        match self.api {
            BatchApi::OpenAi => openai::upload(&self.client, &ticket.name(), lines).await,
            BatchApi::Anthropic => Ok(String::new()),
            BatchApi::Gemini => gemini::upload(&self.client, &ticket.name(), lines).await,
        }
    }

    /// The batch of a ticket, if the server has it.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn find(&self, ticket: &BatchTicket) -> Result<FoundBatch, Failure> {
        match self.api {
            BatchApi::OpenAi => openai::find(&self.client, ticket).await,
            BatchApi::Anthropic => anthropic::find(&self.client, ticket).await,
            BatchApi::Gemini => gemini::find(&self.client, &ticket.name()).await,
        }
    }

    /// Submits a batch, with its uploaded file or its lines. If the reply is lost, the server may have it nevertheless.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn submit(
        &self,
        ticket: &BatchTicket,
        file: &str,
        lines: Option<&Path>,
    ) -> Result<BatchReport, Failure> {
        match (self.api, lines) {
            (BatchApi::OpenAi, _) => openai::submit(&self.client, ticket, file).await,
            (BatchApi::Anthropic, Some(lines)) => anthropic::submit(&self.client, lines).await,
            (BatchApi::Anthropic, None) => Err(super::reply::not_of_api("it has no lines")),
            (BatchApi::Gemini, _) => gemini::submit(&self.client, ticket, file).await,
        }
    }

    /// How far a batch is.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn look(&self, id: &str) -> Result<BatchReport, Failure> {
        match self.api {
            BatchApi::OpenAi => openai::look(&self.client, id).await,
            BatchApi::Anthropic => anthropic::look(&self.client, id).await,
            BatchApi::Gemini => gemini::look(&self.client, id).await,
        }
    }

    /// Asks that nothing more of a batch is begun. What has been answered by then is kept, and paid for.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn cancel(&self, id: &str) -> Result<(), Failure> {
        match self.api {
            BatchApi::OpenAi => openai::cancel(&self.client, id).await,
            BatchApi::Anthropic => anthropic::cancel(&self.client, id).await,
            BatchApi::Gemini => gemini::cancel(&self.client, id).await,
        }
    }

    /// Passes on each line of a file of results, as it was received.
    ///
    /// # Errors
    /// [`Failure`], also of `each`. A status of 404 says that the file is not there, or not any more.
    pub async fn each_result(
        &self,
        file: &str,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let path: Vec<&str> = file.split('/').collect();
        let query: &[(&str, &str)] = match self.api {
            BatchApi::OpenAi | BatchApi::Anthropic => &[],
            BatchApi::Gemini => gemini::AS_FILE,
        };
        self.client.each_line(self.client.url_with(&path, query), each).await
    }

    /// Whether a failure to read results says that they are not there. Gemini says the same of a file that is another key's.
    pub fn is_gone(&self, failure: &Failure) -> bool {
        match failure.status {
            Some(404) => true,
            Some(403) => self.api == BatchApi::Gemini,
            _ => false,
        }
    }

    /// A line of results.
    ///
    /// # Errors
    /// [`Failure`] if it is not in the form of the API.
    pub fn read(&self, line: &[u8]) -> Result<BatchLine, Failure> {
        match self.api {
            BatchApi::OpenAi => openai::read(line),
            BatchApi::Anthropic => anthropic::read(line),
            BatchApi::Gemini => gemini::read(line),
        }
    }
}

/// The items of a list that comes in pages; `each` says when it has seen enough.
pub(super) async fn each_page<'c>(
    client: &HttpClient,
    path: &[&str],
    query: &[(&str, &str)],
    items: &'c str,
    next: impl Fn(&Value) -> Option<(&'static str, String)>,
    mut each: impl FnMut(&Value) -> bool,
) -> Result<(), Failure> {
    let mut after: Option<(&'static str, String)> = None;
    loop {
        let mut whole = query.to_vec();
        whole.extend(after.as_ref().map(|(name, value)| (*name, value.as_str())));
        let page = client.get_json(path, &whole).await?;
        let listed = page[items].as_array().map_or(&[][..], Vec::as_slice);
        if !listed.iter().all(&mut each) {
            return Ok(());
        }
        // A server that names the same page again has no other.
        match next(&page).filter(|next| Some(next) != after.as_ref() && !listed.is_empty()) {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}
