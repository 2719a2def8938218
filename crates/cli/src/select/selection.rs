//! A run that was found, with the log to read it from.

use crate::error::CliError;
use crate::output::count_of;
use retold::id::{RunId, Seq};
use retold::log::{CheckedReader, Log};
use retold_archive::{Damage, RunView};

/// A run in a log.
pub(crate) struct RunSelection {
    pub(crate) log: Log,
    pub(crate) run: RunId,
}

impl RunSelection {
    /// A run up to its damage: reading on is an error that names it.
    pub(crate) fn up_to_damage(view: &RunView) -> Self {
        RunSelection { log: view.log(), run: view.run() }
    }

    /// A run as it was before its damage, as if nothing had come later.
    pub(crate) fn before_damage(view: &RunView) -> Self {
        RunSelection { log: view.before_damage(), run: view.run() }
    }

    /// A reader that checks every event it returns, for output to people.
    pub(crate) fn checked_reader(&self) -> Result<CheckedReader, CliError> {
        Ok(self.log.checked_reader()?)
    }
}

impl RunSelection {
    /// The run as it was after an event, which must not be damaged.
    pub(crate) fn as_of(&self, at: u64, damage: Option<&Damage>) -> Result<RunAsOf, CliError> {
        if let Some(damage) = damage.filter(|damage| at >= damage.seq.0) {
            let error = CliError::usage(damage.no_state_after(Seq(at)));
            return Err(match damage.last_good() {
                Some(last) => error.hint(format!("the last that can be trusted is --at {last}")),
                None => error,
            });
        }
        let head = self.log.reader()?.runs()?.into_iter().find(|head| head.run == self.run);
        let end = head.map_or(Seq(0), |head| head.head.seq);
        if !(1..=end.0).contains(&at) {
            let events = count_of(end.0, "event");
            let message =
                format!("run {} has no event {at} to be shown as of: it has {events}", self.run);
            return Err(CliError::usage(message).hint(format!("--at is from 1 to {end}")));
        }
        let (at, run) = (Seq(at), self.run);
        Ok(RunAsOf { selected: RunSelection { log: self.log.as_of(run, at), run }, at, end })
    }
}

/// A run as it was after one of its events.
pub(crate) struct RunAsOf {
    pub(crate) selected: RunSelection,
    pub(crate) at: Seq,
    /// The last event that the run has.
    pub(crate) end: Seq,
}
