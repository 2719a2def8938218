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
use crate::ledger_entry::KnownEntry;
use crate::names::Place;
use crate::segment::{AnnouncedEntry, Footer, Segment};
use crate::segments::Segments;

/// The end of a run as readers see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunEnd {
    /// The last event that counts.
    pub(crate) head: Head,
    /// The first event of the last segment, if that does not count.
    pub(crate) undecided: Option<Seq>,
}

impl RunEnd {
    pub(crate) const START: RunEnd = RunEnd::at(Head::START);

    /// The end of a run of which all segments count.
    pub(crate) const fn at(head: Head) -> Self {
        RunEnd { head, undecided: None }
    }
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
                let object = self.names.segment(run, end.head.seq.next()).to_string();
                damage = Some(SegmentFault::Missing { object }.into());
            }
        }
        match damage {
            None => Ok(end),
            // What comes before it counts.
            Some(fault) => Err(LogError::corrupt(run, end.head.seq.next(), fault)),
        }
    }

    /// The end of a run, looked for only if it may have another one than when that was last found out: a run that had ended
    /// by the ledger when that was last read stays as it is until it is read again.
    pub(crate) async fn end_by_ledger(&self, run: RunId) -> Result<RunEnd, LogError> {
        let mut known = self.known_end(run);
        if known == RunEnd::START
            && let Some(compaction) = self.compaction(run).await?
        {
            known = compaction.end();
        }
        let ledger = self.ledger.last_read().await;
        let last = ledger.of(run).next_back();
        let has_ended = |last: &KnownEntry| last.is_the_end() && last.entry.head == known.head;
        // A segment that does not count after the end is damage.
        if known.undecided.is_none() && last.is_some_and(has_ended) {
            self.note_end(run, known);
            return Ok(known);
        }
        self.end(run).await
    }

    /// The last segment of a run with this end, whether it counts or not.
    pub(crate) async fn last(&self, run: RunId, end: RunEnd) -> Result<Arc<Segment>, LogError> {
        match end.undecided {
            Some(first) => self.segment(run, Place::Object(first), end.head.seq.next()).await,
            None => self.having(run, end.head.seq).await,
        }
    }

    /// The end of a run according to its segments, and the fault of the segment after it. A segment that is missing before
    /// others is found when its events are read.
    async fn end_by_segments(&self, run: RunId) -> Result<(RunEnd, Option<Fault>), LogError> {
        let mut known = self.known_end(run);
        if known == RunEnd::START
            && let Some(compaction) = self.compaction(run).await?
        {
            known = compaction.end();
        }
        let name = |first| self.names.segment(run, Seq(first));
        let folder = self.names.run(run);
        let listed =
            self.objects.numbers(&folder, known.head.seq.0, usize::MAX, name).await?.numbers;
        let firsts: Vec<Seq> = listed.iter().map(|(first, _)| Seq(*first)).collect();
        self.note_segments(run, firsts.iter().copied().zip(listed.into_iter().map(|(_, tag)| tag)));
        let last = firsts.last().copied();
        let (mut end, mut damage) = (RunEnd { undecided: last, ..known }, None);
        for first in firsts.into_iter().rev() {
            match self.segment(run, Place::Object(first), known.head.seq.next()).await {
                Ok(segment) => {
                    let Footer { more, entries, reaches, .. } = &segment.footer;
                    // Only the last commit can be undecided.
                    let is_last = Some(first) == last;
                    if !more && (!is_last || self.are_in(run, entries).await?) {
                        end = RunEnd { head: *reaches, undecided: last.filter(|_| !is_last) };
                        break;
                    }
                }
                Err(LogError::Corrupt { fault, .. }) => damage = Some(*fault),
                Err(error) => return Err(error),
            }
        }
        self.note_end(run, end);
        Ok((end, damage))
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

    /// Notes the end of a run.
    pub(crate) fn note_end(&self, run: RunId, end: RunEnd) {
        self.lock().ends.insert(run, end);
    }
}
