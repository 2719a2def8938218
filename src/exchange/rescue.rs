//! Rescues a damaged run: its intact events become a new run.

use serde_json::Value;

use super::import::again;
use super::requests::RequestCache;
use crate::event::chain::LinkedEvent;
use crate::event::{Event, EventsLost, NewEvent, kind, pairs, ranges};
use crate::id::{RunId, Seq, Time};
use crate::log::ledger::Ledger;
use crate::log::{
    Append, AppendKind, Backend, CheckedReader, EventFault, Fault, Head, LogError, Reader, marks,
};
use crate::prompt::canonical;

/// Events read and appended together.
const BATCH: usize = 1024;

/// How many events the new run has between the first event of the damaged run and its others: the `EventsLost`.
const ADDED: u64 = 1;

/// A run made from the intact events of a damaged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RescuedRun {
    /// The new run. Its id follows from the damaged run and from what is left of that.
    pub run: RunId,
    /// How many events it has of the damaged run.
    pub kept: u64,
    /// How many events of the damaged run it lacks.
    pub lost: u64,
    /// True if the other log already had it.
    pub was_there: bool,
}

/// Copies the intact events of a damaged run, before and after the damage, to a new run with a chain of its own. Its second
/// event names the damaged run and the lost events ([`EventsLost`]). An event whose cause is lost is lost as well. `RunFinished`
/// is left out, so that the new run is never taken for a finished one.
///
/// # Errors
/// [`LogError::Corrupt`] if the first event is lost, because only it says what the run was;
/// any other [`LogError`] if a log cannot be read or written.
pub fn rescue_run(
    from: &dyn Backend,
    run: RunId,
    to: &dyn Backend,
) -> Result<RescuedRun, LogError> {
    let mut reader = CheckedReader::new(from.reader()?);
    let last = last_known(from, &mut reader, run)?;
    let mut places = Places::default();
    each_event(&mut reader, run, last.seq, |seq, event| {
        places.add(seq, &event);
        Ok(())
    })?;
    if places.of(Seq(1)).is_none() {
        // If the store can say what is wrong with the first event, that is the error.
        reader.events(run, Seq(0), 1)?;
        return Err(LogError::corrupt(run, Seq(1), EventFault::Missing { events: 1 }));
    }
    let lost = places.lost(last.seq);
    let rescued = RescuedRun {
        run: id(run, last, &lost),
        kept: places.kept,
        lost: lost.iter().map(|(first, last)| last - first + 1).sum(),
        was_there: false,
    };
    if to.reader()?.runs()?.iter().any(|there| there.run == rescued.run) {
        return Ok(RescuedRun { was_there: true, ..rescued });
    }
    let _lease = to.lease(rescued.run)?;
    let lost = EventsLost { run, head: last, lost };
    write(&mut reader, run, &places, lost, to, rescued.run)?;
    Ok(rescued)
}

/// The last event that the run is known to have had, from the list of runs, the ledger or a high-water mark.
fn last_known(from: &dyn Backend, reader: &mut dyn Reader, run: RunId) -> Result<Head, LogError> {
    let listed = reader.runs()?.into_iter().find(|head| head.run == run).map(|head| head.head);
    let marked = from.file().map(|file| marks(&file)).unwrap_or_default();
    let marked = marked.into_iter().find(|mark| mark.run == run).map(|mark| mark.head);
    // A damaged ledger is not used.
    let ledger = Ledger::read(reader).ok();
    let entered = ledger.and_then(|ledger| Some(ledger.last_of(run)?.head));
    let known = [listed, marked, entered].into_iter().flatten();
    known.max_by_key(|head| head.seq).ok_or_else(|| LogError::NoSuchRun { run, path: from.name() })
}

/// Calls `found` for each intact event of a run. It may go some events past `last`.
fn each_event(
    reader: &mut dyn Reader,
    run: RunId,
    last: Seq,
    mut found: impl FnMut(Seq, NewEvent) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let mut requests = RequestCache::default();
    let mut at = Seq(0);
    while at < last {
        let events = match reader.events(run, at, BATCH) {
            Ok(events) if events.is_empty() => return Ok(()),
            Ok(events) => events,
            Err(error) if error.is_damage() => {
                at = after_damage(at, &error);
                continue;
            }
            Err(error) => return Err(error),
        };
        for event in events {
            at = event.seq;
            match again(reader, &mut requests, event) {
                Ok(event) => found(at, event)?,
                // Its request is lost.
                Err(error) if error.is_damage() => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// The seq after which reading resumes: that of the damaged event, or of the first event after a gap, whose hash cannot be
/// checked without the missing one before it. A forged seq may make a gap of billions, so a gap is skipped at once.
fn after_damage(at: Seq, error: &LogError) -> Seq {
    match error {
        LogError::Corrupt { seq, fault, .. } if *seq > at => match **fault {
            Fault::Event(EventFault::Missing { events }) => Seq(seq.0.saturating_add(events)),
            _ => *seq,
        },
        _ => at.next(),
    }
}

/// Events that are consecutive in both the damaged run and the new one.
struct Stretch {
    /// The first and the last, by their seqs in the damaged run.
    first: u64,
    last: u64,
    /// The seq of the first in the new run.
    place: u64,
}

/// Where each event of the damaged run is in the new one.
#[derive(Default)]
struct Places {
    stretches: Vec<Stretch>,
    kept: u64,
    /// The `RunFinished` of the damaged run, which is left out but does not count as lost.
    finished: Option<Seq>,
}

impl Places {
    fn add(&mut self, seq: Seq, event: &NewEvent) {
        if event.kind == kind::RUN_FINISHED {
            self.finished = Some(seq);
            return;
        }
        if event.cause.is_some_and(|cause| self.of(cause).is_none()) {
            return;
        }
        let added = if seq == Seq(1) { 0 } else { ADDED };
        self.kept += 1;
        let (seq, place) = (seq.0, self.kept + added);
        match self.stretches.last_mut() {
            Some(last) if last.last + 1 == seq && last.place + (seq - last.first) == place => {
                last.last = seq;
            }
            _ => self.stretches.push(Stretch { first: seq, last: seq, place }),
        }
    }

    /// The seq in the new run of an event of the damaged one; `None` if it is lost.
    fn of(&self, seq: Seq) -> Option<Seq> {
        let at = self.stretches.partition_point(|stretch| stretch.last < seq.0);
        let stretch = self.stretches.get(at).filter(|stretch| stretch.first <= seq.0)?;
        Some(Seq(stretch.place + (seq.0 - stretch.first)))
    }

    /// The last event that is kept, by its seq in the damaged run.
    fn last(&self) -> Seq {
        Seq(self.stretches.last().map_or(0, |stretch| stretch.last))
    }

    /// The events of these ranges that are kept, as ranges of seqs in the new run.
    fn kept_ranges(&self, ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut places: Vec<(u64, u64)> = Vec::new();
        for (first, last) in ranges {
            let at = self.stretches.partition_point(|stretch| stretch.last < *first);
            for stretch in self.stretches[at..].iter().take_while(|kept| kept.first <= *last) {
                let place = |seq: u64| stretch.place + (seq - stretch.first);
                let range = (place(stretch.first.max(*first)), place(stretch.last.min(*last)));
                match places.last_mut() {
                    Some((_, end)) if *end + 1 == range.0 => *end = range.1,
                    _ => places.push(range),
                }
            }
        }
        places
    }

    /// The events up to `known_last` that the new run lacks, as ranges of seqs in the damaged run.
    fn lost(&self, known_last: Seq) -> Vec<(u64, u64)> {
        let mut lost = Vec::new();
        let mut next = 1;
        for Stretch { first, last, .. } in &self.stretches {
            if next < *first {
                lost.push((next, first - 1));
            }
            next = last + 1;
        }
        let end = if self.finished == Some(known_last) { known_last.0 - 1 } else { known_last.0 };
        if next <= end {
            lost.push((next, end));
        }
        lost
    }
}

/// The id of the new run. It depends only on the damaged run and on what is left of it, so that a second copy makes no second
/// run.
fn id(run: RunId, last: Head, lost: &[(u64, u64)]) -> RunId {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"retold rescued run v1\n");
    hasher.update(run.as_bytes()).update(&last.hash.0);
    for (first, last) in lost {
        hasher.update(&first.to_be_bytes()).update(&last.to_be_bytes());
    }
    let mut id = [0; 8];
    id.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    RunId(id)
}

fn write(
    reader: &mut dyn Reader,
    run: RunId,
    places: &Places,
    lost: EventsLost,
    to: &dyn Backend,
    new: RunId,
) -> Result<(), LogError> {
    let mut committer = to.committer()?;
    let mut head = Head::START;
    let mut linked: Vec<LinkedEvent> = Vec::new();
    let mut lost = Some(lost);
    let mut add = |linked: &mut Vec<LinkedEvent>, event: NewEvent| {
        let event = LinkedEvent::new(event, new, head);
        head = event.head();
        linked.push(event);
        head.seq
    };
    each_event(reader, run, places.last(), |seq, event| {
        let Some(place) = places.of(seq) else { return Ok(()) };
        let time = event.time;
        // An event that was readable in the first pass may be unreadable now, and the later ones would move up.
        if add(&mut linked, with_places(event, places)) != place {
            return Err(LogError::corrupt(run, seq, EventFault::Displaced));
        }
        if let Some(lost) = lost.take() {
            add(&mut linked, lost_event(lost, time)?);
        }
        if linked.len() >= BATCH {
            let events = std::mem::take(&mut linked);
            let append = Append { run: new, events, kind: AppendKind::Imported };
            committer.append(&append.imported_with_more())?;
        }
        Ok(())
    })?;
    committer.append(&Append { run: new, events: linked, kind: AppendKind::Imported })?;
    committer.flush().map(drop)
}

fn lost_event(lost: EventsLost, time: Time) -> Result<NewEvent, LogError> {
    NewEvent::from_event(&Event::EventsLost(lost), time, None)
        .map_err(|error| LogError::failure("the list of lost events", error))
}

/// The event with all seqs that it cites changed to those of the new run. Lost events that it cites besides its cause are
/// dropped.
fn with_places(event: NewEvent, places: &Places) -> NewEvent {
    let cause = event.cause.and_then(|cause| places.of(cause));
    let cited = match &*event.kind {
        kind::REQUEST_SENT => Some("because"),
        kind::OCCURRED => Some("causes"),
        _ => None,
    };
    let body = cited.and_then(|key| body_with_places(&event.body, key, places));
    let body = body.map_or(event.body, Into::into);
    NewEvent { cause, body, ..event }
}

/// The body with the ranges under `key` changed to seqs of the new run; `None` if it has no ranges there.
fn body_with_places(body: &str, key: &str, places: &Places) -> Option<String> {
    let mut body: Value = serde_json::from_str(body).ok()?;
    let cited = body.get_mut(key)?;
    *cited = serde_json::from_str(&ranges(&places.kept_ranges(&pairs(cited)?))).ok()?;
    canonical(&body).ok()
}

/// The events that a rescued run lacks; `None` if the run was not rescued.
///
/// # Errors
/// [`LogError`] if its second event cannot be read.
pub fn lost_events(reader: &mut dyn Reader, run: RunId) -> Result<Option<EventsLost>, LogError> {
    let second = reader.events(run, Seq(1), 1)?.into_iter().next();
    match second.filter(|event| event.kind == kind::EVENTS_LOST).map(|event| event.event()) {
        Some(Ok(Event::EventsLost(lost))) => Ok(Some(lost)),
        Some(Err(error)) => Err(error.into()),
        _ => Ok(None),
    }
}
