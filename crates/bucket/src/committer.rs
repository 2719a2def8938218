//! Appends: segments first, then the entries of the ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use retold::event::chain::LinkedEvent;
use retold::id::{EventHash, RunId, Seq};
use retold::log::ledger::LedgerChange;
use retold::log::{Append, AppendKind, Committer, Head, LogError, Turn};
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

/// The events that were appended to a run and not flushed: its part of a commit.
#[derive(Debug)]
struct RunCommit {
    run: RunId,
    end: RunEnd,
    events: Vec<LinkedEvent>,
    /// The changes for the ledger.
    entries: Vec<AnnouncedEntry>,
    /// True if all of it happened in another log.
    is_copy: bool,
    /// True if more of the same commit follows.
    is_begun: bool,
    writer: Writer,
}

/// Appends to a log in a bucket.
pub(crate) struct BucketCommitter {
    shared: Arc<Shared>,
    writer: Writer,
    /// The ends of the runs that it writes.
    ends: BTreeMap<RunId, RunEnd>,
    /// In the order of their first events.
    staged: Vec<RunCommit>,
    /// The events that the last flush stored, for those that come again because another run failed.
    flushed: BTreeSet<EventHash>,
}

impl BucketCommitter {
    pub(crate) fn new(shared: Arc<Shared>, writer: Writer) -> Self {
        let (ends, staged, flushed) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
        BucketCommitter { shared, writer, ends, staged, flushed }
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
        let Append { run, events, kind } = append;
        let Some(last) = events.last().map(LinkedEvent::head) else { return Ok(()) };
        // When one of several runs failed, the others are appended again, each alone.
        if self.flushed.contains(&last.hash) {
            return Ok(());
        }
        let is_copy = *kind != AppendKind::New;
        let at = match self.staged.iter().position(|staged| staged.run == *run) {
            Some(at) => at,
            None => {
                let (run, end, writer) = (*run, self.end(*run)?, self.writer.clone());
                let (events, entries) = (Vec::new(), Vec::new());
                let is_begun = false;
                self.staged.push(RunCommit {
                    run,
                    end,
                    events,
                    entries,
                    is_copy,
                    is_begun,
                    writer,
                });
                self.staged.len() - 1
            }
        };
        let staged = &mut self.staged[at];
        append.end_after(staged.events.last().map_or(staged.end.head, LinkedEvent::head))?;
        staged.events.extend(events.iter().cloned());
        staged.is_copy &= is_copy;
        let entry = |(change, head): (LedgerChange, Head)| AnnouncedEntry {
            what: change.to_string(),
            head,
        };
        staged.entries.extend(append.ledger_changes().into_iter().map(entry));
        if *kind == AppendKind::ImportedInPart && staged.events.len() >= MOST_EVENTS {
            self.put_begun(at)?;
        }
        Ok(())
    }

    /// Puts the staged events of a long import, of which more follows, so that they need not be in memory: nobody sees them
    /// before its last segment.
    fn put_begun(&mut self, at: usize) -> Result<(), LogError> {
        let RunCommit { run, end, is_copy, .. } = self.staged[at];
        let (events, entries) = (std::mem::take(&mut self.staged[at].events), Vec::new());
        let writer = self.writer.clone();
        let begun = RunCommit { run, end, events, entries, is_copy, is_begun: true, writer };
        let put = |segments: Arc<Segments>| async move { begun.put(&segments).await };
        self.staged[at].end = self.shared.wait(put)?.0;
        Ok(())
    }
}

impl Committer for BucketCommitter {
    fn append(&mut self, append: &Append) -> Result<(), LogError> {
        let staged = self.stage(append);
        if staged.is_err() {
            self.staged.clear();
        }
        staged
    }

    /// Each run is stored for itself: if the process dies, the events of one may be stored and those of another not.
    /// Nobody waits for a lock: there is none.
    fn flush(&mut self) -> Result<Turn, LogError> {
        let commits = std::mem::take(&mut self.staged);
        if commits.is_empty() {
            return Ok(Turn::Free);
        }
        self.flushed.clear();
        let results = self
            .shared
            .wait(move |segments| async move { Ok(put_all(&segments, commits).await) })?;
        let mut failed = None;
        for (run, result) in results {
            match result {
                Ok((end, hashes)) => {
                    self.shared.segments.note_end(run, end);
                    self.ends.insert(run, end);
                    self.flushed.extend(hashes);
                }
                Err(error) => {
                    // Where the run ends has to be found out again.
                    self.ends.remove(&run);
                    failed.get_or_insert(error);
                }
            }
        }
        failed.map_or(Ok(Turn::Free), Err)
    }
}

/// The new end of a run, with the hashes of the events that it has now.
type Stored = (RunEnd, Vec<EventHash>);

/// Puts the segments of all runs at the same time, then the entries of those that are stored.
async fn put_all(
    segments: &Segments,
    commits: Vec<RunCommit>,
) -> Vec<(RunId, Result<Stored, LogError>)> {
    let puts = commits.into_iter().map(|commit| async move {
        let run = commit.run;
        let hashes = commit.events.iter().map(|event| event.head().hash).collect();
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

impl RunCommit {
    /// Puts the segments; returns the end of the run, and the entries that the ledger is to get.
    async fn put(self, segments: &Segments) -> Result<(RunEnd, Vec<NewEntry>), LogError> {
        let RunCommit { run, end, events, entries: announced, is_copy, is_begun, writer } = self;
        let mut left = events.as_slice();
        let mut end = end;
        while !left.is_empty() {
            let (now, later) = left.split_at(fitting(left));
            let more = is_begun || !later.is_empty();
            let entries = if more { Vec::new() } else { announced.clone() };
            let first = end.head.seq.next();
            let new = NewSegment { run, events: now, writer: &writer, more, entries };
            let (bytes, footer) = encode(new)?;
            let path = segments.names.segment(run, first);
            match segments.objects.create(&path, &Bytes::from(bytes)).await? {
                Created::Here => {
                    end = RunEnd::at(footer.reaches);
                    left = later;
                }
                Created::Other(found) => {
                    let there = segments
                        .decode(path.as_ref(), (run, first), &found, MOST_BYTES)
                        .map_err(|fault| LogError::corrupt(run, first, fault))?;
                    let Some(known) = same_history(left, &there, is_copy) else {
                        let holder = format!(" ({})", there.footer.writer);
                        return Err(LogError::InUse { run, holder });
                    };
                    end = RunEnd::at(there.footer.reaches);
                    left = left.get(known..).unwrap_or(&[]);
                }
            }
            segments.note_segments(run, [(first, None)]);
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
