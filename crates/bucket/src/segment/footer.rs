//! The footer of a segment.

use retold::id::{RunId, Seq};
use retold::log::Head;
use serde::{Deserialize, Serialize};

use crate::writer::Writer;

/// The format of segments that this release writes and reads.
pub(crate) const FORMAT: u32 = 1;

/// The footer of a segment: it follows the lines, in a frame that decompressors skip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Footer {
    /// [`FORMAT`].
    pub(crate) format: u32,
    /// The run.
    pub(crate) run: RunId,
    /// The end of the run before it.
    pub(crate) follows: Head,
    /// The end of the run after it.
    pub(crate) reaches: Head,
    /// How many bytes the lines have.
    pub(crate) bytes: u64,
    /// Who wrote it.
    pub(crate) writer: Writer,
    /// Whether the commit that it belongs to goes on in the next segment.
    pub(crate) more: bool,
    /// The entries that the ledger gets for it. Until it has them, the commit has not happened.
    pub(crate) entries: Vec<AnnouncedEntry>,
}

/// An entry that the ledger is to get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnnouncedEntry {
    /// What happened, as in the ledger.
    pub(crate) what: String,
    /// The end of the run at that moment.
    pub(crate) head: Head,
}

impl Footer {
    /// The first event.
    pub(crate) fn first(&self) -> Seq {
        self.follows.seq.next()
    }

    /// The last event.
    pub(crate) fn last(&self) -> Seq {
        self.reaches.seq
    }
}
