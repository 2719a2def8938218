//! Following a run in progress: its beginning, each of its facts, and the ends of its phases.

use std::time::Duration;

use super::output::{OutputError, OutputFile};
use super::progress::Progress;
use crate::event::RunStarted;
use crate::id::{CallPath, RunId, Sample, Time};
use crate::model::Failure;

/// The updates that a follower receives, in the order of the log. A resumed run is reported from
/// its beginning, with the recorded times.
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
    /// The experiment [marked](super::Run::mark) a point, such as the end of a phase. A resume does not report the marks that
    /// it passes while it is answered from the log.
    Marked {
        /// When.
        time: Time,
        /// The mark's name, such as `phase_4`.
        name: &'a str,
        /// How far the run is.
        progress: Progress,
    },
    /// What has come out so far was read, which is recorded by now.
    Looked,
    /// No answer came in time, so that an attempt was dropped.
    TimedOut {
        /// The call.
        call: &'a CallPath,
        /// Which of its answers was asked for.
        sample: Sample,
        /// The attempt, from 0.
        attempt: u32,
        /// What did not come in which time.
        failure: &'a Failure,
        /// When the next attempt begins; `None` if there is none.
        again: Option<Duration>,
    },
}

/// A function that follows a run.
pub type Follower = Box<dyn Fn(Update<'_>)>;

/// What an experiment reports about a run in progress, for people: lines of text.
pub trait Journal {
    /// The lines about an event, each with its line break; empty if there is nothing to report.
    fn lines(&mut self, told: Update<'_>) -> String;

    /// The names of the files that [`files`](Self::files) makes; empty if the experiment has none.
    fn file_names(&self) -> &'static [&'static str];

    /// The output files after the updates so far, for people and programs that look on.
    ///
    /// # Errors
    /// [`OutputError::Json`].
    fn files(&self) -> Result<Vec<OutputFile>, OutputError>;
}
