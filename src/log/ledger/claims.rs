//! A ledger as it is read, and its claims about the runs.

use std::collections::BTreeMap;

use super::entry::{LedgerChange, LedgerEntry, LedgerHead};
use crate::event::chain::Head;
use crate::id::{LedgerHash, RunId, Seq};
use crate::log::backend::Reader;
use crate::log::error::LogError;
use crate::log::finding::{Fault, Finding, LedgerFault};
use crate::log::verify::Verification;

/// How many entries are read at a time.
const PAGE: usize = 4096;

/// A ledger that was read and recomputed.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    entries: Vec<LedgerEntry>,
    faults: Vec<Fault>,
    /// The last number that was read.
    last: u64,
    /// The entries of each run, by their place in `entries`.
    runs: BTreeMap<RunId, Vec<usize>>,
    /// How many entries the first reading found; the others came later.
    at_first: usize,
    /// Whether an entry could not be read, so that those after it are unknown.
    unreadable: bool,
}

/// A checkpoint that was found in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerCheckpoint {
    /// The number of the entry that has the hash; 0 is the start of every ledger.
    pub number: u64,
    /// How many runs were started or imported since.
    pub runs_since: u64,
}

/// An event that must have an entry in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::log) struct Milestone {
    seq: Seq,
    change: LedgerChange,
}

/// What an event means for the ledger.
pub(in crate::log) fn milestone(seq: Seq, kind: &str) -> Option<Milestone> {
    LedgerChange::new(seq, kind).map(|change| Milestone { seq, change })
}

impl Ledger {
    /// Reads and recomputes the ledger of a log.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read; wrong entries are [faults](Self::faults).
    pub fn read(reader: &mut dyn Reader) -> Result<Self, LogError> {
        let mut ledger = Ledger::default();
        ledger.read_on(reader)?;
        ledger.at_first = ledger.entries.len();
        Ok(ledger)
    }

    /// Reads what others have added since.
    pub(in crate::log) fn read_on(&mut self, reader: &mut dyn Reader) -> Result<(), LogError> {
        while !self.unreadable {
            let entries = match reader.ledger(self.last, PAGE) {
                Ok(entries) if entries.is_empty() => break,
                Ok(entries) => entries,
                Err(LogError::CorruptLedger { fault }) => {
                    self.unreadable = true;
                    self.faults.push(*fault);
                    break;
                }
                Err(e) => return Err(e),
            };
            entries.into_iter().for_each(|entry| self.add(entry));
        }
        Ok(())
    }

    fn add(&mut self, entry: LedgerEntry) {
        let due = self.last + 1;
        match entry.number - due {
            0 => {
                let previous = self.entries.last().map_or(LedgerHead::START.hash, |e| e.hash);
                if entry.hash_after(previous) != entry.hash {
                    self.faults.push(LedgerFault::Hash { number: due }.into());
                }
            }
            n => self.faults.push(LedgerFault::Gap { first: due, last: due + n - 1 }.into()),
        }
        self.last = entry.number;
        self.runs.entry(entry.run).or_default().push(self.entries.len());
        self.entries.push(entry);
    }

    /// The faults of the ledger itself.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Why it does not fit a log that has runs or has none: its faults, or that it names none of
    /// the runs. It then does not show how far the runs had come.
    pub fn mismatches(&self, has_runs: bool) -> Vec<Finding> {
        let names_none = has_runs && self.runs.is_empty();
        let names_none = names_none.then(|| LedgerFault::NamesNoRun.into());
        self.faults.iter().cloned().chain(names_none).map(Finding::of_file).collect()
    }

    /// The end of the ledger.
    pub fn head(&self) -> LedgerHead {
        self.entries.last().map_or(LedgerHead::START, LedgerEntry::ledger_head)
    }

    /// How many runs it names.
    pub fn runs(&self) -> u64 {
        self.runs.len() as u64
    }

    /// The entries of a run, in order.
    pub fn entries_of(&self, run: RunId) -> impl Iterator<Item = &LedgerEntry> {
        let places = self.runs.get(&run).map_or(&[][..], Vec::as_slice);
        places.iter().map(|at| &self.entries[*at])
    }

    /// The last entry about a run.
    pub fn last_of(&self, run: RunId) -> Option<&LedgerEntry> {
        self.entries_of(run).max_by_key(|entry| entry.head.seq)
    }

    /// The runs that it names, in the order in which they came into the log.
    pub fn known_runs(&self) -> impl Iterator<Item = RunId> {
        let first = |(at, entry): (usize, &LedgerEntry)| {
            (self.runs[&entry.run][0] == at).then_some(entry.run)
        };
        self.entries.iter().enumerate().filter_map(first)
    }

    /// Finds a hash that was noted earlier.
    pub fn checkpoint(&self, hash: LedgerHash) -> Option<LedgerCheckpoint> {
        let at = match self.entries.iter().position(|entry| entry.hash == hash) {
            Some(at) => at + 1,
            None if hash == LedgerHead::START.hash => 0,
            None => return None,
        };
        let number = at.checked_sub(1).map_or(0, |at| self.entries[at].number);
        let runs_since = self.runs.values().filter(|places| places[0] >= at).count() as u64;
        Some(LedgerCheckpoint { number, runs_since })
    }

    /// Compares a run with the ledger's claims about it; `has` returns an event of the run by its
    /// seq.
    pub(in crate::log) fn compare(
        &self,
        found: &Verification,
        milestones: &[Milestone],
        reader: &mut dyn Reader,
    ) -> Result<Option<Finding>, LogError> {
        let run = found.run;
        if !self.runs.contains_key(&run) {
            if self.unreadable {
                return Ok(None);
            }
            return Ok(Some(Finding::of_run(run, LedgerFault::NotNamed)));
        }
        let early = self.runs[&run].iter().filter(|at| **at < self.at_first);
        for entry in early.map(|at| &self.entries[*at]) {
            let LedgerEntry { number, change, head, .. } = entry;
            if let Some(missing) = entry.missing_after(found.head.seq) {
                return Ok(Some(missing));
            }
            if hash_at(reader, run, *head)? != Some(head.hash) {
                let (number, change, hash) = (*number, change.clone(), head.hash);
                let fault = LedgerFault::OtherHistory { number, change, hash };
                return Ok(Some(Finding::of_event(run, head.seq, fault)));
            }
        }
        for Milestone { seq, change } in milestones.iter().filter(|_| !self.unreadable) {
            let says_so = |entry: &LedgerEntry| {
                if entry.change.covers_what_came_before() {
                    entry.head.seq >= *seq
                } else {
                    entry.head.seq == *seq && entry.change == *change
                }
            };
            if !self.entries_of(run).any(says_so) {
                let fault = LedgerFault::NotRecorded { change: change.clone() };
                return Ok(Some(Finding::of_event(run, *seq, fault)));
            }
        }
        Ok(None)
    }

    /// Why it is not known any more whether a run once had more events: the ledger is not as it was
    /// written, or does not name the run.
    pub fn mismatch(&self, run: RunId) -> Option<Fault> {
        let why = match self.faults.first() {
            Some(fault) => fault.clone(),
            None if !self.runs.contains_key(&run) => LedgerFault::NotNamed.into(),
            None => return None,
        };
        Some(LedgerFault::Unconfirmed { why: Box::new(why) }.into())
    }

    /// The finding about a run that goes no further than `last`, if an entry says that it had more.
    pub fn missing_after(&self, run: RunId, last: Seq) -> Option<Finding> {
        self.entries_of(run).find_map(|entry| entry.missing_after(last))
    }

    /// The runs that the ledger names but the log does not hold; `held` says whether the
    /// log holds a run.
    pub(in crate::log) fn deletions(&self, held: impl Fn(RunId) -> bool) -> Vec<Finding> {
        let gone = |run: RunId| {
            let entry = self.last_of(run)?;
            let early = self.runs[&run][0] < self.at_first;
            (early && !held(run)).then(|| entry.deletion())
        };
        self.known_runs().filter_map(gone).collect()
    }
}

impl LedgerEntry {
    /// The first event that is missing of a run that ends at `last`, if it had more at this entry.
    fn missing_after(&self, last: Seq) -> Option<Finding> {
        let LedgerEntry { number, ref change, run, head, .. } = *self;
        let shorter = || LedgerFault::Shorter { number, change: change.clone(), head };
        (last < head.seq).then(|| Finding::of_event(run, last.next(), shorter()))
    }

    /// What to report about a run that is no longer in the log.
    pub fn deletion(&self) -> Finding {
        let LedgerEntry { number, ref change, run, head, .. } = *self;
        Finding::of_event(
            run,
            Seq(1),
            LedgerFault::Deleted { number, change: change.clone(), head },
        )
    }
}

/// The stored hash of an event.
fn hash_at(
    reader: &mut dyn Reader,
    run: RunId,
    head: Head,
) -> Result<Option<crate::id::EventHash>, LogError> {
    let Some(before) = head.seq.0.checked_sub(1) else { return Ok(None) };
    let events = reader.events(run, Seq(before), 1)?;
    Ok(events.first().filter(|event| event.seq == head.seq).map(|event| event.hash))
}
