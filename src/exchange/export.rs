//! Writes recordings.

use serde_json::json;

use super::line_writer::{LineOfEvent, LineWriter};
use crate::event::StoredEvent;
use crate::event::chain::{ChainLink, Head, hash_after};
use crate::id::{RunId, Seq};
use crate::log::ledger::{Ledger, LedgerEntry};
use crate::log::{EventFault, FORMAT, LedgerFault, LogError, Reader};

/// Events per read.
const BATCH: usize = 1024;

/// Writes a run line by line with `line`. Returns the number of events.
///
/// # Errors
/// [`LogError`] if the log cannot be read, and any error of `line`. [`LogError::Corrupt`] at an
/// event that does not follow from the preceding one: such a recording could not be imported.
pub fn export_recording<E: From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    line: &mut dyn FnMut(&str) -> Result<(), E>,
) -> Result<u64, E> {
    whole(reader, run)?;
    // A run that is being written continues meanwhile; later events are left out.
    let head = reader.runs()?.into_iter().find(|r| r.run == run).map_or(Head::START, |r| r.head);
    let end = head.seq;
    let header = json!({"events": end, "format": FORMAT, "head": head.hash, "recording": "retold",
        "run": run});
    line(&header.to_string())?;
    let mut lines = LineWriter::default();
    let mut after = Head::START;
    loop {
        let mut events = reader.events(run, after.seq, BATCH)?;
        events.retain(|e| e.seq <= end);
        if events.is_empty() {
            return Ok(after.seq.0);
        }
        for event in &events {
            let canonical = ChainLink::of_stored(event).canonical();
            after = follows(event, after, &canonical)?;
            let mut request = |prompt| {
                reader.request(prompt)?.ok_or_else(|| {
                    LogError::corrupt(run, event.seq, EventFault::NoRequest { prompt }).into()
                })
            };
            let event = LineOfEvent {
                canonical,
                hash: event.hash,
                content: event.content.as_ref(),
                prompt: event.prompt,
            };
            lines.write(event, &mut request, line)?;
        }
    }
}

/// The head of the chain after this event.
pub(super) fn follows(event: &StoredEvent, after: Head, canonical: &str) -> Result<Head, LogError> {
    let seq = after.seq.next();
    if event.seq != seq || hash_after(after.hash, canonical) != event.hash {
        let fault = EventFault::gap(seq, event.seq).unwrap_or(EventFault::Hash);
        return Err(LogError::corrupt(event.run, seq, fault));
    }
    Ok(Head { seq, hash: event.hash })
}

/// Refuses a run that has lost events, as far as the log itself shows it: the remaining events may
/// be a valid chain.
pub(super) fn whole(reader: &mut dyn Reader, run: RunId) -> Result<(), LogError> {
    // If it cannot be read, this error says why.
    reader.events(run, Seq(0), 1)?;
    let head = reader.runs()?.into_iter().find(|r| r.run == run).map(|r| r.head);
    let ledger = match Ledger::read(reader) {
        // It shows nothing then. The rest of the run can be saved nevertheless.
        Err(LogError::Damaged { .. }) => None,
        read => Some(read?),
    };
    let known = ledger.as_ref().and_then(|ledger| ledger.last_of(run));
    let (Some(held), Some(known)) = (head, known) else {
        return match (head, known) {
            (Some(Head { seq: Seq(0), .. }), None) => {
                Err(LogError::corrupt(run, Seq(1), EventFault::NoEvents))
            }
            _ => Ok(()),
        };
    };
    if held.seq >= known.head.seq {
        return Ok(());
    }
    let LedgerEntry { number, ref change, head, .. } = *known;
    let fault = LedgerFault::Shorter { number, change: change.clone(), head };
    Err(LogError::corrupt(run, held.seq.next(), fault))
}
