//! What is left of a damaged run, as a new run.

use serde_json::Value;

use super::import::again;
use super::requests::RequestCache;
use crate::event::chain::LinkedEvent;
use crate::event::{Event, EventsLost, NewEvent, kind, seq_ranges};
use crate::id::{RunId, Seq, Time};
use crate::log::ledger::Ledger;
use crate::log::{
    Append, Backend, CheckedReader, EventFault, Head, LogError, Provenance, Reader, marks,
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
    let marked = from.file().map(marks).unwrap_or_default();
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
            Err(error) if is_damage(&error) => {
                at = at.next();
                continue;
            }
            Err(error) => return Err(error),
        };
        for event in events {
            at = event.seq;
            match again(reader, &mut requests, event) {
                Ok(event) => found(at, event)?,
                // Its request is lost.
                Err(error) if is_damage(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

fn is_damage(error: &LogError) -> bool {
    let is_it = |error: &LogError| {
        matches!(
            error,
            LogError::Corrupt { .. } | LogError::CorruptRequest { .. } | LogError::Damaged { .. }
        )
    };
    is_it(error)
}

/// Where each event of the damaged run is in the new one.
#[derive(Default)]
struct Places {
    /// By the seq of the damaged run, from 1: the seq in the new run, or 0.
    seqs: Vec<u64>,
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
        let at = usize::try_from(seq.0 - 1).unwrap_or(usize::MAX);
        self.seqs.resize(at, 0);
        let added = if seq == Seq(1) { 0 } else { ADDED };
        self.kept += 1;
        self.seqs.push(self.kept + added);
    }

    fn of(&self, seq: Seq) -> Option<Seq> {
        let at = usize::try_from(seq.0.checked_sub(1)?).ok()?;
        self.seqs.get(at).filter(|place| **place > 0).map(|place| Seq(*place))
    }

    /// The events up to `last` that the new run lacks: the first and the last of each stretch.
    fn lost(&self, last: Seq) -> Vec<(u64, u64)> {
        let mut lost: Vec<(u64, u64)> = Vec::new();
        let read = self.seqs.len() as u64;
        let is_lost = |seq: &u64| self.of(Seq(*seq)).is_none() && self.finished != Some(Seq(*seq));
        for seq in (1..=read).filter(is_lost) {
            match lost.last_mut() {
                Some((_, end)) if *end + 1 == seq => *end = seq,
                _ => lost.push((seq, seq)),
            }
        }
        let end = match self.finished {
            Some(finished) if finished == last => last.0 - 1,
            _ => last.0,
        };
        if end > read {
            lost.push((read + 1, end));
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
    let last = Seq(places.seqs.len() as u64);
    let mut committer = to.committer()?;
    let mut head = Head::START;
    let mut linked: Vec<LinkedEvent> = Vec::new();
    let mut lost = Some(lost);
    let mut add = |linked: &mut Vec<LinkedEvent>, event: NewEvent| {
        let event = LinkedEvent::new(event, new, head);
        head = event.head();
        linked.push(event);
    };
    each_event(reader, run, last, |seq, event| {
        if places.of(seq).is_none() {
            return Ok(());
        }
        let time = event.time;
        add(&mut linked, with_places(event, places));
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
    committer.flush()
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
    let cited = body.as_object_mut()?.get_mut(key)?;
    let ends = |range: &Value| match range.as_array().map(Vec::as_slice) {
        Some([first, last]) => Some((first.as_u64()?, last.as_u64()?)),
        _ => range.as_u64().map(|seq| (seq, seq)),
    };
    let ranges: Vec<(u64, u64)> = cited.as_array()?.iter().map(ends).collect::<Option<_>>()?;
    let known = places.seqs.len() as u64;
    let all = ranges.into_iter().flat_map(|(first, last)| first..=last.min(known));
    let all: Vec<u64> = all.filter_map(|seq| Some(places.of(Seq(seq))?.0)).collect();
    *cited = seq_ranges(&all);
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
