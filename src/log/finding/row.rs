//! What can be wrong with rows that no chain covers.

use serde::{Deserialize, Serialize};

use crate::id::PromptHash;

/// A fault in a row that no chain covers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RowFault {
    /// A run without its first event.
    #[error("run {run} has no first event")]
    Run {
        /// The id of the run, in hex, of any length.
        run: String,
    },
    /// An event of no run.
    #[error("event {id} (run number {no}, seq {seq}) belongs to no run")]
    Event {
        /// The number of the row.
        id: i64,
        /// The number of the run.
        no: i64,
        /// The seq.
        seq: i64,
    },
    /// A kind of no event.
    #[error("kind {id} ({name:?}) belongs to no event")]
    Kind {
        /// The number of the row.
        id: i64,
        /// The kind.
        name: String,
    },
    /// A request of no event.
    #[error("request {id} belongs to no event")]
    Request {
        /// The number of the row.
        id: i64,
    },
    /// A request without a hash.
    #[error("request {id} is unreadable")]
    RequestUnreadable {
        /// The number of the row.
        id: i64,
    },
    /// A request that has another hash.
    #[error("request {id} ({prompt}): {why}")]
    RequestChanged {
        /// The number of the row.
        id: i64,
        /// The hash that it is stored under.
        prompt: PromptHash,
        /// The reason.
        why: String,
    },
    /// A content that has another key.
    #[error("content {id} does not match its key: its text or its key was changed")]
    Content {
        /// The number of the row.
        id: i64,
    },
    /// A content of no event and no request.
    #[error("content {id} belongs to no event or request")]
    ContentUnused {
        /// The number of the row.
        id: i64,
    },
    /// A content that look-ups do not find.
    #[error("the index content_keys lacks the key of content {id}")]
    KeyMissing {
        /// The number of the content.
        id: i64,
    },
    /// A key of no content.
    #[error("the index content_keys has a stray key of content {id}")]
    KeyStray {
        /// The number of the content.
        id: i64,
    },
    /// How far contents are indexed.
    #[error("the user_version names a content that does not exist")]
    UserVersion,
    /// A piece of an index that is not whole.
    #[error("the table event_index lacks a row beside {id}")]
    IndexPart {
        /// The number of a row that is there.
        id: i64,
    },
    /// A piece of an index of no run.
    #[error("the table event_index has a row that belongs to no run ({no}, {number})")]
    IndexStray {
        /// The number of the run.
        no: i64,
        /// The number within the run.
        number: i64,
    },
}
