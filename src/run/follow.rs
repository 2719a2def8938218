//! Following a run in progress: its beginning, and each of its facts.

use crate::event::RunStarted;
use crate::id::{RunId, Time};

/// What a follower receives, in the order of the log. A resumed run is reported from its beginning,
/// with the recorded times.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Update<'a> {
    /// The run began.
    Began {
        /// The run.
        run: RunId,
        /// The recorded beginning.
        started: &'a RunStarted,
        /// When.
        time: Time,
    },
    /// Something happened. It is being written to disk.
    Fact {
        /// When.
        time: Time,
        /// Its canonical JSON.
        fact: &'a str,
    },
}

/// A function that follows a run.
pub type Follower = Box<dyn FnMut(Update<'_>)>;

/// What an experiment reports about a run in progress, for people: lines of text.
pub trait Journal {
    /// The lines about an event, each with its line break; empty if there is nothing to report.
    fn lines(&mut self, told: Update<'_>) -> String;
}
