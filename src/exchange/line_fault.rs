//! What is wrong with a line of a recording after its first.

use crate::explain::explain;
use crate::id::{ContentHash, PromptHash, RunId, Seq};
use crate::prompt::{CanonicalError, RequestError};

/// What is wrong with a line of a recording after its first.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineFault {
    /// It is not JSON.
    #[error("{}", not_json(.0))]
    NotJson(#[source] serde_json::Error),
    /// It is not one of the three kinds of lines.
    #[error("{}", explain(&.0.to_string()))]
    NoSuchLine(#[source] serde_json::Error),
    /// It has no canonical form.
    #[error(transparent)]
    NotCanonical(#[from] CanonicalError),
    /// Its request is not one.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// Its content is not the one that it names.
    #[error("the content does not have the hash {0}")]
    ContentHash(ContentHash),
    /// Its request is not the one that it names.
    #[error("the request does not have the hash {0}")]
    RequestHash(PromptHash),
    /// Only one of two fields is there.
    #[error("\"base\" and \"shared\" belong together")]
    HalfABase,
    /// It names a content of which there was no line.
    #[error("content {0} has not been given before this line")]
    NoContent(ContentHash),
    /// It names a request of which there was no line.
    #[error("request {0} has not been given before this line")]
    NoRequest(PromptHash),
    /// It belongs to another run.
    #[error("it is an event of another run, {0}")]
    OtherRun(RunId),
    /// It is not the next event.
    #[error("seq {found} where seq {due} is expected")]
    OtherSeq {
        /// Its number.
        found: Seq,
        /// The number of the next event.
        due: Seq,
    },
}

fn not_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    format!("not JSON at column {}: {}", error.column(), explain(reason))
}
