//! By what recorded answers are found, and where they are.

use retold::id::{CallPath, PromptHash, RunId, Seq};

/// By what recorded answers are found: the call, and the hash of what counts of the prompt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The call.
    pub call: CallPath,
    /// What counts.
    pub prompt: PromptHash,
}

/// Where a recorded attempt is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptPlace {
    /// The run.
    pub run: RunId,
    /// The event.
    pub seq: Seq,
}
