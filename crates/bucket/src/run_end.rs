//! Where a run ends.
//!
//! # Which segments count
//!
//! A commit is one segment or, if it is large, several; all but its last say that there is more. If it has entries in
//! the ledger (a run begins, goes on after a break, ends, or was imported), it has happened when the ledger has them.
//! A writer puts the segments first, then the entries, and nothing more of the run before both are there. So only the
//! last commit of a run can be undecided, and readers leave it out until it is decided: there is never an event
//! without its entry, nor an entry without its event.

use std::sync::Arc;

use retold::id::{RunId, Seq};
use retold::log::{Fault, Head, LogError, SegmentFault};

use crate::ledger::KnownLedger;
use crate::objects::NumberedObjects;
use crate::segment::{AnnouncedEntry, Footer, Segment};
use crate::segments::{Place, ReadSegment, Segments};

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
    pub(crate) const START: RunEnd = RunEnd { segments: 0, all: 0, head: Head::START };
}

impl Segments {
    /// The end of a run, if nobody else has added to it since that was last found out.
    pub(crate) fn known_end(&self, run: RunId) -> RunEnd {
        self.lock().ends.get(&run).copied().unwrap_or(RunEnd::START)
    }

    /// The end of a run now. A run whose first commit is undecided has no events.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] at the first event after what can be read, if a segment at the end is missing or damaged;
    /// [`LogError`] if the store cannot be read.
    pub(crate) async fn end(&self, run: RunId) -> Result<RunEnd, LogError> {
        let (mut end, mut damage) = self.end_by_segments(run).await?;
        let claimed = self.claimed_seq(run).await?;
        if damage.is_none() && end.head.seq < claimed {
            // Somebody may have written meanwhile: events that the ledger knew then are there now.
            (end, damage) = self.end_by_segments(run).await?;
            if damage.is_none() && end.head.seq < claimed {
                let object = self.names.segment(run, end.all + 1).to_string();
                damage = Some(SegmentFault::Missing { object }.into());
            }
        }
        match damage {
            None => Ok(end),
            // What comes before it counts.
            Some(fault) => Err(LogError::corrupt(run, end.head.seq.next(), fault)),
        }
    }

    /// The end of a run now, of which an earlier one is known.
    ///
    /// # Errors
    /// As [`end`](Self::end).
    pub(crate) async fn end_after(&self, run: RunId, known: RunEnd) -> Result<RunEnd, LogError> {
        match known == RunEnd::START {
            true => self.end_at_first(run).await,
            false => self.end(run).await,
        }
    }

    /// The last segment of a run with this end, whether it counts or not.
    ///
    /// # Errors
    /// As [`segment`](Self::segment).
    pub(crate) async fn last(&self, run: RunId, end: RunEnd) -> Result<Arc<Segment>, LogError> {
        match end.all > end.segments {
            true => self.segment(run, Place::Object(end.all), end.head.seq.next()).await,
            false => self.having(run, end.head.seq).await,
        }
    }

    /// The end that a run had when the ledger was last read, if that is the end of its compaction, and else the one that it
    /// has now.
    ///
    /// # Errors
    /// As [`end`](Self::end).
    pub(crate) async fn end_at_first(&self, run: RunId) -> Result<RunEnd, LogError> {
        if let Some(compaction) = self.usable_compaction(run).await? {
            let end = compaction.end();
            let ledger = self.ledger.last_read().await;
            if ledger.of(run).next_back().is_some_and(|last| last.entry.head == end.head) {
                self.lock().ends.insert(run, end);
                return Ok(end);
            }
        }
        self.end(run).await
    }

    /// The end of a run according to its segments, and the fault of the segment after it.
    async fn end_by_segments(&self, run: RunId) -> Result<(RunEnd, Option<Fault>), LogError> {
        let (mut known, mut damaged) = (self.known_end(run), None);
        if known == RunEnd::START {
            match self.compaction(run).await {
                Ok(found) => known = found.map_or(known, |found| found.end()),
                // The segments that it stands for may still be there.
                Err(LogError::Corrupt { fault, .. }) => damaged = Some(*fault),
                Err(error) => return Err(error),
            }
        }
        let name = |number| self.names.segment(run, number);
        let listed =
            self.objects.numbers(&self.names.run(run), known.segments, usize::MAX, name).await?;
        let NumberedObjects { numbers, tags, .. } = listed;
        self.note_versions(run, tags);
        let without_gap = numbers.iter().zip(known.segments + 1..).take_while(|(n, due)| *n == due);
        let all = known.segments + without_gap.count() as u64;
        let (end, damage) = self.last_decided(run, known, all).await?;
        self.lock().ends.insert(run, end);
        let is_gap = numbers.last().is_some_and(|last| *last > all);
        let gap = || is_gap.then(|| SegmentFault::Missing { object: name(all + 1).to_string() });
        let damaged = damaged.filter(|_| end.all == 0);
        Ok((end, damaged.or(damage).or_else(|| gap().map(Fault::from))))
    }

    /// How far a run had come, by the ledger. One that is damaged claims nothing.
    async fn claimed_seq(&self, run: RunId) -> Result<Seq, LogError> {
        let mut ledger = self.ledger.last_read().await;
        if ledger.entries().is_empty() {
            ledger = match self.ledger.read().await {
                Ok(read) => read,
                Err(LogError::CorruptLedger { .. }) => return Ok(Seq(0)),
                Err(error) => return Err(error),
            };
        }
        Ok(ledger.of(run).next_back().map_or(Seq(0), |known| known.entry.head.seq))
    }

    /// The last of `all` segments that counts, and the fault of the one after it.
    async fn last_decided(
        &self,
        run: RunId,
        known: RunEnd,
        all: u64,
    ) -> Result<(RunEnd, Option<Fault>), LogError> {
        let (mut undecided, mut damage) = (false, None);
        for number in (known.segments + 1..=all).rev() {
            let segment =
                match self.segment(run, Place::Object(number), known.head.seq.next()).await {
                    Ok(segment) => segment,
                    // Those before it are looked at: they count if it is another commit.
                    Err(LogError::Corrupt { fault, .. }) => {
                        (undecided, damage) = (false, Some(*fault));
                        continue;
                    }
                    Err(error) => return Err(error),
                };
            let Footer { more, entries, reaches, .. } = &segment.footer;
            // Only the last segment of a commit decides; those before it are undecided with it.
            let decided =
                !more && (number < all && !undecided || self.are_in(run, entries).await?);
            undecided = !decided;
            if decided {
                return Ok((RunEnd { segments: number, all, head: *reaches }, damage));
            }
        }
        Ok((RunEnd { all, ..known }, damage))
    }

    /// The events after one that comes after the first damage of a run: of the first segment that has some and can be
    /// read. Empty if there is none.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] with that damage if the next event is not in a segment that can be read; [`LogError`] if the
    /// store cannot be read.
    pub(crate) async fn after_damage(
        &self,
        run: RunId,
        after: Seq,
        fault: Fault,
    ) -> Result<Option<ReadSegment>, LogError> {
        let name = |number| self.names.segment(run, number);
        let from = self.known_end(run).segments;
        let listed = self.objects.numbers(&self.names.run(run), from, usize::MAX, name).await?;
        for number in listed.numbers {
            let place = Place::Object(number);
            let segment = match self.segment(run, place, after.next()).await {
                Ok(segment) => segment,
                Err(LogError::Corrupt { .. }) => continue,
                Err(error) => return Err(error),
            };
            match &segment.footer {
                footer if footer.last() <= after => {}
                footer if footer.first() <= after.next() => {
                    return Ok(Some(ReadSegment { place, segment }));
                }
                _ => return Err(LogError::corrupt(run, after.next(), fault)),
            }
        }
        Ok(None)
    }

    /// True if the ledger has these entries, or if it is damaged: then all events of the run are shown, and verification
    /// reports the damage.
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

    /// Notes what this process has written.
    pub(crate) fn wrote(&self, run: RunId, end: RunEnd) {
        self.lock().ends.insert(run, end);
    }
}
