//! Writes the lines of a recording after its first.

use std::collections::BTreeSet;

use data_encoding::BASE64;
use serde_json::json;

use crate::content::Content;
use crate::event::chain::content_key;
use crate::id::{ContentHash, EventHash, PromptHash};
use crate::log::lists::{Base, Lists};
use crate::log::{LogError, externalise_from};
use crate::prompt::{CanonicalError, Request};

/// An event about to be written.
pub struct LineOfEvent<'a> {
    /// Its canonical bytes: see [`ChainLink::canonical`](crate::event::chain::ChainLink::canonical).
    pub canonical: String,
    /// Its hash.
    pub hash: EventHash,
    /// Its content.
    pub content: Option<&'a Content>,
    /// The hash of the request that was sent.
    pub prompt: Option<PromptHash>,
}

/// Writes events as the lines of a recording, each content and each request once and before its first use.
#[derive(Default)]
pub struct LineWriter {
    /// With whether each is a vector: a text and a vector of the same bytes have the same hash.
    contents: BTreeSet<(ContentHash, bool)>,
    requests: BTreeSet<PromptHash>,
    lists: Lists<PromptHash>,
}

/// An error of the log or of the writing, while a request is being split up.
struct PassedError<E>(E);

impl<E: From<LogError>> From<CanonicalError> for PassedError<E> {
    fn from(error: CanonicalError) -> Self {
        PassedError(LogError::failure("the request", error).into())
    }
}

impl LineWriter {
    /// Writes an event, and before it its content and its request, which `request` gives, unless these were written
    /// before.
    ///
    /// # Errors
    /// Those of `line` and `request`, and [`LogError::Failed`] for a request without canonical form.
    pub fn write<E: From<LogError>>(
        &mut self,
        event: LineOfEvent<'_>,
        request: &mut dyn FnMut(PromptHash) -> Result<Request, E>,
        line: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let LineOfEvent { mut canonical, hash, content, prompt } = event;
        if let Some(content) = content {
            self.content(content, line)?;
        }
        if let Some(prompt) = prompt.filter(|prompt| !self.requests.contains(prompt)) {
            self.request(prompt, &request(prompt)?, line)?;
        }
        // The canonical event, with its hash as an additional last field.
        canonical.truncate(canonical.len() - 1);
        line(&format!("{canonical},\"hash\":\"{hash}\"}}"))
    }

    fn request<E: From<LogError>>(
        &mut self,
        prompt: PromptHash,
        request: &Request,
        line: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        // The texts that a log shares depend on its history, but two recordings of one run must be
        // the same bytes.
        let beginnings = self.lists.beginnings(request);
        let (base, cost) = self.lists.find(&beginnings).unzip();
        let left_out = base.map_or(0, |base| base.messages);
        let skeleton = externalise_from(request, left_out, &mut |text| {
            let content = Content::from(text);
            Ok::<_, PassedError<E>>(self.content(&content, line).map_err(PassedError)?.to_string())
        });
        let skeleton = skeleton.map_err(|PassedError(e)| e)?;
        line(&match base {
            None => format!("{{\"prompt\":\"{prompt}\",\"request\":{skeleton}}}"),
            Some(Base { of, messages }) => format!(
                "{{\"base\":\"{of}\",\"prompt\":\"{prompt}\",\"request\":{skeleton},\"shared\":{messages}}}"
            ),
        })?;
        self.requests.insert(prompt);
        self.lists.add_new(request, &beginnings, prompt, base, cost.unwrap_or_default());
        Ok(())
    }

    fn content<E>(
        &mut self,
        content: &Content,
        line: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<ContentHash, E> {
        let (hash, is_vector) = content_key(content);
        if self.contents.insert((hash, is_vector)) {
            line(&match content {
                Content::Text(text) => json!({"content": hash, "text": &**text}).to_string(),
                Content::Vector(_) => {
                    json!({"content": hash, "vector": BASE64.encode(&content.bytes())}).to_string()
                }
            })?;
        }
        Ok(hash)
    }
}
