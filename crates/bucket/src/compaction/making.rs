//! Makes compactions.
//!
//! A run is read, and its chain checked, while its events are packed again. Each part is read back before the next one is
//! begun. The bytes depend on the events alone. So a compaction that continues after an interruption, or a second one at the
//! same time, creates the same objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use retold::event::StoredEvent;
use retold::event::chain::ChainLink;
use retold::exchange::LineOfEvent;
use retold::id::{PromptHash, RunId, Seq};
use retold::log::{Head, IndexPiece, IndexPieces, LogError, SegmentFault};
use retold::prompt::Request;

use super::directory::{self, Part};
use super::prompt_table::NewPromptTable;
use crate::names::part_name;
use crate::objects::Created;
use crate::read_ahead::ReadAhead;
use crate::run_end::RunEnd;
use crate::segment::{FORMAT, Footer, MOST_BYTES, Segment, SegmentLines};
use crate::segments::Segments;
use crate::writer::Writer;

/// How many bytes of lines a segment has: as many as are read to show one event.
const SEGMENT_BYTES: usize = if cfg!(test) { 16 << 10 } else { 1 << 20 };

/// How many bytes it takes in memory when it is read.
const HELD_BYTES: usize = 16 << 20;

/// How many bytes a part has: as many are in memory.
const PART_BYTES: usize = if cfg!(test) { 32 << 10 } else { 32 << 20 };

/// What became of a run that was to be compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionResult {
    /// It has not ended, so more segments will follow.
    Unfinished,
    /// It was compacted before.
    Known,
    /// It was compacted.
    Made {
        /// How many segments it has.
        segments: u64,
        /// How many objects their events are in now, besides the directory.
        parts: u64,
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
    let end = segments.end_at_first(run).await?;
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
    if !is_finished || end.all > end.segments || !segments.may_be_compacted(run, end.head).await? {
        return Ok(CompactionResult::Unfinished);
    }
    make(segments, run, end).await
}

/// Puts the events of a run up to an end into objects of a compaction. Those that are there already stay.
///
/// # Errors
/// As [`compact`].
async fn make(
    segments: &Arc<Segments>,
    run: RunId,
    end: RunEnd,
) -> Result<CompactionResult, LogError> {
    let mut new = NewCompaction::new(segments.clone(), run, end);
    let mut ahead = ReadAhead::default();
    let mut head = Head::START;
    while head.seq < end.head.seq {
        let read = ahead.having(segments, run, head.seq.next()).await?;
        let Segment { footer, events, requests, held: _ } = &*read.segment;
        if footer.follows != head {
            let fault = retold::log::EventFault::Hash;
            return Err(LogError::corrupt(run, head.seq.next(), fault));
        }
        for event in events {
            new.add(event, requests).await?;
        }
        head = footer.reaches;
    }
    if head != end.head {
        return Err(LogError::corrupt(run, end.head.seq, retold::log::EventFault::Hash));
    }
    new.finish().await
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
    /// How many segments there are before it.
    segments: u32,
    /// The part that is made: its bytes, and the footers of its segments, with the bytes of each.
    part: Vec<u8>,
    footers: Vec<(Footer, u64)>,
    parts: Vec<Part>,
    bytes: u64,
    prompts: NewPromptTable,
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
            segments: 0,
            part: Vec::new(),
            footers: Vec::new(),
            parts: Vec::new(),
            bytes: 0,
            prompts: NewPromptTable::default(),
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
        if let Some(prompt) = event.prompt {
            self.prompts.add(prompt, self.segments);
        }
        self.index.extend(self.pieces.add(event));
        self.reaches = Head { seq: event.seq, hash: event.hash };
        if self.lines.bytes() >= SEGMENT_BYTES || self.lines.held_bytes() >= HELD_BYTES {
            self.end_segment().await?;
        }
        Ok(())
    }

    async fn end_segment(&mut self) -> Result<(), LogError> {
        self.segments += 1;
        let (bytes, footer) = std::mem::take(&mut self.lines).pack(Footer {
            format: FORMAT,
            run: self.run,
            segment: self.segments.into(),
            follows: self.follows,
            reaches: self.reaches,
            bytes: 0,
            writer: Writer::of_compactions(),
            more: false,
            entries: Vec::new(),
        })?;
        self.follows = self.reaches;
        self.footers.push((footer, bytes.len() as u64));
        self.part.extend_from_slice(&bytes);
        match self.part.len() >= PART_BYTES {
            true => self.put_part().await,
            false => Ok(()),
        }
    }

    /// Puts a part, and reads it back.
    async fn put_part(&mut self) -> Result<(), LogError> {
        let bytes = Bytes::from(std::mem::take(&mut self.part));
        let name = part_name(self.parts.len() + 1, &bytes);
        let path = self.store.names.part(self.run, self.end.head.seq, &name);
        let footers = std::mem::take(&mut self.footers);
        let object = path.to_string();
        let first = footers.first().map_or(Seq(1), |(footer, _)| footer.first());
        let corrupt = |fault| LogError::corrupt(self.run, first, fault);
        let not_ours = || {
            let why = "it does not have the bytes that were written".to_owned();
            corrupt(SegmentFault::Changed { object: object.clone(), why })
        };
        match self.store.objects.create(&path, &bytes).await? {
            Created::Here => {}
            Created::Other(_) => return Err(not_ours()),
        }
        self.bytes += bytes.len() as u64;
        drop(bytes);
        let found = self.store.objects.get(&path).await?;
        let found =
            found.ok_or_else(|| corrupt(SegmentFault::Missing { object: object.clone() }))?;
        let mut rest = &found[..];
        for (footer, length) in &footers {
            let (segment, after) = rest.split_at_checked(*length as usize).ok_or_else(not_ours)?;
            rest = after;
            let key = (self.run, footer.segment);
            let read = self.store.decode(&object, key, segment, MOST_BYTES).map_err(corrupt)?;
            if read.footer != *footer {
                return Err(not_ours());
            }
        }
        if !rest.is_empty() {
            return Err(not_ours());
        }
        let segments = footers.iter().map(|(footer, length)| (footer.last(), *length)).collect();
        self.parts.push(Part { object: name, segments });
        Ok(())
    }

    /// Puts the rest, and then the directory, with which the compaction counts.
    async fn finish(mut self) -> Result<CompactionResult, LogError> {
        if self.follows != self.reaches {
            self.end_segment().await?;
        }
        if !self.footers.is_empty() {
            self.put_part().await?;
        }
        let NewCompaction { store, run, end, parts, bytes, prompts, pieces, mut index, .. } = self;
        index.extend(pieces.finish());
        let made =
            CompactionResult::Made { segments: end.segments, parts: parts.len() as u64, bytes };
        let what = (run, end.segments, end.head);
        let directory = directory::encode(what, parts, &prompts.bytes(), &index)
            .map_err(|error| LogError::failure("a directory", error))?;
        let path = store.names.directory(run, end.head.seq);
        let created = store.objects.create(&path, &directory.into()).await?;
        let found = store.find_compaction(run).await?;
        match (created, found) {
            // Another release may have packed the same events differently.
            (Created::Other(_), Some(found)) if found.end().head == end.head => {
                Ok(CompactionResult::Known)
            }
            (Created::Here, Some(_)) => Ok(made),
            _ => {
                let why = "it does not fit the run".to_owned();
                let fault = SegmentFault::Changed { object: path.to_string(), why };
                Err(LogError::corrupt(run, Seq(1), fault))
            }
        }
    }
}
