//! What is left of a damaged run, as a new run.

use serde_json::Value;

use super::import::again;
use super::requests::RequestCache;
use crate::event::chain::LinkedEvent;
use crate::event::{Event, EventsLost, NewEvent, kind, pairs, ranges};
use crate::id::{RunId, Seq, Time};
use crate::log::ledger::Ledger;
use crate::log::{
    Append, Backend, CheckedReader, EventFault, Fault, Head, LogError, Provenance, Reader, marks,
};
use crate::prompt::canonical;

/// Events read and appended together.
const BATCH: usize = 1024;

/// The events of the new run that come before those of the damaged one, but for its first.
const ADDED: u64 = 1;

/// A run that was made of what is left of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RescuedRun {
    /// The new run. Its id follows from the damaged run and from what is left of that.
    pub run: RunId,
    /// How many events it has of the damaged run.
    pub kept: u64,
    /// How many events of the damaged run it lacks.
    pub lost: u64,
    /// Whether the other log had it already.
    pub was_there: bool,
}

/// Makes a new run of what holds in a damaged one, before and after the damage, with a chain of its own. Its second event names
/// the damaged run and what is lost ([`EventsLost`]). An event that cites a lost one as its cause is lost as well, and the end of
/// the run is left out, so that the new one is never taken for a finished one.
///
/// # Errors
/// [`LogError::Corrupt`] if the first event is lost, without which nobody knows what the run was;
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
        reader.events(run, Seq(0), 1)?;
        return Err(LogError::corrupt(run, Seq(1), EventFault::Missing { events: 1 }));
    }
    let lost = places.lost(last.seq);
    let of = RescuedRun {
        run: id(run, last, &lost),
        kept: places.kept,
        lost: lost.iter().map(|(first, last)| last - first + 1).sum(),
        was_there: false,
    };
    if to.reader()?.runs()?.iter().any(|there| there.run == of.run) {
        return Ok(RescuedRun { was_there: true, ..of });
    }
    let _lease = to.lease(of.run)?;
    let lost = EventsLost { run, head: last, lost };
    write(&mut reader, run, &places, lost, to, of.run)?;
    Ok(of)
}

/// The last event that the run is known to have had: by the list of runs, the ledger, or a mark.
fn last_known(from: &dyn Backend, reader: &mut dyn Reader, run: RunId) -> Result<Head, LogError> {
    let listed = reader.runs()?.into_iter().find(|head| head.run == run).map(|head| head.head);
    let marked = from.file().map(|file| marks(&file)).unwrap_or_default();
    let marked = marked.into_iter().find(|mark| mark.run == run).map(|mark| mark.head);
    // A ledger that is damaged knows nothing.
    let ledger = Ledger::read(reader).ok();
    let entered = ledger.and_then(|ledger| Some(ledger.last_of(run)?.head));
    let known = [listed, marked, entered].into_iter().flatten();
    known.max_by_key(|head| head.seq).ok_or_else(|| LogError::NoSuchRun { run, path: from.name() })
}

/// Calls a function for each event of a run that can be read and is as it was written.
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

/// The event after which reading goes on: the damaged one, or the one behind a gap, whose hash follows from a missing one. (A
/// forged number may make a gap of billions.)
fn after_damage(at: Seq, error: &LogError) -> Seq {
    match error {
        LogError::Corrupt { seq, fault, .. } if *seq > at => match **fault {
            Fault::Event(EventFault::Missing { events }) => Seq(seq.0.saturating_add(events)),
            _ => *seq,
        },
        _ => at.next(),
    }
}

/// Events that follow each other in the damaged run and in the new one.
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
    /// The end of the damaged run, which is left out and not lost.
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

    fn of(&self, seq: Seq) -> Option<Seq> {
        let at = self.stretches.partition_point(|stretch| stretch.last < seq.0);
        let stretch = self.stretches.get(at).filter(|stretch| stretch.first <= seq.0)?;
        Some(Seq(stretch.place + (seq.0 - stretch.first)))
    }

    /// The last event that is kept, by its seq in the damaged run.
    fn last(&self) -> Seq {
        Seq(self.stretches.last().map_or(0, |stretch| stretch.last))
    }

    /// The places of those of some events that are kept.
    fn of_ranges(&self, ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
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

    /// The events up to `last` that the new run lacks: the first and the last of each stretch of them.
    fn lost(&self, last: Seq) -> Vec<(u64, u64)> {
        let mut lost = Vec::new();
        let mut next = 1;
        for Stretch { first, last, .. } in &self.stretches {
            if next < *first {
                lost.push((next, first - 1));
            }
            next = last + 1;
        }
        let end = if self.finished == Some(last) { last.0 - 1 } else { last.0 };
        if next <= end {
            lost.push((next, end));
        }
        lost
    }
}

/// The id of the new run: the same for the same rest of the same run, so that it is copied once.
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
        // What could be read a moment ago may be lost now.
        if add(&mut linked, with_places(event, places)) != place {
            return Err(LogError::corrupt(run, seq, EventFault::Displaced));
        }
        if let Some(lost) = lost.take() {
            add(&mut linked, lost_event(lost, time)?);
        }
        if linked.len() >= BATCH {
            let events = std::mem::take(&mut linked);
            let append = Append { run: new, events, origin: Provenance::Elsewhere };
            committer.append(&append.imported_with_more())?;
        }
        Ok(())
    })?;
    committer.append(&Append { run: new, events: linked, origin: Provenance::Elsewhere })?;
    committer.flush().map(drop)
}

fn lost_event(lost: EventsLost, time: Time) -> Result<NewEvent, LogError> {
    NewEvent::from_event(&Event::EventsLost(lost), time, None)
        .map_err(|error| LogError::failure("the list of lost events", error))
}

/// An event that cites others where they are in the new run. What it cites beside its cause may be lost: then it is not
/// cited.
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

/// The body in which the ranges of seqs with this key are those of the new run; `None` if it has none.
fn body_with_places(body: &str, key: &str, places: &Places) -> Option<String> {
    let mut body: Value = serde_json::from_str(body).ok()?;
    let cited = body.get_mut(key)?;
    *cited = serde_json::from_str(&ranges(&places.of_ranges(&pairs(cited)?))).ok()?;
    canonical(&body).ok()
}

/// What a run lacks of the damaged one that it was made of; `None` if it is no such run.
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
