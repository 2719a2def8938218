//! The segments of runs: where they are, and those that were read last.
//!
//! The events of a run that was compacted are read from the segments of its compaction, and those that came later from
//! the segments after it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use retold::event::StoredEvent;
use retold::id::{PromptHash, RunId, Seq};
use retold::log::{EventFault, LogError, SegmentFault};
use retold::prompt::Request;

use crate::cache::Cache;
use crate::compaction::Compaction;
use crate::ledger::{KnownLedger, Ledger};
use crate::names::{Names, Place};
use crate::objects::Objects;
use crate::packing::UnpackBudget;
use crate::recent::Recent;
use crate::run_end::RunEnd;
use crate::segment::{MOST_BYTES, Segment, Unpacking, decode};

/// How many bytes of segments that were read are kept.
const KEPT_BYTES: usize = 64 << 20;

/// Of how many requests it is known where they are.
const KNOWN_REQUESTS: usize = 1 << 19;

/// How many bytes of directories are kept.
const KEPT_BLOCKS: usize = 64 << 20;

/// The segments of all runs.
#[derive(Debug)]
pub(crate) struct Segments {
    pub(crate) objects: Objects,
    pub(crate) names: Names,
    pub(crate) ledger: Ledger,
    known: Mutex<KnownSegments>,
    cache: OnceLock<Cache>,
    pub(crate) unpacked: UnpackBudget,
}

/// Facts that were found out about runs.
#[derive(Debug)]
pub(crate) struct KnownSegments {
    /// The ends of runs: what counted once counts for good.
    pub(crate) ends: BTreeMap<RunId, RunEnd>,
    /// The segments that were appended, by their first events, with their versions in the store (ETags).
    listed: BTreeMap<RunId, BTreeMap<Seq, Option<String>>>,
    /// Where requests are, by the beginnings of their hashes: else each request that is not in memory would be looked for in
    /// all segments.
    asked: Recent<u64, (RunId, Place)>,
    /// The compactions of runs: `None` for those that have none.
    pub(crate) compactions: BTreeMap<RunId, Option<Arc<Compaction>>>,
    /// Blocks of directories, by the end of the compaction and the name of the block.
    pub(crate) blocks: Recent<(RunId, Seq, String), Bytes>,
    recent: Recent<(RunId, Place), Arc<Segment>>,
}

impl Default for KnownSegments {
    fn default() -> Self {
        KnownSegments {
            ends: BTreeMap::new(),
            listed: BTreeMap::new(),
            asked: Recent::new(KNOWN_REQUESTS),
            compactions: BTreeMap::new(),
            blocks: Recent::new(KEPT_BLOCKS),
            recent: Recent::new(KEPT_BYTES),
        }
    }
}

impl Segments {
    pub(crate) fn new(objects: Objects, names: Names) -> Self {
        let ledger = Ledger::new(objects.clone(), names.clone());
        let (known, unpacked) = (Mutex::default(), UnpackBudget::default());
        Segments { objects, names, ledger, known, cache: OnceLock::new(), unpacked }
    }

    /// Keeps segments in a folder of this machine from now on.
    pub(crate) fn keep_in(&self, cache: Cache) {
        // A second folder would be of no use.
        let _ = self.cache.set(cache);
    }

    /// What the store would change if it changed a segment: the version under which that is kept on this machine.
    fn version(&self, run: RunId, place: Place) -> Option<String> {
        let known = self.lock();
        match place {
            Place::Object(first) => known.listed.get(&run)?.get(&first)?.clone(),
            Place::Compacted(..) => Some(known.compactions.get(&run)?.as_ref()?.version.clone()),
        }
    }

    /// A segment of at most so many bytes, within the budget of the log.
    pub(crate) fn decode(
        &self,
        object: &str,
        key: (RunId, Seq),
        bytes: &[u8],
        most: u64,
    ) -> Result<Segment, SegmentFault> {
        decode(object, key, bytes, Unpacking { budget: &self.unpacked, most })
    }

    /// Notes segments of a run, with their versions.
    pub(crate) fn note_segments(
        &self,
        run: RunId,
        segments: impl IntoIterator<Item = (Seq, Option<String>)>,
    ) {
        self.lock().listed.entry(run).or_default().extend(segments);
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, KnownSegments> {
        // Each addition is one step, so a panic leaves nothing half done.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A segment that is known to exist, and has the event `first`.
    ///
    /// # Errors
    /// [`LogError::Corrupt`], at the event `first`, if it is missing or not as it was written.
    pub(crate) async fn segment(
        &self,
        run: RunId,
        place: Place,
        first: Seq,
    ) -> Result<Arc<Segment>, LogError> {
        self.segment_within(run, place, first, MOST_BYTES).await
    }

    /// The same, if it has at most so many bytes; a larger one is refused as damaged.
    pub(crate) async fn segment_within(
        &self,
        run: RunId,
        place: Place,
        first: Seq,
        most: u64,
    ) -> Result<Arc<Segment>, LogError> {
        if let Some(segment) = self.lock().recent.get(&(run, place)) {
            return Ok(segment);
        }
        let (path, key) = (self.names.segment_at(run, place), (run, place.first()));
        let object = path.to_string();
        let cache = self.cache.get().zip(self.version(run, place));
        let kept = cache.as_ref().and_then(|(cache, version)| cache.get(&object, version));
        // One that is not as it was written is read again.
        if let Some(segment) = kept.and_then(|bytes| self.decode(&object, key, &bytes, most).ok()) {
            return Ok(self.keep(run, place, segment));
        }
        let corrupt = |fault| LogError::corrupt(run, first, fault);
        let Some(bytes) = self.objects.get(&path).await? else {
            return Err(corrupt(SegmentFault::Missing { object }));
        };
        let segment = self.decode(&object, key, &bytes, most).map_err(corrupt)?;
        if let Some((cache, version)) = cache {
            cache.put(&object, &version, &bytes);
        }
        Ok(self.keep(run, place, segment))
    }

    /// Keeps a segment that was read, and notes what it has.
    fn keep(&self, run: RunId, place: Place, segment: Segment) -> Arc<Segment> {
        let segment = Arc::new(segment);
        let mut known = self.lock();
        for prompt in segment.requests.keys() {
            known.asked.keep(beginning(*prompt), (run, place), 1);
        }
        known.recent.keep((run, place), segment.clone(), segment.held as usize);
        segment
    }

    /// The segment at a place, which has to have an event.
    pub(crate) async fn segment_with(
        &self,
        run: RunId,
        place: Place,
        seq: Seq,
    ) -> Result<Arc<Segment>, LogError> {
        let segment = self.segment(run, place, seq).await?;
        let (last, next) = (segment.footer.last(), segment.footer.last().next());
        if last >= seq {
            return Ok(segment);
        }
        let next = match place {
            Place::Object(_) => Place::Object(next),
            Place::Compacted(end, _) => Place::Compacted(end, next),
        };
        let object = self.names.segment_at(run, next).to_string();
        Err(LogError::corrupt(run, seq, SegmentFault::Missing { object }))
    }

    /// The segment that has an event, which is known to exist.
    pub(crate) async fn having(&self, run: RunId, seq: Seq) -> Result<Arc<Segment>, LogError> {
        let place = self.holding(run, seq).await?;
        self.segment_with(run, place, seq).await
    }

    /// The first event of a run.
    pub(crate) async fn first(&self, run: RunId) -> Result<StoredEvent, LogError> {
        let first = self.having(run, Seq(1)).await?;
        let missing = || LogError::corrupt(run, Seq(1), EventFault::NoEvents);
        first.events.first().cloned().ok_or_else(missing)
    }

    /// All runs, in the order in which they came into the log.
    pub(crate) async fn runs(&self) -> Result<Vec<RunId>, LogError> {
        self.runs_of(self.ledger.read().await).await
    }

    /// The runs that a ledger has, in the order in which they came into the log. If it is damaged, also those that only have
    /// segments.
    pub(crate) async fn runs_of(
        &self,
        ledger: Result<Arc<KnownLedger>, LogError>,
    ) -> Result<Vec<RunId>, LogError> {
        match ledger {
            Ok(known) => return Ok(known.runs()),
            Err(LogError::CorruptLedger { .. }) => {}
            Err(error) => return Err(error),
        }
        let mut runs = self.ledger.last_read().await.runs();
        let segments = self.objects.list(&self.names.runs()).await?;
        let compacted = self.objects.list(&self.names.compactions()).await?;
        let of_segments = segments.iter().filter_map(|path| self.names.run_of(path));
        let of_compactions = compacted.iter().filter_map(|path| self.names.compaction_of(path));
        for run in of_segments.chain(of_compactions.map(|(run, _)| run)) {
            if !runs.contains(&run) {
                runs.push(run);
            }
        }
        Ok(runs)
    }

    /// Where the segment is that has an event, which is known to exist.
    pub(crate) async fn holding(&self, run: RunId, seq: Seq) -> Result<Place, LogError> {
        if let Some(compaction) = self.compaction(run).await?
            && let Some(first) = compaction.holding(seq)
        {
            return Ok(Place::Compacted(compaction.end().head.seq, first));
        }
        let known = self.lock();
        let before = known.listed.get(&run).and_then(|listed| listed.range(..=seq).next_back());
        Ok(Place::Object(before.map_or(Seq(1), |(first, _)| *first)))
    }

    /// Where the segment after another one is, as far as the end of the run is known.
    pub(crate) fn after(&self, run: RunId, place: Place) -> Option<Place> {
        let known = self.lock();
        let last = match place {
            Place::Object(first) => first,
            Place::Compacted(end, first) => {
                let compaction = known.compactions.get(&run)?.as_ref()?;
                if let Some(next) = compaction.after(first) {
                    return Some(Place::Compacted(end, next));
                }
                end
            }
        };
        let end = known.ends.get(&run)?.head.seq;
        let (next, _) = known.listed.get(&run)?.range(last.next()..).next()?;
        (*next <= end).then_some(Place::Object(*next))
    }

    /// A request of a segment that was read before, and is still in memory.
    pub(crate) fn recent_request(&self, prompt: PromptHash) -> Option<Request> {
        let known = self.lock();
        let segment = known.recent.get(&known.asked.get(&beginning(prompt))?)?;
        segment.requests.get(&prompt).cloned()
    }

    /// A request of a segment that was read before.
    pub(crate) async fn known_request(
        &self,
        prompt: PromptHash,
    ) -> Result<Option<Request>, LogError> {
        let found = self.lock().asked.get(&beginning(prompt));
        let Some((run, place)) = found else { return Ok(None) };
        // Another request may begin with the same bytes.
        Ok(self.segment(run, place, Seq(1)).await?.requests.get(&prompt).cloned())
    }
}

/// The first eight bytes of a hash.
fn beginning(prompt: PromptHash) -> u64 {
    prompt.as_bytes().first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}
