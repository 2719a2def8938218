//! Reads compactions: a segment or a block at a time.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::GetRange;
use object_store::path::Path;
use retold::id::{RunId, Seq};
use retold::log::ledger::LedgerChange;
use retold::log::{Head, KeptPiece, LogError, Section, SegmentFault};

use super::directory::{self, Block, Directory, PROMPTS, Tail, block_of};
use super::prompt_table::PromptTable;
use crate::names::DIRECTORY;
use crate::run_end::RunEnd;
use crate::segment::Footer;
use crate::segments::Segments;

/// How many bytes at the end of a directory are read at first. Those of a run of some ten thousand exchanges have fewer.
const TAIL: u64 = if cfg!(test) { 16 << 10 } else { 512 << 10 };

/// An index of up to so many bytes is read at once, and a larger one a section at a time.
const INDEX_AT_ONCE: u64 = 32 << 20;

/// What shows that a block was changed.
const OTHER_HASH: &str = "its bytes do not have the hashes in its footer";

/// The compaction of a run up to one of its events.
#[derive(Debug)]
pub(crate) struct Compaction {
    directory: Directory,
    /// The name of the directory, for messages.
    object: String,
    segments: Vec<CompactedSegment>,
}

/// Where a segment is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CompactedSegment {
    /// The number of its part, from 0.
    part: usize,
    offset: u64,
    bytes: u64,
    last: Seq,
    /// Whether its part ends with it.
    is_last: bool,
}

impl Compaction {
    fn new(directory: Directory, object: String) -> Self {
        let mut segments = Vec::new();
        for (part, of_part) in directory.parts.iter().enumerate() {
            let mut offset = 0;
            for (last, bytes) in &of_part.segments {
                let segment =
                    CompactedSegment { part, offset, bytes: *bytes, last: *last, is_last: false };
                segments.push(segment);
                offset += bytes;
            }
            if let Some(last) = segments.last_mut() {
                last.is_last = true;
            }
        }
        Compaction { directory, object, segments }
    }

    /// The end of the run, if nothing was added to it since.
    pub(crate) fn end(&self) -> RunEnd {
        let Directory { segments, reaches, .. } = self.directory;
        RunEnd { segments, all: segments, head: reaches }
    }

    /// How many segments it has.
    pub(crate) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// The segment, counted from 0, that has an event.
    pub(crate) fn holding(&self, seq: Seq) -> usize {
        self.segments.partition_point(|segment| segment.last < seq)
    }

    /// Whether a segment has the events that it should have.
    pub(crate) fn is_where_it_says(&self, segment: usize, footer: &Footer) -> bool {
        let before = segment.checked_sub(1).map_or(Seq(0), |before| self.segments[before].last);
        footer.follows.seq == before && footer.last() == self.segments[segment].last
    }

    /// The pieces of the index.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = KeptPiece> {
        let census = self.directory.blocks.iter().find(|it| it.name == block_of(Section::Census));
        let pieces = census.map_or(0, |block| block.pieces.len() as u64);
        let end = self.directory.reaches.seq;
        let up_to_end = move |kept: KeptPiece| KeptPiece { last: kept.last.min(end), ..kept };
        (0..pieces).map(KeptPiece::whole).map(up_to_end)
    }

    fn changed(&self, why: &str) -> SegmentFault {
        SegmentFault::Changed { object: self.object.clone(), why: why.to_owned() }
    }

    /// The blocks, and where each begins.
    fn blocks(&self) -> impl Iterator<Item = (&Block, u64)> {
        let mut next = 0;
        self.directory.blocks.iter().map(move |block| {
            let start = next;
            next += block.len();
            (block, start)
        })
    }
}

impl Segments {
    /// The last compaction of a run, if there is one. It is looked for once.
    ///
    /// # Errors
    /// [`LogError::Corrupt`], at the first event, if it is not as it was written; [`LogError`] if the store cannot be
    /// read.
    pub(crate) async fn compaction(&self, run: RunId) -> Result<Option<Arc<Compaction>>, LogError> {
        if let Some(known) = self.known().compactions.get(&run) {
            return known.clone();
        }
        self.find_compaction(run).await
    }

    /// The same, looked for again: somebody may have compacted the run.
    ///
    /// # Errors
    /// As [`compaction`](Self::compaction).
    pub(crate) async fn find_compaction(
        &self,
        run: RunId,
    ) -> Result<Option<Arc<Compaction>>, LogError> {
        let mut found = Ok(None);
        for end in self.possible_ends(run).await? {
            found = match self.read_compaction(run, end).await {
                Err(error @ LogError::Corrupt { .. }) => Err(error),
                read => Ok(read?),
            };
            if !matches!(found, Ok(None)) {
                break;
            }
        }
        self.known().compactions.insert(run, found.clone());
        found
    }

    /// The last compaction of a run, unless it is damaged: the segments that it stands for may still be there.
    ///
    /// # Errors
    /// [`LogError`] if the store cannot be read.
    pub(crate) async fn usable_compaction(
        &self,
        run: RunId,
    ) -> Result<Option<Arc<Compaction>>, LogError> {
        match self.compaction(run).await {
            Err(LogError::Corrupt { .. }) => Ok(None),
            found => found,
        }
    }

    /// The events up to which a run may have been compacted, the last one first: what the ledger says was an end of it.
    async fn possible_ends(&self, run: RunId) -> Result<Vec<Seq>, LogError> {
        let mut ledger = self.ledger.last_read().await;
        if ledger.of(run).next().is_none() {
            match self.ledger.read().await {
                Ok(known) => ledger = known,
                Err(LogError::CorruptLedger { .. }) => return self.listed_ends(run).await,
                Err(error) => return Err(error),
            }
        }
        let ends = ledger.of(run).rev().filter(|known| is_end(&known.entry.change));
        Ok(ends.map(|known| known.entry.head.seq).collect())
    }

    /// Whether the ledger has this end of a run, so that readers would look for a compaction up to it.
    ///
    /// # Errors
    /// [`LogError`] if the ledger cannot be read.
    pub(crate) async fn may_be_compacted(&self, run: RunId, end: Head) -> Result<bool, LogError> {
        let ledger = self.ledger.read().await?;
        Ok(ledger.of(run).any(|known| known.entry.head == end && is_end(&known.entry.change)))
    }

    /// The same where the ledger cannot say it.
    async fn listed_ends(&self, run: RunId) -> Result<Vec<Seq>, LogError> {
        let listed = self.objects.list(&self.names.compacted_run(run), None).await?;
        let ends = listed.names.iter().rev().filter_map(|path| self.names.compaction_of(path));
        Ok(ends.filter(|(.., name)| name == DIRECTORY).map(|(_, end, _)| end).collect())
    }

    /// The compaction of a run up to an event, if there is one.
    ///
    /// # Errors
    /// As [`compaction`](Self::compaction).
    pub(crate) async fn read_compaction(
        &self,
        run: RunId,
        end: Seq,
    ) -> Result<Option<Arc<Compaction>>, LogError> {
        let path = self.names.directory(run, end);
        let object = path.to_string();
        let corrupt = |fault| LogError::corrupt(run, Seq(1), fault);
        let mut wanted = TAIL;
        loop {
            let Some(tail) = self.objects.get_range(&path, GetRange::Suffix(wanted)).await? else {
                return Ok(None);
            };
            match directory::decode(&object, (run, end), &tail).map_err(corrupt)? {
                Tail::Needs(more) if more > wanted => wanted = more,
                Tail::Needs(_) => {
                    let why = "it is cut off".to_owned();
                    return Err(corrupt(SegmentFault::Changed { object, why }));
                }
                Tail::Whole(directory, footer) => {
                    let compaction = Compaction::new(*directory, object);
                    self.keep_blocks(&compaction, &tail, footer);
                    return Ok(Some(Arc::new(compaction)));
                }
            }
        }
    }

    /// Keeps the blocks that came with the end of a directory.
    fn keep_blocks(&self, compaction: &Compaction, tail: &Bytes, footer: u64) {
        let all: u64 = compaction.directory.blocks.iter().map(Block::len).sum();
        // What is before the tail.
        let before = (all + footer).saturating_sub(tail.len() as u64);
        for (block, start) in compaction.blocks() {
            let place = start.checked_sub(before).map(|from| from..from + block.len());
            if let Some(found) = place.and_then(|range| bytes_at(tail, range)) {
                self.keep_block(compaction, block, Some(found));
            }
        }
    }

    /// Keeps the bytes of a block, if they are sound, and returns them.
    fn keep_block(
        &self,
        compaction: &Compaction,
        block: &Block,
        found: Option<Bytes>,
    ) -> Option<Bytes> {
        let Directory { run, reaches, .. } = &compaction.directory;
        let sound = found.filter(|found| block.is(found));
        let size = sound.as_ref().map_or(0, Bytes::len);
        self.known().blocks.keep((*run, reaches.seq, block.name.clone()), sound.clone(), size);
        sound
    }

    /// The bytes of a block, and how many each piece of it has.
    async fn block(
        &self,
        compaction: &Compaction,
        name: &str,
    ) -> Result<Option<(Bytes, Vec<u64>)>, LogError> {
        let Some((block, start)) = compaction.blocks().find(|(block, _)| block.name == name) else {
            return Ok(None);
        };
        let Directory { run, reaches, .. } = &compaction.directory;
        let kept = self.known().blocks.get(&(*run, reaches.seq, name.to_owned()));
        let damaged = |why: &str| LogError::damaged(self.objects.name(), compaction.changed(why));
        let mut wanted = match kept {
            Some(Some(kept)) => return Ok(Some((kept, block.pieces.clone()))),
            Some(None) => return Err(damaged(OTHER_HASH)),
            None => None,
        };
        // The index is one stretch of the object: whoever looks something up needs more than one section of it.
        let index: Vec<_> = compaction.blocks().filter(|(it, _)| it.name != PROMPTS).collect();
        let size: u64 = index.iter().map(|(block, _)| block.len()).sum();
        let together = match name != PROMPTS && size <= INDEX_AT_ONCE {
            true => index,
            false => vec![(block, start)],
        };
        let first = together.first().map_or(start, |(_, start)| *start);
        let end = together.last().map_or(start, |(block, start)| start + block.len());
        let path = self.names.directory(*run, reaches.seq);
        let bytes = match first == end {
            true => Some(Bytes::new()),
            false => self.objects.get_range(&path, GetRange::Bounded(first..end)).await?,
        };
        let bytes = bytes.ok_or_else(|| damaged("it was there and is gone"))?;
        for (block, start) in together {
            let found = bytes_at(&bytes, start - first..start - first + block.len());
            let sound = self.keep_block(compaction, block, found);
            if block.name == name {
                wanted = sound;
            }
        }
        let wanted = wanted.ok_or_else(|| damaged(OTHER_HASH))?;
        Ok(Some((wanted, block.pieces.clone())))
    }

    /// A section of a piece of the index of a run.
    ///
    /// # Errors
    /// [`LogError::Damaged`] if it is not as it was written; [`LogError`] if the store cannot be read.
    pub(crate) async fn index_piece(
        &self,
        run: RunId,
        piece: u64,
        section: Section,
    ) -> Result<Option<Vec<u8>>, LogError> {
        let Some(compaction) = self.usable_compaction(run).await? else { return Ok(None) };
        let Some((bytes, pieces)) = self.block(&compaction, block_of(section)).await? else {
            return Ok(None);
        };
        let Some(at) = usize::try_from(piece).ok().filter(|at| *at < pieces.len()) else {
            return Ok(None);
        };
        let start: u64 = pieces[..at].iter().sum();
        Ok(bytes_at(&bytes, start..start + pieces[at]).map(|found| found.to_vec()))
    }

    /// The segments of a compaction that may have a request whose hash begins with a number from `low` to `high`.
    ///
    /// # Errors
    /// As [`index_piece`](Self::index_piece).
    pub(crate) async fn segments_asking(
        &self,
        compaction: &Compaction,
        (low, high): (u32, u32),
    ) -> Result<Vec<usize>, LogError> {
        let found = self.prompt_table(compaction).await?.between(low, high);
        Ok(found.into_iter().filter(|segment| *segment < compaction.segments()).collect())
    }

    /// In which segments of a compaction each of its requests is.
    ///
    /// # Errors
    /// As [`index_piece`](Self::index_piece).
    pub(crate) async fn prompt_table(
        &self,
        compaction: &Compaction,
    ) -> Result<PromptTable, LogError> {
        let table = self.block(compaction, PROMPTS).await?;
        Ok(PromptTable::new(table.map_or_else(Bytes::new, |(table, _)| table)))
    }

    /// The name of the part that has a segment of a compaction.
    pub(crate) fn part_of(&self, compaction: &Compaction, segment: usize) -> Path {
        let Directory { run, reaches, parts, .. } = &compaction.directory;
        self.names.part(*run, reaches.seq, &parts[compaction.segments[segment].part].object)
    }

    /// The bytes of a segment of a compaction, and the name of its part. Of the last one in a part, one byte more is asked
    /// for, which must not be there.
    ///
    /// # Errors
    /// The fault, if it is missing or its part has more bytes; [`LogError`] if the store cannot be read.
    pub(crate) async fn compacted_bytes(
        &self,
        compaction: &Compaction,
        segment: usize,
    ) -> Result<(Path, Result<Bytes, SegmentFault>), LogError> {
        let CompactedSegment { offset, bytes, is_last, .. } = compaction.segments[segment];
        let path = self.part_of(compaction, segment);
        let range = GetRange::Bounded(offset..offset + bytes + u64::from(is_last));
        let object = path.to_string();
        let found = match self.objects.get_range(&path, range).await? {
            None => Err(SegmentFault::Missing { object }),
            Some(found) if found.len() as u64 > bytes => {
                let why = "it has more bytes than its directory says".to_owned();
                Err(SegmentFault::Changed { object, why })
            }
            Some(found) => Ok(found),
        };
        Ok((path, found))
    }
}

/// Whether a run may be compacted up to an entry of the ledger.
fn is_end(change: &LedgerChange) -> bool {
    matches!(change, LedgerChange::Finished | LedgerChange::Imported)
}

/// The first and the last number with which the hash of a request that begins with these hex digits may begin; `None` if
/// they are not hex digits.
pub(crate) fn beginnings(prefix: &str) -> Option<(u32, u32)> {
    let digits = prefix.get(..prefix.len().min(8))?;
    if digits.is_empty() {
        return Some((0, u32::MAX));
    }
    let low = u32::from_str_radix(digits, 16).ok()?;
    let unknown = 4 * (8 - digits.len() as u32);
    let low = low.checked_shl(unknown)?;
    Some((low, low | 1_u32.checked_shl(unknown)?.wrapping_sub(1)))
}

fn bytes_at(bytes: &Bytes, range: Range<u64>) -> Option<Bytes> {
    let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
    (start <= end && end <= bytes.len()).then(|| bytes.slice(start..end))
}
