//! Imports a recording into a log.

use super::error::ImportError;
use super::recording::Recording;
use super::requests::RequestCache;
use crate::event::chain::LinkedEvent;
use crate::event::{Event, MerkleTree, NewEvent, RunFinished, StoredEvent};
use crate::id::{RunId, Seq};
use crate::log::{
    Append, AppendKind, Backend, Committer, EventFault, Head, LogError, Reader, event_at,
};

/// Events read and appended together.
const BATCH: usize = 1024;

/// The result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportResult {
    /// How many events were added; 0 if the log already had all of them.
    pub added: u64,
    /// How many events the log already had.
    pub known: u64,
}

/// Adds a recording to a log: all of it, or the part that the log lacks, or nothing.
///
/// # Errors
/// [`ImportError::OtherHistory`] if the log has a different run with the same id.
pub fn import_recording(
    backend: &dyn Backend,
    recording: &Recording,
) -> Result<ImportResult, ImportError> {
    let Recording { run, log, head: end } = recording;
    let _lease = backend.lease(*run)?;
    let mut theirs = log.reader()?;
    let mut ours = backend.reader()?;
    let head = match same_beginning(ours.as_mut(), theirs.as_mut(), *run, *end)? {
        Some(head) => head,
        None => common(ours.as_mut(), theirs.as_mut(), *run)?,
    };
    let added = end.seq.0.saturating_sub(head.seq.0);
    if added > 0 {
        let mut committer = backend.committer()?;
        append(theirs.as_mut(), *run, head, *run, committer.as_mut(), |event, _| Ok(event))?;
        committer.flush()?;
    }
    Ok(ImportResult { added, known: head.seq.0.min(end.seq.0) })
}

/// The end of the part of a run that the log has, if one end lies in the other's chain: then all before it is the same,
/// and nothing else has to be read.
fn same_beginning(
    ours: &mut dyn Reader,
    theirs: &mut dyn Reader,
    run: RunId,
    end: Head,
) -> Result<Option<Head>, LogError> {
    let Some(held) = ours.runs()?.into_iter().find(|held| held.run == run) else {
        return Ok(Some(Head::START));
    };
    let head = held.head;
    let (found, shared) = match head.seq <= end.seq {
        true => (event_at(theirs, run, head.seq)?, head),
        false => (event_at(ours, run, end.seq)?, end),
    };
    Ok(found.filter(|event| event.hash == shared.hash).map(|_| head))
}

/// The end of the part of a run that the log has, which agrees with the recording, found event by event.
fn common(ours: &mut dyn Reader, theirs: &mut dyn Reader, run: RunId) -> Result<Head, ImportError> {
    let mut head = Head::START;
    loop {
        let batch = ours.events(run, head.seq, BATCH)?;
        let Some(last) = batch.last() else { return Ok(head) };
        let mut left = batch.as_slice();
        while let Some(first) = left.first() {
            let others = theirs.events(run, Seq(first.seq.0 - 1), left.len())?;
            // The log may have more events than the recording.
            if others.is_empty() {
                break;
            }
            if let Some((own, _)) = left.iter().zip(&others).find(|(a, b)| a.hash != b.hash) {
                let (seq, ours) = (own.seq, own.hash);
                return Err(ImportError::OtherHistory { run, seq, ours });
            }
            left = left.get(others.len()..).unwrap_or(&[]);
        }
        head = Head { seq: last.seq, hash: last.hash };
    }
}

/// The end of a run that was put together: it states the root over the events before it.
///
/// # Errors
/// [`LogError`] if the event cannot be read or written.
pub(super) fn with_root(
    event: NewEvent,
    finished: &RunFinished,
    tree: &MerkleTree,
) -> Result<NewEvent, LogError> {
    let finished = RunFinished { events_root: tree.root(), ..finished.clone() };
    NewEvent::from_event(&Event::RunFinished(finished), event.time, None)
        .map_err(|error| LogError::failure("the end of the run", error))
}

/// Appends the events of a run after `head`, changed or not, to a run in another log. What changes
/// them also gets the tree over the events before. Does not flush.
pub(super) fn append(
    from: &mut dyn Reader,
    run: RunId,
    mut head: Head,
    to: RunId,
    committer: &mut dyn Committer,
    mut change: impl FnMut(NewEvent, &MerkleTree) -> Result<NewEvent, LogError>,
) -> Result<(), LogError> {
    let mut tree = MerkleTree::default();
    let mut requests = RequestCache::default();
    let mut read = head.seq;
    let mut waiting: Option<Append> = None;
    loop {
        let events = from.events(run, read, BATCH)?;
        let Some(last) = events.last() else {
            return waiting.map_or(Ok(()), |append| committer.append(&append.into_import()));
        };
        read = last.seq;
        let mut linked = Vec::with_capacity(events.len());
        for event in events {
            let event = change(again(from, &mut requests, event)?, &tree)?;
            let event = LinkedEvent::new(event, to, head);
            head = event.head();
            tree.push(head.hash);
            linked.push(event);
        }
        let append = Append { run: to, events: linked, kind: AppendKind::Imported };
        if let Some(earlier) = waiting.replace(append) {
            committer.append(&earlier.imported_with_more())?;
        }
    }
}

/// A stored event in the form in which it was appended.
pub(super) fn again(
    reader: &mut dyn Reader,
    requests: &mut RequestCache,
    event: StoredEvent,
) -> Result<NewEvent, LogError> {
    let StoredEvent { run, seq, kind, version, time, call, sample, cause, content, body, .. } =
        event;
    let prompt = match event.prompt {
        None => None,
        Some(prompt) => Some(
            requests
                .request(reader, prompt)?
                .ok_or_else(|| LogError::corrupt(run, seq, EventFault::NoRequest { prompt }))?,
        ),
    };
    Ok(NewEvent { kind, version, time, call, sample, prompt, cause, content, body })
}
