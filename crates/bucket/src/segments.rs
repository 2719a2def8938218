//! The segments of runs: which there are, which of them count, and those that were read last.
//!
//! # Which segments count
//!
//! A commit is one segment or, if it is large, several; all but its last say that there is more. If it has entries in
//! the ledger (a run begins, goes on after a break, ends, or was imported), it has happened when the ledger has them.
//! A writer puts the segments first, then the entries, and nothing more of the run before both are there. So only the
//! last commit of a run can be undecided, and readers leave it out until it is decided: there is never an event
//! without its entry, nor an entry without its event.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use retold::event::StoredEvent;
use retold::id::{PromptHash, RunId, Seq};
use retold::log::{EventFault, Head, LogError, SegmentFault};

use crate::ledger::{KnownLedger, Ledger};
use crate::names::{Names, number_of};
use crate::objects::Objects;
use crate::segment::{AnnouncedEntry, Footer, Segment, decode};

/// How many bytes of segments that were read are kept, as they are in the store.
const KEPT_BYTES: usize = 8 << 20;

/// The end of a run as readers see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunEnd {
    /// How many segments count.
    pub(crate) segments: u64,
    /// How many there are.
    pub(crate) all: u64,
    /// The last event that counts.
    pub(crate) head: Head,
}

impl RunEnd {
    const START: RunEnd = RunEnd { segments: 0, all: 0, head: Head::START };
}

/// The segments of all runs.
#[derive(Debug)]
pub(crate) struct Segments {
    pub(crate) objects: Objects,
    pub(crate) names: Names,
    pub(crate) ledger: Ledger,
    known: Mutex<KnownSegments>,
}

#[derive(Debug, Default)]
struct KnownSegments {
    /// The ends of runs: what counted once counts for good.
    ends: BTreeMap<RunId, RunEnd>,
    /// The last event of segments whose footer was read.
    lasts: BTreeMap<RunId, BTreeMap<u64, Seq>>,
    /// In which segment a request is, of those that were read, by the beginning of its hash: else each request that is not
    /// in the segments read last would be looked for in all of them.
    asked: BTreeMap<u64, (RunId, u64)>,
    /// The segments that were read last, with their sizes; the oldest first.
    recent: Vec<((RunId, u64), usize, Arc<Segment>)>,
    bytes: usize,
}

impl Segments {
    pub(crate) fn new(objects: Objects, names: Names) -> Self {
        let ledger = Ledger::new(objects.clone(), names.clone());
        Segments { objects, names, ledger, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, KnownSegments> {
        // What is known is added to at once.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A segment that is known to exist.
    ///
    /// # Errors
    /// [`LogError::Corrupt`], at the event `first`, if it is missing or not as it was written.
    pub(crate) async fn segment(
        &self,
        run: RunId,
        number: u64,
        first: Seq,
    ) -> Result<Arc<Segment>, LogError> {
        let key = (run, number);
        let recent = self.known().recent.iter().find(|(of, ..)| *of == key).map(|r| r.2.clone());
        if let Some(segment) = recent {
            return Ok(segment);
        }
        let path = self.names.segment(run, number);
        let object = path.to_string();
        let corrupt = |fault| LogError::corrupt(run, first, fault);
        let bytes = self.objects.get(&path).await?;
        let bytes =
            bytes.ok_or_else(|| corrupt(SegmentFault::Missing { object: object.clone() }))?;
        let segment = Arc::new(decode(&object, key, &bytes).map_err(corrupt)?);
        let mut known = self.known();
        known.lasts.entry(run).or_default().insert(number, segment.footer.last());
        known.asked.extend(segment.requests.keys().map(|prompt| (beginning(*prompt), key)));
        known.bytes += bytes.len();
        known.recent.push((key, bytes.len(), segment.clone()));
        while known.bytes > KEPT_BYTES && known.recent.len() > 1 {
            let (_, bytes, _) = known.recent.remove(0);
            known.bytes -= bytes;
        }
        Ok(segment)
    }

    /// The first event of a run.
    ///
    /// # Errors
    /// As [`segment`](Self::segment).
    pub(crate) async fn first(&self, run: RunId) -> Result<StoredEvent, LogError> {
        let first = self.segment(run, 1, Seq(1)).await?;
        let missing = || LogError::corrupt(run, Seq(1), EventFault::NoEvents);
        first.events.first().cloned().ok_or_else(missing)
    }

    /// The end of a run, if nobody else has added to it since that was last found out.
    pub(crate) fn known_end(&self, run: RunId) -> RunEnd {
        self.known().ends.get(&run).copied().unwrap_or(RunEnd::START)
    }

    /// The end of a run now. A run whose first commit is undecided has no events.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] if a segment is missing or damaged at its end; [`LogError`] if the store cannot be read.
    pub(crate) async fn end(&self, run: RunId) -> Result<RunEnd, LogError> {
        let known = self.known_end(run);
        // An entry of the ledger is later than its segments.
        let ledger = self.ledger.last_read().await;
        let reached = ledger.of(run).next_back().map_or(Seq(0), |last| last.entry.head.seq);
        let after = (known.segments > 0).then(|| self.names.segment(run, known.segments));
        let found = self.objects.list(&self.names.run(run), after.as_ref()).await?;
        let mut all = known.segments;
        let mut missing = None;
        for number in found.iter().filter_map(number_of) {
            if number != all + 1 {
                missing = Some(self.names.segment(run, all + 1).to_string());
                break;
            }
            all = number;
        }
        let end = self.last_decided(run, known, all).await?;
        self.known().ends.insert(run, end);
        if missing.is_none() && end.all == end.segments && end.head.seq < reached {
            missing = Some(self.names.segment(run, all + 1).to_string());
        }
        match missing {
            None => Ok(end),
            // What comes before it counts.
            Some(object) => {
                let first = end.head.seq.next();
                Err(LogError::corrupt(run, first, SegmentFault::Missing { object }))
            }
        }
    }

    /// The last of `all` segments that counts.
    async fn last_decided(&self, run: RunId, known: RunEnd, all: u64) -> Result<RunEnd, LogError> {
        let mut undecided = false;
        for number in (known.segments + 1..=all).rev() {
            let Footer { more, entries, reaches, .. } =
                self.segment(run, number, known.head.seq.next()).await?.footer.clone();
            // Only the last segment of a commit decides; those before it are undecided with it.
            let decided =
                !more && (number < all && !undecided || self.are_in(run, &entries).await?);
            undecided = !decided;
            if decided {
                return Ok(RunEnd { segments: number, all, head: reaches });
            }
        }
        Ok(RunEnd { all, ..known })
    }

    /// Whether the ledger has these entries. If it is damaged, what the run has is shown, and verification says what is
    /// wrong with the ledger.
    async fn are_in(&self, run: RunId, entries: &[AnnouncedEntry]) -> Result<bool, LogError> {
        let has = |known: &KnownLedger| {
            entries.iter().all(|entry| known.has(run, &entry.what, entry.head))
        };
        if has(&*self.ledger.last_read().await) {
            return Ok(true);
        }
        match self.ledger.read().await {
            Ok(known) => Ok(has(&known)),
            Err(LogError::CorruptLedger { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// All runs, in the order in which they came into the log. If the ledger is damaged, also those that only have
    /// segments.
    ///
    /// # Errors
    /// [`LogError`] if the store cannot be read.
    pub(crate) async fn runs(&self) -> Result<Vec<RunId>, LogError> {
        match self.ledger.read().await {
            Ok(known) => return Ok(known.runs()),
            Err(LogError::CorruptLedger { .. }) => {}
            Err(error) => return Err(error),
        }
        let mut runs = self.ledger.last_read().await.runs();
        for path in self.objects.list(&self.names.runs(), None).await? {
            let run = self.names.run_of(&path);
            runs.extend(run.filter(|run| !runs.contains(run)));
        }
        Ok(runs)
    }

    /// The number of the segment that holds an event, which is known to exist.
    ///
    /// # Errors
    /// As [`segment`](Self::segment).
    pub(crate) async fn holding(&self, run: RunId, seq: Seq) -> Result<u64, LogError> {
        let end = self.known_end(run);
        let (mut low, mut high) = (1, end.segments);
        {
            let known = self.known();
            // What is known of its neighbours leaves less to look at.
            for (number, last) in known.lasts.get(&run).into_iter().flatten() {
                if *last < seq {
                    low = low.max(number + 1);
                } else {
                    high = high.min(*number);
                }
            }
        }
        while low < high {
            let middle = low + (high - low) / 2;
            let last = self.segment(run, middle, seq).await?.footer.last();
            match last < seq {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low)
    }

    /// A segment that was read before and has this request.
    ///
    /// # Errors
    /// As [`segment`](Self::segment).
    pub(crate) async fn asking(
        &self,
        prompt: PromptHash,
    ) -> Result<Option<Arc<Segment>>, LogError> {
        let place = self.known().asked.get(&beginning(prompt)).copied();
        let Some((run, number)) = place else { return Ok(None) };
        let segment = self.segment(run, number, Seq(1)).await?;
        // Another request may begin with the same bytes.
        Ok(Some(segment).filter(|segment| segment.requests.contains_key(&prompt)))
    }

    /// Notes what this process has written.
    pub(crate) fn wrote(&self, run: RunId, end: RunEnd) {
        self.known().ends.insert(run, end);
    }
}

/// The first eight bytes of a hash.
fn beginning(prompt: PromptHash) -> u64 {
    prompt.as_bytes().first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}
