//! What can be wrong with the objects of a log in a bucket or a shared folder.

use serde::{Deserialize, Serialize};

use crate::escaping::printable;
use crate::id::{RunId, Seq};

/// How much of a foreign name is shown: as long as a name can be in S3, in characters.
const LONGEST_NAME: usize = 1024;

/// A fault in an object of a log that consists of objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SegmentFault {
    /// It is not there, although later ones are.
    #[error("the object {object} is missing")]
    Missing {
        /// Its name.
        object: String,
    },
    /// Its bytes are not those that were written.
    #[error("the object {object} was changed: {why}")]
    Changed {
        /// Its name.
        object: String,
        /// What shows that.
        why: String,
    },
    /// It is the segment of another place.
    #[error("the object {object} holds the segment of run {run} that begins with event {first}")]
    Displaced {
        /// Its name.
        object: String,
        /// The run that it belongs to.
        run: RunId,
        /// Its first event.
        first: Seq,
    },
    /// A run goes on after its first commit, but the ledger does not know that it began: objects of the ledger are
    /// missing.
    #[error("run {run} has segments, but the ledger does not name it")]
    Unnamed {
        /// The run.
        run: RunId,
    },
    /// A run was compacted up to an end that the ledger does not know: objects of the ledger are missing.
    #[error(
        "run {run} was compacted up to event {end}, but the ledger does not say that it ended there"
    )]
    UnnamedEnd {
        /// The run.
        run: RunId,
        /// Its last event.
        end: Seq,
    },
    /// The object that makes a place a log is not there, although others of a log are.
    #[error("the object {object} is missing, which makes this place a log")]
    Unmarked {
        /// Its name.
        object: String,
        /// Its contents.
        holds: String,
    },
    /// A later release wrote it.
    #[error("the object {object} has format {found}, which a later release of this program reads")]
    NewerFormat {
        /// Its name.
        object: String,
        /// Its format.
        found: u32,
    },
    /// A log has no object of that name.
    #[error("the object {} is not a part of a log", printable(object, LONGEST_NAME))]
    Foreign {
        /// Its name.
        object: String,
    },
}
