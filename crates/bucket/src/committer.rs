//! Appends: segments first, then the entries of the ledger.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use retold::event::chain::LinkedEvent;
use retold::id::{EventHash, RunId, Seq};
use retold::log::ledger::LedgerChange;
use retold::log::{Append, Committer, Head, LogError, Provenance};
use retold::prompt::Request;

use crate::ledger_entry::NewEntry;
use crate::objects::Created;
use crate::repeated::RepeatedEvent;
use crate::run_end::RunEnd;
use crate::segment::{AnnouncedEntry, MOST_BYTES, NewSegment, Segment, encode};
use crate::segments::Segments;
use crate::shared::Shared;
use crate::writer::Writer;

/// The most events in a segment.
const MOST_EVENTS: usize = 4096;

/// And the most bytes that it takes in memory, prompts included; a single event may have more.
const FULL_BYTES: usize = 16 << 20;

/// The events that were appended to a run and not flushed.
#[derive(Debug, Default, Clone)]
struct StagedRun {
    events: Vec<LinkedEvent>,
    /// Whether all of it happened in another log.
    is_copy: bool,
}

/// Appends to a log in a bucket.
pub(crate) struct BucketCommitter {
    shared: Arc<Shared>,
    writer: Writer,
    /// The ends of the runs that it writes.
    ends: BTreeMap<RunId, RunEnd>,
    order: Vec<RunId>,
    staged: BTreeMap<RunId, StagedRun>,
    /// The changes for the ledger, in the order of the events.
    changes: Vec<(RunId, LedgerChange, Head)>,
    /// The events that the last flush stored of each run, for those that come again because another run failed.
    flushed: BTreeMap<RunId, BTreeMap<Seq, EventHash>>,
}

impl BucketCommitter {
    pub(crate) fn new(shared: Arc<Shared>, writer: Writer) -> Self {
        BucketCommitter {
            shared,
            writer,
            ends: BTreeMap::new(),
            order: Vec::new(),
            staged: BTreeMap::new(),
            changes: Vec::new(),
            flushed: BTreeMap::new(),
        }
    }

    fn end(&mut self, run: RunId) -> Result<RunEnd, LogError> {
        if let Some(end) = self.ends.get(&run) {
            return Ok(*end);
        }
        let end = self.shared.wait(move |segments| async move { segments.end(run).await })?;
        self.ends.insert(run, end);
        Ok(end)
    }

    fn stage(&mut self, append: &Append) -> Result<(), LogError> {
        let Append { run, events, origin } = append;
        let Some(last) = events.last().map(LinkedEvent::head) else { return Ok(()) };
        // When one of several runs failed, the others are appended again, each alone.
        let stored = self.flushed.get(run).and_then(|stored| stored.get(&last.seq));
        if stored == Some(&last.hash) {
            return Ok(());
        }
        let staged = self.staged.get(run).and_then(|staged| staged.events.last());
        let end = match staged.map(LinkedEvent::head) {
            Some(head) => head,
            None => self.end(*run)?.head,
        };
        append.end_after(end)?;
        if !self.staged.contains_key(run) {
            self.order.push(*run);
        }
        let is_first = !self.staged.contains_key(run);
        let staged = self.staged.entry(*run).or_default();
        staged.events.extend(events.iter().cloned());
        staged.is_copy = *origin != Provenance::Here && (is_first || staged.is_copy);
        let changes = append.ledger_changes().into_iter();
        self.changes.extend(changes.map(|(change, head)| (*run, change, head)));
        if *origin == Provenance::ElsewhereWithMore && staged.events.len() >= MOST_EVENTS {
            self.put_begun(*run)?;
        }
        Ok(())
    }

    /// Puts the staged events of a long import, of which more follows, so that they need not be in memory: nobody sees them
    /// before its last segment.
    fn put_begun(&mut self, run: RunId) -> Result<(), LogError> {
        let Some(staged) = self.staged.get_mut(&run) else { return Ok(()) };
        let (events, is_copy) = (std::mem::take(&mut staged.events), staged.is_copy);
        let end = self.end(run)?;
        let (entries, writer) = (Vec::new(), self.writer.clone());
        let commit = RunCommit { run, end, events, entries, is_copy, begun: true, writer };
        let put = |segments: Arc<Segments>| async move { commit.put(&segments).await };
        let (end, _) = self.shared.wait(put)?;
        self.ends.insert(run, end);
        Ok(())
    }

    fn store(&mut self) -> Result<(), LogError> {
        let (order, mut staged) =
            (std::mem::take(&mut self.order), std::mem::take(&mut self.staged));
        let changes = std::mem::take(&mut self.changes);
        self.flushed.clear();
        let commits = order.iter().filter_map(|run| {
            let StagedRun { events, is_copy } = staged.remove(run)?;
            let end = self.ends.get(run).copied()?;
            let of_run = changes.iter().filter(|(of, ..)| of == run);
            let entries = of_run
                .map(|(_, change, head)| AnnouncedEntry { what: change.to_string(), head: *head });
            let (entries, writer) = (entries.collect(), self.writer.clone());
            Some(RunCommit { run: *run, end, events, entries, is_copy, begun: false, writer })
        });
        let commits: Vec<RunCommit> = commits.collect();
        let results = self
            .shared
            .wait(move |segments| async move { Ok(put_all(&segments, commits).await) })?;
        let mut failed = None;
        for (run, result) in results {
            match result {
                Ok((end, hashes)) => {
                    self.shared.segments.note_end(run, end);
                    self.ends.insert(run, end);
                    self.flushed.insert(run, hashes);
                }
                Err(error) => {
                    // Where the run ends has to be found out again.
                    self.ends.remove(&run);
                    failed.get_or_insert(error);
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

impl Committer for BucketCommitter {
    fn append(&mut self, append: &Append) -> Result<(), LogError> {
        let staged = self.stage(append);
        if staged.is_err() {
            self.order.clear();
            self.staged.clear();
            self.changes.clear();
        }
        staged
    }

    /// Each run is stored for itself: if the process dies, the events of one may be stored and those of another not.
    fn flush(&mut self) -> Result<(), LogError> {
        if self.order.is_empty() { Ok(()) } else { self.store() }
    }

    /// Nobody waits for a lock: there is none.
    fn met_others(&mut self) -> bool {
        false
    }
}

/// The new end of a run, with the hashes of the events that it has now.
type Stored = (RunEnd, BTreeMap<Seq, EventHash>);

/// Puts the segments of all runs at the same time, then the entries of those that are stored.
async fn put_all(
    segments: &Segments,
    commits: Vec<RunCommit>,
) -> Vec<(RunId, Result<Stored, LogError>)> {
    let puts = commits.into_iter().map(|commit| async move {
        let (run, hashes) = (commit.run, commit.hashes());
        let put = commit.put(segments).await;
        (run, put.map(|(end, entries)| ((end, hashes), entries)))
    });
    let put = futures::future::join_all(puts).await;
    let stored = put.iter().filter_map(|(_, put)| put.as_ref().ok());
    let entries: Vec<NewEntry> = stored.flat_map(|(_, entries)| entries).cloned().collect();
    let noted = match entries.is_empty() {
        true => Ok(()),
        false => segments.ledger.append(&entries).await,
    };
    let undecided = |run: &RunId| {
        noted.as_ref().err().filter(|_| entries.iter().any(|entry| entry.run == *run)).cloned()
    };
    let result = |(run, put): (RunId, Result<(Stored, Vec<NewEntry>), LogError>)| {
        let done = undecided(&run).map_or(Ok(()), Err);
        (run, done.and_then(|()| put.map(|(stored, _)| stored)))
    };
    put.into_iter().map(result).collect()
}

/// One run's part of a commit.
struct RunCommit {
    run: RunId,
    end: RunEnd,
    events: Vec<LinkedEvent>,
    entries: Vec<AnnouncedEntry>,
    is_copy: bool,
    /// Whether more of the same commit follows.
    begun: bool,
    writer: Writer,
}

impl RunCommit {
    fn hashes(&self) -> BTreeMap<Seq, EventHash> {
        self.events.iter().map(|event| (event.head().seq, event.head().hash)).collect()
    }

    /// Puts the segments; returns the end of the run, and the entries that the ledger is to get.
    async fn put(self, segments: &Segments) -> Result<(RunEnd, Vec<NewEntry>), LogError> {
        let RunCommit { run, end, events, entries: announced, is_copy, begun, writer } = self;
        let mut left = events.as_slice();
        let mut end = end;
        while !left.is_empty() {
            let (now, later) = left.split_at(fitting(left));
            let more = begun || !later.is_empty();
            let entries = if more { Vec::new() } else { announced.clone() };
            let number = end.segments + 1;
            let new = NewSegment { run, number, events: now, writer: &writer, more, entries };
            let (bytes, footer) = encode(new)?;
            let path = segments.names.segment(run, number);
            match segments.objects.create(&path, &Bytes::from(bytes)).await? {
                Created::Here => {
                    end = RunEnd { segments: number, all: number, head: footer.reaches };
                    left = later;
                }
                Created::Other(found) => {
                    let there = segments
                        .decode(path.as_ref(), (run, number), &found, MOST_BYTES)
                        .map_err(|fault| LogError::corrupt(run, footer.first(), fault))?;
                    let Some(known) = same_history(left, &there, is_copy) else {
                        let holder = format!(" ({})", there.footer.writer);
                        return Err(LogError::InUse { run, holder });
                    };
                    end = RunEnd { segments: number, all: number, head: there.footer.reaches };
                    left = left.get(known..).unwrap_or(&[]);
                }
            }
        }
        if announced.is_empty() {
            return Ok((end, Vec::new()));
        }
        let first = match events.first() {
            Some(first) if first.head().seq == Seq(1) => first.to_stored(run),
            _ => segments.first(run).await?,
        };
        let at = |head: Head| events.iter().find(|event| event.head() == head);
        let entry = |AnnouncedEntry { what, head }| {
            let repeated = at(head)
                .and_then(|event| RepeatedEvent::new(&event.to_stored(run), event.after().hash));
            NewEntry::new(what.as_str().into(), head, &first, repeated)
        };
        Ok((end, announced.into_iter().map(entry).collect()))
    }
}

/// How many events go into the next segment.
fn fitting(events: &[LinkedEvent]) -> usize {
    let mut bytes = 0;
    let size = |event: &LinkedEvent| {
        let event = event.event();
        let content = event.content.as_ref().map_or(0, |content| content.bytes().len());
        let prompt = event.prompt.as_ref().map_or(0, Request::footprint);
        content + prompt + event.body.len()
    };
    let fits = events.iter().take(MOST_EVENTS).take_while(|event| {
        bytes += size(event);
        bytes <= FULL_BYTES
    });
    fits.count().max(1)
}

/// How many of the events a segment that is already there holds, if it belongs to the same history: an import that was
/// interrupted is continued by the next one. What happens here has one writer, so that anybody's segment is another's.
fn same_history(events: &[LinkedEvent], there: &Segment, is_copy: bool) -> Option<usize> {
    let first = events.first()?.after();
    if !is_copy || there.footer.follows != first {
        return None;
    }
    let same =
        events.iter().zip(&there.events).all(|(event, there)| event.head().hash == there.hash);
    same.then_some(there.events.len())
}
