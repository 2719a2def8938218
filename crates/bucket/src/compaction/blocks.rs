//! Reads the blocks of a directory: the index of a run, and the table of its requests.

use std::ops::Range;

use bytes::Bytes;
use object_store::GetRange;
use retold::id::RunId;
use retold::log::{LogError, Section};

use super::compacted_run::Compaction;
use super::directory::{Block, Directory, PROMPTS, block_of};
use super::prompt_table::PromptTable;
use crate::segments::Segments;

/// An index of up to so many bytes is read at once, and a larger one a section at a time.
const INDEX_AT_ONCE: u64 = 32 << 20;

/// What shows that a block was changed.
const OTHER_HASH: &str = "its bytes do not have the hashes in its footer";

impl Segments {
    /// Keeps the blocks that came with the end of a directory.
    pub(super) fn keep_blocks(&self, compaction: &Compaction, tail: &Bytes, footer: u64) {
        let all: u64 = compaction.directory.blocks.iter().map(Block::len).sum();
        // The number of bytes before the tail.
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
        self.lock().blocks.keep((*run, reaches.seq, block.name.clone()), sound.clone(), size);
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
        let kept = self.lock().blocks.get(&(*run, reaches.seq, name.to_owned()));
        let damaged =
            |why: &str| LogError::damage(self.objects.name(), compaction.change_fault(why));
        let mut wanted = match kept {
            Some(Some(kept)) => return Ok(Some((kept, block.pieces.clone()))),
            Some(None) => return Err(damaged(OTHER_HASH)),
            None => None,
        };
        // The sections of the index follow each other, and a look-up needs more than one of them.
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
}

fn bytes_at(bytes: &Bytes, range: Range<u64>) -> Option<Bytes> {
    let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
    (start <= end && end <= bytes.len()).then(|| bytes.slice(start..end))
}
