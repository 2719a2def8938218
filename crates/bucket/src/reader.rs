//! Reads.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use retold::event::StoredEvent;
use retold::id::{PromptHash, RunId, Seq};
use retold::log::ledger::LedgerEntry;
use retold::log::{Fault, Head, KeptPiece, LogError, Reader, RunHead, Section};
use retold::prompt::Request;

use crate::backend::Shared;
use crate::objects::TOGETHER;
use crate::segment::Segment;
use crate::segments::Segments;

/// How many bytes of events are returned at once, as a segment has them in text.
const MOST_BYTES: u64 = 8 << 20;

/// Reads a log in a bucket.
pub(crate) struct BucketReader {
    shared: Arc<Shared>,
    /// The segment whose requests were asked for last.
    last: Option<Arc<Segment>>,
}

impl BucketReader {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        BucketReader { shared, last: None }
    }
}

/// The head of a run: from the ledger, if it has ended, and else from its last segment.
async fn head(segments: &Segments, run: RunId) -> Result<Option<RunHead>, LogError> {
    let ledger = segments.ledger.last_read().await;
    let last = ledger.of(run).next_back();
    if let Some(last) = last.filter(|last| last.is_the_end()) {
        return Ok(Some(RunHead { run, started: last.started, head: last.entry.head }));
    }
    let head = match segments.end(run).await {
        Ok(end) => end.head,
        // It is shown as far as is known; reading it says what is wrong.
        Err(LogError::Corrupt { .. }) => segments.known_end(run).head,
        Err(error) => return Err(error),
    };
    let started = match last {
        Some(known) => known.started,
        None if head == Head::START => return Ok(None),
        None => segments.first(run).await?.time,
    };
    Ok(Some(RunHead { run, started, head }))
}

/// An event that the ledger repeats. (Whoever reads on reads it from its segment.)
async fn repeated(segments: &Segments, run: RunId, seq: Seq) -> Option<StoredEvent> {
    let ledger = segments.ledger.last_read().await;
    ledger.repeated(run, seq)
}

async fn events(
    segments: &Segments,
    run: RunId,
    after: Seq,
    limit: usize,
) -> Result<(Vec<StoredEvent>, Option<Arc<Segment>>), LogError> {
    let mut end = segments.known_end(run);
    if after >= end.head.seq {
        end = match segments.end(run).await {
            Ok(end) => end,
            // What comes before the damage can be read.
            Err(LogError::Corrupt { seq, .. }) if after.next() < seq => segments.known_end(run),
            Err(error) => return Err(error),
        };
    }
    let (mut found, mut bytes, mut last) = (Vec::new(), 0, None);
    if after >= end.head.seq {
        return Ok((found, last));
    }
    let mut number = segments.holding(run, after.next()).await?;
    let mut due = after.next();
    while number <= end.segments && found.len() < limit && bytes < MOST_BYTES {
        let segment = match segments.segment(run, number, due).await {
            Ok(segment) => segment,
            // The events before it are returned; the next call meets it again.
            Err(_) if !found.is_empty() => break,
            Err(error) => return Err(error),
        };
        let of_segment = segment.events.iter().filter(|event| event.seq >= due);
        found.extend(of_segment.take(limit - found.len()).cloned());
        due = segment.footer.last().next();
        bytes += segment.footer.bytes;
        number += 1;
        last = Some(segment);
    }
    Ok((found, last))
}

/// Looks for a request in every segment: who knows only its hash.
async fn search(
    segments: &Segments,
    wanted: impl Fn(&Segment) -> bool,
) -> Result<Vec<Arc<Segment>>, LogError> {
    let mut found = Vec::new();
    for run in segments.runs().await?.into_iter().rev() {
        let end = segments.end(run).await?;
        for number in 1..=end.segments {
            let segment = segments.segment(run, number, Seq(1)).await?;
            if wanted(&segment) {
                found.push(segment);
            }
        }
    }
    Ok(found)
}

impl Reader for BucketReader {
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        self.shared.wait(|segments| async move {
            let runs = segments.runs().await?;
            let heads = runs.into_iter().map(|run| {
                let segments = segments.clone();
                async move { head(&segments, run).await }
            });
            let heads = futures::stream::iter(heads).buffered(TOGETHER);
            Ok(heads.try_collect::<Vec<_>>().await?.into_iter().flatten().collect())
        })
    }

    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        let read = move |segments: Arc<Segments>| async move {
            if limit == 1
                && let Some(event) = repeated(&segments, run, after.next()).await
            {
                return Ok((vec![event], None));
            }
            events(&segments, run, after, limit).await
        };
        let (events, last) = self.shared.wait(read)?;
        self.last = last.or(self.last.take());
        Ok(events)
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Vec<LedgerEntry>, LogError> {
        self.shared.wait(move |segments| async move {
            let mut known = segments.ledger.last_read().await;
            if known.entries().last().is_none_or(|last| last.entry.number <= after) {
                known = segments.ledger.read().await?;
            }
            let later = known.entries().iter().map(|known| &known.entry);
            Ok(later.filter(|entry| entry.number > after).take(limit).cloned().collect())
        })
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        let of = |segment: &Segment| segment.requests.get(&prompt).cloned();
        if let Some(request) = self.last.as_deref().and_then(of) {
            return Ok(Some(request));
        }
        let find = move |segments: Arc<Segments>| async move {
            if let Some(segment) = segments.asking(prompt).await? {
                return Ok(Some(segment));
            }
            let found = search(&segments, |segment| segment.requests.contains_key(&prompt)).await?;
            Ok(found.into_iter().next())
        };
        self.last = self.shared.wait(find)?.or(self.last.take());
        Ok(self.last.as_deref().and_then(of))
    }

    fn check_request(&mut self, prompt: PromptHash) -> Result<bool, LogError> {
        Ok(self.request(prompt)?.is_some())
    }

    fn model(&mut self, prompt: PromptHash) -> Result<Option<String>, LogError> {
        let request = self.request(prompt)?;
        Ok(request.as_ref().and_then(Request::model).map(str::to_owned))
    }

    fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError> {
        let wanted = prefix.to_owned();
        let find = move |segments: Arc<Segments>| async move {
            let has = |hash: &PromptHash| hash.to_string().starts_with(&wanted);
            search(&segments, |segment| segment.requests.keys().any(has)).await
        };
        let found = self.shared.wait(find)?;
        let hashes = found.iter().flat_map(|segment| segment.requests.keys());
        let hashes = hashes.filter(|hash| hash.to_string().starts_with(prefix));
        let hashes: std::collections::BTreeSet<PromptHash> = hashes.copied().collect();
        Ok(hashes.into_iter().take(limit).collect())
    }

    /// Whoever needs an index makes it from the events.
    fn pieces(&mut self, _run: RunId) -> Result<Vec<KeptPiece>, LogError> {
        Ok(Vec::new())
    }

    fn piece(
        &mut self,
        _run: RunId,
        _piece: u64,
        _section: Section,
    ) -> Result<Option<Vec<u8>>, LogError> {
        Ok(None)
    }

    fn not_found(&mut self, _run: RunId, _last: Seq) -> Result<Option<Seq>, LogError> {
        Ok(None)
    }

    fn integrity(&mut self) -> Result<Vec<Fault>, LogError> {
        self.shared.wait(|segments| async move { crate::integrity::faults(&segments).await })
    }
}
