//! What can be asked of a server about batches.

use std::path::Path;
use std::sync::Arc;

use super::super::client::{HttpClient, Surroundings};
use super::super::settings::{OpenAiError, OpenAiSettings};
use super::reply::{BatchLine, LineEnd, PostedLine};
use super::report::{BatchLimits, BatchPhase, BatchReport, BatchTicket, FoundBatch};
use super::{anthropic, gemini, openai};
use crate::escaping::printable;
use crate::model::Failure;
use crate::model::providers::{BatchApi, PostedRequest, StudyAccess};

/// The longest reason of a server that is kept, in characters.
const LONGEST_REASON: usize = 500;

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
        let found = match self.api {
            BatchApi::OpenAi => openai::find(&self.client, ticket).await,
            BatchApi::Anthropic => anthropic::find(&self.client, ticket).await,
            BatchApi::Gemini => gemini::find(&self.client, &ticket.name()).await,
        }?;
        Ok(match found {
            FoundBatch::Found(report) => FoundBatch::Found(self.inert(report)),
            found => found,
        })
    }

    /// A report without keys, whose words can be shown.
    fn inert(&self, report: BatchReport) -> BatchReport {
        let phase = match report.phase {
            BatchPhase::Refused(reason) => BatchPhase::Refused(self.inert_text(&reason)),
            phase => phase,
        };
        BatchReport { status: self.inert_text(&report.status), phase, ..report }
    }

    fn inert_text(&self, text: &str) -> String {
        printable(&self.client.endpoint.secrets.strike(text), LONGEST_REASON)
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
        let report = match (self.api, lines) {
            (BatchApi::OpenAi, _) => openai::submit(&self.client, ticket, file).await,
            (BatchApi::Anthropic, Some(lines)) => anthropic::submit(&self.client, lines).await,
            (BatchApi::Anthropic, None) => Err(super::reply::not_of_api("it has no lines")),
            (BatchApi::Gemini, _) => gemini::submit(&self.client, ticket, file).await,
        };
        Ok(self.inert(report?))
    }

    /// How far a batch is.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn look(&self, id: &str) -> Result<BatchReport, Failure> {
        let report = match self.api {
            BatchApi::OpenAi => openai::look(&self.client, id).await,
            BatchApi::Anthropic => anthropic::look(&self.client, id).await,
            BatchApi::Gemini => gemini::look(&self.client, id).await,
        };
        Ok(self.inert(report?))
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
        let BatchLine { id, end } = match self.api {
            BatchApi::OpenAi => openai::read(line),
            BatchApi::Anthropic => anthropic::read(line),
            BatchApi::Gemini => gemini::read(line),
        }?;
        let end = match end {
            LineEnd::Failed(failure) => {
                LineEnd::Failed(Failure { message: self.inert_text(&failure.message), ..failure })
            }
            end => end,
        };
        Ok(BatchLine { id, end })
    }
}
