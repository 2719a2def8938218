//! Finds the compaction of a run, and reads its segments.

use std::sync::Arc;

use bytes::Bytes;
use object_store::GetRange;
use object_store::path::Path;
use retold::id::{RunId, Seq};
use retold::log::ledger::LedgerChange;
use retold::log::{Head, LogError, SegmentFault};

use super::compacted_run::{CompactedSegment, Compaction};
use super::directory::{self, Directory, Tail};
use crate::names::DIRECTORY;
use crate::segments::Segments;

/// How many bytes at the end of a directory are read at first. Those of a run of some ten thousand exchanges have fewer.
const TAIL: u64 = if cfg!(test) { 16 << 10 } else { 512 << 10 };

impl Segments {
    /// The last compaction of a run, if there is one. It is looked for once.
    ///
    /// # Errors
    /// [`LogError::Corrupt`], at the first event, if it is not as it was written; [`LogError`] if the store cannot be
    /// read.
    pub(crate) async fn compaction(&self, run: RunId) -> Result<Option<Arc<Compaction>>, LogError> {
        if let Some(known) = self.lock().compactions.get(&run) {
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
        self.lock().compactions.insert(run, found.clone());
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

    /// The events up to which a run may have been compacted, the last one first: its ends according to the ledger.
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
