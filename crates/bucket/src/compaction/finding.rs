//! Finds the compaction of a run.

use std::sync::Arc;

use retold::id::{RunId, Seq};
use retold::log::{LogError, SegmentFault};

use super::directory::{self, Compaction};
use crate::segments::Segments;

/// How many bytes of a directory are read at first. Those of a run of some ten thousand exchanges have fewer.
const FIRST_BYTES: u64 = if cfg!(test) { 16 << 10 } else { 512 << 10 };

/// The most bytes that the lines of a directory may have: those of a run with a terabyte of text have a tenth of that.
const MOST_BYTES: u64 = 64 << 20;

impl Segments {
    /// The last compaction of a run, if there is one. It is looked for once.
    ///
    /// # Errors
    /// [`LogError::Corrupt`], at the first event, if it is not as it was written; [`LogError`] if the store cannot be
    /// read.
    pub(crate) async fn compaction(&self, run: RunId) -> Result<Option<Arc<Compaction>>, LogError> {
        if let Some(known) = self.lock().compactions.get(&run) {
            return Ok(known.clone());
        }
        self.find_compaction(run).await
    }

    /// The same, looked for again: somebody may have compacted the run.
    pub(crate) async fn find_compaction(
        &self,
        run: RunId,
    ) -> Result<Option<Arc<Compaction>>, LogError> {
        let mut found = None;
        for end in self.possible_ends(run).await? {
            found = self.read_directory(run, end).await?;
            if found.is_some() {
                break;
            }
        }
        self.lock().compactions.insert(run, found.clone());
        Ok(found)
    }

    /// The events up to which a run may have been compacted, the last one first: its ends according to the ledger, and where
    /// that cannot say it, those of the directories that there are.
    async fn possible_ends(&self, run: RunId) -> Result<Vec<Seq>, LogError> {
        let mut ledger = self.ledger.last_read().await;
        if ledger.of(run).next().is_none() {
            match self.ledger.read().await {
                Ok(known) => ledger = known,
                Err(LogError::CorruptLedger { .. }) => {
                    let listed = self.objects.list(&self.names.compacted_run(run)).await?;
                    let ends = listed.iter().rev().filter_map(|path| self.names.directory_of(path));
                    return Ok(ends.map(|(_, end)| end).collect());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(ledger.ends_of(run).rev().map(|end| end.seq).collect())
    }

    /// The compaction of a run up to an event, if there is one.
    async fn read_directory(
        &self,
        run: RunId,
        end: Seq,
    ) -> Result<Option<Arc<Compaction>>, LogError> {
        let path = self.names.directory(run, end);
        let corrupt = |fault| LogError::corrupt(run, Seq(1), fault);
        let mut wanted = FIRST_BYTES;
        loop {
            let Some(bytes) = self.objects.get_range(&path, 0..wanted).await? else {
                return Ok(None);
            };
            if let Some(found) = directory::decode(&path, (run, end), &bytes).map_err(corrupt)? {
                self.keep_blocks(&found, &bytes, 0);
                return Ok(Some(Arc::new(found)));
            }
            if wanted >= MOST_BYTES || (bytes.len() as u64) < wanted {
                let (object, why) = (path.to_string(), "it has no end of its lines".to_owned());
                return Err(corrupt(SegmentFault::Changed { object, why }));
            }
            wanted = (wanted * 8).min(MOST_BYTES);
        }
    }
}
