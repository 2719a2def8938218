//! Events that are stored and do not count.

use std::fmt;

use super::last_writer::LastWriter;
use super::ledger::LedgerChange;
use crate::id::{RunId, Seq};

/// The last events of a run, which readers leave out because the ledger does not have the change that they announce. Their
/// writer died between storing them and writing to the ledger, or it is about to write, or the last object of the ledger was
/// removed: a reader cannot distinguish these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncountedEvents {
    /// The run.
    pub run: RunId,
    /// The first of them.
    pub first: Seq,
    /// The last of them.
    pub last: Seq,
    /// The changes that the ledger does not have, for example that the run was started or imported.
    pub changes: Vec<LedgerChange>,
    /// The process that stored them.
    pub writer: LastWriter,
}

impl UncountedEvents {
    /// Whether nothing else is stored of the run, so that no list has it.
    pub fn are_all(&self) -> bool {
        self.first == Seq(1)
    }
}

impl fmt::Display for UncountedEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UncountedEvents { run, first, last, changes, writer } = self;
        let changes: Vec<&str> = changes.iter().map(LedgerChange::as_str).collect();
        let changes = changes.join(" and ");
        let (events, them) = match first == last {
            true => (format!("event {first} is stored and does not count"), "it"),
            false => (format!("events {first} to {last} are stored and do not count"), "them"),
        };
        let or_later = match writer.is_alive {
            None => ", or is about to write to it",
            Some(_) => "",
        };
        write!(
            f,
            "run {run}: {events}, because the ledger does not say that the run was {changes}: {writer} stored {them} and died \
             before it wrote to the ledger{or_later}, or the last object of the ledger was removed"
        )
    }
}
