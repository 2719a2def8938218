//! Recomputes every chain and reports faults.

mod links;

use std::collections::BTreeSet;
use std::sync::mpsc::{SyncSender, sync_channel};

use super::backend::{Reader, RunHead};
use super::error::LogError;
use super::finding::{EventFault, FileFault, Finding, LedgerFault};
use super::index::IndexComparison;
use super::ledger::{Ledger, Milestone};
use super::run_events::RunEvents;
use crate::event::chain::Head;
use crate::event::{MerkleTree, StoredEvent};
use crate::id::{EventHash, EventsRoot, OutcomeDigest, PromptHash, RunId, Seq};
use crate::lookup::LookupMap;
use links::Chain;

/// The result of verifying a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The run.
    pub run: RunId,
    /// How many events match the chain.
    pub events: u64,
    /// The end of the part that matches.
    pub head: Head,
    /// The first thing that is wrong.
    pub finding: Option<Finding>,
}

/// Verifies one run and compares it with the ledger; `expected` is a head known from elsewhere.
/// Without it, events that are missing after the last entry of the ledger cannot be noticed.
///
/// # Errors
/// [`LogError`] if the log cannot be read at all; damage is a [`Finding`], not an error.
pub fn verify_run(
    reader: &mut dyn Reader,
    run: RunId,
    expected: Option<EventHash>,
) -> Result<Verification, LogError> {
    let ledger = Ledger::read(reader);
    let (mut verified, read) = verify_chain(reader, run, expected)?;
    match ledger {
        Ok(mut ledger) => {
            // Other processes may have written meanwhile.
            ledger.read_on(reader)?;
            compare(&ledger, &mut verified, &read, reader)?;
        }
        // Its events are verified; whether there were more is not known.
        Err(LogError::Damaged { fault: why, .. }) => {
            let unknown = || Finding::of_run(run, LedgerFault::Unreadable { why });
            verified.finding = verified.finding.or_else(|| Some(unknown()));
        }
        Err(error) => return Err(error),
    }
    verified.finding = verified.finding.or_else(|| read.index(run));
    Ok(verified)
}

/// Notes made while the events of a run were read, besides the first fault.
struct ReadNotes {
    /// The milestones that the ledger must contain about the run.
    milestones: Vec<Milestone>,
    /// The fault in its index.
    index: Option<EventFault>,
}

impl ReadNotes {
    /// The finding about the index: it does not concern one event.
    fn index(self, run: RunId) -> Option<Finding> {
        self.index.map(|fault| Finding::of_run(run, fault))
    }
}

/// Adds a finding that only the ledger shows. One that is not as it was written does not show which event
/// is wrong.
fn compare(
    ledger: &Ledger,
    verified: &mut Verification,
    read: &ReadNotes,
    reader: &mut dyn Reader,
) -> Result<(), LogError> {
    if verified.finding.is_none()
        && let Some(found) = ledger.compare(verified, &read.milestones, reader)?
    {
        let whole = |fault| Finding::of_run(verified.run, fault);
        verified.finding = Some(ledger.mismatch(verified.run).map_or(found, whole));
    }
    Ok(())
}

/// Events in one read.
const BATCH: usize = 2048;

/// How many reads may be ahead of the chain.
const AHEAD: usize = 2;

/// Reads the events on this thread and recomputes their chain on another one: each takes about half of the time.
fn verify_chain(
    reader: &mut dyn Reader,
    run: RunId,
    expected: Option<EventHash>,
) -> Result<(Verification, ReadNotes), LogError> {
    let mut index = IndexComparison::new(reader, run)?;
    let (linked, read) = std::thread::scope(|scope| {
        let (next, batches) = sync_channel::<Vec<StoredEvent>>(AHEAD);
        let links = scope.spawn(move || {
            let mut chain = Chain::new(run);
            let misfit = |batch: Vec<StoredEvent>| batch.iter().find_map(|e| chain.add(e).err());
            let found = batches.iter().find_map(misfit);
            (chain, found)
        });
        let read = read(reader, run, &mut index, &next);
        drop(next);
        (links.join(), read)
    });
    let (chain, misfit) = linked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let mut finding = match misfit {
        // It comes first: the chain has not seen the events that were read after it.
        Some(misfit) => Some(misfit),
        None => {
            read?.map(|found| found.seq.and_then(|seq| chain.missing_before(seq)).unwrap_or(found))
        }
    };
    if finding.is_none() {
        finding = reader.check(Some(run))?.into_iter().next();
    }
    if finding.is_none() && chain.head.seq == Seq(0) {
        finding = Some(Finding::of_event(run, Seq(1), EventFault::NoEvents));
    }
    if let (None, Some(expected)) = (&finding, expected)
        && chain.head.hash != expected
    {
        let fault = match seen_at(reader, run, expected)? {
            Some(at) => EventFault::Continued { expected, at },
            None => EventFault::OtherHead { expected, found: chain.head.hash },
        };
        finding = Some(Finding::of_event(run, chain.head.seq, fault));
    }
    // Of a run that was not read to its end, the pieces after that are not compared.
    let index = if finding.is_none() { index.end() } else { None };
    let verified = Verification { run, events: chain.head.seq.0, head: chain.head, finding };
    Ok((verified, ReadNotes { milestones: chain.milestones, index }))
}

/// Reads the events of a run in order and passes them on to the chain. Returns the first finding about data that the chain
/// does not cover; at an event that is not the next one, it ends, and the chain names it.
fn read(
    reader: &mut dyn Reader,
    run: RunId,
    index: &mut IndexComparison,
    chain: &SyncSender<Vec<StoredEvent>>,
) -> Result<Option<Finding>, LogError> {
    let mut requests = VerifiedRequests { run, sound: LookupMap::default() };
    let mut end = Seq(0);
    loop {
        let mut events = match reader.events(run, end, BATCH) {
            Ok(events) if events.is_empty() => return Ok(None),
            Ok(events) => events,
            // Everything before it has been read.
            Err(LogError::Corrupt { seq, fault, .. }) => {
                return Ok(Some(Finding::of_event(run, seq, *fault)));
            }
            Err(e) => return Err(e),
        };
        for (at, event) in events.iter().enumerate() {
            let is_next = event.seq == end.next();
            let found = if is_next { requests.check(reader, event) } else { Ok(None) };
            let found = match found {
                Ok(None) if is_next => index.add(reader, event).map(|()| None),
                found => found,
            };
            if is_next && matches!(found, Ok(None)) {
                end = event.seq;
                continue;
            }
            events.truncate(at + 1);
            // The chain does not take them if it has found something before them.
            let _ = chain.send(events);
            return found;
        }
        if chain.send(events).is_err() {
            return Ok(None);
        }
    }
}

/// The requests of a run, which its chain covers by their hashes alone.
struct VerifiedRequests {
    run: RunId,
    /// Those that were found intact.
    sound: LookupMap<PromptHash, ()>,
}

impl VerifiedRequests {
    /// The chain covers the prompt hash of an event; this checks that the stored request still has
    /// that hash.
    fn check(
        &mut self,
        reader: &mut dyn Reader,
        stored: &StoredEvent,
    ) -> Result<Option<Finding>, LogError> {
        let Some(prompt) = stored.prompt else { return Ok(None) };
        if self.sound.get(&prompt).is_some() {
            return Ok(None);
        }
        let fault = match reader.request_part(prompt) {
            Ok(Some(_)) => {
                self.sound.insert(prompt, ());
                return Ok(None);
            }
            Ok(None) => EventFault::NoRequest { prompt },
            Err(LogError::CorruptRequest { prompt, why }) => EventFault::Request { prompt, why },
            Err(LogError::Damaged { fault: why, .. }) => {
                EventFault::RequestUnreadable { prompt, why }
            }
            Err(error) => return Err(error),
        };
        Ok(Some(Finding::of_event(self.run, stored.seq, fault)))
    }
}

/// The seq of the earlier event that has this hash, if any.
fn seen_at(reader: &mut dyn Reader, run: RunId, hash: EventHash) -> Result<Option<Seq>, LogError> {
    let mut events = RunEvents::new(run);
    while let Some(event) = events.next(reader)? {
        if event.hash == hash {
            return Ok(Some(event.seq));
        }
    }
    Ok(None)
}

/// Verifies every run, the ledger, and the rows that no chain covers. The second value lists the
/// faults in the file.
///
/// # Errors
/// [`LogError`] if the log cannot be read at all.
pub fn verify_all(reader: &mut dyn Reader) -> Result<(Vec<Verification>, Vec<Finding>), LogError> {
    let (mut runs, mut findings) = (Vec::new(), Vec::new());
    // Read before the runs: every run that it names must be found afterwards.
    let mut ledger = match Ledger::read(reader) {
        Ok(ledger) => Some(ledger),
        Err(LogError::Damaged { fault: why, .. }) => {
            findings.push(Finding::of_file(LedgerFault::Unreadable { why }));
            None
        }
        Err(e) => return Err(e),
    };
    match reader.runs() {
        Ok(heads) => {
            for RunHead { run, .. } in heads {
                runs.push(verify_chain(reader, run, None)?);
            }
            if let Some(ledger) = &mut ledger {
                ledger.read_on(reader)?;
                for (verified, read) in &mut runs {
                    compare(ledger, verified, read, reader)?;
                }
                let held: BTreeSet<RunId> = runs.iter().map(|(verified, _)| verified.run).collect();
                findings.extend(ledger.deletions(|run| held.contains(&run)));
            }
        }
        Err(LogError::Damaged { fault: why, .. }) => {
            findings.push(Finding::of_file(FileFault::Runs { why }));
        }
        Err(e) => return Err(e),
    }
    let of_ledger = ledger.iter().flat_map(Ledger::faults).cloned().map(Finding::of_file);
    for found in of_ledger.chain(reader.check(None)?) {
        // A store may find in its files a fault that is already reported for a run or for the ledger.
        let of_runs = runs.iter().filter_map(|(verified, _)| verified.finding.as_ref());
        if !of_runs.chain(&findings).any(|known| known.fault == found.fault) {
            findings.push(found);
        }
    }
    let with_index = |(verified, read): (Verification, ReadNotes)| {
        let Verification { run, finding, .. } = verified;
        Verification { finding: finding.or_else(|| read.index(run)), ..verified }
    };
    Ok((runs.into_iter().map(with_index).collect(), findings))
}

/// The root of a Merkle tree over the events that a run has so far: see [`MerkleTree`].
///
/// # Errors
/// [`LogError`] if it cannot be read.
pub fn events_root(reader: &mut dyn Reader, run: RunId) -> Result<EventsRoot, LogError> {
    let (mut tree, mut events) = (MerkleTree::default(), RunEvents::new(run));
    while let Some(event) = events.next(reader)? {
        tree.push(event.hash);
    }
    Ok(tree.root())
}

/// The outcome digest of a run so far.
///
/// # Errors
/// [`LogError`] if it cannot be read.
pub fn outcome_digest(reader: &mut dyn Reader, run: RunId) -> Result<OutcomeDigest, LogError> {
    let (mut chain, mut events) = (Chain::new(run), RunEvents::new(run));
    while let Some(stored) = events.next(reader)? {
        let corrupt = |fault: EventFault| LogError::corrupt(run, stored.seq, fault);
        let event = stored.event().map_err(|error| corrupt(error.into()))?;
        chain.follow(&stored, event).map_err(corrupt)?;
    }
    Ok(chain.digest())
}
