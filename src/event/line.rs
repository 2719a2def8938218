//! An event as files have it, whose contents and requests are elsewhere in the file.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::id::{CallPath, ContentHash, EventHash, PromptHash, RunId, Sample, Seq, Time};

/// The canonical event, with its hash as a further field.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventLine {
    pub(crate) body: Map<String, Value>,
    #[serde(default)]
    pub(crate) call: Option<CallPath>,
    #[serde(default)]
    pub(crate) cause: Option<Seq>,
    #[serde(default)]
    pub(crate) content: Option<ContentHash>,
    pub(crate) hash: EventHash,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) prompt: Option<PromptHash>,
    pub(crate) run: RunId,
    #[serde(default)]
    pub(crate) sample: Option<Sample>,
    pub(crate) seq: Seq,
    pub(crate) time: Time,
    #[serde(default)]
    pub(crate) vector: Option<ContentHash>,
    pub(crate) version: u32,
}
