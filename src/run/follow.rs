//! Following a run while it goes on: told of its beginning and of each of its facts.

use crate::event::RunStarted;
use crate::id::{RunId, Time};

/// What a follower is told, in the order of the log. A run that is resumed is told from its beginning, with the times
/// that are recorded.
#[derive(Debug, Clone, Copy)]
pub enum Told<'a> {
    /// The run began.
    Began {
        /// The run.
        run: RunId,
        /// How.
        started: &'a RunStarted,
        /// When.
        time: Time,
    },
    /// Something happened. It is on its way to the disk.
    Fact {
        /// When.
        time: Time,
        /// Its canonical JSON.
        fact: &'a str,
    },
}

/// Who follows a run.
pub type Follower = Box<dyn FnMut(Told<'_>)>;

/// What an experiment says of a run while it goes on, for people: lines of text.
pub trait Journal {
    /// The lines about what happened, each with its line break; empty if there is nothing to say.
    fn lines(&mut self, told: Told<'_>) -> String;
}
