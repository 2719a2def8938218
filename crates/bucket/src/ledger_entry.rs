//! Entries of the ledger, and the lines that they are.

use retold::event::StoredEvent;
use retold::event::chain::GENESIS;
use retold::id::{ContentHash, EventHash, LedgerHash, RunId, Seq, Time};
use retold::log::Head;
use retold::log::ledger::{LedgerChange, LedgerEntry};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::repeated::RepeatedEvent;

/// A line of the ledger: the canonical entry, with what readers need beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct EntryLine {
    /// The hash before each of the events that it repeats, whose lines come before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) follows: Vec<EventHash>,
    pub(crate) hash: LedgerHash,
    pub(crate) head: EventHash,
    pub(crate) number: u64,
    /// The object that it came with.
    pub(crate) object: u64,
    pub(crate) run: RunId,
    pub(crate) seq: Seq,
    /// When the first event of the run happened.
    pub(crate) started: Time,
    pub(crate) what: String,
}

/// The fields by which a line is known; all others are ignored.
#[derive(Debug, Deserialize)]
pub(crate) struct AnyLine {
    pub(crate) content: Option<ContentHash>,
    pub(crate) kind: Option<IgnoredAny>,
    pub(crate) seq: Option<Seq>,
    pub(crate) what: Option<IgnoredAny>,
}

/// An entry, with the values that it does not hold itself.
#[derive(Debug, Clone)]
pub(crate) struct KnownEntry {
    pub(crate) entry: LedgerEntry,
    pub(crate) started: Time,
    pub(crate) repeats: Vec<RepeatedEvent>,
    pub(crate) object: u64,
}

/// An entry that is to be appended.
#[derive(Debug, Clone)]
pub(crate) struct NewEntry {
    pub(crate) change: LedgerChange,
    pub(crate) run: RunId,
    pub(crate) head: Head,
    pub(crate) started: Time,
    pub(crate) repeats: Vec<RepeatedEvent>,
}

impl KnownEntry {
    /// Whether the run has ended with it.
    pub(crate) fn is_the_end(&self) -> bool {
        match self.entry.change {
            LedgerChange::Finished => true,
            LedgerChange::Imported => self
                .repeated_event(self.entry.head.seq)
                .is_some_and(|last| last.kind == "RunFinished"),
            _ => false,
        }
    }

    /// An event that it repeats; `None` if that is not as it was written.
    pub(crate) fn repeated_event(&self, seq: Seq) -> Option<StoredEvent> {
        let repeated = self.repeats.iter().find(|event| event.seq == seq)?;
        let event = repeated.event(self.entry.run)?;
        (seq != self.entry.head.seq || event.hash == self.entry.head.hash).then_some(event)
    }
}

impl NewEntry {
    /// The entry of a run with this first event, which it repeats if it is the first entry of the run; and the event at
    /// its head.
    pub(crate) fn new(
        change: LedgerChange,
        head: Head,
        first: &StoredEvent,
        at_head: Option<RepeatedEvent>,
    ) -> Self {
        let first_too = change == LedgerChange::Imported && head.seq > Seq(1);
        let first_too = if first_too { RepeatedEvent::new(first, GENESIS) } else { None };
        let repeats = first_too.into_iter().chain(at_head).collect();
        NewEntry { change, run: first.run, head, started: first.time, repeats }
    }
}
