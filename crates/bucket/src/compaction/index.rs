//! Reads the index of a compacted run.

use std::ops::Range;

use bytes::Bytes;
use retold::id::RunId;
use retold::log::{LogError, Section};

use super::directory::{Compaction, block_of};
use crate::segments::Segments;

/// An index of up to so many bytes is read at once, and a larger one a section at a time.
const AT_ONCE: u64 = 32 << 20;

impl Segments {
    /// Keeps the blocks that are in these bytes of a directory, of which `start` come before them.
    pub(super) fn keep_blocks(&self, compaction: &Compaction, bytes: &Bytes, start: u64) {
        let end = compaction.end().head.seq;
        for (block, Range { start: first, end: last }) in compaction.blocks() {
            let place = first.checked_sub(start).map(|from| from..last - start);
            let found = place.and_then(|place| slice(bytes, place)).filter(|it| block.is(it));
            if let Some(found) = found {
                let size = found.len();
                let key = (compaction.run(), end, block.name.clone());
                self.lock().blocks.keep(key, found, size);
            }
        }
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
        let Some(compaction) = self.compaction(run).await? else { return Ok(None) };
        let name = block_of(section);
        let Some((block, range)) = compaction.blocks().find(|(block, _)| block.name == name) else {
            return Ok(None);
        };
        let key = (run, compaction.end().head.seq, name.to_owned());
        let mut bytes = self.lock().blocks.get(&key);
        if bytes.is_none() {
            self.read_blocks(&compaction, range).await?;
            bytes = self.lock().blocks.get(&key);
        }
        let changed =
            || compaction.change_fault("its bytes do not have the hashes in its first line");
        let bytes = bytes.ok_or_else(|| LogError::damage(self.objects.name(), changed()))?;
        let Some(at) = usize::try_from(piece).ok().filter(|at| *at < block.pieces.len()) else {
            return Ok(None);
        };
        let start: u64 = block.pieces[..at].iter().sum();
        Ok(slice(&bytes, start..start + block.pieces[at]).map(|found| found.to_vec()))
    }

    /// Reads the block in these bytes of a directory, and with it all others if they are few: a look-up needs more than one.
    async fn read_blocks(&self, of: &Compaction, wanted: Range<u64>) -> Result<(), LogError> {
        let first = of.blocks().next().map_or(wanted.start, |(_, range)| range.start);
        let last = of.blocks().last().map_or(wanted.end, |(_, range)| range.end);
        let range = if last - first <= AT_ONCE { first..last } else { wanted };
        let start = range.start;
        let bytes = self.objects.get_range(&of.path, range).await?.unwrap_or_default();
        self.keep_blocks(of, &bytes, start);
        Ok(())
    }
}

fn slice(bytes: &Bytes, range: Range<u64>) -> Option<Bytes> {
    let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
    (start <= end && end <= bytes.len()).then(|| bytes.slice(start..end))
}
