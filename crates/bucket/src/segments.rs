//! The segments of runs: where they are, and those that were read last.
//!
//! The events of a run that was compacted are read from the segments of its compaction, and those that came later from
//! the segments after it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use retold::event::StoredEvent;
use retold::id::{PromptHash, RunId, Seq};
use retold::log::{EventFault, LogError, SegmentFault};
use retold::prompt::Request;

use crate::asked_requests::AskedRequests;
use crate::cache::Cache;
use crate::compaction::Compaction;
use crate::ledger::{KnownLedger, Ledger};
use crate::names::{Names, Place};
use crate::objects::Objects;
use crate::packing::UnpackBudget;
use crate::recent::Recent;
use crate::run_end::RunEnd;
use crate::segment::{Footer, MOST_BYTES, Segment, Unpacking, decode};

/// How many bytes of segments that were read are kept.
const KEPT_BYTES: usize = 64 << 20;

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
    /// The last event of segments whose footer was read.
    lasts: BTreeMap<RunId, BTreeMap<u64, Seq>>,
    asked: AskedRequests,
    /// The compactions of runs: `None` for those that have none.
    pub(crate) compactions: BTreeMap<RunId, Option<Arc<Compaction>>>,
    /// Blocks of directories, by the end of the compaction and the name of the block.
    pub(crate) blocks: Recent<(RunId, Seq, String), Bytes>,
    recent: Recent<(RunId, Place), Arc<Segment>>,
    /// The versions (ETags) of segments in the store, for those that are kept on this machine.
    versions: BTreeMap<(RunId, u64), String>,
}

impl Default for KnownSegments {
    fn default() -> Self {
        KnownSegments {
            ends: BTreeMap::new(),
            lasts: BTreeMap::new(),
            asked: AskedRequests::default(),
            compactions: BTreeMap::new(),
            blocks: Recent::new(KEPT_BLOCKS),
            recent: Recent::new(KEPT_BYTES),
            versions: BTreeMap::new(),
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
            Place::Object(number) => known.versions.get(&(run, number)).cloned(),
            Place::Compacted(..) => Some(known.compactions.get(&run)?.as_ref()?.version.clone()),
        }
    }

    /// A segment of at most so many bytes, within the budget of the log.
    pub(crate) fn decode(
        &self,
        object: &str,
        key: (RunId, u64),
        bytes: &[u8],
        most: u64,
    ) -> Result<Segment, SegmentFault> {
        decode(object, key, bytes, Unpacking { budget: &self.unpacked, most })
    }

    /// Notes the versions of segments in the store, if they are kept on this machine.
    pub(crate) fn note_versions(&self, run: RunId, tags: Vec<(u64, String)>) {
        if self.cache.get().is_some() {
            let tags = tags.into_iter().map(|(number, tag)| ((run, number), tag));
            self.lock().versions.extend(tags);
        }
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
        let (path, key) = (self.names.segment_at(run, place), (run, place.number()));
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
        if let Place::Object(number) = place {
            known.lasts.entry(run).or_default().insert(number, segment.footer.last());
        }
        known.asked.note((run, place), segment.requests.keys());
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
        if segment.footer.first() <= seq && seq <= segment.footer.last() {
            return Ok(segment);
        }
        let object = self.names.segment_at(run, place).to_string();
        let why = format!("it does not have event {seq}");
        Err(LogError::corrupt(run, seq, SegmentFault::Changed { object, why }))
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
        let compaction = self.compaction(run).await?;
        let compacted = compaction.as_ref().map_or(RunEnd::START, |found| found.end());
        if let Some(compaction) = compaction.filter(|_| seq <= compacted.head.seq) {
            return Ok(Place::Compacted(compacted.head.seq, compaction.holding(seq)));
        }
        let end = self.known_end(run);
        let (mut low, mut high) = (compacted.segments + 1, end.segments);
        // A run is mostly read from its beginning.
        if seq == compacted.head.seq.next() {
            return Ok(Place::Object(low));
        }
        {
            let known = self.lock();
            // The known neighbours leave less to look at.
            for (number, last) in known.lasts.get(&run).into_iter().flatten() {
                if last.next() == seq {
                    return Ok(Place::Object(number + 1));
                }
                if *last < seq {
                    low = low.max(number + 1);
                } else {
                    high = high.min(*number);
                }
            }
        }
        while low < high {
            let middle = low + (high - low) / 2;
            match self.readable_in(run, middle..=high, seq).await? {
                Some((number, footer)) if footer.last() < seq => low = number + 1,
                Some((number, footer)) if footer.first() <= seq => {
                    return Ok(Place::Object(number));
                }
                // It is before it, or in one that cannot be read.
                _ => high = middle,
            }
        }
        Ok(Place::Object(low))
    }

    /// Where the segment after another one is, as far as the end of the run is known.
    pub(crate) fn after(&self, run: RunId, place: Place) -> Option<Place> {
        let next = match place {
            Place::Object(number) => number + 1,
            Place::Compacted(end, number) => {
                let compaction = self.lock().compactions.get(&run).cloned()??;
                if number < compaction.segments() {
                    return Some(Place::Compacted(end, number + 1));
                }
                compaction.end().segments + 1
            }
        };
        (next <= self.known_end(run).segments).then_some(Place::Object(next))
    }

    /// The first of some segments that can be read.
    async fn readable_in(
        &self,
        run: RunId,
        numbers: RangeInclusive<u64>,
        seq: Seq,
    ) -> Result<Option<(u64, Footer)>, LogError> {
        for number in numbers {
            match self.segment(run, Place::Object(number), seq).await {
                Ok(segment) => return Ok(Some((number, segment.footer.clone()))),
                Err(LogError::Corrupt { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// A request of a segment that was read before, and is still in memory.
    pub(crate) fn recent_request(&self, prompt: PromptHash) -> Option<Request> {
        let known = self.lock();
        let segment = known.recent.get(&known.asked.holding(prompt)?)?;
        segment.requests.get(&prompt).cloned()
    }

    /// A request of a segment that was read before.
    pub(crate) async fn known_request(
        &self,
        prompt: PromptHash,
    ) -> Result<Option<Request>, LogError> {
        let found = self.lock().asked.holding(prompt);
        let Some((run, place)) = found else { return Ok(None) };
        // Another request may begin with the same bytes.
        Ok(self.segment(run, place, Seq(1)).await?.requests.get(&prompt).cloned())
    }
}
