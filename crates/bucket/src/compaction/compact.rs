//! Makes compactions.
//!
//! A run is read, and its chain checked, while its events are packed again. Each segment is read back before the next one is
//! begun, also one that another process has put: a compaction that goes on after an interruption, and one that runs at the same
//! time, put the same events into each.

use std::collections::BTreeMap;
use std::sync::Arc;

use retold::event::StoredEvent;
use retold::event::chain::ChainLink;
use retold::exchange::LineOfEvent;
use retold::id::{PromptHash, RunId, Seq};
use retold::log::{Head, IndexPiece, IndexPieces, LogError, SegmentFault};
use retold::prompt::Request;

use super::directory;
use crate::read_ahead::ReadAhead;
use crate::run_end::RunEnd;
use crate::segment::{FORMAT, Footer, MOST_BYTES, Segment, SegmentLines};
use crate::segments::Segments;
use crate::writer::Writer;

/// How many bytes of lines a segment has: as many as are read to show one event.
const SEGMENT_BYTES: usize = if cfg!(test) { 16 << 10 } else { 4 << 20 };

/// How many bytes it takes in memory when it is read.
const HELD_BYTES: usize = 16 << 20;

/// What became of a run that was to be compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionResult {
    /// It has not ended, so more segments will follow.
    Unfinished,
    /// It was compacted before.
    Known,
    /// It was compacted.
    Made {
        /// How many segments were read.
        segments: u64,
        /// How many their events are in now.
        merged: u64,
        /// How many bytes these objects have.
        bytes: u64,
    },
}

/// Compacts a run.
///
/// # Errors
/// [`LogError::Corrupt`] if it is damaged; [`LogError`] if the store cannot be read or written.
pub(crate) async fn compact(
    segments: &Arc<Segments>,
    run: RunId,
) -> Result<CompactionResult, LogError> {
    let end = segments.end_by_ledger(run).await?;
    if end == RunEnd::START {
        let path = segments.objects.name().to_owned();
        return Err(LogError::NoSuchRun { run, path });
    }
    if let Some(known) = segments.compaction(run).await?
        && known.end().head == end.head
    {
        return Ok(CompactionResult::Known);
    }
    let last = segments.having(run, end.head.seq).await?;
    let is_finished = last.events.last().is_some_and(|event| event.kind == "RunFinished");
    // An entry of the ledger names the end by which readers find the compaction.
    let is_named = segments.ledger.read().await?.ends_of(run).any(|named| named == end.head);
    if !is_finished || end.undecided.is_some() || !is_named {
        return Ok(CompactionResult::Unfinished);
    }
    make(segments, run, end).await
}

/// Puts the events of a run up to an end into objects of a compaction. Those that are there already stay.
async fn make(
    segments: &Arc<Segments>,
    run: RunId,
    end: RunEnd,
) -> Result<CompactionResult, LogError> {
    let mut new = NewCompaction::new(segments.clone(), run, end);
    let mut ahead = ReadAhead::default();
    let (mut head, mut count) = (Head::START, 0);
    while head.seq < end.head.seq {
        let read = ahead.having(segments, run, head.seq.next()).await?;
        let Segment { footer, events, requests, held: _ } = &*read;
        if footer.follows != head {
            let fault = retold::log::EventFault::Hash;
            return Err(LogError::corrupt(run, head.seq.next(), fault));
        }
        for event in events {
            new.add(event, requests).await?;
        }
        (head, count) = (footer.reaches, count + 1);
    }
    if head != end.head {
        return Err(LogError::corrupt(run, end.head.seq, retold::log::EventFault::Hash));
    }
    new.finish(count).await
}

/// A compaction that is made.
struct NewCompaction {
    store: Arc<Segments>,
    run: RunId,
    end: RunEnd,
    /// The segment that is made, and the events before and after it.
    lines: SegmentLines,
    follows: Head,
    reaches: Head,
    /// The first event of each segment before it.
    firsts: Vec<Seq>,
    bytes: u64,
    pieces: IndexPieces,
    index: Vec<IndexPiece>,
}

impl NewCompaction {
    fn new(store: Arc<Segments>, run: RunId, end: RunEnd) -> Self {
        NewCompaction {
            store,
            run,
            end,
            lines: SegmentLines::default(),
            follows: Head::START,
            reaches: Head::START,
            firsts: Vec::new(),
            bytes: 0,
            pieces: IndexPieces::default(),
            index: Vec::new(),
        }
    }

    async fn add(
        &mut self,
        event: &StoredEvent,
        requests: &BTreeMap<PromptHash, Request>,
    ) -> Result<(), LogError> {
        let line_of_event = LineOfEvent {
            canonical: ChainLink::of_stored(event).canonical(),
            hash: event.hash,
            content: event.content.as_ref(),
            prompt: event.prompt,
        };
        self.lines.add(line_of_event, event.prompt.and_then(|prompt| requests.get(&prompt)))?;
        self.index.extend(self.pieces.add(event));
        self.reaches = Head { seq: event.seq, hash: event.hash };
        if self.lines.bytes() >= SEGMENT_BYTES || self.lines.held_bytes() >= HELD_BYTES {
            self.put_segment().await?;
        }
        Ok(())
    }

    /// Puts a segment unless it is there, and reads it back.
    async fn put_segment(&mut self) -> Result<(), LogError> {
        let first = self.follows.seq.next();
        let (bytes, footer) = std::mem::take(&mut self.lines).pack(Footer {
            format: FORMAT,
            run: self.run,
            follows: self.follows,
            reaches: self.reaches,
            bytes: 0,
            writer: Writer::of_compactions(),
            more: false,
            entries: Vec::new(),
        })?;
        let Segments { names, objects, .. } = &*self.store;
        let path = names.compacted_segment(self.run, self.end.head.seq, first);
        objects.create(&path, &bytes.into()).await?;
        let object = path.to_string();
        let corrupt = |fault| LogError::corrupt(self.run, footer.first(), fault);
        let Some(bytes) = objects.get(&path).await? else {
            return Err(corrupt(SegmentFault::Missing { object }));
        };
        let key = (self.run, first);
        let read = self.store.decode(&object, key, &bytes, MOST_BYTES).map_err(corrupt)?;
        if (read.footer.follows, read.footer.reaches) != (footer.follows, footer.reaches) {
            let why = "it does not have the events that are written there".to_owned();
            return Err(corrupt(SegmentFault::Changed { object, why }));
        }
        self.bytes += bytes.len() as u64;
        self.firsts.push(first);
        self.follows = self.reaches;
        Ok(())
    }

    /// Puts the rest, and then the directory, with which the compaction counts.
    async fn finish(mut self, segments: u64) -> Result<CompactionResult, LogError> {
        if self.follows != self.reaches {
            self.put_segment().await?;
        }
        let NewCompaction { store, run, end, firsts, bytes, pieces, mut index, .. } = self;
        index.extend(pieces.finish());
        let merged = firsts.len() as u64;
        let directory = directory::encode(run, end.head, firsts, &index)
            .map_err(|error| LogError::failure("a directory", error))?;
        let path = store.names.directory(run, end.head.seq);
        store.objects.create(&path, &directory.into()).await?;
        match store.find_compaction(run).await? {
            Some(found) if found.end() == end => {
                Ok(CompactionResult::Made { segments, merged, bytes })
            }
            _ => {
                let why = "it does not fit the run".to_owned();
                let fault = SegmentFault::Changed { object: path.to_string(), why };
                Err(LogError::corrupt(run, Seq(1), fault))
            }
        }
    }
}
