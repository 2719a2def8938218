//! Reads.

use std::sync::Arc;

use retold::event::StoredEvent;
use retold::id::{PromptHash, RunId, Seq};
use retold::log::ledger::LedgerEntry;
use retold::log::{
    Finding, KeptPiece, LogError, Reader, RunHead, Section, StoreIndex, UncountedEvents,
};
use retold::prompt::Request;

use crate::heads::heads;
use crate::read_ahead::ReadAhead;
use crate::search;
use crate::segments::Segments;
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::uncounted::uncounted_events;

/// How many bytes of events are returned at once, as a segment has them in text.
const MOST_BYTES: u64 = 8 << 20;

/// Reads a log in a bucket.
pub(crate) struct BucketReader {
    shared: Arc<Shared>,
    /// The runs that it lists; `None` for one that lists those that there are now.
    snapshot: Option<Arc<Snapshot>>,
    ahead: ReadAhead,
    /// The run that was read last: a request is usually of that.
    last: Option<RunId>,
}

impl BucketReader {
    pub(crate) fn new(shared: Arc<Shared>, snapshot: Option<Arc<Snapshot>>) -> Self {
        BucketReader { shared, snapshot, ahead: ReadAhead::default(), last: None }
    }
}

async fn events(
    segments: &Arc<Segments>,
    ahead: &mut ReadAhead,
    (run, after): (RunId, Seq),
    limit: usize,
) -> Result<Vec<StoredEvent>, LogError> {
    let mut due = after.next();
    // The events after one that the ledger repeats are in the segments.
    if limit == 1
        && let Some(event) = segments.ledger.last_read().await.repeated_event(run, due)
    {
        return Ok(vec![event]);
    }
    let mut end = segments.known_end(run);
    if after >= end.head.seq {
        end = match segments.end_by_ledger(run).await {
            // What comes before the damage can be read.
            Err(LogError::Corrupt { seq, .. }) if due < seq => segments.known_end(run),
            found => found?,
        };
    }
    let (mut found, mut bytes) = (Vec::new(), 0);
    while due <= end.head.seq && found.len() < limit && bytes < MOST_BYTES {
        let next = match ahead.having(segments, run, due).await {
            Ok(next) => next,
            // The events before it are returned; the next call meets it again.
            Err(_) if !found.is_empty() => break,
            Err(error) => return Err(error),
        };
        let of_segment = next.events.iter().filter(|event| event.seq >= due);
        found.extend(of_segment.take(limit - found.len()).cloned());
        due = next.footer.last().next();
        bytes += next.footer.bytes;
    }
    Ok(found)
}

impl Reader for BucketReader {
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        let snapshot = self.snapshot.clone();
        self.shared.wait(move |segments| async move {
            match snapshot {
                Some(snapshot) => snapshot.heads(&segments).await,
                None => heads(&segments, segments.ledger.read().await).await,
            }
        })
    }

    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        self.last = Some(run);
        let mut ahead = std::mem::take(&mut self.ahead);
        let read = move |segments: Arc<Segments>| async move {
            let read = events(&segments, &mut ahead, (run, after), limit).await;
            Ok((read, ahead))
        };
        let (read, ahead) = self.shared.wait(read)?;
        self.ahead = ahead;
        read
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Vec<LedgerEntry>, LogError> {
        let snapshot = self.snapshot.clone();
        self.shared.wait(move |segments| async move {
            let ledger = &segments.ledger;
            let known = match snapshot {
                Some(snapshot) => snapshot.ledger(&segments).await?,
                None => match ledger.last_read().await {
                    known if known.goes_beyond(after) => known,
                    _ => ledger.read().await?,
                },
            };
            let later = known.entries().iter().map(|known| &known.entry);
            Ok(later.filter(|entry| entry.number > after).take(limit).cloned().collect())
        })
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        if let Some(found) = self.shared.segments.recent_request(prompt) {
            return Ok(Some(found));
        }
        let near = self.last;
        self.shared.wait(move |segments| async move {
            if let Some(found) = segments.known_request(prompt).await? {
                return Ok(Some(found));
            }
            let mut found = search::requests(&segments, &prompt.to_string(), 1, near).await?;
            Ok(found.remove(&prompt))
        })
    }

    fn index(&mut self) -> Option<&mut dyn StoreIndex> {
        Some(self)
    }
}

impl StoreIndex for BucketReader {
    fn request_part(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.request(prompt)
    }

    fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError> {
        let wanted = prefix.to_owned();
        let find = move |segments: Arc<Segments>| async move {
            search::requests(&segments, &wanted, limit, None).await
        };
        Ok(self.shared.wait(find)?.into_keys().collect())
    }

    /// A compaction has an index. Events that came after it have none here, so callers index them in memory.
    fn pieces(&mut self, run: RunId) -> Result<Vec<KeptPiece>, LogError> {
        self.shared.wait(move |segments| async move {
            let Some(found) = segments.compaction(run).await? else {
                return Ok(Vec::new());
            };
            let has_gone_on = segments.end_by_ledger(run).await? != found.end();
            Ok(found.pieces().filter(|kept| !has_gone_on || kept.is_whole()).collect())
        })
    }

    fn piece(
        &mut self,
        run: RunId,
        piece: u64,
        section: Section,
    ) -> Result<Option<Vec<u8>>, LogError> {
        self.shared
            .wait(move |segments| async move { segments.index_piece(run, piece, section).await })
    }

    fn check(&mut self, run: Option<RunId>) -> Result<Vec<Finding>, LogError> {
        if run.is_some() {
            return Ok(Vec::new());
        }
        let faults = self
            .shared
            .wait(|segments| async move { crate::integrity::faults(&segments).await })?;
        Ok(faults.into_iter().map(Finding::of_file).collect())
    }

    fn uncounted_events(&mut self, run: Option<RunId>) -> Result<Vec<UncountedEvents>, LogError> {
        self.shared.wait(move |segments| async move { uncounted_events(&segments, run).await })
    }
}
